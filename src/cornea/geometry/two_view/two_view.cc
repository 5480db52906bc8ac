// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/two_view.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/geometry/pose/homography_pose.h"
#include "cornea/geometry/ransac/search.h"
#include "cornea/geometry/two_view/batch.h"
#include "cornea/geometry/two_view/relative_pose.h"

namespace cornea {
namespace {

using namespace geometry;

Matrix3<double> matrix(const std::array<double, 9>& m) {
  Matrix3<double> result;
  std::copy(m.begin(), m.end(), result.v);
  return result;
}
Matrix3<double> calibration(const Intrinsics& c) {
  return {{c.fx, 0, c.cx, 0, c.fy, c.cy, 0, 0, 1}};
}
Matrix3<double> inverse_calibration(const Intrinsics& c) {
  return {{1 / c.fx, 0, -c.cx / c.fx, 0, 1 / c.fy, -c.cy / c.fy, 0, 0, 1}};
}

// Ratio of the transfer threshold to the epipolar threshold for configuration_threshold. COLMAP
// compares the Sampson error of F and E, about the sum of both distances divided by 2 sqrt 2, and
// the distance to H x1, half of our transfer distance, with a single threshold.
constexpr double kTransferPerEpipolar = 0.7071067811865476;
// Fraction of F's inliers within the noise that E must reach even if the wide threshold decides.
constexpr double kLeastNearShare = 0.75;
// Limits for the gain in units of the variance: the gain that chance produces once in a thousand
// pairs (chi-squared with one degree of freedom: 10.8), and a fraction of the inliers, because
// their errors are not independent.
constexpr double kClearGain = 11, kClearShare = 0.01;

// Marks the first copy of each distinct correspondence.
std::vector<std::uint8_t> first_of_places(std::span<const Correspondence> matches) {
  std::vector<std::uint8_t> first(matches.size(), 1);
  match::PlaceFinder finder;
  if (!finder.repeats(matches)) return first;
  const match::Places places = finder.places(matches);
  std::vector<std::uint8_t> seen(places.distinct.size(), 0);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    first[i] = !seen[places.of[i]];
    seen[places.of[i]] = 1;
  }
  return first;
}

// A model's inliers at a threshold, and the number of distinct correspondences among them.
struct Support {
  std::vector<std::uint8_t> inliers;
  int count = 0;
};
template <class Distance>
Support support_of(std::span<const Correspondence> matches, std::span<const std::uint8_t> first,
                   double threshold, const Distance& distance) {
  Support result{std::vector<std::uint8_t>(matches.size(), 0)};
  for (std::size_t i = 0; i < matches.size(); ++i) {
    result.inliers[i] = distance(matches[i]) < threshold;
    result.count += result.inliers[i] && first[i];
  }
  return result;
}

// Correspondences in the pixels of cameras without distortion; NaN, which agrees with no model,
// where the distortion has no inverse.
std::vector<Correspondence> undistorted_pixels(std::span<const Correspondence> matches,
                                               const IntrinsicsPair& cameras) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  std::vector<Correspondence> result;
  for (const Correspondence& match : matches) {
    result.push_back(
        undistorted(cameras, match).value_or(Correspondence{kNone, kNone, kNone, kNone}));
  }
  return result;
}

// The pose of H that puts most inliers in front of both cameras; none if H has no decomposition.
std::optional<PlanePose> pose_of_plane(std::span<const Correspondence> pixels,
                                       const IntrinsicsPair& cameras, const TwoViewResult& out) {
  const Matrix3<double> to1 = inverse_calibration(cameras.first);
  const Matrix3<double> to2 = inverse_calibration(cameras.second);
  const Matrix3<double> h = to2 * (matrix(out.H) * calibration(cameras.first));
  // H refers to the distorted pixels: its inliers may lie where the distortion has no inverse.
  const auto counts = [&](std::size_t i) { return out.inliers[i] && std::isfinite(pixels[i].x1); };
  std::vector<PointPair> inliers;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    if (!counts(i)) continue;
    const Correspondence& m = pixels[i];
    inliers.push_back({to1.v[0] * m.x1 + to1.v[2], to1.v[4] * m.y1 + to1.v[5],
                       to2.v[0] * m.x2 + to2.v[2], to2.v[4] * m.y2 + to2.v[5]});
  }
  return choose_plane_pose(h, inliers);
}

