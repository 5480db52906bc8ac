// SPDX-License-Identifier: Apache-2.0
// Which geometry two views have: E, F and H of the same correspondences, and COLMAP's rule for
// choosing between them (J. Schoenberger, J.-M. Frahm, "Structure-from-motion revisited", CVPR
// 2016; estimators/two_view_geometry.cc).
//
// With cameras: E is taken where its inliers are at least 0.95 of F's; a focal length that is far
// off shows as fewer. One that is off by some percent costs few inliers and most of the pose's
// accuracy: where the focal lengths are guesses (IntrinsicsPair::focal_known), E is also estimated
// with a factor of theirs, and that is taken where it explains the correspondences clearly better.
// A plane or a camera that only rotated: H's inliers are at least 0.8 of E's (or of
// F's). Without cameras: F, or H by the same share.
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
  double essential_share = 0.95;  // of F's inliers that E's must reach
  double homography_share = 0.8;  // of E's or F's inliers that H's must reach
  // Pixels, where thresholds are chosen per pair: of the inliers that the shares are of. The
  // inliers of the result are those within the noise all the same. 0: these.
  double configuration_threshold = 0;

  void validate() const;
};

struct CORNEA_API TwoViewResult {
  Configuration configuration = Configuration::undefined;
  std::array<double, 9> F{}, E{}, H{};  // 0 where there is none
  std::array<double, 9> R{};            // where there are cameras and a pose; otherwise 0
  std::array<double, 3> t{};
  std::vector<std::uint8_t> inliers = {};  // of the chosen model
  int inlier_count = 0;
  double median_angle_degrees = 0;
  std::vector<std::array<float, 3>> points = {};  // as in EssentialResult, where there is a pose
  FundamentalResult fundamental = {};
  // Empty without cameras. All that is said with cameras is of those of its focal_factor.
  EssentialResult essential = {};
  HomographyResult homography = {};
};

class CORNEA_API TwoViewEstimator {
 public:
  explicit TwoViewEstimator(const Context& context, const TwoViewOptions& options = {});

  TwoViewResult estimate(std::span<const Correspondence> matches,
                         const std::optional<IntrinsicsPair>& cameras, std::uint64_t key = 0);
  // One key per pair; cameras where they are known.
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
