#include "cornea/pipeline/folder/verify.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/match/places.h"

namespace cornea {
namespace {

using namespace core;

using colmap::Configuration;
using colmap::Database;
using colmap::Id;
using colmap::IndexPair;
using colmap::Point;
using colmap::TwoViewRow;

// The key of a pair's random samples, which is its slot in a batch: neighbours in exhaustive and in
// sequential matching have different ones.
constexpr int kSlots = 1024;
int slot_of(Id pair) {
  const auto [first, second] = colmap::pair_of(pair);
  return int((31 * (first % kSlots) + second % kSlots) % kSlots);
}

// Images in a row, by rising id, and the positions of their points as far as they were asked for.
class Block {
 public:
  std::vector<Id> images;

  bool holds(Id image) const { return image >= images.front() && image <= images.back(); }
  const std::vector<Point>& points(const Database& database, Id image) {
    const auto [it, fresh] = points_.try_emplace(image);
    if (fresh) it->second = database.points(image);
    return it->second;
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
        estimator_(context, options.fundamental),
        most_pairs_(context.is_cuda() ? 512 : 32) {}

  VerifyReport run() {
    const Stopwatch watch;
    report_.pairs = database_.count("matches");
    const std::int64_t pending = database_.unverified_count();
    report_.skipped = report_.pairs - pending;
    events_.begin(int(std::min<std::int64_t>(pending, INT32_MAX)));
    cut_into_blocks();
    for (std::size_t a = 0; a < blocks_.size(); ++a) {
      for (std::size_t b = a; b < blocks_.size(); ++b) {
        verify_blocks(blocks_[a], blocks_[b]);
        if (a != b) blocks_[b].forget();
      }
      blocks_[a].forget();
    }
    // Not what is left of `pending`: another run may have verified some of these.
    report_.missing = database_.unverifiable_count();
    report_.milliseconds = watch.milliseconds();
    return report_;
  }

 private:
  struct Pair {
    Id id = 0;
    std::vector<IndexPair> matches;
    std::vector<Correspondence> points;
  };

  void cut_into_blocks() {
    constexpr std::size_t kMostImages = 256;
    constexpr std::int64_t kMostPoints = std::int64_t{2} << 20;  // 16 MB
    std::unordered_map<Id, int> counts;
    for (const auto& [image, count] : database_.point_counts()) counts[image] = count;
    std::int64_t points = 0;
    for (const colmap::ImageRow& row : database_.images()) {
      points += counts[row.id];
      if (blocks_.empty() || points > kMostPoints || blocks_.back().images.size() == kMostImages) {
        blocks_.emplace_back();
        points = counts[row.id];
      }
      blocks_.back().images.push_back(row.id);
    }
  }

  // The pairs of an image of one block with those of another have neighbouring ids.
  void verify_blocks(Block& a, Block& b) {
    for (const Id image : a.images) {
      const Id base = colmap::kMostImages * image;
      for (const Id pair :
           database_.unverified_pairs(base + b.images.front(), base + b.images.back())) {
        const Id second = colmap::pair_of(pair).second;
        if (std::binary_search(b.images.begin(), b.images.end(), second)) add_to_batch(pair, a, b);
      }
    }
    finish_batch();
  }

  void add_to_batch(Id id, Block& a, Block& b) {
    const int slot = slot_of(id);
    if (batch_.size() >= most_pairs_ || correspondences_ > kMostCorrespondences || taken_[slot]) {
      finish_batch();
    }
    const Stopwatch watch;
    taken_[slot] = true;
    batch_.push_back(read_pair(id, a, b));
    correspondences_ += batch_.back().points.size();
    report_.read_milliseconds += watch.milliseconds();
  }

  Pair read_pair(Id id, Block& first_block, Block& second_block) {
    Pair pair{id, database_.matches(id), {}};
    const auto [first, second] = colmap::pair_of(id);
    Block& other = first_block.holds(second) ? first_block : second_block;
    const std::vector<Point>& a = first_block.points(database_, first);
    const std::vector<Point>& b = other.points(database_, second);
    pair.points.reserve(pair.matches.size());
    for (const IndexPair& m : pair.matches) {
      if (m.first >= a.size() || m.second >= b.size()) {
        fail(ErrorCode::io, database_.file(), ": a match of images ", first, " and ", second,
             " names points ", m.first, " and ", m.second, " of ", a.size(), " and ", b.size(),
             "; delete their row in matches and match them again");
      }
      const Point &p = a[m.first], &q = b[m.second];
      pair.points.push_back({p.x, p.y, q.x, q.y});
    }
    return pair;
  }

  void finish_batch() {
    if (batch_.empty()) return;
    Stopwatch watch;
    std::vector<std::span<const Correspondence>> pairs(kSlots);
    std::vector<FundamentalResult> results(kSlots);
    for (const Pair& pair : batch_) pairs[slot_of(pair.id)] = pair.points;
    estimator_.estimate_batch(pairs, results);
    report_.compute_milliseconds += watch.milliseconds();
    watch.start();
    Database::Transaction transaction(database_);
    for (const Pair& pair : batch_) {
      const TwoViewRow row = row_of(pair, results[slot_of(pair.id)]);
      database_.write_two_view(pair.id, row);
      report_.inliers += row.inliers.size();
    }
    transaction.commit();
    report_.write_milliseconds += watch.milliseconds();
    events_.advance(int(batch_.size()));
    batch_.clear();
    correspondences_ = 0;
    taken_.assign(kSlots, false);
  }

  TwoViewRow row_of(const Pair& pair, const FundamentalResult& result) {
    TwoViewRow row;
    const bool found = result.kind == TwoView::general || result.kind == TwoView::planar;
    if (!found || result.inlier_count < options_.min_inliers) {
      row.configuration = Configuration::degenerate;
      ++report_.degenerate;
      return row;
    }
    const bool repeats = std::size_t(result.places) < pair.matches.size();
    const match::Places places =
        repeats ? match::PlaceFinder().places(pair.points) : match::Places();
    std::vector<bool> written(places.distinct.size());
    for (std::size_t i = 0; i < pair.matches.size(); ++i) {
      if (!result.inliers[i] || (repeats && written[places.of[i]])) continue;
      if (repeats) written[places.of[i]] = true;
      row.inliers.push_back(pair.matches[i]);
    }
    if (result.kind == TwoView::planar) {
      row.configuration = Configuration::planar_or_panoramic;
      row.H = result.H;
      ++report_.planar;
    } else {
      row.configuration = Configuration::uncalibrated;
      row.F = result.F;
      ++report_.general;
    }
    return row;
  }

  static constexpr std::size_t kMostCorrespondences = std::size_t{4} << 20;

  Database& database_;
  const VerifyOptions& options_;
  const FolderEvents& events_;
  FundamentalEstimator estimator_;
  std::vector<Block> blocks_;
  const std::size_t most_pairs_;
  VerifyReport report_;
  std::vector<Pair> batch_;
  std::size_t correspondences_ = 0;
  std::vector<char> taken_ = std::vector<char>(kSlots, false);
};

}  // namespace

FundamentalOptions folder_fundamental_options() {
  FundamentalOptions options;
  options.threshold = 4;
  options.max_hypotheses = 10000;
  return options;
}

void VerifyOptions::validate() const {
  fundamental.validate();
  require(min_inliers >= 0, "the least number of inliers is 0 or more, not ", min_inliers);
}

VerifyReport verify_all(const Context& context, Database& database, const VerifyOptions& options,
                        const FolderEvents& events) {
  options.validate();
  return Verification(context, database, options, events).run();
}

}  // namespace cornea