// Whether the correspondences clearly support the focal lengths of `sought` over those of `known`:
// compares by how much the sum of squared distances, each limited by the threshold, decreases in
// units of the variance. A geometry that hardly depends on the focal length gives a small gain.
bool prefers_factor(std::span<const Correspondence> matches, const IntrinsicsPair& cameras,
                    const EssentialResult& known, const EssentialResult& sought) {
  if (sought.kind != TwoView::general || sought.pure_rotation) return false;
  if (known.kind != TwoView::general && known.kind != TwoView::planar) return true;
  const std::vector<std::uint8_t> first = first_of_places(matches);
  const double limit = sought.threshold * sought.threshold;
  const auto loss = [&](const EssentialResult& of, double& inside, int& count) {
    const std::array<double, 9> F = fundamental_of(of.E, cameras.refocused(of.focal_factor));
    double sum = 0;
    for (std::size_t i = 0; i < matches.size(); ++i) {
      if (!first[i]) continue;
      const double d = epipolar_distance(F, matches[i]), square = d * d;
      sum += std::min(square, limit);
      if (square < limit) {
        inside += square;
        ++count;
      }
    }
    return sum;
  };
  double inside = 0, unused = 0;
  int count = 0, unused_count = 0;
  const double with = loss(sought, inside, count), without = loss(known, unused, unused_count);
  if (!(inside > 0)) return with < without;
  const double gain = (without - with) * count / inside;
  return gain > kClearGain + kClearShare * count;
}

