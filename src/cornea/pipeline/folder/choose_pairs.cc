// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/choose_pairs.h"

#include <cmath>
#include <unordered_map>
#include <utility>

#include "cornea/core/error.h"
#include "cornea/io/content_hash.h"
#include "cornea/pipeline/folder/collection.h"
#include "cornea/pipeline/folder/view_graph.h"

namespace cornea {
namespace {

using namespace folder;

namespace fs = std::filesystem;
using colmap::Database;
using colmap::Id;
using colmap::ImagePair;

// The images of one database, whose photographs are where they were at extraction.
class DatabaseCollection : public Collection {
 public:
  DatabaseCollection(const Database& database, const fs::path& photographs)
      : database_(database), photographs_(photographs) {
    std::unordered_map<Id, std::string> names;
    for (colmap::ImageRow& row : rows()) names[row.id] = std::move(row.name);
    std::vector<std::string> refused;  // match_all() reports these
    for (const auto& [image, count] : database.descriptor_counts(&refused)) {
      images_.push_back({image, count, std::move(names[image])});
    }
  }

  std::string name() const override { return database_.file(); }
  std::vector<std::uint64_t> sources() override {
    std::unordered_map<Id, std::uint64_t> all;
    database_.visit_records([&](const colmap::ImageRecord& record) {
      all[record.image] = source_of(record);
      folders_[record.image] = record.folder;
    });
    std::vector<std::uint64_t> sources;
    sources.reserve(images_.size());
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const auto known = all.find(images_[i].id);
      sources.push_back(known == all.end() ? source_without_record(i) : known->second);
    }
    return sources;
  }
  void read_descriptors(std::size_t image, std::vector<std::uint8_t>& out) override {
    database_.read_descriptors(images_[image].id, out);
  }
  std::vector<float> scales(std::size_t image) override {
    return database_.scales(images_[image].id);
  }
  colmap::TakenRow taken(std::size_t image) override {
    const auto folder = folders_.find(images_[image].id);
    return taken_of((folder == folders_.end() ? photographs_ : fs::path(folder->second)) /
                    images_[image].name);
  }
  std::vector<colmap::ImageRow> rows() override {
    std::vector<std::string> refused;  // impossible ids, which match_all() reports
    return database_.images(&refused);
  }

 private:
  // Of features that were imported, or extracted by another program: the features themselves, and
  // the photograph, which may say when and where it was taken.
  std::uint64_t source_without_record(std::size_t image) {
    std::vector<std::uint8_t> descriptors;
    read_descriptors(image, descriptors);
    const std::vector<float> sizes = scales(image);
    std::error_code ignored;
    const fs::path file = photographs_ / images_[image].name;
    const std::string words =
        text(io::content_hash(descriptors), " ",
             io::content_hash({reinterpret_cast<const std::uint8_t*>(sizes.data()),
                               sizes.size() * sizeof(float)}),
             " ", fs::file_size(file, ignored), " ",
             fs::last_write_time(file, ignored).time_since_epoch().count());
    return io::hash_of_text(words);
  }

  const Database& database_;
  const fs::path& photographs_;
  std::unordered_map<Id, std::string> folders_;
};

}  // namespace

std::string_view name(PairChoice choice) {
  switch (choice) {
    case PairChoice::automatic:
      return "auto";
    case PairChoice::all:
      return "all";
    case PairChoice::sequential:
      return "sequential";
    case PairChoice::retrieve:
      return "retrieve";
    case PairChoice::spatial:
      return "spatial";
    case PairChoice::listed:
      return "listed";
  }
  return "";
}

void ChoosePairsOptions::validate() const {
  require(all_up_to >= 0, "all_up_to is 0 or more images, not ", all_up_to);
  require(overlap >= 1, "overlap is at least 1 image, not ", overlap);
  require(nearest >= 1, "nearest is at least 1 image, not ", nearest);
  require(std::isfinite(max_metres) && max_metres > 0, "max_metres is above 0, not ", max_metres);
  require(retrieve_features >= 0, "retrieve_features is 0 or more, not ", retrieve_features);
  require(further >= 0, "further is 0 or more pairs per image, not ", further);
  retrieve.validate();
}

ChosenPairs choose_pairs(const Context& context, const fs::path& photographs, Database& database,
                         const ChoosePairsOptions& options, const FolderEvents& events) {
  DatabaseCollection collection(database, photographs);
  return choose_from(context, collection, options, events,
                     {[&](const std::string& from) { return database.chosen_pairs(from); },
                      [&](const std::string& from, const std::vector<Id>& pairs) {
                        Database::Transaction transaction(database);
                        database.write_chosen_pairs(from, pairs);
                        transaction.commit();
                      }});
}

std::vector<ImagePair> further_pairs(const Database& database, const ChosenPairs& chosen,
                                     const ChoosePairsOptions& options) {
  return further_from(edges_of(database), chosen, options);
}

}  // namespace cornea
