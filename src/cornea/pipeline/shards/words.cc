// SPDX-License-Identifier: Apache-2.0
// The words of steps.h, which name everything that the contents of a file depend on, and how the
// files of earlier steps are found by them.
#include <algorithm>
#include <system_error>

#include "cornea/catalog/options_table.h"
#include "cornea/core/error.h"
#include "cornea/export/colmap/intrinsics.h"
#include "cornea/io/content_hash.h"
#include "cornea/pipeline/folder/options_text.h"
#include "cornea/pipeline/shards/steps.h"

namespace cornea::shards {
namespace {

using colmap::Database;

std::string schema_words(const ShardOptions& options) {
  return options.schema == colmap::Schema::colmap_4 ? "4" : "3";
}

std::string camera_words(const ExtractOptions& options) {
  std::string words = text(
      " cameras=", int(options.cameras), " camera-model=",
      colmap::name_of_model(int(options.camera_model.value_or(colmap::CameraModel::simple_radial))),
      " camera-params=");
  for (const double value : options.camera_params) words += catalog::exact_text(value) + ",";
  return words;
}

std::string pair_words(const ShardOptions& options) {
  const ChoosePairsOptions& pairs = options.folder.pairs;
  return text("choice=", name(pairs.choice), " all-up-to=", pairs.all_up_to,
              " overlap=", pairs.overlap, " ", folder::retrieve_options_text(pairs),
              " nearest=", pairs.nearest, " max-metres=", catalog::exact_text(pairs.max_metres),
              " list=", pairs.list.string(), " block-images=", options.block_images,
              " block-pairs=", options.block_pairs, " schema=", schema_words(options),
              camera_words(options.folder.extract));
}

// The hash of the list that a choice was made from; empty if there was none.
std::string list_of(const Database& database) {
  const std::vector<std::string> found = colmap::notes(database, "list");
  return found.empty() ? "" : found.front();
}

}  // namespace

Fits chosen_from_any(const ShardPlan& plan, const ShardOptions& options) {
  return [&](const Database& database) {
    return colmap::note(database, "made_of") ==
           words_of_choice(plan, options, colmap::notes(database, "shard"), list_of(database));
  };
}

std::string hash_of_list(const ShardOptions& options) {
  const std::filesystem::path& list = options.folder.pairs.list;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(list, ignored)) return "";
  return hexadecimal(io::content_hash_of_file(list));
}

Fits chosen_from_these(const ShardPlan& plan, const ShardOptions& options,
                       const std::vector<std::string>& shard_digests) {
  return [&plan, &options, shard_digests, list = hash_of_list(options)](const Database& database) {
    const std::string recorded = list_of(database);
    return colmap::note(database, "made_of") ==
           words_of_choice(plan, options, shard_digests, list.empty() ? recorded : list);
  };
}

std::string words_of_shard(const ShardPlan& plan, const ShardOptions& options, int number) {
  return text("plan=", hexadecimal(plan.key()), " shard=", number,
              " schema=", schema_words(options), " ", folder::options_text(options.folder.extract),
              camera_words(options.folder.extract),
              " masks=", options.folder.extract.masks.string());
}

std::string words_of_choice(const ShardPlan& plan, const ShardOptions& options,
                            const std::vector<std::string>& shard_digests,
                            const std::string& list) {
  std::string all;
  for (const std::string& digest : shard_digests) all += digest + "\n";
  return text("plan=", hexadecimal(plan.key()), " ", pair_words(options),
              " shards=", hexadecimal(io::hash_of_text(all)), " of-list=", list);
}

std::string words_of_matches(const std::string& choice_digest, const ShardOptions& options,
                             int block) {
  return text("pairs=", choice_digest, " block=", block, " ",
              folder::options_text(options.folder.match));
}

std::string words_of_geometries(const std::string& choice_digest, const ShardOptions& options,
                                int block) {
  return text(words_of_matches(choice_digest, options, block), " ",
              folder::options_text(options.folder.verify));
}

std::string words_of_further(const std::string& choice_digest, const ShardOptions& options) {
  return text(words_of_geometries(choice_digest, options, 0),
              " further=", options.folder.pairs.further);
}

int shard_of(const ShardPlan& plan, colmap::Id image) { return int((image - 1) / plan.size) + 1; }

std::vector<ShardImage> images_of_shard(const ShardPlan& plan, int number) {
  const std::size_t size = std::size_t(plan.size), begin = std::size_t(number - 1) * size;
  const std::size_t end = std::min(begin + size, plan.images.size());
  return {plan.images.begin() + std::ptrdiff_t(begin), plan.images.begin() + std::ptrdiff_t(end)};
}

ItemFile require_choice(const std::filesystem::path& work, const ShardPlan& plan,
                        const ShardOptions& options) {
  return require_item(files_of(work, ShardStep::choose), {ShardStep::choose, 1},
                      chosen_from_any(plan, options), true);
}

ItemFile require_further(const std::filesystem::path& work, const ShardOptions& options,
                         const std::string& choice_digest) {
  return require_item(files_of(work, ShardStep::choose_further), {ShardStep::choose_further, 1},
                      made_of(words_of_further(choice_digest, options)), true);
}

ItemFile require_shard(const std::multimap<int, ItemFile>& files, const ShardPlan& plan,
                       const ShardOptions& options, int number, const std::string& digest,
                       bool read) {
  const Fits fits = made_of(words_of_shard(plan, options, number));
  if (!digest.empty()) {
    const Fits same = [&](const Database& database) {
      return fits(database) && colmap::note(database, "digest") == digest;
    };
    if (const auto found = find_item(files, number, same, read).file) return *found;
  }
  ItemFile file = require_item(files, {ShardStep::extract, number}, fits, read);
  if (digest.empty()) return file;
  fail(ErrorCode::io, file.path.string(),
       ": its features are not those that pairs were chosen from; choose the pairs again");
}

}  // namespace cornea::shards
