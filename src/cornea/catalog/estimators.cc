// SPDX-License-Identifier: Apache-2.0
#include "cornea/catalog/estimators.h"

#include <cmath>

#include "cornea/catalog/options_table.h"
#include "cornea/core/error.h"
#include "cornea/geometry/two_view/fundamental_study.h"

namespace cornea {
namespace {

using namespace catalog;

// Both spellings of one threshold; halving and doubling are exact.
template <class Visitor>
void visit_threshold(double& threshold, Visitor& v) {
  v("threshold", threshold, kThresholdHelp);
  const double half = threshold / 2;
  double per_line = half;
  v("threshold-per-line", per_line, kThresholdPerLineHelp);
  // So that the error names the option that was given; if `threshold` is NaN, so are both.
  if (per_line != half && !std::isnan(half)) {
    require(per_line >= 0 && std::isfinite(per_line), "threshold_per_line is ", per_line,
            " and must be a positive number of pixels, or 0 to choose it per pair");
  }
  threshold = 2 * per_line;
}

template <class Visitor>
void visit(FundamentalOptions& o, Visitor& v) {
  visit_threshold(o.threshold, v);
  v("confidence", o.confidence, "probability that an outlier-free sample was drawn");
  v("max-hypotheses", o.max_hypotheses, "maximum number of hypotheses");
  v("target", o.target, "stop at this number of inliers; 0: off");
  v("sample", o.sample, "correspondences per hypothesis, 7 or 8; up to 32 for studies");
  v("round", o.round, "hypotheses per round");
  v("seed", o.seed, "seed of the random samples");
  v("optimise", o.optimise, "local optimisation of each round's best hypothesis");
  v("check-plane", o.check_plane, "detect planar scenes and pure rotations");
  v("refine", o.refine, "minimise the error of all inliers at the end");
}

// Options that E and H share.
template <class Options, class Visitor>
void visit_search(Options& o, Visitor& v) {
  v("confidence", o.confidence, "probability that an outlier-free sample was drawn");
  v("max-hypotheses", o.max_hypotheses, "maximum number of samples");
  v("round", o.round, "samples per round");
  v("seed", o.seed, "seed of the random samples");
  v("optimise", o.optimise, "local optimisation of each round's best hypothesis");
}

template <class Visitor>
void visit(EssentialOptions& o, Visitor& v) {
  visit_threshold(o.threshold, v);
  visit_search(o, v);
  v("refine", o.refine, "minimise the error of all inliers over R and t at the end");
  v("shared-focal", o.shared_focal,
    "the focal lengths are guesses: estimate one common factor, 1/4 to 4, that corrects both");
}

template <class Visitor>
void visit(HomographyOptions& o, Visitor& v) {
  v("threshold", o.threshold,
    "largest transfer error of an inlier, pixels: from x2 to H x1 plus from x1 to H^-1 x2");
  visit_search(o, v);
  v("refine", o.refine, "minimise the error of all inliers at the end");
}

template <class Options>
Options options_of(const char* name, const Settings& settings) {
  require(!settings.contains("threshold") || !settings.contains("threshold-per-line"),
          "threshold_per_line is half of the threshold; give only one of them");
  Options options;
  ReadOptionValues read(settings);
  visit(options, read);
  read.check_all_used(text("the estimator ", name));
  return options;
}

template <class Options>
std::vector<Flag> flags_of(Options values) {
  DescribeOptions describe;
  visit(values, describe);
  return std::move(describe.flags);
}

}  // namespace

FundamentalOptions fundamental_options(const Settings& settings) {
  return options_of<FundamentalOptions>("fundamental", settings);
}

EssentialOptions essential_options(const Settings& settings) {
  return options_of<EssentialOptions>("essential", settings);
}

HomographyOptions homography_options(const Settings& settings) {
  return options_of<HomographyOptions>("homography", settings);
}

std::vector<Flag> fundamental_flags(FundamentalOptions values) { return flags_of(values); }

const std::vector<EstimatorEntry>& estimator_table() {
  // Unlike FundamentalEstimator this entry accepts samples of up to 32, to reproduce a study that
  // draws 10.
  static const std::vector<EstimatorEntry> table = {
      {"fundamental", "fundamental matrix by RANSAC with the eight-point algorithm",
       "Hartley 1997, Fischler & Bolles 1981", flags_of(FundamentalOptions()),
       [](const Context& context, const Settings& settings) -> AnyEstimator {
         const FundamentalOptions options = fundamental_options(settings);
         return geometry::estimator_with_sample(context, options, options.sample);
       }},
      {"essential", "essential matrix and pose by RANSAC with the five-point algorithm",
       "Nister 2004, Fischler & Bolles 1981", flags_of(EssentialOptions()),
       [](const Context& context, const Settings& settings) -> AnyEstimator {
         return EssentialEstimator(context, essential_options(settings));
       }},
      {"homography", "homography by RANSAC with the four-point algorithm",
       "Hartley & Zisserman 2003, Fischler & Bolles 1981", flags_of(HomographyOptions()),
       [](const Context& context, const Settings& settings) -> AnyEstimator {
         return HomographyEstimator(context, homography_options(settings));
       }}};
  return table;
}

const EstimatorEntry& find_estimator(const std::string& name) {
  return find_entry(estimator_table(), "estimator", name);
}

}  // namespace cornea
