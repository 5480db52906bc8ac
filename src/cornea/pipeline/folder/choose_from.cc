// SPDX-License-Identifier: Apache-2.0
// choose_pairs() of choose_pairs.h, for any collection.
#include <algorithm>
#include <fstream>
#include <numeric>
#include <optional>
#include <utility>

#include "cornea/catalog/options_table.h"
#include "cornea/core/error.h"
#include "cornea/core/lower_case.h"
#include "cornea/core/stopwatch.h"
#include "cornea/io/content_hash.h"
#include "cornea/io/exif.h"
#include "cornea/pipeline/folder/collection.h"
#include "cornea/pipeline/folder/image_names.h"
#include "cornea/pipeline/folder/options_text.h"
#include "cornea/pipeline/folder/positions.h"
#include "cornea/pipeline/folder/sequences.h"
#include "cornea/pipeline/folder/view_graph.h"

namespace cornea::folder {
namespace {

using namespace core;

namespace fs = std::filesystem;
using colmap::Id;
using colmap::ImagePair;

// The EXIF data of a photograph; empty if it cannot be read. In a JPEG it precedes the pixels, in
// other formats it may follow them.
std::optional<Exif> exif_of(const fs::path& file) {
  constexpr std::streamsize kFront = std::streamsize{1} << 18;
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  const std::string ending = in_lower_case(file.extension().string());
  std::error_code failed;
  const auto size = std::streamsize(fs::file_size(file, failed));
  if (failed) return std::nullopt;
  const bool jpeg = ending == ".jpg" || ending == ".jpeg";
  std::vector<std::uint8_t> bytes(std::size_t(jpeg ? std::min(size, kFront) : size));
  in.read(reinterpret_cast<char*>(bytes.data()), std::streamsize(bytes.size()));
  bytes.resize(std::size_t(in.gcount()));
  return decode_exif(bytes);
}

class Choosing {
 public:
  Choosing(const Context& context, Collection& collection, const ChoosePairsOptions& options,
           const FolderEvents& events, const ChoiceMemory& memory)
      : context_(context),
        collection_(collection),
        images_(collection.images()),
        options_(options),
        events_(events),
        memory_(memory) {}

  ChosenPairs run() {
    const Stopwatch watch;
    chosen_.images = int(images_.size());
    chosen_.choice = options_.choice;
    if (options_.choice == PairChoice::automatic) {
      const bool few = chosen_.images <= options_.all_up_to;
      chosen_.choice = few ? PairChoice::all : PairChoice::retrieve;
    }
    switch (chosen_.choice) {
      case PairChoice::all:
        chosen_.count = std::int64_t(images_.size()) * (std::int64_t(images_.size()) - 1) / 2;
        break;
      case PairChoice::sequential:
        follow_names();
        break;
      case PairChoice::listed:
        read_list();
        break;
      default:
        choose_or_remember();
    }
    if (chosen_.choice != PairChoice::all) take_pairs();
    chosen_.milliseconds = watch.milliseconds();
    return std::move(chosen_);
  }

 private:
  void add(int first, int second) {
    ids_.push_back(
        colmap::pair_id({images_[std::size_t(first)].id, images_[std::size_t(second)].id}));
  }

  // Indices of the images in the order of their names, which does not depend on when they were
  // added.
  const std::vector<int>& by_name() {
    if (by_name_.size() != images_.size()) {
      by_name_.resize(images_.size());
      std::iota(by_name_.begin(), by_name_.end(), 0);
      std::sort(by_name_.begin(), by_name_.end(), [&](int a, int b) {
        return images_[std::size_t(a)].name < images_[std::size_t(b)].name;
      });
    }
    return by_name_;
  }
  // Adds pairs of positions in by_name().
  void add_named(const std::vector<Neighbours>& neighbours) {
    const std::vector<int>& order = by_name();
    for (const auto& [first, second] : neighbours) {
      add(order[std::size_t(first)], order[std::size_t(second)]);
    }
  }

  void follow_names() {
    const std::vector<int>& order = by_name();
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = i + 1; j < order.size() && j - i <= std::size_t(options_.overlap); ++j) {
        add(order[i], order[j]);
      }
    }
  }

