// RANSAC with the eight-point algorithm by threshold and hypotheses a round.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "bench/bench_timing.h"
#include "study/study.h"

#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/geometry/two_view/fundamental.h"
#include "cornea/scene/matched_points.h"

namespace cornea::cli {
namespace {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

std::string rounded(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3f", value);
  return buffer;
}

}  // namespace

// The table of Palhares' thesis (2009): 304 correspondences, thresholds of 0.5 to 3 pixels, 100 and
// 300 hypotheses per round; every call with a seed of its own.
Json study_ransac(const Context& context, const StudyCommand& c) {
  MatchedPoints synthetic;
  std::vector<Correspondence> matches;
  if (c.matches.empty()) {
    synthetic = make_matched_points({.count = 304, .outliers = 0.4, .noise = 0.3, .seed = 1});
    matches = synthetic.matches;
  } else {
    matches = matches_from(c.matches).matches;
    require(matches.size() >= 8, c.matches, ": the study takes 8 correspondences or more, not ",
            matches.size());
  }
  const std::string source =
      c.matches.empty() ? "synthetic, 40% outliers, noise 0.3 pixels" : c.matches;
  if (c.common.talks()) {
    std::cout << "F by RANSAC on " << context.description() << ": " << matches.size()
              << " correspondences (" << source << "), host to host; medians of " << c.repeat
              << " seeds\n\n";
  }
  std::vector<std::vector<std::string>> rows = {{"threshold", "a round", "median", "p90", "rounds",
                                                 "hypotheses", "inliers", "their distance",
                                                 "true distance"}};
  Json list = Json::array();
  for (const double threshold : {0.5, 1.0, 1.5, 2.0, 2.5, 3.0}) {
    for (const int round : {100, 300}) {
      std::vector<double> times, rounds, hypotheses, inliers, distances, truth;
      for (int seed = 0; seed < c.repeat; ++seed) {
        FundamentalOptions options;
        options.threshold = threshold;
        options.round = round;
        options.seed = seed;
        FundamentalEstimator estimator(context, options);
        estimator.estimate(matches);  // takes memory
        const core::Stopwatch watch;
        const FundamentalResult result = estimator.estimate(matches);
        times.push_back(watch.milliseconds());
        rounds.push_back(result.rounds);
        hypotheses.push_back(result.hypotheses);
        inliers.push_back(result.inlier_count);
        std::vector<double> of_inliers, of_exact;
        for (std::size_t i = 0; i < matches.size(); ++i) {
          if (result.inliers[i]) of_inliers.push_back(epipolar_distance(result.F, matches[i]));
        }
        for (const Correspondence& m : synthetic.exact) {
          of_exact.push_back(epipolar_distance(result.F, m));
        }
        distances.push_back(median_of(of_inliers));
        truth.push_back(median_of(of_exact));
      }
      const Timing time = summarise(times);
      const bool known = c.matches.empty();
      rows.push_back({text(threshold), text(round), milliseconds_text(time.median),
                      milliseconds_text(time.p90), text(median_of(rounds)),
                      text(median_of(hypotheses)), text(median_of(inliers)),
                      rounded(median_of(distances)), known ? rounded(median_of(truth)) : "-"});
      Json row = {{"threshold", threshold},
                  {"round", round},
                  {"milliseconds", timing_json(time)},
                  {"rounds", median_of(rounds)},
                  {"hypotheses", median_of(hypotheses)},
                  {"inliers", median_of(inliers)},
                  {"median_distance", median_of(distances)}};
      if (known) row["median_true_distance"] = median_of(truth);
      list.push_back(row);
    }
  }
  if (c.common.talks()) std::cout << table_text(rows) << std::endl;
  return {{"study", "ransac"},         {"device", context.description()},
          {"matches", matches.size()}, {"source", source},
          {"repeat", c.repeat},        {"table", list}};
}

}  // namespace cornea::cli
