// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: the work of the items of shards.h, step by step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cornea/export/colmap/transfer.h"
#include "cornea/pipeline/shards/item_file.h"
#include "cornea/pipeline/shards/shards.h"

namespace cornea::shards {

struct Task {
  const Context& context;
  const std::filesystem::path& work;
  const ShardPlan& plan;
  const ShardOptions& options;
  const FolderEvents& events;
  const std::filesystem::path& photographs;  // where the folder is on this machine
};

// Everything that the contents of a file depend on, as text. A choice is represented by its digest:
// what was chosen, from what.
std::string words_of_shard(const ShardPlan& plan, const ShardOptions& options, int number);
std::string words_of_choice(const ShardPlan& plan, const ShardOptions& options,
                            const std::vector<std::string>& shard_digests, const std::string& list);
// Of the contents of the list of pairs; empty if there is none (on this machine).
std::string hash_of_list(const ShardOptions& options);
std::string words_of_further(const std::string& choice_digest, const ShardOptions& options);
std::string words_of_matches(const std::string& choice_digest, const ShardOptions& options,
                             int block);
std::string words_of_geometries(const std::string& choice_digest, const ShardOptions& options,
                                int block);

int shard_of(const ShardPlan& plan, colmap::Id image);  // counted from 1
// The photographs of a shard, in ascending order of their ids.
std::vector<ShardImage> images_of_shard(const ShardPlan& plan, int number);

// Accepts a choice made from any shards and any version of the list of pairs, provided that it
// records which ones.
Fits chosen_from_any(const ShardPlan& plan, const ShardOptions& options);
// Accepts a choice made from exactly these shards, and from the list as it is now. Where the list
// does not exist, as on another machine, any version of it is accepted.
Fits chosen_from_these(const ShardPlan& plan, const ShardOptions& options,
                       const std::vector<std::string>& shard_digests);

// The existing choice for this plan and these options. It may stem from shards other than the
// current ones; require_shard() checks each shard that is read.
ItemFile require_choice(const std::filesystem::path& work, const ShardPlan& plan,
                        const ShardOptions& options);
// The existing further choice for this choice.
ItemFile require_further(const std::filesystem::path& work, const ShardOptions& options,
                         const std::string& choice_digest);
// The file of a shard, which must be the one that the choice was made from; with `read` its hash is
// checked.
ItemFile require_shard(const std::multimap<int, ItemFile>& files, const ShardPlan& plan,
                       const ShardOptions& options, int number, const std::string& digest,
                       bool read);

// Each of these functions writes `file` on a local disk.
void extract_item(const Task& task, int number, const std::filesystem::path& file,
                  ShardItemReport& report);
void choose_item(const Task& task, const std::filesystem::path& file, ShardItemReport& report);
void further_item(const Task& task, const std::filesystem::path& file, ShardItemReport& report);
void match_item(const Task& task, const ShardItem& item, const LocalFolder& local,
                const std::filesystem::path& file, ShardItemReport& report);
void verify_item(const Task& task, const ShardItem& item, const LocalFolder& local,
                 const std::filesystem::path& file, ShardItemReport& report);

// Whether a step works on the blocks of choose_further instead of those of choose.
inline bool is_further(ShardStep step) { return step >= ShardStep::choose_further; }

// Accepts the file of an item of this step if it is done, by item number; `task` must outlive the
// returned function. An error if the inputs of the items do not exist.
std::function<Fits(int)> fits_of_items(const Task& task, ShardStep step);

}  // namespace cornea::shards
