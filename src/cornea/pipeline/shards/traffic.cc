// SPDX-License-Identifier: Apache-2.0
// Estimates how many bytes each step reads and writes.
#include <algorithm>

#include "cornea/core/error.h"
#include "cornea/pipeline/folder/collection.h"
#include "cornea/pipeline/shards/steps.h"

namespace cornea {
namespace {

namespace fs = std::filesystem;
using namespace shards;
using colmap::Database;

constexpr std::int64_t kEmptyFile = std::int64_t{1} << 20;  // one page of 64 kB per table
constexpr std::int64_t kKeypoint = 24, kDescriptor = std::int64_t(Features::kLength), kMatch = 8;

// Before extraction only the maximum number of features of an image is known.
std::int64_t most_features(const ShardOptions& options) {
  // About as many as a photograph of 12 megapixels has.
  constexpr std::int64_t kWithoutLimit = 20000;
  const SiftOptions& sift = options.folder.extract.sift;
  const int per_point = std::max(sift.orientations, 1);
  return (sift.max_points > 0 ? sift.max_points : kWithoutLimit) * per_point;
}

std::int64_t expected_further(const ShardOptions& options, std::int64_t images) {
  const ChoosePairsOptions& pairs = options.folder.pairs;
  const bool many = pairs.choice == PairChoice::automatic && images > pairs.all_up_to;
  const bool has_round =
      many || pairs.choice == PairChoice::retrieve || pairs.choice == PairChoice::spatial;
  return has_round ? images * pairs.further : 0;
}

// Sums over the blocks of match and verify.
struct BlockSums {
  std::int64_t blocks = 0, pairs = 0, features = 0;
  std::int64_t most_pairs = 0, most_features = 0;  // of a block
};

void add_blocks(std::vector<ShardTraffic>& all, ShardStep match, ShardStep verify,
                const BlockSums& sums, bool exact, std::int64_t features_per_image) {
  const std::int64_t per_pair = features_per_image * kMatch;
  const std::int64_t matches = sums.pairs * per_pair + sums.blocks * kEmptyFile;
  all.push_back({match, exact, sums.blocks, sums.features * (kKeypoint + kDescriptor), matches,
                 sums.most_features * (kKeypoint + kDescriptor)});
  // How many matches there will be is not known.
  all.push_back({verify, false, sums.blocks, sums.features * kKeypoint + matches, matches,
                 sums.most_features * kKeypoint + sums.most_pairs * per_pair + kEmptyFile});
}

BlockSums sums_of(const ItemFile& file) {
  const Database database(file.path, Database::Open::finished);
  BlockSums sums{.blocks = colmap::count_blocks(database)};
  for (int k = 1; k <= sums.blocks; ++k) {
    const colmap::PairBlock block = colmap::read_block(database, k);
    sums.pairs += std::int64_t(block.pairs.size());
    sums.features += block.features;
    sums.most_pairs = std::max(sums.most_pairs, std::int64_t(block.pairs.size()));
    sums.most_features = std::max(sums.most_features, block.features);
  }
  return sums;
}

BlockSums expected_sums(const ShardOptions& options, std::int64_t images, std::int64_t pairs) {
  BlockSums sums{.pairs = pairs};
  sums.blocks = (pairs + options.block_pairs - 1) / options.block_pairs;
  sums.most_pairs = std::min<std::int64_t>(options.block_pairs, pairs);
  const std::int64_t per_block = std::min<std::int64_t>(options.block_images, images);
  sums.features = sums.blocks * per_block * most_features(options);
  sums.most_features = per_block * most_features(options);
  return sums;
}

}  // namespace

std::vector<ShardTraffic> shard_traffic(const fs::path& work, const ShardOptions& options) {
  options.validate();
  const ShardPlan plan = read_shard_plan(work);
  const auto images = std::int64_t(plan.images.size());
  const std::int64_t features = most_features(options);
  std::vector<ShardTraffic> all;
  ShardTraffic extract{ShardStep::extract, true, plan.shards(), 0, 0, 0};
  for (int k = 1; k <= plan.shards(); ++k) {
    std::int64_t bytes = 0;
    for (const ShardImage& image : images_of_shard(plan, k)) bytes += image.bytes;
    extract.read += bytes;
    extract.most_read = std::max(extract.most_read, bytes);
  }
  extract.written = images * features * (kKeypoint + kDescriptor) + plan.shards() * kEmptyFile;
  all.push_back(extract);
  // Each shard is read once for its hash, and its descriptors and feature scales twice.
  const std::int64_t choose = 3 * extract.written;
  all.push_back({ShardStep::choose, false, 1, choose, images * 200 + kEmptyFile, choose});
  const std::int64_t further = expected_further(options, images);
  bool known = false;
  std::int64_t choice_bytes = 0;
  try {
    const ItemFile choice = require_choice(work, plan, options);
    add_blocks(all, ShardStep::match, ShardStep::verify, sums_of(choice), true, features);
    known = true;
    choice_bytes = choice.bytes;
    const std::string digest =
        colmap::note(Database(choice.path, Database::Open::finished), "digest");
    const ItemFile more = require_further(work, options, digest);
    const std::int64_t read = choice_bytes + all.back().written;
    all.push_back({ShardStep::choose_further, false, 1, read, more.bytes, read});
    add_blocks(all, ShardStep::match_further, ShardStep::verify_further, sums_of(more), true,
               features);
    return all;
  } catch (const Error&) {  // pairs are not chosen yet
  }
  if (!known) {
    const std::int64_t pairs = folder::expected_pairs(options.folder.pairs, images);
    add_blocks(all, ShardStep::match, ShardStep::verify, expected_sums(options, images, pairs),
               false, features);
  }
  const std::int64_t read = choice_bytes + all.back().written;
  all.push_back({ShardStep::choose_further, false, 1, read,
                 further * std::int64_t(sizeof(colmap::Id)) + kEmptyFile, read});
  add_blocks(all, ShardStep::match_further, ShardStep::verify_further,
             expected_sums(options, images, further), false, features);
  return all;
}

}  // namespace cornea
