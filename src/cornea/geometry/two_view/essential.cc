// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/essential.h"

#include <algorithm>
#include <cmath>

#include "cornea/geometry/two_view/batch.h"
#include "cornea/geometry/two_view/essential_problem.h"
#include "cornea/geometry/two_view/second_pose.h"
#include "cornea/geometry/two_view/significance.h"

namespace cornea {
namespace {

using namespace geometry;

constexpr double kEssentialThreshold = 3;  // pixels, if it is chosen per pair

template <class Problem>
Problem problem_of(const EssentialOptions& o) {
  const double threshold = o.threshold > 0 ? o.threshold : kEssentialThreshold;
  return {
      {threshold, o.confidence, o.max_hypotheses, 0, Problem::kSample, o.round, o.seed, o.optimise},
      o.threshold == 0,
      o.refine};
}

// Pixels relative to the principal point, as a camera without distortion and with a single focal
// length would have them. Points where the distortion has no inverse are moved far away, where no
// model agrees with them.
std::vector<Correspondence> square_pixels(std::span<const Correspondence> matches,
                                          const IntrinsicsPair& cameras) {
  constexpr double kNowhere = 1e6;  // in focal lengths
  const auto place = [](const Intrinsics& camera, double x, double y, double sign) {
    const auto at = camera.place(x, y);
    return at ? *at : std::array<double, 2>{sign * kNowhere, kNowhere};
  };
  const double f1 = cameras.first.mean_focal(), f2 = cameras.second.mean_focal();
  std::vector<Correspondence> result(matches.size());
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const auto a = place(cameras.first, matches[i].x1, matches[i].y1, 1);
    const auto b = place(cameras.second, matches[i].x2, matches[i].y2, -1);
    result[i] = {float(a[0] * f1), float(a[1] * f1), float(b[0] * f2), float(b[1] * f2)};
  }
  return result;
}

// Triangulates the inliers and counts them by the side of the cameras on which they lie.
// `parallax`: smallest sine of the angle between the rays of an inlier with parallax.
void triangulate_inliers(const Pose& pose, const Scales& scales, double parallax,
                         std::span<const PointPair> inliers, EssentialResult& out) {
  out.in_front_count = out.parallax_in_front = out.parallax_behind = 0;
  std::size_t k = 0;
  for (std::size_t i = 0; i < out.inliers.size(); ++i) {
    if (!out.inliers[i]) continue;
    const PointPair& p = inliers[k++];
    Vector3<double> point;
    const bool in_front = triangulate(pose, p, scales, point);
    out.points[i] = in_front ? std::array<float, 3>{float(point.x), float(point.y), float(point.z)}
                             : std::array<float, 3>{};
    out.in_front_count += in_front;
    const Vector3<double> first = pose.rotation * Vector3<double>{p.x1, p.y1, 1};
    const Vector3<double> second = {p.x2, p.y2, 1}, c = cross(first, second);
    const bool has_parallax =
        dot(c, c) > parallax * parallax * dot(first, first) * dot(second, second);
    if (has_parallax) ++(in_front ? out.parallax_in_front : out.parallax_behind);
  }
}

// `matches` are those of square_pixels(), `side` is the spread of the correspondences as given.
void write_outcome(const EssentialOutcome& outcome, Normalisation normalisation, double side,
                   std::span<const Correspondence> matches, int sample, EssentialResult& out) {
  out.kind = outcome.kind;
  out.threshold = outcome.threshold;
  out.hypotheses = outcome.hypotheses;
  out.rounds = outcome.rounds;
  out.stop = outcome.stop;
  out.points.assign(matches.size(), {});
  out.inlier_count = int(std::count(out.inliers.begin(), out.inliers.end(), 1));
  if (outcome.kind != TwoView::general && outcome.kind != TwoView::planar) return;
  const int count = int(matches.size());
  if (is_chance(std::uint32_t(out.inlier_count), count) ||
      random_epipolar({out.inlier_count, count, out.threshold},
                      {int(outcome.support), count, outcome.width}, sample, side)) {
    out.kind = TwoView::none;
    out.inlier_count = 0;
    std::fill(out.inliers.begin(), out.inliers.end(), std::uint8_t{0});
    return;
  }
  out.pure_rotation = outcome.pure_rotation;
  out.focal_factor = outcome.focal;
  normalisation.scales.first /= outcome.focal;
  normalisation.scales.second /= outcome.focal;
  out.E = canonical(outcome.e);
  std::copy(std::begin(outcome.pose.rotation.v), std::end(outcome.pose.rotation.v), out.R.begin());
  out.t = {outcome.pose.translation.x, outcome.pose.translation.y, outcome.pose.translation.z};
  if (outcome.pure_rotation) return;
  std::vector<PointPair> inliers;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const Correspondence& m = matches[i];
    if (out.inliers[i]) inliers.push_back(normalisation(m.x1, m.y1, m.x2, m.y2));
  }
  const Scales& scales = normalisation.scales;
  // An inlier has parallax if at the principal point R alone would not explain its rays: they are
  // kPlaneWidth thresholds apart, in both images together.
  const double narrow = narrow_threshold(outcome.threshold, outcome.width);
  const double parallax = kPlaneWidth * narrow / (1 / scales.first + 1 / scales.second);
  Pose pose = outcome.pose;
  triangulate_inliers(pose, scales, parallax, inliers, out);
  // The search counts all inliers. Where most are so far away that their noise decides on which
  // side they lie, they can outvote the near ones.
  if (out.parallax_behind >= out.parallax_in_front + int(kLeastSupport)) {
    const EssentialResult counted = out;
    pose.translation = scaled(pose.translation, -1);
    triangulate_inliers(pose, scales, parallax, inliers, out);
    if (out.parallax_in_front <= counted.parallax_in_front) {
      out = counted;
      pose = outcome.pose;
    }
    out.t = {pose.translation.x, pose.translation.y, pose.translation.z};
  }
  out.second_pose = has_second_pose(pose, inliers, matches, normalisation,
                                    kPlaneWidth / 2 * narrow * scales.second,
                                    std::min(outcome.width, outcome.threshold));
  out.median_angle_degrees = geometry::median_angle_degrees(pose, inliers);
}

}  // namespace

