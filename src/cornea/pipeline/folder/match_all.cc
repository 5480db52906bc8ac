// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/match_all.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/match/places.h"
#include "cornea/pipeline/folder/earlier_options.h"
#include "cornea/pipeline/folder/image_order.h"
#include "cornea/pipeline/folder/options_text.h"

namespace cornea {
namespace {

using namespace core;
using namespace folder;

using colmap::Database;
using colmap::Id;
using colmap::ImagePair;
using colmap::IndexPair;

// A range of consecutive images, by index in the list of all images.
struct Block {
  int begin = 0, end = 0;
};

// Two indices in the list of images, first < second.
struct Indices {
  int first = 0, second = 0;
};

// The descriptors and positions of a block's points, image after image.
class LoadedBlock {
 public:
  // Returns how many images it read: none where it holds the block.
  int load(const Database& database, const std::vector<Database::FeatureCount>& images,
           Block block) {
    if (holds(block)) return 0;
    begin_ = block.begin;
    version_ = database.data_version();
    bytes_.clear();
    first_.clear();
    points_.clear();
    std::size_t points = 0;
    for (int i = block.begin; i < block.end; ++i) points += std::size_t(images[i].count);
    bytes_.reserve(points * Features::kLength);
    for (int i = block.begin; i < block.end; ++i) {
      first_.push_back(bytes_.size());
      const int count = database.read_descriptors(images[i].image, bytes_);
      points_.push_back(database.points(images[i].image));
      if (points_.back().size() != std::size_t(count)) {
        fail(ErrorCode::io, database.file(), ": image ", images[i].image, " has ",
             points_.back().size(), " points and ", count,
             " descriptors; extract these images into a new database");
      }
    }
    first_.push_back(bytes_.size());
    return block.end - block.begin;
  }
  bool holds(Block block) const { return begin_ == block.begin; }
  // The data version of the database before any of this was read.
  std::int64_t version() const { return version_; }
  // Whether the image's features are still those that were read.
  bool is_current(const Database& database, Id image, int index) const {
    try {
      std::vector<std::uint8_t> bytes;
      database.read_descriptors(image, bytes);
      const std::size_t i = std::size_t(index - begin_);
      if (!std::equal(bytes.begin(), bytes.end(), bytes_.begin() + std::ptrdiff_t(first_[i]),
                      bytes_.begin() + std::ptrdiff_t(first_[i + 1]))) {
        return false;
      }
      const std::vector<colmap::Point> now = database.points(image);
      return std::equal(
          now.begin(), now.end(), points_[i].begin(), points_[i].end(),
          [](const colmap::Point& p, const colmap::Point& q) { return p.x == q.x && p.y == q.y; });
    } catch (const Error&) {
      return false;
    }
  }
  DescriptorView of(int index) const {
    const std::size_t i = std::size_t(index - begin_);
    return {bytes_.data() + first_[i], int((first_[i + 1] - first_[i]) / Features::kLength)};
  }
  const std::vector<colmap::Point>& points(int index) const {
    return points_[std::size_t(index - begin_)];
  }

 private:
  int begin_ = -1;
  std::int64_t version_ = 0;
  std::vector<std::vector<colmap::Point>> points_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::size_t> first_;
};

class Matching {
 public:
  Matching(const Context& context, Database& database, const MatchAllOptions& options,
           const FolderEvents& events)
      : database_(database),
        options_(options),
        events_(events),
        options_text_(options_text(options.match)),
        matcher_(context, options.match),
        // Distances per transaction: about a third of a second of work, which is what a killed run
        // can lose.
        batch_distances_(context.is_cuda() ? 3e11 : 6e8),
        batch_pairs_(context.is_cuda() ? 4096 : 64) {}

  MatchAllReport run() {
    const Stopwatch watch;
    forget_without_rows(database_, kStep, "matches");
    std::vector<std::string> refused;
    images_ = database_.descriptor_counts(&refused);
    report_.images = int(images_.size());
    order_by_name(refused);
    report_.bad_images = int(refused.size());
    order_by_pairs();
    cut_into_blocks();
    sort_listed_pairs_by_block();
    count_pairs();
    const bool again = is_to_be_redone();
    // Ask before anything is deleted: a user who stops here keeps all existing matches.
    if (again && (report_.stopped = events_.stop())) return report_;
    if (again) delete_pairs();
    for (const std::string& sentence : refused) events_.report(sentence);
    events_.begin(int(std::min<std::int64_t>(report_.pairs - report_.skipped, INT32_MAX)));
    for (std::size_t a = 0; a < blocks_.size(); ++a) {
      for (std::size_t b = a; b < blocks_.size() && !report_.stopped; ++b) match_blocks(a, b);
    }
    report_.milliseconds = watch.milliseconds();
    return report_;
  }

