// SPDX-License-Identifier: Apache-2.0
// The fundamental matrix between two views: x2^T F x1 = 0 for corresponding points x1, x2
// (R. Hartley, "In defense of the eight-point algorithm", PAMI 1997; M. Fischler and R. Bolles,
// "Random sample consensus", CACM 1981).
//
// Distance of a correspondence to F: the distance of x2 to the line F x1, plus that of x1 to the
// line F^T x2, in pixels. An inlier's is below the threshold. Half of it is the distance to one
// line, which OpenCV and COLMAP compare with theirs: a threshold of 1.5 here is one of 0.75 there.
//
// Correspondences that join the same two places (equal in all four coordinates) count once: they
// take part once, every copy gets the same mark, and `inlier_count` and all minima count places.
//
//   1. Coordinates are moved and scaled so that their mean is 0 and their mean distance sqrt(2).
//      Both means are trimmed: taken again, twice, over the points within four mean distances, so
//      that a wild coordinate does not decide (points.h).
//   2. Rounds of hypotheses. Hypothesis h takes `sample` correspondences (Philox numbers keyed by
//      seed, pair and h), F from them (8: the null vector of the 8 x 9 system by Householder
//      reflections; 7: the cubic), and rank 2. Samples that do not fix F, or whose points would lie
//      behind a camera, are dropped. The cost of a hypothesis is sum min((distance / threshold)^2,
//      1) over all correspondences (MSAC), each term in steps of 1/1024, so that sums are exact in
//      any order. Scoring is preemptive where there are more than 128 correspondences: of every 32
//      samples' models only the two that cost least over 64 correspondences, evenly spread, are
//      held against all (scoring/preemptive.h).
//   3. The best of a round is optimised: least squares over its inliers with the weights that turn
//      algebraic into geometric errors, and a narrowing threshold. The best of all rounds stays.
//   4. Rounds end when enough hypotheses were drawn for `confidence`, (1 - q^sample)^N <= 1 - p; at
//      `target` inliers; or at `max_hypotheses`. q is the share of the best model's inliers. With
//      the optimisation on, near misses count as well (within two thresholds): samples of them
//      lead to the same model. Nor do rounds go on when a model with the fewest inliers that are
//      no chance (see TwoView::none) would have been found with that confidence, each sample being
//      one of C(n, sample): of 43 correspondences that is after 156,000 hypotheses, of 30 after
//      6,300, and from 47 on after more than 300,000.
//   5. The noise: the Sampson error of the inliers is minimised over the 7 degrees of freedom of F
//      (Levenberg and Marquardt, F = U diag(1, s, 0) V^T, weights that fall with the error), at a
//      width that follows the median distance down from the search's threshold (refine/noise.h).
//   6. A plane: if a homography explains most inliers, F could be any that contains it. F is then
//      sought again as [e]x H with e from two correspondences off the plane, as many pairs of them
//      as it takes. If hardly any correspondence off the plane agrees, the scene is a plane or the
//      camera only rotated; the result says so (`planar`) and gives the homography beside an F that
//      means nothing off it (degeneracy/plane.h).
//   7. Where fewer than 300 correspondences agree within the noise, inner samples of 8 from what
//      lies near F are judged at the noise's width (refine/resample.h). A last minimisation.
//   8. Where the threshold is 0, the search runs at 3 pixels. If no F is found, if the noise is
//      wider, or if fewer than 40% agree within it, a second search runs at 10 pixels, each with
//      half of `max_hypotheses`; of the two results the one stays that is less likely a chance (a
//      contrario). Inliers are then those within 1.25 widths of the noise, and at least 1.5 pixels.
//
// Both devices run the same functions in the same order, with additions, products, divisions and
// square roots only: F has the same bits on both. (The choice of step 8 is the host's.)
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/features.h"

