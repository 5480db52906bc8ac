// SPDX-License-Identifier: Apache-2.0
// The choose and choose_further items: choose pairs over all shards and split them into blocks.
#include <algorithm>
#include <list>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "cornea/core/error.h"
#include "cornea/io/content_hash.h"
#include "cornea/pipeline/folder/collection.h"
#include "cornea/pipeline/folder/image_order.h"
#include "cornea/pipeline/folder/view_graph.h"
#include "cornea/pipeline/shards/steps.h"

namespace cornea::shards {
namespace {

namespace fs = std::filesystem;
using colmap::Database;
using colmap::Id;
using colmap::ImagePair;

// The images of all shards. At most kMostOpen of their files are open at a time.
class ShardCollection : public folder::Collection {
 public:
  ShardCollection(const Task& task, ShardItemReport& report) : work_(task.work), plan_(task.plan) {
    const std::multimap<int, ItemFile> files = files_of(task.work, ShardStep::extract);
    for (int k = 1; k <= plan_.shards(); ++k) {
      files_.push_back(require_shard(files, plan_, task.options, k, "", true));
      report.bytes_read += files_.back().bytes;
    }
    for (int k = 1; k <= plan_.shards(); ++k) {
      const Database& shard = open(k);
      digests_.push_back(colmap::note(shard, "digest"));
      std::unordered_map<Id, std::string> names;
      for (colmap::ImageRow& row : shard.images()) {
        names[row.id] = row.name;
        rows_.push_back(std::move(row));
      }
      for (const auto& [image, count] : shard.descriptor_counts()) {
        images_.push_back({image, count, std::move(names[image])});
      }
    }
  }

  std::string name() const override { return work_.string(); }
  std::vector<std::uint64_t> sources() override {
    std::unordered_map<Id, std::uint64_t> all;
    for (int k = 1; k <= plan_.shards(); ++k) {
      open(k).visit_records([&](const colmap::ImageRecord& record) {
        all[record.image] = folder::source_of(record);
      });
    }
    std::vector<std::uint64_t> sources;
    sources.reserve(images_.size());
    for (const folder::CollectionImage& image : images_) sources.push_back(all[image.id]);
    return sources;
  }
  void read_descriptors(std::size_t image, std::vector<std::uint8_t>& out) override {
    shard_with(image).read_descriptors(images_[image].id, out);
  }
  std::vector<float> scales(std::size_t image) override {
    return shard_with(image).scales(images_[image].id);
  }
  colmap::TakenRow taken(std::size_t image) override {
    return colmap::taken(shard_with(image), images_[image].id);
  }
  std::vector<colmap::ImageRow> rows() override { return rows_; }

  const std::vector<std::string>& digests() const { return digests_; }
  const Database& open(int number) {
    // Well below the usual limit of 1,024 open files per process.
    constexpr std::size_t kMostOpen = 200;
    const auto known = open_.find(number);
    if (known != open_.end()) {
      recent_.splice(recent_.begin(), recent_, known->second);
      return recent_.front().second;
    }
    if (open_.size() >= kMostOpen) {
      open_.erase(recent_.back().first);
      recent_.pop_back();
    }
    recent_.emplace_front(number,
                          Database(files_[std::size_t(number - 1)].path, Database::Open::finished));
    open_[number] = recent_.begin();
    return recent_.front().second;
  }

 private:
  const Database& shard_with(std::size_t image) { return open(shard_of(plan_, images_[image].id)); }

  const fs::path& work_;
  const ShardPlan& plan_;
  std::vector<ItemFile> files_;
  std::vector<std::string> digests_;
  std::vector<colmap::ImageRow> rows_;
  std::list<std::pair<int, Database>> recent_;
  std::unordered_map<int, std::list<std::pair<int, Database>>::iterator> open_;
};

// The cameras of all shards, with the ids that one run over all images would give them. Images of
// different shards share a camera by the same rule as images within one shard.
class WholeCameras {
 public:
  WholeCameras(Database& out, CameraSharing sharing) : out_(out), sharing_(sharing) {}

  void add_shard(const Database& shard, const fs::path& file) {
    std::unordered_map<Id, colmap::Camera> cameras;
    for (const colmap::Camera& camera : shard.cameras()) cameras[camera.id] = camera;
    std::unordered_map<Id, std::string> common;
    for (const auto& [words, camera] : shard.camera_groups()) common[camera] = words;
    std::unordered_map<Id, Id> own;  // ids in this shard -> ids in the whole
    for (const colmap::ImageRow& row : shard.images()) {
      const std::string group = group_of(row, common[row.camera]);
      Id& camera = group.empty() ? own[row.camera] : groups_[group].id;
      const colmap::Camera& here = cameras[row.camera];
      if (camera == 0) {
        camera = out_.add_camera(here);
        if (!group.empty()) groups_[group] = {camera, here.width, here.height};
        if (!common[row.camera].empty()) out_.write_camera_group(camera, common[row.camera]);
      } else if (!group.empty()) {
        check_size(groups_[group], here, row, file);
      }
      out_.add_image(row.name, camera, row.id);
    }
  }

