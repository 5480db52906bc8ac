#include "cornea/geometry/fundamental/fundamental.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/geometry/fundamental/fundamental_backend.h"
#include "cornea/geometry/fundamental/fundamental_study.h"
#include "cornea/geometry/fundamental/host_team.h"
#include "cornea/match/places.h"

namespace cornea {
namespace {

using namespace core;
using namespace geometry;

Matrix3<double> to_normalised(double scale, double x, double y) {
  return {{scale, 0, -scale * x, 0, scale, -scale * y, 0, 0, 1}};
}
Matrix3<double> to_pixels(double scale, double x, double y) {
  return {{1 / scale, 0, x, 0, 1 / scale, y, 0, 0, 1}};
}

// Of norm 1, with a positive entry where it is largest.
std::array<double, 9> canonical(const Matrix3<double>& m) {
  double square = 0, largest = 0;
  for (double v : m.v) {
    square += v * v;
    if (std::abs(v) > std::abs(largest)) largest = v;
  }
  const double scale = (largest < 0 ? -1 : 1) / std::sqrt(square);
  std::array<double, 9> result;
  for (int i = 0; i < 9; ++i) result[i] = m.v[i] * scale;
  return result;
}

// Of a matrix F of normalised coordinates: x2^T F x1 = 0 in pixels.
std::array<double, 9> epipolar_in_pixels(const Matrix3<double>& f, const Normalisation& n) {
  return canonical(transposed(to_normalised(n.scales.second, n.x2, n.y2)) *
                   (f * to_normalised(n.scales.first, n.x1, n.y1)));
}
std::array<double, 9> homography_in_pixels(const Matrix3<double>& h, const Normalisation& n) {
  return canonical(to_pixels(n.scales.second, n.x2, n.y2) *
                   (h * to_normalised(n.scales.first, n.x1, n.y1)));
}

// Of a positive matrix, as a share of the sum of all; x is the eigenvector of the smallest.
double second_eigenvalue(const double (&m)[packed_size(9)], const double* x) {
  double trace = 0, lifted[packed_size(9)], y[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  for (int i = 0; i < 9; ++i) trace += m[packed(i, i)];
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j <= i; ++j) lifted[packed(i, j)] = m[packed(i, j)] + trace * x[i] * x[j];
  }
  smallest_eigenvector<9>(lifted, y);
  double value = 0;
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 9; ++j) value += y[i] * m[packed(std::max(i, j), std::min(i, j))] * y[j];
  }
  return value / trace;
}

bool is_finite(const Correspondence& m) {
  return std::isfinite(m.x1) && std::isfinite(m.y1) && std::isfinite(m.x2) && std::isfinite(m.y2);
}

void check(std::span<const Correspondence> matches) {
  require(matches.size() <= kMostMatches, "a pair of ", matches.size(),
          " correspondences is too large; the limit is ", kMostMatches);
  bool finite = true;
  for (const Correspondence& m : matches) finite &= is_finite(m);
  for (std::size_t i = 0; !finite && i < matches.size(); ++i) {
    require(is_finite(matches[i]), "correspondence ", i, " has a coordinate that is not a number");
  }
}

// Every copy of a correspondence gets the mark of its place.
void mark_copies(const match::Places& places, FundamentalResult& result) {
  const std::vector<std::uint8_t> marks = std::move(result.inliers);
  result.inliers.resize(places.of.size());
  for (std::size_t i = 0; i < places.of.size(); ++i) result.inliers[i] = marks[places.of[i]];
}

}  // namespace

void FundamentalOptions::validate() const {
  require(threshold > 0 && std::isfinite(threshold),
          "the threshold is a positive number of pixels, not ", threshold);
  require(confidence > 0 && confidence < 1, "the confidence lies between 0 and 1, not ",
          confidence);
  require(max_hypotheses >= 1, "at least one hypothesis is needed, not ", max_hypotheses);
  require(target >= 0, "the target is a number of inliers, or 0 for none, not ", target);
  require(sample == 7 || sample == 8, "a sample has 7 or 8 correspondences, not ", sample);
  require(round >= 1 && round <= 1 << 24, "a round has 1 to ", 1 << 24, " hypotheses, not ", round);
}