 private:
  // Ids mostly follow the order of names, but images that were added later have higher ids.
  void order_by_name(std::vector<std::string>& refused) {
    std::unordered_map<Id, std::string> names;
    for (const colmap::ImageRow& row : database_.images(&refused)) names[row.id] = row.name;
    if (options_.sequential == 0) return;
    std::sort(images_.begin(), images_.end(),
              [&](const auto& a, const auto& b) { return names[a.image] < names[b.image]; });
  }

  // Images that share pairs stand near each other, so that few blocks have pairs in common and each
  // image is read a few times, also where ids say nothing about what belongs together.
  void order_by_pairs() {
    if (!options_.listed) return;
    std::unordered_map<Id, int> rank;
    for (const Id image : order_of(options_.pairs, kMostImages))
      rank.emplace(image, int(rank.size()));
    const auto rank_of = [&](const Database::FeatureCount& image) {
      const auto it = rank.find(image.image);
      return it == rank.end() ? INT32_MAX : it->second;
    };
    std::stable_sort(images_.begin(), images_.end(),
                     [&](const auto& a, const auto& b) { return rank_of(a) < rank_of(b); });
  }

  void cut_into_blocks() {
    std::size_t bytes = 0;
    for (int i = 0; i < int(images_.size()); ++i) {
      const std::size_t own = std::size_t(images_[i].count) * Features::kLength;
      if (blocks_.empty() || bytes + own > options_.block_bytes ||
          i - blocks_.back().begin == kMostImages) {
        blocks_.push_back({i, i});
        bytes = 0;
      }
      bytes += own;
      blocks_.back().end = i + 1;
    }
  }

  std::size_t block_of(int index) const {
    const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), index,
                                        [](int p, const Block& block) { return p < block.begin; });
    return std::size_t(after - blocks_.begin()) - 1;
  }

  void sort_listed_pairs_by_block() {
    if (!options_.listed) return;
    std::unordered_map<Id, int> index_of;
    for (int i = 0; i < int(images_.size()); ++i) index_of[images_[i].image] = i;
    std::vector<Id> ids;
    for (const ImagePair& pair : options_.pairs) ids.push_back(colmap::pair_id(pair));
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (const Id id : ids) {
      const auto [first, second] = colmap::pair_of(id);
      const auto a = index_of.find(first), b = index_of.find(second);
      if (a == index_of.end() || b == index_of.end()) {
        ++report_.missing;
        continue;
      }
      const auto [low, high] = std::minmax(a->second, b->second);
      listed_[{block_of(low), block_of(high)}].push_back({low, high});
    }
  }

  // The pairs of two blocks, in a fixed order.
  std::vector<Indices> pairs_of(std::size_t a, std::size_t b) const {
    if (options_.listed) {
      const auto it = listed_.find({a, b});
      return it == listed_.end() ? std::vector<Indices>() : it->second;
    }
    std::vector<Indices> pairs;
    for (int i = blocks_[a].begin; i < blocks_[a].end; ++i) {
      const int last = options_.sequential > 0
                           ? int(std::min<std::int64_t>(blocks_[b].end,
                                                        std::int64_t(i) + options_.sequential + 1))
                           : blocks_[b].end;
      for (int j = std::max(i + 1, blocks_[b].begin); j < last; ++j) pairs.push_back({i, j});
    }
    return pairs;
  }

  Id id_of(Indices pair) const {
    return colmap::pair_id({images_[pair.first].image, images_[pair.second].image});
  }

  void count_pairs() {
    for (std::size_t a = 0; a < blocks_.size(); ++a) {
      for (std::size_t b = a; b < blocks_.size(); ++b) {
        const std::vector<Indices> pairs = pairs_of(a, b);
        report_.pairs += std::int64_t(pairs.size());
        report_.skipped += std::int64_t(done_of(pairs).size());
      }
    }
  }

