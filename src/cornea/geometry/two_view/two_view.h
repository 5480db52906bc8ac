// SPDX-License-Identifier: Apache-2.0
// The geometry of two views: E, F and H of the same correspondences, and COLMAP's rule for choosing
// between them (J. Schoenberger, J.-M. Frahm, "Structure-from-motion revisited", CVPR 2016;
// estimators/two_view_geometry.cc).
//
// With cameras: E is chosen if it has at least 0.95 as many inliers as F, and at least 0.75 as many
// within the noise; a focal length that is far off leads to fewer. A focal length that is off by a
// few percent costs few inliers but most of the pose's accuracy: if the focal lengths are guesses
// (IntrinsicsPair::focal_known), E is also estimated together with a factor for them, and that
// result is taken if it explains the correspondences clearly better. The configuration is a plane
// or a pure rotation if H has at least 0.8 as many inliers as E (or F). Without cameras: F, or H by
// the same fraction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cornea/geometry/two_view/essential.h"
#include "cornea/geometry/two_view/homography.h"

namespace cornea {

// COLMAP's numbers (two_view_geometries.config).
enum class Configuration {
  undefined = 0,
  degenerate = 1,
  calibrated = 2,
  uncalibrated = 3,
  planar = 4,
  panoramic = 5,
  planar_or_panoramic = 6,
  watermark = 7,
};
CORNEA_API std::string_view name(Configuration configuration);

struct CORNEA_API TwoViewOptions {
  FundamentalOptions fundamental = {};
  EssentialOptions essential = {};
  HomographyOptions homography = {};
  // Fraction of F's inliers that E must reach. Whatever it is, E must also have 0.75 as many
  // inliers as F at the larger of their own thresholds.
  double essential_share = 0.95;
  double homography_share = 0.8;  // fraction of E's or F's inliers that H must reach
  // The threshold, pixels, at which the fractions above count inliers of F and E; those of H are
  // counted at 0.71 times it. If fundamental.threshold is given, F and E are counted at the
  // larger of their own thresholds instead, and H at 0.71 times the larger of that and this one,
  // but at most at homography.threshold. 0: F and E are counted at the larger of their own
  // thresholds, H at four times that, or at homography.threshold if fundamental.threshold is given.
  // The inliers of the result do not depend on this option.
  double configuration_threshold = 0;

  void validate() const;
};

struct CORNEA_API TwoViewResult {
  Configuration configuration = Configuration::undefined;
  std::array<double, 9> F{}, E{}, H{};  // 0 if there is none
  std::array<double, 9> R{};            // if there are cameras and a pose; otherwise 0
  std::array<double, 3> t{};
  std::vector<std::uint8_t> inliers = {};  // of the chosen model
  int inlier_count = 0;
  double median_angle_degrees = 0;
  // As in EssentialResult, for inliers of both results; empty if there is no t.
  std::vector<std::array<float, 3>> points = {};
  FundamentalResult fundamental = {};
  // Empty without cameras. E, R, t and the points refer to the given focal lengths multiplied by
  // its focal_factor.
  EssentialResult essential = {};
  HomographyResult homography = {};
  // The inliers of E and F at the one threshold at which essential_share compares them.
  int compared_essential = 0, compared_fundamental = 0;
};

class CORNEA_API TwoViewEstimator {
 public:
  explicit TwoViewEstimator(const Context& context, const TwoViewOptions& options = {});

  TwoViewResult estimate(std::span<const Correspondence> matches,
                         const std::optional<IntrinsicsPair>& cameras, std::uint64_t key = 0);
  // One key per pair; cameras are optional per pair.
  void estimate_batch(std::span<const std::span<const Correspondence>> pairs,
                      std::span<const std::optional<IntrinsicsPair>> cameras,
                      std::span<const std::uint64_t> keys, std::span<TwoViewResult> out);

  const Context& context() const { return fundamental_.context(); }
  const TwoViewOptions& options() const { return options_; }

 private:
  TwoViewOptions options_;
  FundamentalEstimator fundamental_;
  EssentialEstimator essential_, shared_focal_;
  HomographyEstimator homography_;
};

}  // namespace cornea
