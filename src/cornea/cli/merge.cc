// SPDX-License-Identifier: Apache-2.0
// `cornea merge`: merges the items of a plan into one database, and into one per component.
#include <iostream>

#include "cornea/cli/folder.h"
#include "cornea/cli/shard.h"

namespace cornea::cli {
namespace {

struct MergeCommand {
  CommonOptions common;
  std::string work, database, components, local;
  MergeOptions options;
};

void print_merge(const MergeCommand& c, const MergeReport& report) {
  std::cout << counted(report.images, "image") << ", " << counted(report.features, "feature")
            << " by " << counted(report.cameras, "camera") << "; " << counted(report.pairs, "pair")
            << " tried, " << grouped(report.verified) << " verified; "
            << counted(std::int64_t(report.components.size()), "component");
  if (report.unconnected > 0) std::cout << ", " << grouped(report.unconnected) << " unconnected";
  if (!report.failed.empty()) std::cout << "; " << report.failed.size() << " failed";
  std::cout << "\n" << bytes_text(report.bytes) << " in " << seconds_text(report.milliseconds);
  if (!c.database.empty()) std::cout << "\ndatabase: " << c.database;
  if (!c.components.empty()) std::cout << "\ncomponents: " << c.components;
  std::cout << std::endl;
}

int run_merge(const MergeCommand& c) {
  if (c.database.empty() && c.components.empty()) {
    throw UsageError("merge takes --db FILE, --by-component DIR or both (see cornea merge --help)");
  }
  MergeOptions options = c.options;
  options.by_component = c.components;
  options.whole = !c.database.empty();
  const ShardPlan plan = read_shard_plan(c.work);
  if (options.whole) check_outputs({{c.database, kTheDatabase}}, c.common.outputs({}));
  check_outputs_in({c.work, c.components, plan.photographs}, c.common.outputs({}));
  FolderProgress progress("merge", c.common.quiet);
  const MergeReport report =
      merge_shards(c.work, c.database, options_of(plan, c.local), options, progress.events);
  progress.clear();
  if (report.stopped) {
    print_error("interrupted; what was being written is not kept; the same command begins again");
    return Interrupt::exit_code();
  }
  if (c.common.talks()) print_merge(c, report);
  c.common.write_json({{"images", report.images},
                       {"features", report.features},
                       {"cameras", report.cameras},
                       {"tried", report.pairs},
                       {"verified", report.verified},
                       {"components", report.components},
                       {"unconnected", report.unconnected},
                       {"bytes", report.bytes},
                       {"failed", report.failed},
                       {"milliseconds", report.milliseconds},
                       {"database", c.database},
                       {"by_component", c.components}});
  return report.failed.empty() ? 0 : 1;
}

}  // namespace

Run add_merge(CLI::App& app) {
  auto c = std::make_shared<MergeCommand>();
  CLI::App* command =
      app.add_subcommand("merge", "merge the finished items of a plan into one COLMAP database");
  command->add_option("work", c->work, "the folder of the plan")->required()->type_name("WORK");
  add_database_option(*command, c->database, "COLMAP database; one that exists is replaced")
      ->required(false);
  command
      ->add_option("--by-component", c->components,
                   "also write one database per connected component to this folder")
      ->type_name("DIR")
      ->check(&no_folder);
  command->add_flag("!--no-descriptors", c->options.descriptors,
                    "leave out descriptors, which mappers do not read");
  add_local_option(command, c->local);
  add_common_options(*command, c->common);
  return [c] { return run_merge(*c); };
}

}  // namespace cornea::cli