std::string_view name(TwoView kind) {
  switch (kind) {
    case TwoView::general:
      return "general";
    case TwoView::planar:
      return "planar";
    case TwoView::none:
      return "none";
    case TwoView::degenerate:
      return "degenerate";
    case TwoView::too_few_points:
      return "too few points";
  }
  return "";
}

std::string_view name(StopReason reason) {
  switch (reason) {
    case StopReason::confidence:
      return "confidence";
    case StopReason::target:
      return "target";
    case StopReason::maximum:
      return "maximum";
    case StopReason::nothing_to_do:
      return "nothing to do";
  }
  return "";
}

void geometry::write_outcome(const Outcome& outcome, const Normalisation& normalisation,
                             FundamentalResult& out) {
  out.kind = outcome.kind;
  out.hypotheses = outcome.hypotheses;
  out.rounds = outcome.rounds;
  out.stop = outcome.stop;
  if (outcome.has_f()) out.F = epipolar_in_pixels(outcome.f, normalisation);
  if (outcome.kind == TwoView::planar) {
    out.H = homography_in_pixels(outcome.plane.h, normalisation);
  }
  out.inlier_count = static_cast<int>(std::count(out.inliers.begin(), out.inliers.end(), 1));
  // The refinement may have lost some. (A homography's 8 are none of chance: each agrees in two
  // coordinates, not in one.)
  if (out.kind == TwoView::general &&
      is_chance(std::uint32_t(out.inlier_count), int(out.inliers.size()))) {
    out.kind = TwoView::none;
    out.F = {};
    out.inlier_count = 0;
    std::fill(out.inliers.begin(), out.inliers.end(), std::uint8_t{0});
  }
}

bool FundamentalResult::may_be_chance() const {
  return kind == TwoView::general && inlier_count < int(kSureSupport);
}

FundamentalEstimator::FundamentalEstimator(const Context& context,
                                           const FundamentalOptions& options)
    : FundamentalEstimator(context, (options.validate(), options), Unchecked()) {}

FundamentalEstimator::FundamentalEstimator(const Context& context,
                                           const FundamentalOptions& options, Unchecked)
    : context_(context), options_(options) {
  if constexpr (kHasCuda) {
    if (context.is_cuda()) backend_ = make_device_fundamental(context, options);
  }
  if (!backend_) backend_ = make_host_fundamental(context, options);
}

FundamentalEstimator geometry::estimator_with_sample(const Context& context,
                                                     const FundamentalOptions& options,
                                                     int sample) {
  require(sample >= 7 && sample <= kLargestSample, "a sample has 7 to ", kLargestSample,
          " correspondences, not ", sample);
  FundamentalOptions wanted = options;
  wanted.sample = 8;
  wanted.validate();
  wanted.sample = sample;
  return {context, wanted, FundamentalEstimator::Unchecked()};
}

FundamentalEstimator::~FundamentalEstimator() = default;
FundamentalEstimator::FundamentalEstimator(FundamentalEstimator&&) noexcept = default;

FundamentalResult FundamentalEstimator::estimate(std::span<const Correspondence> matches,
                                                 std::uint64_t pair) {
  FundamentalResult result;
  estimate_batch({&matches, 1}, {&result, 1}, pair);
  return result;
}

void FundamentalEstimator::estimate_batch(std::span<const std::span<const Correspondence>> pairs,
                                          std::span<FundamentalResult> out,
                                          std::uint64_t first_pair) {
  require(pairs.size() == out.size(), pairs.size(), " pairs were given and room for ", out.size(),
          " results");
  parallel_for(context_, int(pairs.size()), kPairsAPiece, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      try {
        check(pairs[i]);
      } catch (const Error& error) {
        if (pairs.size() == 1) throw;
        fail(error.code(), "pair ", i, ": ", error.what());
      }
    }
  });
  // Of pairs that repeat a correspondence, what counts once.
  std::vector<match::Places> places(pairs.size());
  const auto find_places = [&] {
    parallel_for(context_, int(pairs.size()), kPairsAPiece, [&](int begin, int end) {
      match::PlaceFinder finder;
      for (int i = begin; i < end; ++i) {
        if (finder.repeats(pairs[i])) places[i] = finder.places(pairs[i]);
      }
    });
  };
  std::vector<std::size_t> all(pairs.size()), repeating;
  std::iota(all.begin(), all.end(), 0);
  if (context_.is_cuda()) {
    // Repeats are rare, and looking for them costs less than the device takes: pairs that turn out
    // to have some are estimated again.
    bool looked = false;
    estimate_some(pairs, out, first_pair, all, [&] {
      find_places();
      looked = true;
    });
    if (!looked) find_places();
  } else {
    find_places();
  }
  std::vector<std::span<const Correspondence>> distinct(pairs.begin(), pairs.end());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (places[i].of.empty()) continue;
    distinct[i] = places[i].distinct;
    repeating.push_back(i);
  }
  estimate_some(distinct, out, first_pair, context_.is_cuda() ? repeating : all, nullptr);
  for (const std::size_t i : repeating) mark_copies(places[i], out[i]);
}