 private:
  struct Shared {
    Id id = 0;
    int width = 0, height = 0;
  };

  std::string group_of(const colmap::ImageRow& row, const std::string& common) const {
    switch (sharing_) {
      case CameraSharing::single:
        return "single";
      case CameraSharing::per_folder:
        return row.name.substr(0, row.name.rfind('/') + 1) + "/";
      case CameraSharing::per_image:
        return "";
      case CameraSharing::automatic:
        break;
    }
    return common;
  }

  static void check_size(const Shared& shared, const colmap::Camera& here,
                         const colmap::ImageRow& row, const fs::path& file) {
    if (here.width == shared.width && here.height == shared.height) return;
    fail(ErrorCode::io, file.string(), ": ", row.name, " has ", here.width, " x ", here.height,
         " pixels, but the camera that it shares with images of other shards has ", shared.width,
         " x ", shared.height, "; ask for cameras = auto");
  }

  Database& out_;
  const CameraSharing sharing_;
  std::unordered_map<std::string, Shared> groups_;
};

std::vector<ImagePair> all_pairs(const std::vector<folder::CollectionImage>& images) {
  std::vector<ImagePair> pairs;
  pairs.reserve(images.size() * (images.size() - (images.empty() ? 0 : 1)) / 2);
  for (std::size_t i = 0; i < images.size(); ++i) {
    for (std::size_t j = i + 1; j < images.size(); ++j) {
      pairs.push_back({images[i].id, images[j].id});
    }
  }
  return pairs;
}

// Splits pairs into blocks and writes them, with the digest by which later items recognise this
// choice. Must run within a transaction.
void write_blocks(Database& out, const std::vector<ImagePair>& pairs, bool all,
                  const std::unordered_map<Id, int>& features, const std::string& words,
                  const ShardOptions& options, ShardItemReport& report) {
  std::vector<Id> order;
  if (all) {  // all pairs are chosen, so no order keeps related images together better than another
    for (const ImagePair& pair : pairs) {
      if (order.empty() || order.back() != pair.first) order.push_back(pair.first);
    }
    if (!pairs.empty()) order.push_back(pairs.back().second);
  } else {
    order = folder::order_of(pairs, options.block_images / 2);
  }
  std::string digest = words;
  const auto blocks = folder::blocks_of(pairs, order, options.block_images, options.block_pairs);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const std::vector<Id> images = folder::images_of(blocks[k]);
    colmap::PairBlock block{blocks[k], std::int64_t(images.size()), 0};
    for (const Id image : images) block.features += features.at(image);
    colmap::write_block(out, int(k + 1), block);
    digest.append(reinterpret_cast<const char*>(blocks[k].data()), blocks[k].size() * sizeof(Id));
    digest += '\n';
  }
  report.blocks = int(blocks.size());
  report.pairs = std::int64_t(pairs.size());
  colmap::write_note(out, "digest", hexadecimal(io::hash_of_text(digest)));
  colmap::write_note(out, "made_of", words);
}

// Reports photographs that were added after the plan was made, and those whose size changed after
// their shard was made. Does nothing if the folder does not exist on this machine.
void report_changes(const Task& task, const std::vector<folder::CollectionImage>& images,
                    ShardItemReport& report) {
  std::error_code ignored;
  if (!fs::is_directory(task.photographs, ignored)) return;
  const auto say = [&](const std::vector<std::string>& names, const char* one, const char* several,
                       const char* what) {
    if (names.empty()) return;
    report.failed.push_back(text(task.photographs.string(), ": ", names.size(),
                                 names.size() == 1 ? one : several, what, names.front(),
                                 names.size() == 1 ? "" : " and others",
                                 "; make a new plan in another folder to include all photographs"));
    task.events.report(report.failed.back());
  };
  std::vector<std::string> added, changed;
  for (const std::string& name :
       list_images(task.photographs, task.options.folder.extract.masks).names) {
    const auto at = std::lower_bound(
        task.plan.images.begin(), task.plan.images.end(), name,
        [](const ShardImage& image, const std::string& other) { return image.name < other; });
    if (at == task.plan.images.end() || at->name != name) added.push_back(name);
  }
  say(added, " photograph is", " photographs are", " not in the plan and therefore left out: ");
  for (const folder::CollectionImage& image : images) {
    const std::int64_t planned = task.plan.images[std::size_t(image.id - 1)].bytes;
    const auto now = fs::file_size(task.photographs / image.name, ignored);
    if (ignored || std::int64_t(now) != planned) changed.push_back(image.name);
  }
  say(changed, " photograph has", " photographs have",
      " changed since the plan, but not their features: ");
}

}  // namespace

