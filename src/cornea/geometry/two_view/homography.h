// SPDX-License-Identifier: Apache-2.0
// The homography between two views of a plane, or of a camera that only rotated: x2 ~ H x1.
//
// Distance of a correspondence to H: that of x2 to H x1 plus that of x1 to H^-1 x2, in pixels
// (symmetric transfer). An inlier's distance is below the threshold.
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

namespace cornea {

struct CORNEA_API HomographyOptions {
  double threshold = 6;         // largest distance of an inlier, pixels: the sum over both images
  double confidence = 0.999;    // probability that a sample without outliers was drawn
  int max_hypotheses = 100000;  // largest number of samples
  int round = 1024;             // samples per round
  std::uint64_t seed = 0;       // of the random samples
  bool optimise = true;         // local optimisation of a new best hypothesis
  bool refine = true;           // the final minimisation

  void validate() const;
};

struct CORNEA_API HomographyResult {
  TwoView kind = TwoView::none;            // planar if there is an H; none, degenerate, too few
  std::array<double, 9> H{};               // row-major, of norm 1, its largest entry positive
  std::vector<std::uint8_t> inliers = {};  // 0 or 1 per correspondence
  int inlier_count = 0;                    // distinct correspondences
  int places = 0;                          // distinct correspondences in all
  double threshold = 0;                    // between inliers and outliers, pixels
  int hypotheses = 0;                      // drawn
  int rounds = 0;
  StopReason stop = StopReason::nothing_to_do;
  bool converged() const { return stop == StopReason::confidence || stop == StopReason::target; }
};

class CORNEA_API HomographyEstimator {
 public:
  explicit HomographyEstimator(const Context& context, const HomographyOptions& options = {});
  ~HomographyEstimator();
  HomographyEstimator(HomographyEstimator&&) noexcept;

  HomographyResult estimate(std::span<const Correspondence> matches, std::uint64_t key = 0);
  void estimate_batch(std::span<const std::span<const Correspondence>> pairs,
                      std::span<const std::uint64_t> keys, std::span<HomographyResult> out);

  const Context& context() const { return context_; }
  const HomographyOptions& options() const { return options_; }

 private:
  struct State;
  Context context_;
  HomographyOptions options_;
  std::unique_ptr<State> state_;
};

// The distance of a correspondence to H as defined above, pixels; infinite if a point is mapped to
// infinity.
CORNEA_API double transfer_distance(const std::array<double, 9>& H, const Correspondence& match);

}  // namespace cornea
