// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/match_all.h"

#include <algorithm>
#include <iostream>

#include "cornea/cli/folder.h"
#include "cornea/cli/shard.h"
#include "cornea/cli/two_view.h"

namespace cornea::cli {
namespace {

struct MatchAllCommand {
  CommonOptions common;
  std::string database, pairs;
  MatchAllOptions options;
  ItemFlags item;
};

void print_report(const MatchAllCommand& c, const Context& context, const MatchAllReport& report,
                  std::int64_t matches) {
  const std::int64_t again = std::min(report.redone, report.matched);
  std::cout << counted(report.pairs, "pair") << " of " << counted(report.images, "image") << ": "
            << grouped(report.matched - again) << " new, ";
  if (again > 0) std::cout << grouped(again) << " done again, ";
  std::cout << grouped(report.skipped) << " already there, " << grouped(report.missing)
            << " without features; the database holds " << grouped(matches) << " matches\n"
            << seconds_text(report.milliseconds) << " on " << context.description();
  if (report.images < 2) {
    std::cout << "\nfewer than two images have features; run cornea extract DIR --db "
              << c.database;
  }
  std::cout << "\ndatabase: " << c.database << std::endl;
}

int run_match_all(const MatchAllCommand& c) {
  const Context context = c.common.context();
  MatchAllOptions options = c.options;
  options.listed = !c.pairs.empty();
  usage_checked([&] { options.validate(); });
  std::vector<NamedInput> inputs = {{c.database, kTheDatabase}};
  if (options.listed) inputs.push_back({c.pairs});
  check_outputs(inputs, c.common.outputs({}));
  FolderProgress progress("match-all", c.common.quiet);
  PairList list;
  MatchAllReport report;
  std::int64_t matches = 0;
  {
    colmap::Database database(c.database);
    if (options.listed) {
      list = read_pair_list(is_standard(c.pairs) ? "/dev/stdin" : c.pairs, database);
    }
    for (const std::string& sentence : list.refused) print_error(sentence);
    options.pairs = std::move(list.pairs);
    report = match_all(context, database, options, progress.events);
    matches = database.total("matches");
  }
  progress.clear();
  if (c.common.talks()) print_report(c, context, report, matches);
  c.common.write_json({{"images", report.images},
                       {"pairs", report.pairs},
                       {"matched", report.matched},
                       {"skipped", report.skipped},
                       {"missing", report.missing},
                       {"refused", list.refused.size()},
                       {"redone", report.redone},
                       {"bad_images", report.bad_images},
                       {"stopped", report.stopped},
                       {"matches", report.matches},
                       {"matches_in_database", matches},
                       {"milliseconds", report.milliseconds},
                       {"images_read", report.images_read},
                       {"read_milliseconds", report.read_milliseconds},
                       {"compute_milliseconds", report.compute_milliseconds},
                       {"write_milliseconds", report.write_milliseconds},
                       {"database", c.database},
                       {"device", context.name()}});
  if (report.missing > 0) {
    print_error(text(input_name(c.pairs), ": ", report.missing,
                     report.missing == 1 ? " pair has an image" : " pairs have an image",
                     " without features; run cornea extract again"));
  }
  if (report.stopped) {
    return interrupted(c.database, report.matched, report.pairs - report.skipped,
                       "pairs are matched",
                       c.options.redo ? "the same command without --redo continues" : kGoesOn);
  }
  return report.missing > 0 || report.bad_images > 0 || !list.refused.empty() ? 1 : 0;
}

}  // namespace

Run add_match_all(CLI::App& app) {
  auto c = std::make_shared<MatchAllCommand>();
  CLI::App* command =
      app.add_subcommand("match-all", "match the images of a COLMAP database with one another");
  CLI::Option* database = add_database_option(
      *command, c->database, "COLMAP database with features; pairs that have matches are skipped");
  add_item_options(command, &c->item, {database});
  add_further_option(command, &c->item);
  CLI::Option* sequential =
      command
          ->add_option("--sequential", c->options.sequential,
                       "each image with the N after it, by name, instead of all pairs")
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
  add_changed_options(*command, c->options.changed, c->options.redo,
                      "match these pairs again; deletes their geometries");
  add_common_options(*command, c->common);
  return [c, command] {
    if (c->item.is_asked(*command, {"--db"}, {"--redo"})) {
      c->item.redo = c->options.redo;
      return run_item(c->common, c->item, ShardStep::match);
    }
    return run_match_all(*c);
  };
}

}  // namespace cornea::cli