void choose_item(const Task& task, const fs::path& file, ShardItemReport& report) {
  ShardCollection collection(task, report);
  report.images = std::int64_t(collection.images().size());
  report_changes(task, collection.images(), report);
  std::string from;
  std::vector<Id> remembered;
  const std::string list = hash_of_list(task.options);
  ChosenPairs chosen =
      folder::choose_from(task.context, collection, task.options.folder.pairs, task.events,
                          {[](const std::string&) { return std::nullopt; },
                           [&](const std::string& words, const std::vector<Id>& pairs) {
                             from = words;
                             remembered = pairs;
                           }});
  if ((report.stopped = chosen.stopped)) return;
  for (const std::string& sentence : chosen.refused) {
    report.failed.push_back(sentence);
    task.events.report(sentence);
  }
  const bool all = chosen.choice == PairChoice::all;
  if (all) chosen.pairs = all_pairs(collection.images());
  std::unordered_map<Id, int> features;
  for (const folder::CollectionImage& image : collection.images()) {
    features[image.id] = image.features;
    report.features += image.features;
  }
  // A pair from a list may name an image without features.
  std::erase_if(chosen.pairs, [&](const ImagePair& pair) {
    return !features.contains(pair.first) || !features.contains(pair.second);
  });
  Database out(file, Database::Open::scratch, task.options.schema);
  Database::Transaction transaction(out);
  WholeCameras cameras(out, task.options.folder.extract.cameras);
  for (int k = 1; k <= task.plan.shards(); ++k) {
    const Database& shard = collection.open(k);
    cameras.add_shard(shard, shard.file());
    colmap::write_note(out, "shard", collection.digests()[std::size_t(k - 1)]);
  }
  if (!from.empty()) {
    out.write_chosen_pairs(from, remembered);
    colmap::write_note(out, "chosen_from", from);
  }
  colmap::write_note(out, "choice", std::string(name(chosen.choice)));
  if (!list.empty()) colmap::write_note(out, "list", list);
  for (const std::string& sentence : report.failed) colmap::write_note(out, "failed", sentence);
  write_blocks(out, chosen.pairs, all, features,
               words_of_choice(task.plan, task.options, collection.digests(), list), task.options,
               report);
  for (const folder::CollectionImage& image : collection.images()) {
    colmap::write_count(out, image.id, image.features);
  }
  transaction.commit();
}

void further_item(const Task& task, const fs::path& file, ShardItemReport& report) {
  const ItemFile choice_file = require_choice(task.work, task.plan, task.options);
  report.bytes_read += choice_file.bytes;
  const Database choice(choice_file.path, Database::Open::finished);
  const std::string digest = colmap::note(choice, "digest");
  ChosenPairs chosen;
  const std::string how = colmap::note(choice, "choice");
  for (const PairChoice one : {PairChoice::all, PairChoice::sequential, PairChoice::retrieve,
                               PairChoice::spatial, PairChoice::listed}) {
    if (name(one) == how) chosen.choice = one;
  }
  std::vector<folder::Edge> edges;
  const std::multimap<int, ItemFile> files = files_of(task.work, ShardStep::verify);
  const bool wanted =
      task.options.folder.pairs.further > 0 &&
      (chosen.choice == PairChoice::retrieve || chosen.choice == PairChoice::spatial);
  for (int k = 1; k <= colmap::count_blocks(choice); ++k) {
    // Required even if no further pairs are wanted: the further round comes after all other items.
    const ItemFile verified =
        require_item(files, {ShardStep::verify, k},
                     made_of(words_of_geometries(digest, task.options, k)), wanted);
    if (!wanted) continue;
    for (const Id pair : colmap::read_block(choice, k).pairs) {
      chosen.pairs.push_back(colmap::pair_of(pair));
    }
    report.bytes_read += verified.bytes;
    const Database block(verified.path, Database::Open::finished);
    const std::vector<folder::Edge> more = folder::edges_of(block);
    edges.insert(edges.end(), more.begin(), more.end());
  }
  const std::vector<ImagePair> pairs =
      folder::further_from(std::move(edges), chosen, task.options.folder.pairs);
  std::unordered_map<Id, int> features;
  for (const ImagePair& pair : pairs) {
    for (const Id image : {pair.first, pair.second}) {
      if (!features.contains(image)) features[image] = colmap::read_count(choice, image);
    }
  }
  Database out(file, Database::Open::scratch, task.options.schema);
  Database::Transaction transaction(out);
  write_blocks(out, pairs, false, features, words_of_further(digest, task.options), task.options,
               report);
  transaction.commit();
}

}  // namespace cornea::shards
