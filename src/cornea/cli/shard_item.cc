// SPDX-License-Identifier: Apache-2.0
// Runs one item of a collection that is split into shards.
#include <algorithm>
#include <charconv>
#include <iostream>

#include "cornea/cli/folder.h"
#include "cornea/cli/shard.h"

namespace cornea::cli {
namespace {

struct WhichShard {
  int number = 0, count = 0;
};

// "3/40"
WhichShard which_shard(const std::string& words) {
  WhichShard which;
  const char* end = words.data() + words.size();
  const auto first = std::from_chars(words.data(), end, which.number);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == '/') {
    const auto second = std::from_chars(first.ptr + 1, end, which.count);
    if (second.ec == std::errc() && second.ptr == end && which.number >= 1 &&
        which.number <= which.count) {
      return which;
    }
  }
  throw UsageError(text("--shard takes K/N with K from 1 to N, such as 3/40, not ", words));
}

Json item_json(const ShardItemReport& report, const ShardItem& item, int count,
               const Context& context) {
  return {{"step", name(item.step)},
          {"item", item.number},
          {"items", count},
          {"file", report.file.string()},
          {"already", report.already},
          {"damaged", report.damaged},
          {"stopped", report.stopped},
          {"failed", report.failed},
          {"images", report.images},
          {"features", report.features},
          {"pairs", report.pairs},
          {"blocks", report.blocks},
          {"bytes_read", report.bytes_read},
          {"bytes_written", report.bytes_written},
          {"milliseconds", report.milliseconds},
          {"device", context.name()}};
}

void print_item(const ShardItemReport& report, const ShardItem& item, int count,
                const Context& context) {
  std::cout << name(item.step) << " " << item.number << "/" << count << ": ";
  if (report.already) {
    std::cout << "done before";
  } else {
    std::cout << counted(report.images, "image") << ", " << counted(report.features, "feature");
    if (item.step != ShardStep::extract) std::cout << ", " << counted(report.pairs, "pair");
    if (report.blocks > 0) std::cout << " in " << counted(report.blocks, "block");
    std::cout << "; " << bytes_text(report.bytes_read) << " read, "
              << bytes_text(report.bytes_written) << " written, "
              << seconds_text(report.milliseconds) << " on " << context.description();
  }
  if (!report.failed.empty()) std::cout << "; " << report.failed.size() << " failed";
  std::cout << "\nfile: " << report.file.string() << std::endl;
}

int run_one(const CommonOptions& common, const ItemFlags& flags, ShardItem item, int count,
            const ShardPlan& plan, const std::string& photographs) {
  const Context context = common.context();
  check_outputs_in({flags.work, plan.photographs, photographs}, common.outputs({}));
  ShardOptions options = options_of(plan, flags.local);
  options.redo = flags.redo;
  options.folder.extract.decoders = flags.decoders;
  const int items = count_items(flags.work, plan, item.step, options);
  if (count > 0 && count != items) {
    fail(ErrorCode::invalid_argument, flags.work, ": the step ", name(item.step), " has ", items,
         items == 1 ? " item" : " items", ", not ", count);
  }
  FolderProgress progress(text(name(item.step), " ", item.number, "/", items), common.quiet);
  const ShardItemReport report =
      run_shard_item(context, flags.work, item, options, progress.events, photographs);
  progress.clear();
  if (common.talks() && !report.stopped) print_item(report, item, items, context);
  common.write_json(item_json(report, item, items, context));
  if (report.stopped) {
    print_error(
        text("interrupted; this item is discarded, all others are kept; the same command "
             "starts it again"));
    return Interrupt::exit_code();
  }
  return report.failed.empty() ? 0 : 1;
}

}  // namespace

std::string bytes_text(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
  double value = double(bytes);
  int unit = 0;
  while (value >= 1000 && unit < 5) value /= 1000, ++unit;
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.*f %s", unit == 0 || value >= 100 ? 0 : 1, value,
                kUnits[unit]);
  return buffer;
}

bool ItemFlags::is_asked(const CLI::App& command, const std::vector<std::string>& otherwise,
                         const std::vector<std::string>& allowed) const {
  const std::string help = " (see cornea " + command.get_name() + " --help)";
  const auto given = [&](const std::string& name) {
    const CLI::Option* option = command.get_option_no_throw(name);
    return option && option->count() > 0;
  };
  if (work.empty()) {
    for (const char* name : {"--shard", "--local", "--further"}) {
      if (given(name)) throw UsageError(text(name, " belongs to --work", help));
    }
    for (const std::string& name : otherwise) {
      if (!given(name)) throw UsageError(name + " is required" + help);
    }
    return false;
  }
  if (shard.empty()) throw UsageError("--work takes --shard K/N too" + help);
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    const std::string name =
        option->get_lnames().empty() ? option->get_name() : "--" + option->get_lnames().front();
    const auto is_among = [&](const std::vector<std::string>& names) {
      return std::any_of(names.begin(), names.end(),
                         [&](const std::string& one) { return option->check_name(one); });
    };
    static const std::vector<std::string> always = {"--work",   "--shard",   "--local", "--further",
                                                    "--device", "--threads", "--json",  "--quiet"};
    if (is_among(always) || is_among(allowed)) continue;
    throw UsageError(text(name,
                          is_among({"--db"}) ? " and --work exclude each other; give one"
                                             : " is fixed by the plan; give it to cornea "
                                               "shard plan",
                          help));
  }
  return true;
}

void add_local_option(CLI::App* command, std::string& local) {
  command
      ->add_option("--local", local,
                   "folder on a local disk, where files are written before they are moved; "
                   "default: the system's folder for temporary files")
      ->type_name("DIR");
}

void add_item_options(CLI::App* command, ItemFlags* flags,
                      const std::vector<CLI::Option*>& otherwise) {
  for (CLI::Option* option : otherwise) option->required(false);
  command
      ->add_option("--work", flags->work,
                   "instead of --db: the folder of a plan (cornea shard plan), of which one item "
                   "is done")
      ->type_name("WORK");
  command->add_option("--shard", flags->shard, "with --work: the item, from 1/N to N/N")
      ->type_name("K/N");
  add_local_option(command, flags->local);
}

void add_further_option(CLI::App* command, ItemFlags* flags) {
  command->add_flag("--further", flags->further,
                    "with --work: a block of the further round (cornea shard further)");
}

int run_item(const CommonOptions& common, const ItemFlags& flags, ShardStep step,
             const std::string& photographs) {
  const WhichShard which = which_shard(flags.shard);
  if (flags.further) {
    step = step == ShardStep::match ? ShardStep::match_further : ShardStep::verify_further;
  }
  return run_one(common, flags, {step, which.number}, which.count, read_shard_plan(flags.work),
                 photographs);
}

int run_step(const CommonOptions& common, const ItemFlags& flags, ShardStep step) {
  return run_one(common, flags, {step, 1}, 0, read_shard_plan(flags.work), "");
}

}  // namespace cornea::cli
