#include "cornea/pipeline/folder/match_all.h"

#include <iostream>

#include "cornea/cli/folder.h"
#include "cornea/cli/two_view.h"

namespace cornea::cli {
namespace {

struct MatchAllCommand {
  CommonOptions common;
  std::string database, pairs;
  MatchAllOptions options;
};

void print_report(const MatchAllCommand& c, const Context& context, const MatchAllReport& report) {
  std::cout << report.pairs << (report.pairs == 1 ? " pair" : " pairs") << " of " << report.images
            << " images, " << report.matched << " matched, " << report.skipped << " had matches; "
            << report.matches << " matches\n"
            << seconds_text(report.milliseconds) << " on " << context.description();
  if (report.images < 2) {
    std::cout << "\nfewer than two images have features; run cornea extract DIR --db "
              << c.database;
  } else if (report.skipped > 0) {
    std::cout << "\npairs that had matches are as they were, whatever the options";
  }
  std::cout << "\ndatabase: " << c.database << std::endl;
}

int run_match_all(const MatchAllCommand& c) {
  const Context context = c.common.context();
  MatchAllOptions options = c.options;
  options.listed = !c.pairs.empty();
  usage_checked([&] { options.validate(); });
  std::vector<NamedInput> inputs = {{c.database, "the database"}};
  if (options.listed) inputs.push_back({c.pairs});
  check_outputs(inputs, c.common.outputs({}));
  colmap::Database database(c.database);
  PairList list;
  if (options.listed)
    list = read_pair_list(is_standard(c.pairs) ? "/dev/stdin" : c.pairs, database);
  for (const std::string& sentence : list.refused) print_error(sentence);
  options.pairs = std::move(list.pairs);
  FolderProgress progress("match-all", c.common.quiet);
  const MatchAllReport report = match_all(context, database, options, progress.events);
  progress.clear();
  if (c.common.talks()) print_report(c, context, report);
  c.common.write_json({{"images", report.images},
                       {"pairs", report.pairs},
                       {"matched", report.matched},
                       {"skipped", report.skipped},
                       {"missing", report.missing},
                       {"refused", list.refused.size()},
                       {"matches", report.matches},
                       {"milliseconds", report.milliseconds},
                       {"read_milliseconds", report.read_milliseconds},
                       {"compute_milliseconds", report.compute_milliseconds},
                       {"write_milliseconds", report.write_milliseconds},
                       {"database", c.database},
                       {"device", context.name()}});
  if (report.missing > 0) {
    print_error(text(c.pairs, ": ", report.missing,
                     report.missing == 1 ? " pair has an image" : " pairs have an image",
                     " without features; run cornea extract again"));
  }
  return report.missing > 0 || !list.refused.empty() ? 1 : 0;
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
          ->add_option("--sequential", c->options.sequential,
                       "each image with the N after it, by name, instead of all with all")
          ->check([](const std::string& given) {
            return given.find_first_not_of("0123456789") == std::string::npos &&
                           given.find_first_not_of('0') != std::string::npos
                       ? std::string()
                       : "takes a positive whole number, not " + given;
          })
          ->type_name("N");
  command
      ->add_option("--pairs", c->pairs,
                   "only these pairs: two image names per line; - for standard input")
      ->excludes(sequential)
      ->type_name("LIST.txt");
  add_match_options(*command, c->options.match);
  add_common_options(*command, c->common);
  return [c] { return run_match_all(*c); };
}

}  // namespace cornea::cli
