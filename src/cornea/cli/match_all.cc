#include <iostream>

#include "cornea/cli/folder.h"
#include "cornea/pipeline/folder_match.h"

namespace cornea::cli {
namespace {

struct MatchAllCommand {
  CommonOptions common;
  std::string database, pairs;
  int sequential = 0;
  MatchOptions match;
  bool not_mutual = false;
};

void print_report(const MatchAllCommand& c, const Context& context, const MatchAllReport& report) {
  std::cout << report.pairs << (report.pairs == 1 ? " pair" : " pairs") << " of " << report.images
            << " images, " << report.matched << " matched, " << report.skipped << " had matches; "
            << report.matches << " matches\n"
            << seconds_text(report.milliseconds) << " on " << context.description()
            << "\ndatabase: " << c.database << std::endl;
}

int run_match_all(const MatchAllCommand& c) {
  const Context context = c.common.context();
  MatchAllOptions options;
  options.match = c.match;
  options.match.mutual = !c.not_mutual;
  options.sequential = c.sequential;
  options.listed = !c.pairs.empty();
  usage_checked([&] { options.validate(); });
  std::vector<NamedInput> inputs = {{c.database, "the database"}};
  if (options.listed) inputs.push_back({c.pairs});
  check_outputs(inputs, c.common.outputs({}));
  colmap::Database database(c.database);
  if (options.listed) options.pairs = read_pair_list(c.pairs, database);
  FolderProgress progress("match-all", c.common.quiet);
  const MatchAllReport report = match_all(context, database, options, progress.events);
  progress.clear();
  if (c.common.talks()) print_report(c, context, report);
  c.common.write_json({{"images", report.images},
                       {"pairs", report.pairs},
                       {"matched", report.matched},
                       {"skipped", report.skipped},
                       {"missing", report.missing},
                       {"matches", report.matches},
                       {"milliseconds", report.milliseconds},
                       {"read_milliseconds", report.read_milliseconds},
                       {"compute_milliseconds", report.compute_milliseconds},
                       {"write_milliseconds", report.write_milliseconds},
                       {"database", c.database},
                       {"device", context.name()}});
  if (report.missing == 0) return 0;
  print_error(text(c.pairs, ": ", report.missing,
                   report.missing == 1 ? " pair has an image" : " pairs have an image",
                   " without features; run cornea extract again"));
  return 1;
}

}  // namespace

Run add_match_all(CLI::App& app) {
  auto c = std::make_shared<MatchAllCommand>();
  CLI::App* command =
      app.add_subcommand("match-all", "match the images of a COLMAP database with one another");
  add_database_option(*command, c->database,
                      "COLMAP database with features; pairs that have matches are left alone");
  CLI::Option* sequential =
      command
          ->add_option("--sequential", c->sequential,
                       "each image with the N after it, by name, instead of all with all")
          ->check(CLI::PositiveNumber)
          ->type_name("N");
  command->add_option("--pairs", c->pairs, "only these pairs: two image names a line")
      ->excludes(sequential)
      ->type_name("LIST.txt");
  command
      ->add_option("--ratio", c->match.ratio,
                   "largest distance as a share of the second nearest's; 1 or more: no test")
      ->capture_default_str()
      ->type_name("R");
  command->add_flag("--no-mutual", c->not_mutual,
                    "also matches whose second point has a nearer one in the first image");
  command->add_option("--max-distance", c->match.max_distance, "largest distance; 0: no limit")
      ->capture_default_str()
      ->type_name("D");
  add_common_options(*command, c->common);
  return [c] { return run_match_all(*c); };
}

}  // namespace cornea::cli
