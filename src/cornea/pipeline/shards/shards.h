// SPDX-License-Identifier: Apache-2.0
// For a collection that is too large for one machine: the steps of run_folder() split into items
// that any number of processes on any machines can do, in any order within a step.
//
//   extract           a shard of images: their features           } one item per shard
//   choose            the pairs of all images, split into blocks    one item
//   match, verify     a block of pairs                            } one item per block
//   choose_further    the neighbours of neighbours                  one item
//   match_further, verify_further                                 } one item per block of those
//   merge_shards()    all of it in one database
//
// The plan lists the images, sorted; ids count from 1 in this order. Shards are ranges of `size`
// images. The result does not depend on the number of workers, and equals that of run_folder() on
// the same folder row by row. (The exception is a photograph that could not be read: its id stays
// unused here, whereas run_folder() gives it to the next image. Ids, and what is drawn at random by
// id, then differ.)
//
// An item is a COLMAP database, written on a local disk and moved into place whole as
// WORK/STEP/NUMBER.BYTES.HASH.db. It is done if this file exists, has BYTES bytes and the hash HASH
// (XXH64), and was made from the inputs and options that it would be made from now. SQLite never
// writes to WORK and reads finished files there without locks, so that WORK may be a network mount.
// Two processes that do the same item at once do no harm.
//
// Order. Images are ordered by the components of the chosen pairs, and within a component so that
// each image has the most pairs with those just before it. Pairs are then taken by clusters of
// that order and split into blocks of at most `block_images` images. This bounds the features that
// a block reads, and few blocks read the same image.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/export/colmap/database.h"
#include "cornea/pipeline/folder/events.h"
#include "cornea/pipeline/folder/run_folder.h"

namespace cornea {

struct ShardImage {
  std::string name = {};
  std::int64_t bytes = 0;  // size of its file
};

struct CORNEA_API ShardPlan {
  std::string photographs = {};         // absolute path of the folder, or any name for it
  int size = 1000;                      // images per shard; the last may have fewer
  std::vector<std::string> words = {};  // what the caller stores with the plan, such as its options
  std::vector<ShardImage> images = {};  // sorted by the bytes of their names, each once

  int shards() const;
  std::uint64_t key() const;  // a hash of the whole plan
  void validate() const;
};

// Plans a folder as list_images() finds it. `unreadable` receives one sentence for each subfolder
// that cannot be read.
CORNEA_API ShardPlan plan_shards(const std::filesystem::path& photographs,
                                 const std::filesystem::path& masks = {}, int size = 1000,
                                 std::vector<std::string>* unreadable = nullptr);
// Plans a list instead: a file with one line "BYTES NAME" per image, in which control characters
// and % of NAME are written as %XX. Names are relative to the folder; those that list_images()
// would not accept are left out.
CORNEA_API ShardPlan plan_listed_shards(const std::string& photographs,
                                        const std::filesystem::path& list, int size = 1000);
// Creates WORK and writes the plan to it. Does nothing if WORK has the same plan; an error if it
// has another.
CORNEA_API void write_shard_plan(const std::filesystem::path& work, const ShardPlan& plan);
CORNEA_API ShardPlan read_shard_plan(const std::filesystem::path& work);

struct CORNEA_API ShardOptions {
  FolderOptions folder = {};  // its `changed` and `redo` are not used
  std::optional<colmap::Schema> schema = {};
  int block_images = 1000;  // maximum number of images of a block of pairs
  int block_pairs = 10000;  // maximum number of pairs of a block
  // Where files are written before they are moved: a folder on a local disk. Empty: the system's
  // folder for temporary files.
  std::filesystem::path local = {};
  bool redo = false;  // do the item again even if it is done

