// SPDX-License-Identifier: Apache-2.0
// The essential matrix and the pose between two calibrated views: x2^T E x1 = 0 for rays x1, x2 in
// camera coordinates, E = [t]x R, and a point X1 in the first camera's coordinates is X2 = R X1 + t
// in the second's, |t| = 1 (D. Nister, "An efficient solution to the five-point relative pose
// problem", PAMI 2004).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/features.h"
#include "cornea/geometry/two_view/fundamental.h"
#include "cornea/geometry/two_view/intrinsics.h"

namespace cornea {

struct CORNEA_API EssentialOptions {
  // Largest distance of an inlier in pixels, the sum over both images as for F; 0: chosen per pair
  // from the noise of its correspondences.
  double threshold = 0;
  double confidence = 0.999;    // probability that a sample without outliers was drawn
  int max_hypotheses = 100000;  // largest number of samples
  int round = 256;              // samples per round
  std::uint64_t seed = 0;       // of the random samples
  bool optimise = true;         // local optimisation of a new best hypothesis
  bool refine = true;           // the final minimisation over R and t
  // Treats the focal lengths as guesses, both wrong by the same factor from 1/4 to 4, which is
  // estimated together with E (six-point samples: H. Li, ECCV 2006). The cameras must then have no
  // distortion.
  bool shared_focal = false;

  void validate() const;
};

struct CORNEA_API EssentialResult {
  // general: E, R and t are valid; for points on a plane too, though these may allow two poses, of
  // which one is returned. planar: the camera only rotated (`pure_rotation`): R is valid and t has
  // no meaning. none, degenerate, too_few_points: as for F, with all matrices 0.
  TwoView kind = TwoView::none;
  bool pure_rotation = false;
  std::array<double, 9> E{};  // row-major, of norm 1, its largest entry positive
  std::array<double, 9> R{};
  std::array<double, 3> t{};
  double focal_factor = 1;                 // of the given focal lengths, if shared_focal
  std::vector<std::uint8_t> inliers = {};  // 0 or 1 per correspondence
  int inlier_count = 0;                    // distinct correspondences
  int in_front_count = 0;                  // distinct inliers with a point in front of both cameras
  // Distinct inliers with parallax, in front of both cameras and behind at least one. The others
  // are so far away that their noise decides on which side they lie.
  int parallax_in_front = 0, parallax_behind = 0;
  // Whether nearly all inliers lie on one plane and another pose explains them as well: a plane can
  // allow two, and this may be the wrong one.
  bool second_pose = false;
  int places = 0;  // distinct correspondences in all
  // (X, Y, Z) per correspondence in the first camera's coordinates, in units of the baseline; all 0
  // if it is not an inlier or lies behind a camera.
  std::vector<std::array<float, 3>> points = {};
  double median_angle_degrees = 0;  // between the two rays of an inlier
  double threshold = 0;             // between inliers and outliers, pixels
  int hypotheses = 0;               // drawn
  int rounds = 0;
  StopReason stop = StopReason::nothing_to_do;
  bool converged() const { return stop == StopReason::confidence || stop == StopReason::target; }
  // Whether so few inliers may agree by chance, as FundamentalResult says it.
  bool may_be_chance() const;
  // Whether at least 8 inliers have parallax and more than a quarter of them lie behind a camera.
  // Either the wrong one of the two poses that a plane allows was taken, or the focal lengths are
  // wrong.
  bool leaves_points_behind() const;
};

struct CORNEA_API IntrinsicsPair {
  Intrinsics first = {}, second = {};
  // False if they are guesses, for example from EXIF: TwoViewEstimator may then find that both are
  // wrong by the same factor.
  bool focal_known = true;

  // The cameras with their focal lengths multiplied by a factor (EssentialResult::focal_factor).
  IntrinsicsPair refocused(double factor) const;
};

class CORNEA_API EssentialEstimator {
 public:
  explicit EssentialEstimator(const Context& context, const EssentialOptions& options = {});
  ~EssentialEstimator();
  EssentialEstimator(EssentialEstimator&&) noexcept;

  // `key` selects the random samples, together with the seed.
  EssentialResult estimate(std::span<const Correspondence> matches, const IntrinsicsPair& cameras,
                           std::uint64_t key = 0);
  // One pair of cameras and one key per pair; a result depends only on its own pair.
  void estimate_batch(std::span<const std::span<const Correspondence>> pairs,
                      std::span<const IntrinsicsPair> cameras, std::span<const std::uint64_t> keys,
                      std::span<EssentialResult> out);

  const Context& context() const { return context_; }
  const EssentialOptions& options() const { return options_; }

 private:
  struct State;
  Context context_;
  EssentialOptions options_;
  std::unique_ptr<State> state_;
};

}  // namespace cornea
