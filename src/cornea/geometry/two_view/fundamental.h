// SPDX-License-Identifier: Apache-2.0
// The fundamental matrix between two views: x2^T F x1 = 0 for corresponding points x1, x2
// (R. Hartley, "In defense of the eight-point algorithm", PAMI 1997; M. Fischler and R. Bolles,
// "Random sample consensus", CACM 1981).
//
// Distance of a correspondence to F: the distance of x2 to the line F x1 plus that of x1 to the
// line F^T x2, in pixels. An inlier's distance is below the threshold. If both distances are equal,
// the sum is twice the distance to one line and 2 sqrt(2) times the Sampson distance, which
// OpenCV's USAC, COLMAP and PoseLib compare with their thresholds.
//
// Repeated correspondences (equal in all four coordinates) count once: they take part once, every
// copy gets the same mark, and `inlier_count` and all minimum counts refer to distinct
// correspondences ("places").
//
//   1. Coordinates are shifted and scaled so that their mean is 0 and their mean distance from it
//      is sqrt(2). Both means are trimmed: they are recomputed twice over the points within four
//      mean distances, so that extreme coordinates have no influence (points.h).
//   2. Rounds of hypotheses. Hypothesis h draws `sample` correspondences (Philox random numbers
//      keyed by seed, pair and h) and computes F of rank 2 from them (8: the null vector of an
//      8 x 9 system by Householder reflections; 7: the cubic). Samples that do not determine F, or
//      whose points would lie behind a camera, are dropped. The cost of a hypothesis is
//      sum min((distance / threshold)^2, 1) over all correspondences (MSAC), each term in steps of
//      1/1024, so that sums are exact in any order. With more than 128 correspondences scoring is
//      preemptive: of the models of every 32 samples only the two with the lowest cost over 64
//      evenly spread correspondences are scored on all (scoring/preemptive.h).
//   3. The best model of a round is optimised locally (LO-RANSAC): least squares over its inliers,
//      with weights that turn algebraic into geometric errors and a narrowing threshold. The best
//      model of all rounds is kept.
//   4. Rounds end when enough hypotheses were drawn for `confidence`, (1 - q^sample)^N <= 1 - p; at
//      `target` inliers; or at `max_hypotheses`. q is the inlier fraction of the best model. With
//      local optimisation, correspondences within two thresholds count as well, because samples of
//      them lead to the same model. Rounds also end when a model with the smallest number of
//      inliers that chance does not explain (see TwoView::none) would have been found with that
//      confidence, each sample being one of C(n, sample): for 43 correspondences that is after
//      156,000 hypotheses, for 30 after 6,300, and from 47 on after more than 300,000.
//   5. Noise: the Sampson error of the inliers is minimised over the 7 degrees of freedom of F
//      (Levenberg-Marquardt, F = U diag(1, s, 0) V^T, weights that fall with the error), at a width
//      that follows the median distance down from the search's threshold (refine/noise.h).
//   6. Planes (DEGENSAC): if a homography explains most inliers, F could be any matrix compatible
//      with it. F is then searched again as [e]x H, with e from two correspondences off the plane,
//      as many pairs of them as the confidence requires. If hardly any correspondence off the plane
//      agrees, the scene is a plane or the camera only rotated; the result is `planar` and contains
//      the homography beside an F that has no meaning off the plane (degeneracy/plane.h). This is
//      judged at the threshold of the noise, even if a wider one is given.
//   7. If fewer than 300 correspondences agree within the noise, inner samples of 8 correspondences
//      near F are scored at the width of the noise (refine/resample.h). A final minimisation
//      follows.
//   8. If the threshold is 0, the search runs at 3 pixels. If no F is found, if the noise is wider,
//      or if fewer than 40% agree within it, a second search runs at 10 pixels. Each search may
//      draw half of `max_hypotheses`. The second result replaces the first if its significance (a
//      contrario) is more than 1.3 times as high, or higher at all if the first is only a plane.
//      Inliers are then those within 1.25 widths of the noise, and at least 1.5 pixels.
//   9. If random correspondences are expected to support a model with as many inliers (a contrario,
//      significance.h), or if the inliers are too few (see TwoView::none), there is no geometry.
//
// Both backends run the same functions in the same order, with additions, products, divisions and
// square roots only: F has the same bits on both. (Steps 8 and 9 decide on the CPU, by logarithms.)
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/features.h"
#include "cornea/geometry/outcome.h"

namespace cornea {

struct CORNEA_API FundamentalOptions {
  // t: largest distance of an inlier of F in pixels, the sum over both images. 0: chosen per pair
  // from the noise of its correspondences.
  double threshold = 0;
  double confidence = 0.999;    // p: probability that a sample without outliers was drawn
  int max_hypotheses = 300000;  // largest N
  int target = 0;               // T: stop at this many inliers; 0: do not
  int sample = 8;               // correspondences per hypothesis, 7 or 8
  int round = 1024;             // hypotheses per round
  std::uint64_t seed = 0;       // of the random samples
  bool optimise = true;         // local optimisation of a new best hypothesis
  bool check_plane = true;      // distinguish planes and pure rotations from general scenes
  bool refine = true;           // the final minimisation

  void validate() const;
};

struct CORNEA_API FundamentalResult {
  TwoView kind = TwoView::none;
  std::array<double, 9> F{};  // row-major, of norm 1, its largest entry positive; 0: none
  std::array<double, 9> H{};  // x2 ~ H x1 if the kind is planar; likewise
  std::vector<std::uint8_t> inliers = {};  // 0 or 1 each; of H if the kind is planar
  int inlier_count = 0;                    // distinct correspondences among the inliers
  int places = 0;                          // distinct correspondences among all that were given
  // The largest distance of an inlier of F, pixels. If the kind is planar, this is the threshold
  // measured from the noise, even if a wider one was given, and inliers of H are within four times
  // it.
  double threshold = 0;
  int hypotheses = 0;  // drawn
  int rounds = 0;
  StopReason stop = StopReason::nothing_to_do;
  bool converged() const { return stop == StopReason::confidence || stop == StopReason::target; }
  // Whether an F was found with fewer than 15 inliers. These are at least half of the matches, but
  // so few may agree by chance.
  bool may_be_chance() const;
};

class FundamentalEstimator;
namespace geometry {
struct RansacPair;
FundamentalEstimator estimator_with_sample(const Context&, const FundamentalOptions&, int);
}  // namespace geometry

// Reusable for any number of pairs, one by one or many in one call. On CUDA it keeps its memory
// between calls.
class CORNEA_API FundamentalEstimator {
 public:
  explicit FundamentalEstimator(const Context& context, const FundamentalOptions& options = {});
  ~FundamentalEstimator();
  FundamentalEstimator(FundamentalEstimator&&) noexcept;

  // `key` selects the random samples, together with the seed.
  FundamentalResult estimate(std::span<const Correspondence> matches, std::uint64_t key = 0);
  // One key per pair; a result depends only on its own pair and key.
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
// the nearest matrix of rank 2. Throws if they do not determine F.
CORNEA_API std::array<double, 9> eight_point(std::span<const Correspondence> matches);

// H / H33, the usual form of a homography; H itself if |H33| is below 1e-6 of the largest entry.
CORNEA_API std::array<double, 9> with_unit_corner(const std::array<double, 9>& H);

// The distance of a correspondence to F as defined above, pixels; infinite if a point has no
// epipolar line.
CORNEA_API double epipolar_distance(const std::array<double, 9>& F, const Correspondence& match);

}  // namespace cornea
