// SPDX-License-Identifier: Apache-2.0
// `cornea shard`: the plan of a collection split into shards, its pairs, and its progress.
#include "cornea/cli/shard.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include "cornea/cli/folder.h"
#include "cornea/cli/folder_result.h"
#include "cornea/cli/shell_words.h"

namespace cornea::cli {
namespace {

namespace fs = std::filesystem;

// The options that a plan fixes.
struct PlanFlags {
  FolderCommand folder;
  ShardOptions shards;
};

struct ShardCommand : PlanFlags {
  std::string action, list;
  int size = 1000;
  bool check = false;
  ItemFlags item;
  const CLI::App* command = nullptr;
};

void add_plan_options(CLI::App* command, PlanFlags* c) {
  command->add_option("--block-images", c->shards.block_images, "most images per block of pairs")
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--block-pairs", c->shards.block_pairs, "most pairs per block")
      ->capture_default_str()
      ->type_name("N");
  add_step_options(command, &c->folder);
  add_sift_options(command, &c->folder.photographs);
}

ShardOptions shard_options(const PlanFlags& c, bool files_must_exist) {
  ShardOptions options = c.shards;
  options.folder = folder_options(c.folder, files_must_exist);
  options.schema = c.folder.photographs.schema;
  usage_checked([&] { options.validate(); });
  return options;
}

// A switch as it is written: --NAME or --no-NAME.
std::string word_of_switch(const CLI::Option& option) {
  const bool on = option.results().back() != "false";
  for (const std::string& name : option.get_lnames()) {
    if (name.starts_with("no-") != on) return "--" + name;
  }
  return "--" + option.get_lnames().front();
}

// The words of the command line that affect results, in the order of the options, without those
// that say where, how and on what this command runs. Files have absolute paths, because items run
// in other folders.
std::vector<std::string> kept_words(const ShardCommand& c) {
  static const std::vector<std::string> own = {"action",    "folder",  "--out",   "--size",
                                               "--list",    "--check", "--redo",  "--device",
                                               "--threads", "--json",  "--quiet", "--local"};
  static const std::vector<std::string> files = {"--mask", "--pairs"};
  std::vector<std::string> kept;
  for (const CLI::Option* option : c.command->get_options()) {
    const auto is_among = [&](const std::vector<std::string>& names) {
      return std::any_of(names.begin(), names.end(),
                         [&](const std::string& one) { return option->check_name(one); });
    };
    if (option->count() == 0 || is_among(own)) continue;
    if (option->get_expected_max() == 0) {
      kept.push_back(word_of_switch(*option));
      continue;
    }
    std::string value = option->results().back();
    std::error_code ignored;
    const bool is_choice = option->check_name("--pairs") &&
                           folder_options(c.folder, false).pairs.choice != PairChoice::listed;
    if (is_among(files) && !is_choice) value = fs::absolute(value, ignored).string();
    kept.push_back("--" + option->get_lnames().front() + "=" + value);
  }
  return kept;
}

// Kept as long as the program runs, because the options point into it.
PlanFlags& parsed(const std::vector<std::string>& words) {
  struct Parsed {
    CLI::App app;
    PlanFlags flags;
  };
  static std::vector<std::unique_ptr<Parsed>> all;
  all.push_back(std::make_unique<Parsed>());
  Parsed& made = *all.back();
  add_plan_options(&made.app, &made.flags);
  made.app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  return made.flags;
}

Json traffic_json(const std::vector<ShardTraffic>& traffic) {
  Json all = Json::array();
  for (const ShardTraffic& step : traffic) {
    all.push_back({{"step", name(step.step)},
                   {"exact", step.exact},
                   {"items", step.items},
                   {"read", step.read},
                   {"written", step.written},
                   {"most_read", step.most_read}});
  }
  return all;
}

void print_traffic(const std::vector<ShardTraffic>& traffic) {
  char line[128];
  std::snprintf(line, sizeof line, "%-15s %10s %12s %12s %14s", "step", "items", "read",
                "written <=", "read per item");
  std::cout << line << "\n";
  for (const ShardTraffic& step : traffic) {
    const char* most = step.exact ? "" : "<= ";
    std::snprintf(
        line, sizeof line, "%-15s %10s %12s %12s %14s", name(step.step).data(),
        (step.exact || step.items == 1 ? grouped(step.items) : "~" + grouped(step.items)).c_str(),
        (most + bytes_text(step.read)).c_str(), bytes_text(step.written).c_str(),
        ("<= " + bytes_text(step.most_read)).c_str());
    std::cout << line << "\n";
  }
}

int run_plan(const ShardCommand& c) {
  const ShardOptions options = shard_options(c, true);
  if (is_standard(c.folder.pairs)) {
    throw UsageError("--pairs - can be read only once, but many processes use a plan; name a file");
  }
  if (c.item.work.empty()) throw UsageError("shard plan takes -o WORK, the folder of its items");
  const std::vector<fs::path> outputs = c.folder.common().outputs({});
  check_outputs({{c.list}, {c.folder.pairs}}, outputs);
  check_outputs_in({c.item.work, c.folder.photographs.folder}, outputs);
  std::vector<std::string> unreadable;
  const std::string& photographs = c.folder.photographs.folder;
  ShardPlan plan = usage_checked([&] {
    return c.list.empty()
               ? plan_shards(photographs, options.folder.extract.masks, c.size, &unreadable)
               : plan_listed_shards(photographs, c.list, c.size);
  });
  plan.words = kept_words(c);
  for (const std::string& sentence : unreadable) print_error(sentence);
  write_shard_plan(c.item.work, plan);
  const std::vector<ShardTraffic> traffic = shard_traffic(c.item.work, options_of(plan, ""));
  const CommonOptions& common = c.folder.common();
  if (common.talks()) {
    std::cout << counted(std::int64_t(plan.images.size()), "image") << " in "
              << counted(plan.shards(), "shard") << " of " << grouped(plan.size) << "\n";
    print_traffic(traffic);
    std::cout << "next: " << shell_line({"cornea", "extract", "--work", c.item.work})
              << " --shard K/" << plan.shards() << " for K from 1 to " << plan.shards()
              << std::endl;
  }
  common.write_json({{"photographs", plan.photographs},
                     {"images", plan.images.size()},
                     {"shards", plan.shards()},
                     {"size", plan.size},
                     {"words", plan.words},
                     {"unreadable", unreadable},
                     {"traffic", traffic_json(traffic)},
                     {"work", c.item.work}});
  return unreadable.empty() ? 0 : 1;
}

int run_status(const ShardCommand& c) {
  const ShardPlan plan = read_shard_plan(c.item.work);
  check_outputs_in({c.item.work, plan.photographs}, c.folder.common().outputs({}));
  const ShardOptions options = options_of(plan, "");
  const ShardStatus status = shard_status(c.item.work, options, c.check);
  const CommonOptions& common = c.folder.common();
  Json steps = Json::array();
  for (const ShardStepStatus& step : status.steps) {
    steps.push_back({{"step", name(step.step)},
                     {"known", step.known},
                     {"items", step.items},
                     {"open", step.open},
                     {"bytes", step.bytes},
                     {"failed", step.failed}});
    if (!common.talks()) continue;
    std::cout << name(step.step) << ": ";
    if (!step.known) {
      std::cout << "not known yet\n";
      continue;
    }
    std::cout << grouped(step.items - std::int64_t(step.open.size())) << " of "
              << counted(step.items, "item") << ", " << bytes_text(step.bytes);
    if (!step.open.empty()) {
      std::vector<std::string> open;
      for (const int k : step.open) open.push_back(std::to_string(k));
      std::cout << "; open: " << first_of(open);
    }
    std::cout << "\n";
  }
  for (const ShardStepStatus& step : status.steps) {
    for (const std::string& sentence : step.failed) print_error(sentence);
  }
  for (const std::string& sentence : status.damaged) print_error(sentence);
  if (common.talks()) print_traffic(shard_traffic(c.item.work, options));
  common.write_json({{"photographs", plan.photographs},
                     {"images", plan.images.size()},
                     {"done", status.done()},
                     {"steps", steps},
                     {"damaged", status.damaged},
                     {"traffic", traffic_json(shard_traffic(c.item.work, options))}});
  return status.damaged.empty() ? 0 : 1;
}

// Flags of other actions would be ignored.
void refuse_flags_of_others(const ShardCommand& c) {
  struct Own {
    const char* flag;
    std::vector<std::string> actions;
  };
  static const Own all[] = {{"--out", {"plan"}},
                            {"--size", {"plan"}},
                            {"--list", {"plan"}},
                            {"--check", {"status"}},
                            {"--local", {"pairs", "further"}},
                            {"--redo", {"pairs", "further"}}};
  for (const auto& [flag, actions] : all) {
    if (c.command->count(flag) == 0) continue;
    if (std::find(actions.begin(), actions.end(), c.action) != actions.end()) continue;
    throw UsageError(text("cornea shard ", c.action, " has no ", flag,
                          ", which is a flag of shard ", actions.front()));
  }
}

int run_shard(ShardCommand& c) {
  refuse_flags_of_others(c);
  if (c.action == "plan") return run_plan(c);
  // The folder is that of the work, and all options that affect results are fixed by the plan.
  c.item.work = c.folder.photographs.folder;
  if (!kept_words(c).empty()) {
    throw UsageError(
        text(kept_words(c).front(), " is fixed by the plan; give it to cornea shard plan"));
  }
  if (c.action == "pairs") return run_step(c.folder.common(), c.item, ShardStep::choose);
  if (c.action == "further") return run_step(c.folder.common(), c.item, ShardStep::choose_further);
  return run_status(c);
}

}  // namespace

ShardOptions options_of(const ShardPlan& plan, const std::string& local) {
  try {
    // Only the steps that use the list of pairs or the masks need them.
    ShardOptions options = shard_options(parsed(plan.words), false);
    options.local = local;
    return options;
  } catch (const CLI::ParseError& error) {
    fail(ErrorCode::io, "the plan has options that this version does not accept: ", error.what());
  }
}

Run add_shard(CLI::App& app) {
  auto c = std::make_shared<ShardCommand>();
  CLI::App* command = app.add_subcommand(
      "shard", "plan a collection in shards, choose its pairs, and show its progress");
  c->command = command;
  command
      ->add_option("action", c->action,
                   "plan: which images are in which shard, and all options; pairs: which are "
                   "matched, once all shards are extracted; further: neighbours of neighbours, "
                   "once all blocks are verified; status: what is done")
      ->required()
      ->type_name("plan|pairs|further|status")
      ->check([](const std::string& given) {
        for (const char* known : {"plan", "pairs", "further", "status"}) {
          if (given == known) return std::string();
        }
        return "takes plan, pairs, further or status, not " + given;
      });
  command
      ->add_option("folder", c->folder.photographs.folder,
                   "for plan the folder of photographs, for the others that of the plan")
      ->required()
      ->type_name("DIR");
  command->add_option("-o,--out", c->item.work, "plan: folder for the plan and all items")
      ->type_name("WORK")
      ->check(&no_folder);
  command->add_option("--size", c->size, "plan: images per shard")
      ->capture_default_str()
      ->type_name("N");
  command
      ->add_option("--list", c->list,
                   "plan: instead of listing the folder, which may be a URL, a file with "
                   "lines BYTES NAME")
      ->type_name("FILE");
  command->add_flag("--check", c->check, "status: read all files and check their hashes");
  command->add_flag("--redo", c->item.redo, "pairs, further: do it again even if it is done");
  add_local_option(command, c->item.local);
  add_plan_options(command, c.get());
  command->remove_option(command->get_option("--decoders"));  // of cornea extract, per run
  return [c] { return run_shard(*c); };
}

}  // namespace cornea::cli