  bool is_to_be_redone() const {
    if (options_.redo) return true;
    const std::string difference = earlier_options(database_, kStep, options_text_);
    const std::int64_t others = database_.count("matches") - report_.skipped;
    if (options_.changed == Changed::redo && !difference.empty() && others > 0) {
      // Options are recorded for all pairs together, so nobody could say later which pairs were
      // made again.
      fail(ErrorCode::invalid_argument, database_.file(), ": has ", others,
           " other pairs that were made with other options (", difference,
           "); the option redo makes the requested pairs again in any case");
    }
    return redo_for_options(database_, report_.skipped, difference, options_.changed, events_);
  }

  // Deletes the existing matches and geometries of the requested pairs.
  void delete_pairs() {
    Database::Transaction transaction(database_);
    for (std::size_t a = 0; a < blocks_.size(); ++a) {
      for (std::size_t b = a; b < blocks_.size(); ++b) {
        for (const Id pair : done_of(pairs_of(a, b))) database_.delete_pair(pair);
      }
    }
    if (database_.count("matches") == 0) database_.forget_options_of_step(kStep);
    transaction.commit();
    report_.redone = std::exchange(report_.skipped, 0);
  }

  std::vector<Indices> pending_of(std::size_t a, std::size_t b) const {
    std::vector<Indices> pairs = pairs_of(a, b);
    const std::vector<Id> done = done_of(pairs);
    std::erase_if(pairs, [&](const Indices& pair) {
      return std::binary_search(done.begin(), done.end(), id_of(pair));
    });
    return pairs;
  }

  // Those of the pairs that have matches, as ids in ascending order.
  std::vector<Id> done_of(const std::vector<Indices>& pairs) const {
    // The pairs of an image have consecutive ids, so one query per image is enough.
    std::vector<Id> done;
    for (std::size_t from = 0; from < pairs.size();) {
      Id first = id_of(pairs[from]), last = first;
      const Id low = colmap::pair_of(first).first;
      std::size_t to = from + 1;
      for (; to < pairs.size() && colmap::pair_of(id_of(pairs[to])).first == low; ++to) {
        first = std::min(first, id_of(pairs[to]));
        last = std::max(last, id_of(pairs[to]));
      }
      const std::vector<Id> more = database_.matched_pairs(first, last);
      done.insert(done.end(), more.begin(), more.end());
      from = to;
    }
    std::sort(done.begin(), done.end());
    // The range of ids may contain pairs that were not requested.
    std::vector<Id> asked, both;
    for (const Indices& pair : pairs) asked.push_back(id_of(pair));
    std::sort(asked.begin(), asked.end());
    std::set_intersection(done.begin(), done.end(), asked.begin(), asked.end(),
                          std::back_inserter(both));
    return both;
  }

  void match_blocks(std::size_t a, std::size_t b) {
    const std::vector<Indices> pairs = pending_of(a, b);
    if (pairs.empty()) return;
    const Stopwatch watch;
    // In a sequence, block a was the second block before.
    if (second_.holds(blocks_[a])) std::swap(first_, second_);
    report_.images_read += first_.load(database_, images_, blocks_[a]);
    if (a != b) report_.images_read += second_.load(database_, images_, blocks_[b]);
    report_.read_milliseconds += watch.milliseconds();
    const LoadedBlock& other = a == b ? first_ : second_;
    for (std::size_t from = 0; from < pairs.size();) {
      report_.stopped = events_.stop();
      if (report_.stopped) return;
      std::size_t to = from;
      const std::size_t most = std::min(pairs.size(), from + batch_pairs_);
      for (double distances = 0; to < most && distances < batch_distances_; ++to) {
        distances += double(images_[pairs[to].first].count) * images_[pairs[to].second].count;
      }
      match_batch(std::span(pairs).subspan(from, to - from), other);
      from = to;
    }
  }

