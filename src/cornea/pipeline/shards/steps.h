// Inside of pipeline: what the items of shards.h do, step by step.
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
  const std::filesystem::path& photographs;  // on this machine
};

// All that the contents of a file depend on, as text. A choice has a digest: what it chose, from
// what.
std::string words_of_shard(const ShardPlan& plan, const ShardOptions& options, int number);
std::string words_of_choice(const ShardPlan& plan, const ShardOptions& options,
                            const std::vector<std::string>& shard_digests);
std::string words_of_further(const std::string& choice_digest, const ShardOptions& options);
std::string words_of_matches(const std::string& choice_digest, const ShardOptions& options,
                             int block);
std::string words_of_geometries(const std::string& choice_digest, const ShardOptions& options,
                                int block);

int shard_of(const ShardPlan& plan, colmap::Id image);  // from 1
// The folder's or its part's photographs of a shard, by rising id.
std::vector<ShardImage> images_of_shard(const ShardPlan& plan, int number);

// The choice that is there for this plan and these options; where `shards_fit` it need not be of
// the shards that are there now, which whoever reads one of them checks.
ItemFile require_choice(const std::filesystem::path& work, const ShardPlan& plan,
                        const ShardOptions& options);
// The further one that is there for this choice.
ItemFile require_further(const std::filesystem::path& work, const ShardOptions& options,
                         const std::string& choice_digest);
// Shards as the choice saw them: of each the file, whose hash is compared where `read`.
ItemFile require_shard(const std::multimap<int, ItemFile>& files, const ShardPlan& plan,
                       const ShardOptions& options, int number, const std::string& digest,
                       bool read);

// Each makes `file` on a local disk.
void extract_item(const Task& task, int number, const std::filesystem::path& file,
                  ShardItemReport& report);
void choose_item(const Task& task, const std::filesystem::path& file, ShardItemReport& report);
void further_item(const Task& task, const std::filesystem::path& file, ShardItemReport& report);
void match_item(const Task& task, const ShardItem& item, const LocalFolder& local,
                const std::filesystem::path& file, ShardItemReport& report);
void verify_item(const Task& task, const ShardItem& item, const LocalFolder& local,
                 const std::filesystem::path& file, ShardItemReport& report);

// The choice that a step's blocks are of: choose, or choose_further.
inline bool is_further(ShardStep step) { return step >= ShardStep::choose_further; }

// The words by which items of this step are done, by their number; `task` is used as long as they
// are asked for. An error where what they are made of is not there.
std::function<std::string(int)> words_of_items(const Task& task, ShardStep step);

}  // namespace cornea::shards
