// SPDX-License-Identifier: Apache-2.0
// The items of shards.h: listing them, checking whether one is done, and doing it.
#include "cornea/pipeline/shards/shards.h"

#include <algorithm>
#include <functional>

#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/pipeline/shards/steps.h"

namespace cornea {
namespace {

namespace fs = std::filesystem;
using namespace shards;
using colmap::Database;

std::string digest_of(const ItemFile& choice) {
  return colmap::note(Database(choice.path, Database::Open::finished), "digest");
}

ItemFile choice_for(const Task& task, ShardStep step) {
  ItemFile choice = require_choice(task.work, task.plan, task.options);
  if (!is_further(step) || step == ShardStep::choose_further) return choice;
  return require_further(task.work, task.options, digest_of(choice));
}

std::vector<std::string> digests_of_shards(const Task& task) {
  const std::multimap<int, ItemFile> files = files_of(task.work, ShardStep::extract);
  std::vector<std::string> digests;
  for (int k = 1; k <= task.plan.shards(); ++k) {
    const ItemFile file = require_shard(files, task.plan, task.options, k, "", false);
    digests.push_back(colmap::note(Database(file.path, Database::Open::finished), "digest"));
  }
  return digests;
}

int count_of(const Task& task, ShardStep step) {
  if (step == ShardStep::extract) return task.plan.shards();
  if (step == ShardStep::choose || step == ShardStep::choose_further) return 1;
  return colmap::count_blocks(Database(choice_for(task, step).path, Database::Open::finished));
}

void make(const Task& task, const ShardItem& item, const LocalFolder& local, const fs::path& file,
          ShardItemReport& report) {
  switch (item.step) {
    case ShardStep::extract:
      return extract_item(task, item.number, file, report);
    case ShardStep::choose:
      return choose_item(task, file, report);
    case ShardStep::choose_further:
      return further_item(task, file, report);
    case ShardStep::match:
    case ShardStep::match_further:
      return match_item(task, item, local, file, report);
    case ShardStep::verify:
    case ShardStep::verify_further:
      return verify_item(task, item, local, file, report);
  }
}

void take_done(const ItemFile& file, const FolderEvents& events, ShardItemReport& report) {
  report.file = file.path;
  report.already = true;
  const Database database(file.path, Database::Open::finished);
  report.failed = colmap::notes(database, "failed");
  report.blocks = colmap::count_blocks(database);
  for (const std::string& sentence : report.failed) events.report(sentence);
}

}  // namespace

std::function<Fits(int)> shards::fits_of_items(const Task& task, ShardStep step) {
  if (step == ShardStep::extract) {
    return [&task](int number) { return made_of(words_of_shard(task.plan, task.options, number)); };
  }
  if (step == ShardStep::choose) {
    return [fits = chosen_from_these(task.plan, task.options, digests_of_shards(task))](int) {
      return fits;
    };
  }
  const std::string digest = digest_of(choice_for(task, step));
  if (step == ShardStep::choose_further) {
    return [fits = made_of(words_of_further(digest, task.options))](int) { return fits; };
  }
  const bool matching = step == ShardStep::match || step == ShardStep::match_further;
  return [&task, digest, matching](int number) {
    return made_of(matching ? words_of_matches(digest, task.options, number)
                            : words_of_geometries(digest, task.options, number));
  };
}

std::string_view name(ShardStep step) {
  constexpr std::string_view kNames[kShardSteps] = {
      "extract", "choose", "match", "verify", "choose_further", "match_further", "verify_further"};
  return kNames[int(step)];
}

void ShardOptions::validate() const {
  folder.validate();
  require(block_images >= 2, "block_images must be at least 2, not ", block_images);
  require(block_pairs >= 1, "block_pairs must be at least 1, not ", block_pairs);
}

int count_items(const fs::path& work, const ShardPlan& plan, ShardStep step,
                const ShardOptions& options) {
  const FolderEvents events;
  return count_of({Context::cpu(1), work, plan, options, events, work}, step);
}

ShardItemReport run_shard_item(const Context& context, const fs::path& work, const ShardItem& item,
                               const ShardOptions& options, const FolderEvents& events,
                               const fs::path& photographs) {
  const core::Stopwatch watch;
  options.validate();
  const ShardPlan plan = read_shard_plan(work);
  const fs::path where = photographs.empty() ? fs::path(plan.photographs) : photographs;
  const Task task{context, work, plan, options, events, where};
  const int count = count_of(task, item.step);
  require(item.number >= 1 && item.number <= count, "the step ", name(item.step),
          " has the items 1 to ", count, ", not ", item.number);
  const FoundItem there = find_item(files_of(work, item.step), item.number,
                                    fits_of_items(task, item.step)(item.number), true);
  ShardItemReport report;
  report.damaged = there.damaged;
  if (there.file && !options.redo) {
    take_done(*there.file, events, report);
    report.milliseconds = watch.milliseconds();
    return report;
  }
  for (const std::string& sentence : there.sentences) {
    events.note(text(sentence, "; it is made again"));
  }
  const LocalFolder local(options.local);
  const fs::path file = local / "item.db";
  make(task, item, local, file, report);
  if (!report.stopped) {
    const ItemFile placed = put_in_place(file, work, item);
    report.file = placed.path;
    report.bytes_written = placed.bytes;
    // Removes only files that existed before this process began, never one that another process has
    // just written.
    std::vector<ItemFile> old = there.others;
    if (there.file) old.push_back(*there.file);
    std::error_code ignored;
    for (const ItemFile& other : old) {
      if (other.path != placed.path) fs::remove(other.path, ignored);
    }
  }
  report.milliseconds = watch.milliseconds();
  return report;
}

bool ShardStatus::done() const {
  return damaged.empty() && std::all_of(steps.begin(), steps.end(), [](const ShardStepStatus& s) {
           return s.known && s.open.empty();
         });
}

ShardStatus shard_status(const fs::path& work, const ShardOptions& options, bool check) {
  const FolderEvents events;
  const Context context = Context::cpu(1);
  const ShardPlan plan = read_shard_plan(work);
  const Task task{context, work, plan, options, events, work};
  ShardStatus status;
  bool is_chosen = true;  // from the shards as they are now
  for (int i = 0; i < kShardSteps; ++i) {
    ShardStepStatus step{.step = ShardStep(i)};
    std::function<Fits(int)> fits;
    try {
      // An earlier choice may exist, but what follows from it will be made again.
      require(is_chosen || step.step <= ShardStep::choose, "the pairs are not chosen");
      step.items = count_of(task, step.step);
      fits = fits_of_items(task, step.step);
    } catch (const Error&) {  // the inputs of these items do not exist
      step.known = step.items > 0;
      // The shards that are missing may become what they were.
      fits = [&](int) { return chosen_from_any(plan, options); };
    }
    const std::multimap<int, ItemFile> files = files_of(work, step.step);
    for (int k = 1; k <= step.items; ++k) {
      FoundItem found = find_item(files, k, fits(k), check);
      for (std::string& sentence : found.sentences) status.damaged.push_back(std::move(sentence));
      if (!found.file) {
        step.open.push_back(k);
        continue;
      }
      step.bytes += found.file->bytes;
      const Database database(found.file->path, Database::Open::finished);
      for (std::string& sentence : colmap::notes(database, "failed")) {
        step.failed.push_back(std::move(sentence));
      }
    }
    is_chosen &= step.step != ShardStep::choose || step.open.empty();
    status.steps.push_back(std::move(step));
  }
  return status;
}

}  // namespace cornea
