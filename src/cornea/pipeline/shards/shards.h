// A collection that is too large for one machine: the steps of run_folder() cut into items, which
// any number of processes on any machines do in any order within a step.
//
//   extract           a shard of images: their features           } one item per shard
//   choose            the pairs of all images, cut into blocks      one item
//   match, verify     a block of pairs                            } one item per block
//   choose_further    the neighbours of neighbours                  one item
//   match_further, verify_further                                 } one item per block of those
//   merge_shards()    all of it in one database
//
// The plan names the images, sorted, and gives image i of them the id i + 1; shards are ranges of
// `size` images. Nothing depends on how many workers there are. The result has the contents of
// run_folder() on the same folder, row by row. (Where a photograph could not be read its id stays
// free here, and is the next image's there: ids, and what is drawn at random by ids, differ then.)
//
// An item is a COLMAP database, made on a local disk and moved into place whole as
// WORK/STEP/NUMBER.BYTES.HASH.db. It is done when this file is there, has so many bytes with this
// hash (XXH64), and was made of what it would be made of now. SQLite never works on WORK itself,
// which may therefore be a network mount. Two processes that do one item at once do no harm.
//
// Order. Images are ordered by the components of the chosen pairs, and within one so that each next
// image has the most pairs with those that came just before; pairs are then taken by clusters of
// that order and cut into blocks of at most `block_images` images. So the features that a block
// reads are bounded, and an image is read by few blocks.
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
  std::int64_t bytes = 0;  // of its file
};

struct CORNEA_API ShardPlan {
  std::string photographs = {};  // the folder by its full name, or whatever names it elsewhere
  int size = 1000;               // images per shard; the last may have fewer
  std::vector<std::string> words = {};  // what the caller wants to keep with it: its options
  std::vector<ShardImage> images = {};  // sorted by bytes of their names, each once

  int shards() const;
  std::uint64_t key() const;  // a number for all of it
  void validate() const;
};

// Of a folder, as list_images() finds it. `unreadable` gets a sentence for each folder in it that
// cannot be read.
CORNEA_API ShardPlan plan_shards(const std::filesystem::path& photographs,
                                 const std::filesystem::path& masks = {}, int size = 1000,
                                 std::vector<std::string>* unreadable = nullptr);
// Of a list instead: a file with a line "BYTES NAME" per image, where bytes of NAME that are
// control characters, and %, are %XX. Names that list_images() would not take are left out.
CORNEA_API ShardPlan plan_listed_shards(const std::string& photographs,
                                        const std::filesystem::path& list, int size = 1000);
// Makes WORK with the plan. Nothing happens where it has the same one; an error where another.
CORNEA_API void write_shard_plan(const std::filesystem::path& work, const ShardPlan& plan);
CORNEA_API ShardPlan read_shard_plan(const std::filesystem::path& work);

struct CORNEA_API ShardOptions {
  FolderOptions folder = {};  // without its `changed` and `redo`
  std::optional<colmap::Schema> schema = {};
  int block_images = 1000;  // most images of a block of pairs
  int block_pairs = 10000;  // most pairs of it
  // Where files are made before they are moved: a folder on a local disk. Empty: the system's.
  std::filesystem::path local = {};
  bool redo = false;  // the item is made again, though it is done

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
  int number = 1;  // from 1
};

// Items of a step. An error where that is not known yet, because pairs are not chosen.
CORNEA_API int count_items(const std::filesystem::path& work, const ShardPlan& plan, ShardStep step,
                           const ShardOptions& options = {});

struct ShardItemReport {
  std::filesystem::path file = {};
  bool already = false;  // it was done before
  bool damaged = false;  // a file of it was there and was damaged; FolderEvents::note says which
  bool stopped = false;  // by FolderEvents::stop: nothing is kept
  // A sentence each for what could not be done and is not in the file: photographs that cannot be
  // read or are not those of the plan, lines of a list of pairs. Those of an item that was done
  // before are told again.
  std::vector<std::string> failed = {};
  std::int64_t images = 0;    // of extract: with features; of blocks: whose features were read
  std::int64_t features = 0;  // of these images
  std::int64_t pairs = 0;     // chosen, matched or verified
  int blocks = 0;             // of choose and choose_further
  std::int64_t bytes_read = 0, bytes_written = 0;  // of photographs and of files in WORK
  double milliseconds = 0;
};

// Does one item, unless it is done. `photographs` is where the plan's folder is on this machine;
// empty: where the plan says. An error where an earlier step is not done, or what it left does not
// fit: the sentence says which item to do again. FolderEvents::note tells why an item that is there
// is made again.
CORNEA_API ShardItemReport run_shard_item(const Context& context, const std::filesystem::path& work,
                                          const ShardItem& item, const ShardOptions& options = {},
                                          const FolderEvents& events = {},
                                          const std::filesystem::path& photographs = {});

struct ShardStepStatus {
  ShardStep step = ShardStep::extract;
  bool known = true;  // whether it is known how many items there are
  int items = 0;
  std::vector<int> open = {};            // numbers of items that are not done
  std::int64_t bytes = 0;                // of the files of those that are
  std::vector<std::string> failed = {};  // ShardItemReport::failed of these
};
struct CORNEA_API ShardStatus {
  std::vector<ShardStepStatus> steps = {};
  std::vector<std::string> damaged = {};  // a sentence for each file that does not fit
  bool done() const;
};
// With `check` every file is read and its hash compared; otherwise its size. Options as in the
// items; those of other options are open.
CORNEA_API ShardStatus shard_status(const std::filesystem::path& work,
                                    const ShardOptions& options = {}, bool check = false);

// What a step will read and write: before it begins, and before pairs are chosen, at most.
struct ShardTraffic {
  ShardStep step = ShardStep::extract;
  bool exact = false;  // of what is read
  std::int64_t items = 0, read = 0, written = 0;
  std::int64_t most_read = 0;  // by one item
};
CORNEA_API std::vector<ShardTraffic> shard_traffic(const std::filesystem::path& work,
                                                   const ShardOptions& options = {});

struct CORNEA_API MergeOptions {
  // A database for each component of the verified pairs as well, the largest first:
  // component_0001.db and so on. Empty: none. Image and camera ids are those of the whole.
  std::filesystem::path by_component = {};
  bool descriptors = true;  // mappers do not need them
  bool whole = true;        // whether the one database is made
};
struct MergeReport {
  std::int64_t images = 0, features = 0, cameras = 0, pairs = 0, verified = 0;
  std::vector<int> components = {};  // images of each with more than one
  std::int64_t unconnected = 0;      // images
  std::int64_t bytes = 0;            // written
  std::vector<std::string> failed = {};
  double milliseconds = 0;
};
// An error where an item is not done, or its file is damaged. The databases are made on the local
// disk and moved into place whole; those that are there are replaced.
CORNEA_API MergeReport merge_shards(const std::filesystem::path& work,
                                    const std::filesystem::path& database,
                                    const ShardOptions& options = {},
                                    const MergeOptions& merge = {},
                                    const FolderEvents& events = {});

}  // namespace cornea