  // Matches a batch and writes it in one transaction. The image with the lower id is the first of a
  // pair, as in the database.
  void match_batch(std::span<const Indices> pairs, const LoadedBlock& other) {
    std::vector<MatchPair> views;
    for (const Indices& pair : pairs) {
      MatchPair view{first_.of(pair.first), other.of(pair.second)};
      if (images_[pair.first].image > images_[pair.second].image) std::swap(view.a, view.b);
      views.push_back(view);
    }
    Stopwatch watch;
    std::vector<std::vector<Match>> found = matcher_.match_batch(views);
    for (std::size_t i = 0; i < pairs.size(); ++i) keep_one_per_position(pairs[i], other, found[i]);
    report_.compute_milliseconds += watch.milliseconds();
    watch.start();
    Database::Transaction transaction(database_);
    const std::vector<char> wanted = still_wanted(pairs, other);
    std::vector<IndexPair> rows;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (!wanted[i]) continue;
      ++report_.matched;
      rows.clear();
      for (const Match& m : found[i]) rows.push_back({std::uint32_t(m.a), std::uint32_t(m.b)});
      const auto [low, high] =
          std::minmax(images_[pairs[i].first].image, images_[pairs[i].second].image);
      database_.write_matches({low, high}, rows);
      report_.matches += rows.size();
    }
    database_.add_options_of_step(kStep, options_text_);
    transaction.commit();
    report_.write_milliseconds += watch.milliseconds();
    events_.advance(int(pairs.size()));
  }

  // Another run may meanwhile have matched some of these pairs, or replaced features: matches of
  // deleted features would join wrong points.
  std::vector<char> still_wanted(std::span<const Indices> pairs, const LoadedBlock& other) {
    std::vector<char> wanted(pairs.size(), 1);
    const std::int64_t version = database_.data_version();
    if (version == first_.version() && version == other.version()) return wanted;
    const std::vector<Id> done = done_of({pairs.begin(), pairs.end()});
    std::unordered_map<int, bool> current;
    auto is_current = [&](const LoadedBlock& block, int index) {
      const auto [it, fresh] = current.try_emplace(index);
      if (fresh) it->second = block.is_current(database_, images_[index].image, index);
      return it->second;
    };
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (std::binary_search(done.begin(), done.end(), id_of(pairs[i]))) {
        ++report_.skipped;
        wanted[i] = 0;
      } else if (!is_current(first_, pairs[i].first) || !is_current(other, pairs[i].second)) {
        wanted[i] = 0;
        if (replaced_++ == 0) {
          events_.note(
              "another run is replacing features while this one matches them; pairs of these "
              "images are left for the next run of match-all");
        }
      }
    }
    return wanted;
  }

  // COLMAP would count a position with several orientations several times.
  void keep_one_per_position(const Indices& pair, const LoadedBlock& other,
                             std::vector<Match>& matches) {
    const std::vector<colmap::Point>* a = &first_.points(pair.first);
    const std::vector<colmap::Point>* b = &other.points(pair.second);
    if (images_[pair.first].image > images_[pair.second].image) std::swap(a, b);
    positions_.clear();
    for (const Match& m : matches) {
      const colmap::Point &p = (*a)[std::size_t(m.a)], &q = (*b)[std::size_t(m.b)];
      positions_.push_back({p.x, p.y, q.x, q.y});
    }
    match::keep_one_per_place(matches, positions_);
  }

  static constexpr char kStep[] = "match";
  static constexpr int kMostImages = 64;  // of a block

  Database& database_;
  const MatchAllOptions& options_;
  const FolderEvents& events_;
  const std::string options_text_;
  Matcher matcher_;
  std::int64_t replaced_ = 0;  // pairs whose features were replaced meanwhile
  const double batch_distances_;
  const std::size_t batch_pairs_;
  MatchAllReport report_;
  std::vector<Database::FeatureCount> images_;
  std::vector<Block> blocks_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Indices>> listed_;
  LoadedBlock first_, second_;
  std::vector<Correspondence> positions_;
};

}  // namespace

void MatchAllOptions::validate() const {
  match.validate();
  require(sequential >= 0, "sequential is 0 or more images, not ", sequential);
  require(!(listed && sequential > 0), "listed and sequential exclude each other; use one of them");
  require(block_bytes > 0, "block_bytes must be at least 1");
  for (const ImagePair& pair : pairs) {
    require(pair.first != pair.second, "pairs names image ", pair.first, " with itself");
  }
}

MatchAllReport match_all(const Context& context, Database& database, const MatchAllOptions& options,
                         const FolderEvents& events) {
  options.validate();
  return Matching(context, database, options, events).run();
}

}  // namespace cornea