  void read_list() {
    PairList list = read_pair_list(options_.list, ImageNames(collection_.rows()));
    for (const ImagePair& pair : list.pairs) ids_.push_back(colmap::pair_id(pair));
    chosen_.refused = std::move(list.refused);
  }

  // Everything that the choice depends on, as text.
  std::string chosen_from() {
    const std::vector<std::uint64_t> sources = collection_.sources();
    std::string all;
    for (std::size_t i = 0; i < images_.size(); ++i) {
      all += text(images_[i].id, " ", images_[i].features, " ", sources[i], " ", images_[i].name,
                  '\n');
    }
    std::string what = text("images=", io::hash_of_text(all), " choice=", name(options_.choice));
    if (chosen_.choice == PairChoice::spatial) {
      return text(what, " nearest=", options_.nearest,
                  " max_metres=", catalog::exact_text(options_.max_metres));
    }
    what += " " + retrieve_options_text(options_);
    if (options_.choice == PairChoice::automatic) what += text(" overlap=", options_.overlap);
    return what;
  }

  void choose_or_remember() {
    const std::string from = chosen_from();
    if (auto known = memory_.recall(from)) {
      ids_ = std::move(*known);
      chosen_.remembered = true;
      return;
    }
    if (chosen_.choice == PairChoice::spatial) {
      choose_by_position();
    } else {
      retrieve();
      if (options_.choice == PairChoice::automatic && !chosen_.stopped) add_sequences();
    }
    if (chosen_.stopped) return ids_.clear();
    sort_ids();
    memory_.remember(from, ids_);
  }

  void choose_by_position() {
    std::vector<std::optional<GpsPosition>> positions;
    for (const int i : by_name()) {
      if ((chosen_.stopped = events_.stop())) return;
      positions.push_back(collection_.taken(std::size_t(i)).position);
      chosen_.without_position += !positions.back();
    }
    const int known = chosen_.images - chosen_.without_position;
    if (known < 2) {
      fail(ErrorCode::io, collection_.name(), ": ", known, " of ", chosen_.images,
           " images have a GPS position in their files; choose pairs in another way");
    }
    if (chosen_.without_position > 0) {
      events_.note(text(chosen_.without_position, " of ", chosen_.images,
                        " images have no GPS position in their files and are in no pair"));
    }
    add_named(neighbours_by_position(positions, options_.nearest, options_.max_metres));
  }

  void add_sequences() {
    std::vector<std::string> names;
    names.reserve(images_.size());
    for (const int i : by_name()) names.push_back(images_[std::size_t(i)].name);
    add_named(neighbours_by_name(names, options_.overlap));
    std::vector<Taken> times;
    for (const int i : by_name()) {
      if ((chosen_.stopped = events_.stop())) return;
      colmap::TakenRow row = collection_.taken(std::size_t(i));
      times.push_back({std::move(row.camera), row.microseconds});
    }
    add_named(neighbours_by_time(times, options_.overlap));
  }

  int counted_features(int count) const {
    return options_.retrieve_features > 0 ? std::min(count, options_.retrieve_features) : count;
  }