void FundamentalEstimator::estimate_some(std::span<const std::span<const Correspondence>> pairs,
                                         std::span<FundamentalResult> out, std::uint64_t first_pair,
                                         std::span<const std::size_t> wanted,
                                         const std::function<void()>& meanwhile) {
  parallel_for(context_, int(wanted.size()), kPairsAPiece, [&](int begin, int end) {
    for (int k = begin; k < end; ++k) {
      const std::size_t i = wanted[k];
      out[i] = {};
      out[i].places = int(pairs[i].size());
      out[i].inliers.assign(pairs[i].size(), 0);
      out[i].kind = TwoView::too_few_points;
    }
  });
  // Those with enough points, and where they lie in the batch.
  std::vector<std::span<const Correspondence>> large;
  std::vector<std::uint64_t> keys;
  std::vector<std::size_t> slots;
  for (const std::size_t i : wanted) {
    if (pairs[i].size() < std::size_t(options_.sample)) continue;
    large.push_back(pairs[i]);
    keys.push_back(first_pair + i);
    slots.push_back(i);
  }
  if (large.empty()) return;
  std::vector<FundamentalResult> results(large.size());
  for (std::size_t i = 0; i < large.size(); ++i) results[i] = std::move(out[slots[i]]);
  backend_->estimate(large, keys, results, meanwhile);
  for (std::size_t i = 0; i < large.size(); ++i) out[slots[i]] = std::move(results[i]);
}

std::array<double, 9> eight_point(std::span<const Correspondence> matches) {
  require(matches.size() >= 8, "the eight-point algorithm needs 8 correspondences or more, not ",
          matches.size());
  check(matches);
  HostTeam team;
  team.set(matches);
  const Normalisation normalisation = normalise(team);
  require(normalisation.scales.first > 0 && normalisation.scales.second > 0,
          "all points of an image are equal: they fix no fundamental matrix");
  team.apply(normalisation, 1);
  double m[packed_size(9)], factorised[packed_size(9)];
  epipolar_system(
      team, [](const PointPair&) { return 1.0; }, m);
  Matrix3<double> f = {{1, 1, 1, 1, 1, 1, 1, 1, 1}};
  std::copy(std::begin(m), std::end(m), factorised);
  smallest_eigenvector<9>(factorised, f.v);
  require(second_eigenvalue(m, f.v) > 1e-12,
          "these correspondences fix no fundamental matrix: points are equal, or lie on a line or "
          "on a plane");
  Vector3<double> left;
  f = rank_two(f, left);
  return epipolar_in_pixels(f, normalisation);
}

std::array<double, 9> with_unit_corner(const std::array<double, 9>& H) {
  double largest = 0;
  for (const double v : H) largest = std::max(largest, std::abs(v));
  std::array<double, 9> scaled = H;
  if (std::abs(H[8]) < 1e-6 * largest || H[8] == 0) return scaled;
  for (double& v : scaled) v /= H[8];
  return scaled;
}

double epipolar_distance(const std::array<double, 9>& F, const Correspondence& match) {
  Matrix3<double> f;
  std::copy(F.begin(), F.end(), f.v);
  return std::sqrt(squared_distance<double>(f, match.x1, match.y1, match.x2, match.y2, 1, 1));
}

}  // namespace cornea