namespace cornea {

struct CORNEA_API FundamentalOptions {
  // t: largest distance of an inlier, pixels: the sum over both images. 0: chosen per pair, from
  // the noise of its correspondences.
  double threshold = 0;
  double confidence = 0.999;    // p: that a sample without outliers was drawn
  int max_hypotheses = 300000;  // N at most
  int target = 0;               // T: stop at that many inliers; 0: do not
  int sample = 8;               // correspondences per hypothesis, 7 or 8
  int round = 1024;             // hypotheses per round
  std::uint64_t seed = 0;       // of the samples
  bool optimise = true;         // local optimisation of a new best hypothesis
  bool check_plane = true;      // tell planes and pure rotations from general scenes
  bool refine = true;           // the final minimisation

  void validate() const;
};

enum class TwoView {
  general,         // F
  planar,          // a plane or a pure rotation: a homography. F is one of many that contain it
  none,            // no F with 8 inliers, or fewer than 15 and less than half, also once refined
  degenerate,      // no sample fixes F, or all inliers of an image lie on a line
  too_few_points,  // fewer places than a sample
};
CORNEA_API std::string_view name(TwoView kind);

enum class StopReason { confidence, target, maximum, nothing_to_do };
CORNEA_API std::string_view name(StopReason reason);

struct CORNEA_API FundamentalResult {
  TwoView kind = TwoView::none;
  std::array<double, 9> F{};  // row by row, of norm 1, its largest entry positive; 0: none
  std::array<double, 9> H{};  // x2 ~ H x1, where the kind is planar; likewise
  std::vector<std::uint8_t> inliers = {};  // 0 or 1 each; where the kind is planar, of H
  int inlier_count = 0;                    // places
  int places = 0;                          // correspondences, repeated ones once
  double threshold = 0;                    // that separates inliers from outliers, pixels
  int hypotheses = 0;                      // drawn
  int rounds = 0;
  StopReason stop = StopReason::nothing_to_do;
  bool converged() const { return stop == StopReason::confidence || stop == StopReason::target; }
  // An F was found and at least half of the matches agree with it, but these are fewer than 15: so
  // few may agree by chance.
  bool may_be_chance() const;
};

class FundamentalEstimator;
namespace geometry {
struct RansacPair;
FundamentalEstimator estimator_with_sample(const Context&, const FundamentalOptions&, int);
}  // namespace geometry

// Made once; then it takes pair after pair, or many in one call. On CUDA it keeps its memory.
class CORNEA_API FundamentalEstimator {
 public:
  explicit FundamentalEstimator(const Context& context, const FundamentalOptions& options = {});
  ~FundamentalEstimator();
  FundamentalEstimator(FundamentalEstimator&&) noexcept;

  // `key` keys the random samples, together with the seed.
  FundamentalResult estimate(std::span<const Correspondence> matches, std::uint64_t key = 0);
  // One key per pair; a result depends on its own pair and key alone.
  void estimate_batch(std::span<const std::span<const Correspondence>> pairs,
                      std::span<const std::uint64_t> keys, std::span<FundamentalResult> out);

  const Context& context() const { return context_; }
  const FundamentalOptions& options() const { return options_; }

 private:
  friend FundamentalEstimator geometry::estimator_with_sample(const Context&,
                                                              const FundamentalOptions&, int);
  struct Unchecked {};
  FundamentalEstimator(const Context& context, const FundamentalOptions& options, Unchecked);
  void estimate_some(std::span<geometry::RansacPair> pairs, std::span<FundamentalResult*> out,
                     const std::function<void()>& meanwhile);

  struct State;
  Context context_;
  FundamentalOptions options_;
  std::unique_ptr<State> state_;
};

// F from 8 or more correspondences without outliers: least squares in normalised coordinates, then
// the nearest matrix of rank 2. An error where they do not fix F.
CORNEA_API std::array<double, 9> eight_point(std::span<const Correspondence> matches);

// Where the kind is planar an inlier's distance to H (that of x2 to H x1 plus that of x1 to H^-1
// x2) is below this many thresholds.
inline constexpr double kPlaneWidth = 4;

// H / H33, as homographies are mostly written; where H33 is below 1e-6 of the largest entry, H as
// it is.
CORNEA_API std::array<double, 9> with_unit_corner(const std::array<double, 9>& H);

// The distance of a correspondence to F, as above, pixels.
CORNEA_API double epipolar_distance(const std::array<double, 9>& F, const Correspondence& match);

}  // namespace cornea
