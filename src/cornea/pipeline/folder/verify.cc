// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/folder/verify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/match/places.h"
#include "cornea/pipeline/folder/cameras.h"
#include "cornea/pipeline/folder/earlier_options.h"
#include "cornea/pipeline/folder/options_text.h"

namespace cornea {
namespace {

using namespace core;
using namespace folder;

using colmap::Database;
using colmap::Id;
using colmap::IndexPair;
using colmap::Point;
using colmap::TwoViewRow;

// A range of images in ascending order of ids, with the positions of those points that were
// requested so far.
class PointBlock {
 public:
  std::vector<Id> images;

  bool holds(Id image) const { return image >= images.front() && image <= images.back(); }
  const std::vector<Point>& points(const Database& database, Id image) {
    const auto it = points_.find(image);
    if (it != points_.end()) return it->second;
    return points_.emplace(image, database.points(image)).first->second;
  }
  void forget() { points_.clear(); }

 private:
  std::unordered_map<Id, std::vector<Point>> points_;
};

class Verification {
 public:
  Verification(const Context& context, Database& database, const VerifyOptions& options,
               const FolderEvents& events)
      : database_(database),
        options_(options),
        events_(events),
        options_text_(options_text(options)),
        estimator_(context, options.two_view),
        most_pairs_(context.is_cuda() ? 512 : 32) {}

  VerifyReport run() {
    const Stopwatch watch;
    version_ = database_.data_version();
    forget_without_rows(database_, kStep, "two_view_geometries");
    report_.pairs = database_.count("matches");
    report_.skipped = report_.pairs - database_.unverified_count();
    const bool again = is_to_be_redone();
    // Ask before anything is deleted: a user who stops here keeps all existing geometries.
    if (again && (report_.stopped = events_.stop())) return report_;
    if (again) delete_geometries();
    const std::int64_t pending = report_.pairs - report_.skipped;
    events_.begin(int(std::min<std::int64_t>(pending, INT32_MAX)));
    cut_into_blocks();
    for (std::size_t a = 0; a < blocks_.size() && !report_.stopped; ++a) {
      for (std::size_t b = a; b < blocks_.size() && !report_.stopped; ++b) {
        verify_blocks(blocks_[a], blocks_[b]);
        if (a != b) blocks_[b].forget();
      }
      blocks_[a].forget();
    }
    // Counted again instead of taken from `pending`, because another run may have verified some
    // pairs.
    report_.missing = database_.unverifiable_count();
    report_.milliseconds = watch.milliseconds();
    return report_;
  }

 private:
  struct Pair {
    Id id = 0;
    std::vector<IndexPair> matches;
    std::vector<Correspondence> points;
    std::optional<IntrinsicsPair> cameras;
  };

  bool is_to_be_redone() const {
    if (options_.redo) return true;
    return redo_for_options(database_, report_.skipped,
                            earlier_options(database_, kStep, options_text_), options_.changed,
                            events_);
  }

  void delete_geometries() {
    Database::Transaction transaction(database_);
    // Counted here, where no other process can add matches or geometries meanwhile.
    report_.pairs = database_.count("matches");
    const std::int64_t before = database_.unverified_count();
    database_.delete_two_views_of_matches();
    report_.redone = database_.unverified_count() - before;
    report_.skipped = report_.pairs - before - report_.redone;  // they cannot be made again
    database_.forget_options_of_step(kStep);
    transaction.commit();
  }

  void cut_into_blocks() {
    constexpr std::size_t kMostImages = 256;
    constexpr std::int64_t kMostPoints = std::int64_t{2} << 20;  // 16 MB
    std::unordered_map<Id, int> counts;
    std::vector<std::string> damaged, refused;  // the first are reported with their pairs
    for (const auto& [image, count] : database_.point_counts(&damaged)) counts[image] = count;
    std::int64_t points = 0;
    const std::vector<colmap::ImageRow> images = database_.images(&refused);
    report_.bad_cameras = cameras_.read(database_, options_.use_cameras, events_);
    for (const std::string& sentence : refused) events_.report(sentence);
    report_.bad_images = int(refused.size());
    for (const colmap::ImageRow& row : images) {
      names_[row.id] = row.name;
      cameras_.add(row);
      points += counts[row.id];
      if (blocks_.empty() || points > kMostPoints || blocks_.back().images.size() == kMostImages) {
        blocks_.emplace_back();
        points = counts[row.id];
      }
      blocks_.back().images.push_back(row.id);
    }
  }

  // The pairs of an image of one block with those of another have consecutive ids, in which the
  // lower id of an image comes first.
  void verify_blocks(PointBlock& a, PointBlock& b) {
    for (const Id image : a.images) {
      const Id base = colmap::kMostImages * image;
      const Id first = std::max(image + 1, b.images.front());
      for (const Id pair : database_.unverified_pairs(base + first, base + b.images.back())) {
        report_.stopped = events_.stop();
        if (report_.stopped) return finish_batch();
        const Id second = colmap::pair_of(pair).second;
        if (std::binary_search(b.images.begin(), b.images.end(), second)) add_to_batch(pair, a, b);
      }
    }
    finish_batch();
  }