void choose(std::span<const Correspondence> matches, const std::optional<IntrinsicsPair>& given,
            const TwoViewOptions& options, TwoViewResult& out) {
  const FundamentalResult& f = out.fundamental;
  const EssentialResult& e = out.essential;
  std::optional<IntrinsicsPair> cameras = given;
  if (cameras) cameras = cameras->refocused(e.focal_factor);
  const HomographyResult& h = out.homography;
  const std::vector<std::uint8_t> first = first_of_places(matches);
  const std::vector<Correspondence> straight =
      cameras ? undistorted_pixels(matches, *cameras) : std::vector<Correspondence>();
  // All models are compared at one threshold: that of the noise, the larger one of F and E.
  const bool has_f = f.kind == TwoView::general || f.kind == TwoView::planar;
  const bool has_e = cameras && e.E != std::array<double, 9>{};
  const bool has_h = h.kind == TwoView::planar;
  const double threshold = has_f && has_e ? std::max(f.threshold, e.threshold)
                           : has_e        ? e.threshold
                                          : f.threshold;
  struct Supports {
    Support f, e, h;
  };
  const auto supports_at = [&](double epipolar, double transfer) {
    Supports of;
    if (has_f && f.F != std::array<double, 9>{}) {
      of.f = support_of(matches, first, epipolar,
                        [&](const Correspondence& m) { return epipolar_distance(f.F, m); });
    }
    if (has_e) {
      const std::array<double, 9> F = fundamental_of(e.E, *cameras);
      of.e = support_of(straight, first, epipolar,
                        [&](const Correspondence& m) { return epipolar_distance(F, m); });
    }
    if (has_h) {
      of.h = support_of(matches, first, transfer,
                        [&](const Correspondence& m) { return transfer_distance(h.H, m); });
    }
    return of;
  };
  const bool follows = options.fundamental.threshold == 0 && (has_f || has_e);
  const Supports near = supports_at(threshold, follows ? kPlaneWidth * threshold : h.threshold);
  const double wide = options.configuration_threshold;
  const double transfer = kTransferPerEpipolar * (follows ? wide : std::max(threshold, wide));
  const Supports far = wide == 0 ? near
                       : follows ? supports_at(wide, transfer)
                                 : supports_at(threshold, std::min(h.threshold, transfer));
  out.compared_essential = far.e.count;
  out.compared_fundamental = far.f.count;
  const int places = f.places;
  const bool sure_e = has_e && !is_chance(std::uint32_t(near.e.count), places);
  const bool sure_f = has_f && !is_chance(std::uint32_t(near.f.count), places);
  const bool sure_h = has_h && near.h.count >= int(kLeastSupport);
  out.F = f.F;
  const auto take = [&](const Support& support) {
    out.inliers = support.inliers;
    out.inlier_count = support.count;
  };
  // The pose of E, with the points of those inliers of the result that are also E's.
  const auto take_pose = [&] {
    out.R = e.R;
    out.t = e.t;
    out.points = e.points;
    for (std::size_t i = 0; i < out.points.size(); ++i) {
      if (!out.inliers[i]) out.points[i] = {};
    }
    out.median_angle_degrees = e.median_angle_degrees;
  };
  // Within a wide threshold, many wrong focal lengths explain enough correspondences.
  const bool calibrated = sure_e && far.e.count >= options.essential_share * far.f.count &&
                          near.e.count >= kLeastNearShare * near.f.count;
  if (!calibrated && !sure_f && !sure_h) {
    out.configuration =
        f.kind == TwoView::degenerate ? Configuration::degenerate : Configuration::undefined;
    out.F = {};
    out.inliers.assign(matches.size(), 0);
    return;
  }
  if (has_h) out.H = h.H;
  if (calibrated) {
    out.configuration = Configuration::calibrated;
    out.E = e.E;
    out.F = fundamental_of(e.E, *cameras);
    // F follows a lens distortion by a wider threshold; E's own inliers have the points.
    out.inliers = e.inliers;
    out.inlier_count = e.inlier_count;
  } else if (sure_f) {
    out.configuration = Configuration::uncalibrated;
    take(near.f);
  }
  const int chosen = calibrated ? far.e.count : sure_f ? far.f.count : 0;
  const bool plane = sure_h && far.h.count >= options.homography_share * chosen;
  const bool called_planar = !calibrated && f.kind == TwoView::planar;
  if (sure_h && (plane || called_planar)) {
    out.configuration = Configuration::planar_or_panoramic;
    if (near.h.count > (calibrated ? near.e.count : out.inlier_count)) take(near.h);
    if (cameras && calibrated && !e.pure_rotation) {
      const auto plane_pose = pose_of_plane(straight, *cameras, out);
      if (plane_pose && dot(plane_pose->translation, plane_pose->translation) > 0) {
        // E's own pose rests on more points than the plane's and is as accurate.
        out.configuration = Configuration::planar;
        take_pose();
      } else if (plane_pose) {
        out.configuration = Configuration::panoramic;
        std::copy_n(plane_pose->rotation.v, 9, out.R.begin());
      }
    } else if (cameras && calibrated) {
      out.configuration = Configuration::panoramic;
      out.R = e.R;
    }
    return;
  }
  if (calibrated && e.pure_rotation) {
    out.configuration = Configuration::panoramic;
    out.R = e.R;
  } else if (calibrated) {
    take_pose();
  }
}

}  // namespace

std::string_view name(Configuration configuration) {
  switch (configuration) {
    case Configuration::undefined:
      return "undefined";
    case Configuration::degenerate:
      return "degenerate";
    case Configuration::calibrated:
      return "calibrated";
    case Configuration::uncalibrated:
      return "uncalibrated";
    case Configuration::planar:
      return "planar";
    case Configuration::panoramic:
      return "panoramic";
    case Configuration::planar_or_panoramic:
      return "planar or panoramic";
    case Configuration::watermark:
      return "watermark";
  }
  return "";
}