  void validate() const;
};

enum class ShardStep {
  extract,
  choose,
  match,
  verify,
  choose_further,
  match_further,
  verify_further
};
inline constexpr int kShardSteps = 7;
CORNEA_API std::string_view name(ShardStep step);

struct ShardItem {
  ShardStep step = ShardStep::extract;
  int number = 1;  // counted from 1
};

// The number of items of a step. An error if it is not known yet because pairs have not been
// chosen.
CORNEA_API int count_items(const std::filesystem::path& work, const ShardPlan& plan, ShardStep step,
                           const ShardOptions& options = {});

struct ShardItemReport {
  std::filesystem::path file = {};
  bool already = false;  // the item was done before
  bool damaged = false;  // an existing file of it was damaged; FolderEvents::note says which
  bool stopped = false;  // stopped by FolderEvents::stop; nothing is kept
  // One sentence for each thing that could not be done and is missing in the file: photographs that
  // cannot be read or differ from the plan, lines of a list of pairs. If the item was done before,
  // its sentences are reported again.
  std::vector<std::string> failed = {};
  // The numbers below are those of this run: 0 if the item was done before, except for `blocks`.
  // extract: images with features; blocks: images whose features were read
  std::int64_t images = 0;
  std::int64_t features = 0;                       // of these images
  std::int64_t pairs = 0;                          // chosen, matched or verified
  int blocks = 0;                                  // of choose and choose_further
  std::int64_t bytes_read = 0, bytes_written = 0;  // photographs and files in WORK
  double milliseconds = 0;
};

// Does one item unless it is done. `photographs` is where the plan's folder is on this machine;
// empty: where the plan says. An error if an earlier step is not done, or if its files are damaged
// or were made from other inputs; the sentence says which item to do again. FolderEvents::note
// reports why an existing item is done again.
CORNEA_API ShardItemReport run_shard_item(const Context& context, const std::filesystem::path& work,
                                          const ShardItem& item, const ShardOptions& options = {},
                                          const FolderEvents& events = {},
                                          const std::filesystem::path& photographs = {});

struct ShardStepStatus {
  ShardStep step = ShardStep::extract;
  bool known = true;  // whether the number of items is known
  int items = 0;
  std::vector<int> open = {};            // numbers of the items that are not done
  std::int64_t bytes = 0;                // size of the files of those that are done
  std::vector<std::string> failed = {};  // ShardItemReport::failed of the items that are done
};
struct CORNEA_API ShardStatus {
  std::vector<ShardStepStatus> steps = {};
  // One sentence for each file that is damaged or was made from other inputs.
  std::vector<std::string> damaged = {};
  bool done() const;
};
// With `check` the hash of every file is verified; otherwise only its size. Options as for the
// items; an item done with other options counts as open.
CORNEA_API ShardStatus shard_status(const std::filesystem::path& work,
                                    const ShardOptions& options = {}, bool check = false);

// An estimate of what a step will read and write, before it begins, for images with as many points
// as the cap allows (20,000 without one).
struct ShardTraffic {
  ShardStep step = ShardStep::extract;
  bool exact = false;  // whether `read` is exact
  std::int64_t items = 0, read = 0, written = 0;
  std::int64_t most_read = 0;  // the largest for one item
};
CORNEA_API std::vector<ShardTraffic> shard_traffic(const std::filesystem::path& work,
                                                   const ShardOptions& options = {});

struct CORNEA_API MergeOptions {
  // If not empty, also writes one database per component of the verified pairs to this folder, the
  // largest first: component_0001.db and so on. Image and camera ids are those of the whole.
  std::filesystem::path by_component = {};
  bool descriptors = true;  // whether they are copied; mappers do not need them
  bool whole = true;        // whether the one database with everything is written
};
struct MergeReport {
  std::int64_t images = 0, features = 0, cameras = 0, pairs = 0, verified = 0;
  std::vector<int> components = {};  // sizes of the components with at least two images
  std::int64_t unconnected = 0;      // images in no verified pair
  std::int64_t bytes = 0;            // written
  std::vector<std::string> failed = {};
  bool stopped = false;  // by FolderEvents::stop; a database that was begun is not kept
  double milliseconds = 0;
};
// An error if an item is not done or its file is damaged. The databases are written on the local
// disk and moved into place whole; existing ones are replaced, and further component_NNNN.db of an
// earlier merge are removed.
CORNEA_API MergeReport merge_shards(const std::filesystem::path& work,
                                    const std::filesystem::path& database,
                                    const ShardOptions& options = {},
                                    const MergeOptions& merge = {},
                                    const FolderEvents& events = {});

}  // namespace cornea