bool EssentialResult::may_be_chance() const {
  return kind == TwoView::general && inlier_count < int(kSureSupport);
}

bool EssentialResult::leaves_points_behind() const {
  return kind == TwoView::general &&
         parallax_in_front + parallax_behind >= int(geometry::kLeastSupport) &&
         parallax_in_front < 3 * std::int64_t{parallax_behind};
}

void EssentialOptions::validate() const {
  require(threshold >= 0 && std::isfinite(threshold),
          "threshold takes a positive number of pixels, or 0 to choose it per pair, not ",
          threshold);
  require(confidence > 0 && confidence < 1, "confidence takes a number between 0 and 1, not ",
          confidence);
  require(max_hypotheses >= 1, "max_hypotheses takes 1 or more, not ", max_hypotheses);
  require(round >= 1 && round <= 1 << 24, "round takes 1 to ", 1 << 24, " hypotheses, not ", round);
}

IntrinsicsPair IntrinsicsPair::refocused(double factor) const {
  IntrinsicsPair result = *this;
  for (Intrinsics* camera : {&result.first, &result.second}) {
    camera->fx *= factor;
    camera->fy *= factor;
  }
  return result;
}

// Only one of the two is set.
struct EssentialEstimator::State {
  std::unique_ptr<Ransac<EssentialProblem>> known;
  std::unique_ptr<Ransac<SharedFocalProblem>> sought;
};

EssentialEstimator::EssentialEstimator(const Context& context, const EssentialOptions& options)
    : context_(context), options_(options), state_(std::make_unique<State>()) {
  options.validate();
  if (options.shared_focal) {
    state_->sought = make_ransac(context, problem_of<SharedFocalProblem>(options));
  } else {
    state_->known = make_ransac(context, problem_of<EssentialProblem>(options));
  }
}
EssentialEstimator::~EssentialEstimator() = default;
EssentialEstimator::EssentialEstimator(EssentialEstimator&&) noexcept = default;

EssentialResult EssentialEstimator::estimate(std::span<const Correspondence> matches,
                                             const IntrinsicsPair& cameras, std::uint64_t key) {
  EssentialResult result;
  estimate_batch({&matches, 1}, {&cameras, 1}, {&key, 1}, {&result, 1});
  return result;
}

void EssentialEstimator::estimate_batch(std::span<const std::span<const Correspondence>> pairs,
                                        std::span<const IntrinsicsPair> cameras,
                                        std::span<const std::uint64_t> keys,
                                        std::span<EssentialResult> out) {
  require(pairs.size() == cameras.size(), pairs.size(), " pairs were given, but cameras for ",
          cameras.size());
  check_cameras(cameras.size(), options_.shared_focal, [&](std::size_t i) { return &cameras[i]; });
  const int sample = options_.shared_focal ? 6 : 5;
  estimate_places<EssentialResult>(
      context_, pairs, keys, out, sample,
      [&](std::span<RansacPair> wanted, std::span<EssentialResult*> results,
          const std::function<void()>& meanwhile) {
        std::vector<std::span<const Correspondence>> pixels(wanted.size());
        std::vector<std::vector<Correspondence>> rays(wanted.size());
        core::parallel_for(context_, int(wanted.size()), kPairsPerPiece, [&](int begin, int end) {
          for (int i = begin; i < end; ++i) {
            const IntrinsicsPair& of = cameras[results[i] - out.data()];
            pixels[i] = wanted[i].matches;
            rays[i] = square_pixels(pixels[i], of);
            wanted[i].matches = rays[i];
            wanted[i].given = {0, 0, 0, 0, {1 / of.first.mean_focal(), 1 / of.second.mean_focal()}};
          }
        });
        std::vector<RansacOutcome<EssentialOutcome>> outcomes(wanted.size());
        std::vector<double> sides(wanted.size());
        const auto find_sides = [&] {
          if (meanwhile) meanwhile();
          core::parallel_for(context_, int(sides.size()), kPairsPerPiece, [&](int begin, int end) {
            for (int i = begin; i < end; ++i) sides[i] = side_of(pixels[i]);
          });
        };
        if (state_->sought) {
          state_->sought->run(wanted, outcomes, find_sides);
        } else {
          state_->known->run(wanted, outcomes, find_sides);
        }
        core::parallel_for(context_, int(wanted.size()), kPairsPerPiece, [&](int begin, int end) {
          for (int i = begin; i < end; ++i) {
            write_outcome(outcomes[i].outcome, outcomes[i].normalisation, sides[i], rays[i], sample,
                          *results[i]);
          }
        });
      });
  // Copies of a correspondence share its triangulated point.
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (out[i].points.size() == pairs[i].size()) continue;
    if (out[i].points.empty()) {
      out[i].points.assign(pairs[i].size(), {});
      continue;
    }
    match::PlaceFinder finder;
    copy_from_places(finder.places(pairs[i]), out[i].points);
  }
}

}  // namespace cornea
