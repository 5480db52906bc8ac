// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/pair.h"

#include <cmath>
#include <limits>

#include "cornea/core/error.h"
#include "cornea/core/reduce.h"
#include "cornea/core/stopwatch.h"
#include "cornea/geometry/two_view/relative_pose.h"

namespace cornea {
namespace {

using namespace core;

// Runs a stage and records its time.
template <class F>
void timed(const char* stage, std::vector<StageTime>& stages, F&& f) {
  const Stopwatch watch;
  f();
  stages.push_back({stage, watch.milliseconds()});
}

Settings settings_of(const PairOptions& options) {
  Settings settings = options.settings;
  settings.try_emplace("max-points", std::to_string(options.max_features));
  return settings;
}

const PairOptions& validated(const PairOptions& options) {
  options.validate();
  return options;
}

using Matrix = std::array<double, 9>;

// The estimator prefers E where it has nearly all of F's inliers. E stays valid where H explains
// most of its inliers too, because a planar scene does not degrade E; only a camera without
// translation has no pose.
bool takes_essential(const TwoViewResult& r) {
  return r.E != Matrix{} && !r.essential.pure_rotation &&
         r.configuration != Configuration::panoramic;
}

FundamentalResult result_of(const EssentialResult& e, const IntrinsicsPair& cameras) {
  FundamentalResult r;
  r.kind = TwoView::general;
  r.F = fundamental_of(e.E, cameras.refocused(e.focal_factor));
  r.inliers = e.inliers;
  r.inlier_count = e.inlier_count;
  r.places = e.places;
  r.threshold = e.threshold;
  r.hypotheses = e.hypotheses;
  r.rounds = e.rounds;
  r.stop = e.stop;
  return r;
}

}  // namespace

void PairOptions::validate() const {
  require(max_features >= 0, "max_features must be 0 (no limit) or more, not ", max_features);
  core::check_max_size(max_size);
  match.validate();
  fundamental.validate();
  essential.validate();
  homography.validate();
}

Correspondence PairResult::correspondence(std::size_t match) const {
  const Keypoint& a = first.keypoints[std::size_t(matches[match].a)];
  const Keypoint& b = second.keypoints[std::size_t(matches[match].b)];
  return {a.x, a.y, b.x, b.y};
}

PairPipeline::PairPipeline(const Context& context, const PairOptions& options)
    : context_(context),
      options_(validated(options)),
      first_(context, options.detector, settings_of(options), options.max_size),
      matcher_(context, options.match),
      estimator_(context, options.fundamental) {
  if (!context.is_cuda()) return;
  second_ = std::make_unique<FeatureExtractor>(context, options.detector, settings_of(options),
                                               options.max_size);
  first_.keep_on_device(true);
  second_->keep_on_device(true);
}

PairResult PairPipeline::run(AnyView first, AnyView second) {
  PairResult out;
  run(first, second, out);
  return out;
}

void PairPipeline::run(AnyView first, AnyView second, PairResult& out) {
  run(first, second, {}, out);
}

void PairPipeline::run(AnyView first, AnyView second, const PairMasks& masks, PairResult& out) {
  run(first, second, masks, std::nullopt, out);
}

void PairPipeline::run(AnyView first, AnyView second, const PairMasks& masks,
                       const std::optional<IntrinsicsPair>& cameras, PairResult& out) {
  if (cameras) {
    cameras->first.validate();
    cameras->second.validate();
  }
  out.stages.clear();
  timed("features", out.stages, [&] { find_features(first, second, masks, out); });
  timed("matching", out.stages, [&] { match_features(out); });
  timed("geometry", out.stages, [&] { find_geometry(cameras, out); });
}

void PairPipeline::find_features(AnyView first, AnyView second, const PairMasks& masks,
                                 PairResult& out) {
  first_.extract(first, out.first, masks.first);
  this->second().extract(second, out.second, masks.second);
}

void PairPipeline::match_features(PairResult& out) {
  // An image without points has no descriptors in device memory.
  const bool none = out.first.size() == 0 || out.second.size() == 0;
  out.matches =
      none ? std::vector<Match>()
           : matcher_.match(first_.descriptors_of(out.first), second().descriptors_of(out.second));
  out.match_kernel = none ? "" : matcher_.report().kernel;
  out.matches = one_per_place(std::move(out.matches), out.first.keypoints, out.second.keypoints);
}

void PairPipeline::find_geometry(const std::optional<IntrinsicsPair>& cameras, PairResult& out) {
  correspondences_.clear();
  for (std::size_t i = 0; i < out.matches.size(); ++i) {
    correspondences_.push_back(out.correspondence(i));
  }
  out.two_view.reset();
  if (cameras) {
    const TwoViewOptions options = {.fundamental = options_.fundamental,
                                    .essential = options_.essential,
                                    .homography = options_.homography};
    if (!two_view_) two_view_ = std::make_unique<TwoViewEstimator>(context_, options);
    out.two_view = two_view_->estimate(correspondences_, cameras);
  }
  out.by_essential = cameras && takes_essential(*out.two_view);
  out.geometry = out.by_essential ? result_of(out.two_view->essential, *cameras)
                 : cameras        ? out.two_view->fundamental
                                  : estimator_.estimate(correspondences_);
  const double threshold = out.geometry.threshold;
  out.threshold = out.geometry.kind == TwoView::general  ? threshold
                  : out.geometry.kind == TwoView::planar ? kPlaneWidth * threshold
                                                         : 0;
  measure_distances(cameras, out);
}

void PairPipeline::measure_distances(const std::optional<IntrinsicsPair>& cameras,
                                     PairResult& out) const {
  out.distances.clear();
  const bool planar = out.geometry.kind == TwoView::planar;
  if (!planar && out.geometry.F == Matrix{}) return;
  for (const Correspondence& match : correspondences_) {
    const std::optional<Correspondence> place =
        out.by_essential ? undistorted(*cameras, match) : match;
    out.distances.push_back(!place   ? std::numeric_limits<float>::infinity()
                            : planar ? float(transfer_distance(out.geometry.H, *place))
                                     : float(epipolar_distance(out.geometry.F, *place)));
  }
}

}  // namespace cornea