void TwoViewOptions::validate() const {
  fundamental.validate();
  essential.validate();
  homography.validate();
  require(essential_share > 0 && essential_share <= 1,
          "essential_share takes a fraction of F's inliers between 0 and 1, not ", essential_share);
  require(homography_share > 0 && homography_share <= 1,
          "homography_share takes a fraction of inliers between 0 and 1, not ", homography_share);
  require(
      configuration_threshold >= 0 && std::isfinite(configuration_threshold),
      "configuration_threshold takes a positive number of pixels, or 0 for that of the inliers, "
      "not ",
      configuration_threshold);
}

namespace {

EssentialOptions with_shared_focal(EssentialOptions options) {
  options.shared_focal = true;
  return options;
}

}  // namespace

TwoViewEstimator::TwoViewEstimator(const Context& context, const TwoViewOptions& options)
    : options_((options.validate(), options)),
      fundamental_(context, options.fundamental),
      essential_(context, options.essential),
      shared_focal_(context, with_shared_focal(options.essential)),
      homography_(context, options.homography) {}

TwoViewResult TwoViewEstimator::estimate(std::span<const Correspondence> matches,
                                         const std::optional<IntrinsicsPair>& cameras,
                                         std::uint64_t key) {
  TwoViewResult result;
  estimate_batch({&matches, 1}, {&cameras, 1}, {&key, 1}, {&result, 1});
  return result;
}

void TwoViewEstimator::estimate_batch(std::span<const std::span<const Correspondence>> pairs,
                                      std::span<const std::optional<IntrinsicsPair>> cameras,
                                      std::span<const std::uint64_t> keys,
                                      std::span<TwoViewResult> out) {
  const std::size_t count = pairs.size();
  require(count == cameras.size() && count == keys.size() && count == out.size(), count,
          " pairs were given, cameras for ", cameras.size(), ", ", keys.size(),
          " keys and room for ", out.size(), " results; the numbers must be equal");
  check_cameras(count, essential_.options().shared_focal,
                [&](std::size_t i) { return cameras[i] ? &*cameras[i] : nullptr; });
  std::vector<FundamentalResult> fundamental(count);
  std::vector<HomographyResult> homography(count);
  fundamental_.estimate_batch(pairs, keys, fundamental);
  homography_.estimate_batch(pairs, keys, homography);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = {};
    out[i].fundamental = std::move(fundamental[i]);
    out[i].homography = std::move(homography[i]);
  }
  // Estimates E of the pairs for which wanted(cameras) is true.
  const auto estimate_essential = [&](EssentialEstimator& estimator, const auto& wanted,
                                      const auto& take) {
    std::vector<std::span<const Correspondence>> some;
    std::vector<IntrinsicsPair> some_cameras;
    std::vector<std::uint64_t> some_keys;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < count; ++i) {
      if (!cameras[i] || !wanted(*cameras[i])) continue;
      some.push_back(pairs[i]);
      some_cameras.push_back(*cameras[i]);
      some_keys.push_back(keys[i]);
      which.push_back(i);
    }
    if (some.empty()) return;
    std::vector<EssentialResult> results(some.size());
    estimator.estimate_batch(some, some_cameras, some_keys, results);
    for (std::size_t k = 0; k < which.size(); ++k) take(which[k], std::move(results[k]));
  };
  estimate_essential(
      essential_, [](const IntrinsicsPair&) { return true; },
      [&](std::size_t i, EssentialResult&& e) { out[i].essential = std::move(e); });
  estimate_essential(
      shared_focal_,
      [](const IntrinsicsPair& of) {
        return !of.focal_known && !of.first.is_distorted() && !of.second.is_distorted();
      },
      [&](std::size_t i, EssentialResult&& e) {
        if (prefers_factor(pairs[i], *cameras[i], out[i].essential, e)) {
          out[i].essential = std::move(e);
        }
      });
  core::parallel_for(context(), int(count), kPairsPerPiece, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) choose(pairs[i], cameras[i], options_, out[i]);
  });
}

}  // namespace cornea