  void add_to_batch(Id id, PointBlock& a, PointBlock& b) {
    if (batch_.size() >= most_pairs_ || correspondences_ > kMostCorrespondences) finish_batch();
    const Stopwatch watch;
    std::optional<Pair> pair = read_pair(id, a, b);
    report_.read_milliseconds += watch.milliseconds();
    if (!pair) return;
    correspondences_ += pair->points.size();
    batch_.push_back(std::move(*pair));
  }

  // Empty, after a report to the caller, if the pair cannot be verified.
  std::optional<Pair> read_pair(Id id, PointBlock& first_block, PointBlock& second_block) {
    try {
      return checked_pair(id, first_block, second_block);
    } catch (const colmap::DamagedRow& error) {
      const auto [first, second] = colmap::pair_of(id);
      events_.report(text("the pair ", names_[first], " and ", names_[second],
                          " is left out: ", error.what()));
      ++report_.bad;
      events_.advance(1);
      return std::nullopt;
    }
  }

  Pair checked_pair(Id id, PointBlock& first_block, PointBlock& second_block) {
    const auto [first, second] = colmap::pair_of(id);
    Pair pair{id, database_.matches(id), {}, {}};
    if (options_.use_cameras) pair.cameras = cameras_.of_pair(first, second);
    PointBlock& other = first_block.holds(second) ? first_block : second_block;
    const std::vector<Point>& a = first_block.points(database_, first);
    const std::vector<Point>& b = other.points(database_, second);
    pair.points.reserve(pair.matches.size());
    for (const IndexPair& m : pair.matches) {
      if (m.first >= a.size() || m.second >= b.size()) {
        throw colmap::DamagedRow(text("it has a match of points ", m.first, " and ", m.second,
                                      ", but the images have ", a.size(), " and ", b.size(),
                                      " points; match the two again with the option redo"));
      }
      pair.points.push_back({checked(a[m.first], first).x, a[m.first].y,
                             checked(b[m.second], second).x, b[m.second].y});
    }
    return pair;
  }

  const Point& checked(const Point& point, Id image) {
    if (std::isfinite(point.x) && std::isfinite(point.y)) return point;
    throw colmap::DamagedRow(text("a point of ", names_[image],
                                  " has a position that is not a number; extract this image again "
                                  "with the option redo"));
  }

  void finish_batch() {
    if (batch_.empty()) return;
    Stopwatch watch;
    const std::vector<TwoViewResult> results = estimated();
    report_.compute_milliseconds += watch.milliseconds();
    watch.start();
    Database::Transaction transaction(database_);
    const bool changed = database_.data_version() != version_;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      const Pair& pair = batch_[i];
      if (changed && !is_current(pair)) continue;
      const TwoViewRow row = row_of(pair, results[i]);
      database_.write_two_view(pair.id, row);
      count(pair, row);
    }
    database_.add_options_of_step(kStep, options_text_);
    transaction.commit();
    report_.write_milliseconds += watch.milliseconds();
    events_.advance(int(batch_.size()));
    batch_.clear();
    correspondences_ = 0;
  }

  // Random samples are keyed by the id of the pair.
  std::vector<TwoViewResult> estimated() {
    std::vector<std::span<const Correspondence>> pairs;
    std::vector<std::optional<IntrinsicsPair>> cameras;
    std::vector<std::uint64_t> keys;
    for (const Pair& pair : batch_) {
      pairs.emplace_back(pair.points);
      cameras.push_back(pair.cameras);
      keys.push_back(std::uint64_t(pair.id));
    }
    std::vector<TwoViewResult> results(batch_.size());
    estimator_.estimate_batch(pairs, cameras, keys, results);
    return results;
  }

  // Whether the pair's matches and points are still those that were read.
  bool is_current(const Pair& pair) {
    bool current = false;
    try {
      const auto [first, second] = colmap::pair_of(pair.id);
      const std::vector<IndexPair> matches = database_.matches(pair.id);
      const std::vector<Point> a = database_.points(first), b = database_.points(second);
      // A row without matches may have been deleted, too.
      current = matches == pair.matches && !database_.matched_pairs(pair.id, pair.id).empty();
      for (std::size_t i = 0; i < matches.size() && current; ++i) {
        const IndexPair& m = matches[i];
        current = m.first < a.size() && m.second < b.size() &&
                  pair.points[i] ==
                      Correspondence{a[m.first].x, a[m.first].y, b[m.second].x, b[m.second].y};
      }
    } catch (const Error&) {
      current = false;
    }
    if (!current && replaced_++ == 0) {
      events_.note(
          "another run is replacing matches while this one verifies them; these pairs are left "
          "for the next run of verify");
    }
    return current;
  }

  TwoViewRow row_of(const Pair& pair, const TwoViewResult& result) const {
    TwoViewRow row;
    row.configuration = Configuration::degenerate;
    if (result.configuration == Configuration::undefined ||
        result.configuration == Configuration::degenerate ||
        result.inlier_count < options_.min_inliers) {
      return row;
    }
    row.configuration = result.configuration;
    set_models(row, result);
    const std::vector<Correspondence> inliers = add_inliers(row, pair, result);
    if (options_.detect_watermark && cameras_.is_watermark(pair.id, inliers)) {
      row.configuration = Configuration::watermark;
    }
    return row;
  }

