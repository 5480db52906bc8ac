// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: the input of the choice of pairs: the images with features of one database,
// or of many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/export/colmap/database.h"
#include "cornea/export/colmap/transfer.h"
#include "cornea/pipeline/folder/choose_pairs.h"
#include "cornea/pipeline/folder/events.h"

namespace cornea::folder {

struct CollectionImage {
  colmap::Id id = 0;
  int features = 0;
  std::string name = {};
};

class Collection {
 public:
  virtual ~Collection() = default;
  // In ascending order of ids; the functions below identify an image by its index here.
  const std::vector<CollectionImage>& images() const { return images_; }
  virtual std::string name() const = 0;  // for error sentences
  // For each image, a hash of its file, of its mask and of the options of its features.
  virtual std::vector<std::uint64_t> sources() = 0;
  virtual void read_descriptors(std::size_t image, std::vector<std::uint8_t>& out) = 0;
  virtual std::vector<float> scales(std::size_t image) = 0;
  virtual colmap::TakenRow taken(std::size_t image) = 0;  // from EXIF
  // Includes images without features, because lists may name them.
  virtual std::vector<colmap::ImageRow> rows() = 0;

 protected:
  std::vector<CollectionImage> images_;
};

// The value of Collection::sources() for an image with this record.
std::uint64_t source_of(const colmap::ImageRecord& record);
// Read from the file itself; empty if it cannot be read.
colmap::TakenRow taken_of(const std::filesystem::path& file);

// A choice that takes long, with everything it depends on as text.
struct ChoiceMemory {
  std::function<std::optional<std::vector<colmap::Id>>(const std::string& from)> recall;
  std::function<void(const std::string& from, const std::vector<colmap::Id>& pairs)> remember;
};

// An estimate of the number of pairs before they are chosen.
std::int64_t expected_pairs(const ChoosePairsOptions& options, std::int64_t images);

// choose_pairs() for any collection.
ChosenPairs choose_from(const Context& context, Collection& collection,
                        const ChoosePairsOptions& options, const FolderEvents& events,
                        const ChoiceMemory& memory);

// further_pairs() for these geometries, in any order; those of pairs that were not chosen do not
// count.
struct Edge;
std::vector<colmap::ImagePair> further_from(std::vector<Edge> edges, const ChosenPairs& chosen,
                                            const ChoosePairsOptions& options);

}  // namespace cornea::folder
