#include "cornea/catalog/estimators.h"

#include "cornea/catalog/options_table.h"
#include "cornea/geometry/two_view/fundamental_study.h"

namespace cornea {
namespace {

using namespace catalog;

template <class Visitor>
void visit(FundamentalOptions& o, Visitor& v) {
  v("threshold", o.threshold, kThresholdHelp);
  double per_line = o.threshold / 2;
  v("threshold-per-line", per_line, kThresholdPerLineHelp);
  o.threshold = 2 * per_line;  // both exact
  v("confidence", o.confidence, "that a sample without outliers was drawn");
  v("max-hypotheses", o.max_hypotheses, "most hypotheses");
  v("target", o.target, "stop at that many inliers; 0: do not");
  v("sample", o.sample, "correspondences per hypothesis, 7 or 8; up to 32 for studies");
  v("round", o.round, "hypotheses per round");
  v("seed", o.seed, "of the random samples");
  v("optimise", o.optimise, "local optimisation of each round's best hypothesis");
  v("check-plane", o.check_plane, "tell planes and pure rotations from general scenes");
  v("refine", o.refine, "minimise the error of all inliers at last");
}

}  // namespace

FundamentalOptions fundamental_options(const Settings& settings) {
  require(!settings.contains("threshold") || !settings.contains("threshold-per-line"),
          "threshold_per_line is half of the threshold; give one of the two");
  FundamentalOptions options;
  ReadOptionValues read(settings);
  visit(options, read);
  read.check_all_used("the estimator fundamental");
  return options;
}

std::vector<Flag> fundamental_flags(FundamentalOptions values) {
  DescribeOptions describe;
  visit(values, describe);
  return std::move(describe.flags);
}

const std::vector<EstimatorEntry>& estimator_table() {
  static const std::vector<EstimatorEntry> table = [] {
    DescribeOptions describe;
    FundamentalOptions defaults;
    visit(defaults, describe);
    // Here a sample may be larger than the library's own: the original work drew 10.
    auto make = [](const Context& context, const Settings& settings) {
      const FundamentalOptions options = fundamental_options(settings);
      return std::make_unique<FundamentalEstimator>(
          geometry::estimator_with_sample(context, options, options.sample));
    };
    return std::vector<EstimatorEntry>{
        {"fundamental", "fundamental matrix by RANSAC with the eight-point algorithm",
         "Hartley 1997, Fischler & Bolles 1981", std::move(describe.flags), make}};
  }();
  return table;
}

const EstimatorEntry& find_estimator(const std::string& name) {
  return find_entry(estimator_table(), "estimator", name);
}

}  // namespace cornea
