#include "cornea/pipeline/estimators.h"

#include "cornea/pipeline/options_table.h"

namespace cornea {
namespace {

template <class Visitor>
void visit(FundamentalOptions& o, Visitor& v) {
  v("threshold", o.threshold,
    "largest distance of an inlier: to both epipolar lines together, pixels");
  v("confidence", o.confidence, "that a sample without outliers was drawn");
  v("max-hypotheses", o.max_hypotheses, "most hypotheses");
  v("target", o.target, "stop at that many inliers; 0: do not");
  v("sample", o.sample, "correspondences a hypothesis, 7 to 32");
  v("round", o.round, "hypotheses a round");
  v("seed", o.seed, "of the random samples");
  v("optimise", o.optimise, "local optimisation of each round's best hypothesis");
  v("check-plane", o.check_plane, "tell planes and pure rotations from general scenes");
  v("refine", o.refine, "minimise the error of all inliers at last");
}

}  // namespace

const std::vector<EstimatorEntry>& estimator_table() {
  static const std::vector<EstimatorEntry> table = {
      options_entry<EstimatorEntry, FundamentalEstimator, FundamentalEstimator, FundamentalOptions>(
          "estimator", "fundamental", "fundamental matrix by RANSAC with the eight-point algorithm",
          "Hartley 1997, Fischler & Bolles 1981",
          [](FundamentalOptions& o, auto& v) { visit(o, v); }),
  };
  return table;
}

FundamentalOptions fundamental_options(const Settings& settings) {
  FundamentalOptions options;
  ReadOptionValues read(settings);
  visit(options, read);
  read.check_all_used("the estimator fundamental");
  return options;
}

const EstimatorEntry& find_estimator(const std::string& name) {
  return find_entry(estimator_table(), "estimator", name);
}

}  // namespace cornea