  // Appends the descriptors of the largest points of an image, in their order. Ties keep the first.
  void read_largest(std::size_t i, std::vector<std::uint8_t>& out) const {
    const std::size_t features = std::size_t(images_[i].features);
    const std::size_t wanted = std::size_t(counted_features(images_[i].features));
    std::vector<std::uint8_t> all;
    collection_.read_descriptors(i, all);
    const std::vector<float> scales =
        wanted < features ? collection_.scales(i) : std::vector<float>();
    if (all.size() != features * Features::kLength ||
        (wanted < features && scales.size() != features)) {
      fail(ErrorCode::io, collection_.name(), ": the features of ", images_[i].name,
           " were replaced by another run; run the command again");
    }
    if (wanted == features) {
      out.insert(out.end(), all.begin(), all.end());
      return;
    }
    std::vector<std::size_t> order(scales.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::nth_element(order.begin(), order.begin() + std::ptrdiff_t(wanted), order.end(),
                     [&](std::size_t a, std::size_t b) {
                       return std::pair(-scales[a], a) < std::pair(-scales[b], b);
                     });
    order.resize(wanted);
    std::sort(order.begin(), order.end());
    for (const std::size_t at : order) {
      const auto from = all.begin() + std::ptrdiff_t(at * Features::kLength);
      out.insert(out.end(), from, from + Features::kLength);
    }
  }

  void retrieve() {
    RetrieveInput input;
    for (std::size_t i = 0; i < images_.size(); ++i) {
      input.images.push_back(
          {io::hash_of_text(images_[i].name), counted_features(images_[i].features)});
    }
    input.read = [this](int image, std::vector<std::uint8_t>& out) {
      read_largest(std::size_t(image), out);
    };
    // Progress over all stages, in hundredths; each stage counts the same, because their durations
    // are not known beforehand.
    constexpr int kStages = 4, kSteps = 25;
    RetrieveEvents progress;
    std::string stage;
    int stages = 0, reported = 0;
    events_.begin(kStages * kSteps);
    progress.progress = [&](const char* now, std::int64_t done, std::int64_t total) {
      if (stage != now) stage = now, ++stages;
      const double share = total > 0 ? double(done) / double(total) : 1;
      const int steps =
          std::min(int((std::min(stages, kStages) - 1 + share) * kSteps), kStages * kSteps);
      if (steps > reported) events_.advance(steps - std::exchange(reported, steps));
    };
    progress.stop = events_.stop;
    RetrieveReport report;
    for (const RetrievedPair& pair :
         retrieve_pairs(context_, input, options_.retrieve, &report, progress)) {
      add(pair.first, pair.second);
    }
    chosen_.stopped = report.stopped;
  }

  void sort_ids() {
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  }

  void take_pairs() {
    sort_ids();
    for (const Id id : ids_) chosen_.pairs.push_back(colmap::pair_of(id));
    chosen_.count = std::int64_t(ids_.size());
  }

  const Context& context_;
  Collection& collection_;
  const std::vector<CollectionImage>& images_;
  const ChoosePairsOptions& options_;
  const FolderEvents& events_;
  const ChoiceMemory& memory_;
  ChosenPairs chosen_;
  std::vector<Id> ids_;  // of the pairs
  std::vector<int> by_name_;
};

}  // namespace

std::uint64_t source_of(const colmap::ImageRecord& record) {
  const std::string mask = record.mask ? text("\nmask=", record.mask->hash) : "";
  return record.file.hash ^ io::hash_of_text(record.options + mask);
}

colmap::TakenRow taken_of(const fs::path& file) {
  const std::optional<Exif> exif = exif_of(file);
  if (!exif) return {};
  return {exif->make + '\n' + exif->model, microseconds_of(exif->taken), exif->gps};
}

std::int64_t expected_pairs(const ChoosePairsOptions& options, std::int64_t images) {
  const bool few = options.choice == PairChoice::automatic && images <= options.all_up_to;
  if (options.choice == PairChoice::all || few) return images * (images - 1) / 2;
  if (options.choice == PairChoice::listed) return 0;  // known once the list is read
  if (options.choice == PairChoice::sequential) return images * options.overlap;
  if (options.choice == PairChoice::spatial) return images * options.nearest;
  const int overlap = options.choice == PairChoice::automatic ? options.overlap : 0;
  return images * (options.retrieve.neighbours + overlap);
}

ChosenPairs choose_from(const Context& context, Collection& collection,
                        const ChoosePairsOptions& options, const FolderEvents& events,
                        const ChoiceMemory& memory) {
  options.validate();
  return Choosing(context, collection, options, events, memory).run();
}

std::vector<ImagePair> further_from(std::vector<Edge> edges, const ChosenPairs& chosen,
                                    const ChoosePairsOptions& options) {
  options.validate();
  if (options.further == 0 ||
      (chosen.choice != PairChoice::retrieve && chosen.choice != PairChoice::spatial)) {
    return {};
  }
  std::vector<Id> first_round;
  first_round.reserve(chosen.pairs.size());
  for (const ImagePair& pair : chosen.pairs) first_round.push_back(colmap::pair_id(pair));
  std::sort(first_round.begin(), first_round.end());
  std::erase_if(edges, [&](const Edge& edge) {
    return !std::binary_search(first_round.begin(), first_round.end(),
                               colmap::pair_id(edge.images));
  });
  return neighbours_of_neighbours(edges, first_round, options.further);
}

}  // namespace cornea::folder