  // Stores only the models that are valid for the pair: for a plane F is not unique, and for a
  // camera that only rotated the translation is meaningless.
  static void set_models(TwoViewRow& row, const TwoViewResult& result) {
    const Configuration kind = result.configuration;
    const bool general = kind == Configuration::calibrated || kind == Configuration::uncalibrated;
    const bool rotated = kind == Configuration::panoramic;
    const bool posed =
        kind == Configuration::calibrated || kind == Configuration::planar || rotated;
    auto set = [](auto& to, const std::array<double, 9>& matrix, bool holds) {
      if (holds && matrix != std::array<double, 9>{}) to = matrix;
    };
    set(row.F, result.F, general);
    set(row.E, result.E, posed && !rotated);
    set(row.H, result.H, !general);
    set(row.R, result.R, posed);
    if (row.R) row.t = rotated ? std::array<double, 3>{} : result.t;
  }

  // For a plane this includes the inliers of E or F besides those of H, as in COLMAP: H may miss a
  // fifth of them.
  static const std::vector<std::uint8_t>& most_inliers(const TwoViewResult& result) {
    const Configuration kind = result.configuration;
    if (kind == Configuration::calibrated || kind == Configuration::uncalibrated) {
      return result.inliers;
    }
    const int e = result.essential.inlier_count, f = result.fundamental.inlier_count;
    if (result.inlier_count >= std::max(e, f)) return result.inliers;
    return e >= f ? result.essential.inliers : result.fundamental.inliers;
  }

  // Of several matches between the same two positions the first is kept.
  static std::vector<Correspondence> add_inliers(TwoViewRow& row, const Pair& pair,
                                                 const TwoViewResult& result) {
    const bool repeats = std::size_t(result.fundamental.places) < pair.matches.size();
    const match::Places places =
        repeats ? match::PlaceFinder().places(pair.points) : match::Places();
    const std::vector<std::uint8_t>& inliers = most_inliers(result);
    std::vector<char> written(places.distinct.size());
    std::vector<Correspondence> points;
    for (std::size_t i = 0; i < pair.matches.size(); ++i) {
      if (!inliers[i]) continue;
      if (repeats && std::exchange(written[places.of[i]], true)) continue;
      row.inliers.push_back(pair.matches[i]);
      points.push_back(pair.points[i]);
    }
    return points;
  }

  void count(const Pair& pair, const TwoViewRow& row) {
    report_.inliers += row.inliers.size();
    ++report_.configurations[std::size_t(row.configuration)];
    if (!options_.use_cameras) return;
    const auto [first, second] = colmap::pair_of(pair.id);
    if (pair.cameras) {
      ++report_.with_cameras;
    } else if (cameras_.are_read(first, second)) {
      ++report_.guessed_cameras;
    } else {
      ++report_.unread_cameras;
    }
  }

  static constexpr std::size_t kMostCorrespondences = std::size_t{4} << 20;
  static constexpr char kStep[] = "verify";

  Database& database_;
  const VerifyOptions& options_;
  const FolderEvents& events_;
  const std::string options_text_;
  TwoViewEstimator estimator_;
  FolderCameras cameras_;
  std::unordered_map<Id, std::string> names_;
  std::vector<PointBlock> blocks_;
  const std::size_t most_pairs_;
  std::int64_t version_ = 0;   // data version before anything was read
  std::int64_t replaced_ = 0;  // pairs whose matches were replaced meanwhile
  VerifyReport report_;
  std::vector<Pair> batch_;
  std::size_t correspondences_ = 0;
};

}  // namespace

TwoViewOptions folder_two_view_options() {
  TwoViewOptions options;
  options.fundamental.max_hypotheses = options.essential.max_hypotheses =
      options.homography.max_hypotheses = 10000;
  // COLMAP's 4 pixels of Sampson error, of which the sum of the distances to both lines is about
  // 2 sqrt(2) times. Pairs are classified as calibrated or planar as COLMAP does it, although
  // inliers are found with a threshold estimated from the noise.
  options.configuration_threshold = 11.3;
  return options;
}

void VerifyOptions::validate() const {
  two_view.validate();
  require(min_inliers >= 0, "min_inliers must be 0 or more, not ", min_inliers);
}

std::int64_t VerifyReport::general() const {
  return of(Configuration::calibrated) + of(Configuration::uncalibrated);
}

std::int64_t VerifyReport::planar() const {
  return of(Configuration::planar) + of(Configuration::panoramic) +
         of(Configuration::planar_or_panoramic);
}

std::int64_t VerifyReport::done() const {
  return std::accumulate(configurations.begin(), configurations.end(), std::int64_t{0});
}

VerifyReport verify_all(const Context& context, Database& database, const VerifyOptions& options,
                        const FolderEvents& events) {
  options.validate();
  return Verification(context, database, options, events).run();
}

}  // namespace cornea
