// SPDX-License-Identifier: Apache-2.0
// RANSAC with the eight-point algorithm by threshold and hypotheses per round.
#include <algorithm>
#include <cmath>

#include "bench/bench_timing.h"
#include "study/study.h"
#include "study/study_hypotheses.h"

#include "cornea/cli/progress.h"
#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"
#include "cornea/geometry/two_view/fundamental.h"
#include "cornea/scene/matched_points.h"

namespace cornea::cli {
namespace {

using study::Cell;
using study::kThreeDigits;

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

struct Case {
  Timing time;
  double rounds = 0, hypotheses = 0, inliers = 0, distance = 0, true_distance = 0;
  std::vector<FundamentalResult> results;  // one per seed
};

Case measure(const Context& context, const std::vector<Correspondence>& matches,
             const MatchedPoints& synthetic, double threshold, int round, int repeat) {
  std::vector<double> times, rounds, hypotheses, inliers, distances, truth;
  Case out;
  for (int seed = 0; seed < repeat; ++seed) {
    FundamentalOptions options;
    options.threshold = threshold;
    options.round = round;
    options.seed = seed;
    FundamentalEstimator estimator(context, options);
    estimator.estimate(matches);  // warm-up: allocates memory
    const core::Stopwatch watch;
    FundamentalResult result = estimator.estimate(matches);
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
    out.results.push_back(std::move(result));
  }
  out.time = summarise(times);
  out.rounds = median_of(rounds);
  out.hypotheses = median_of(hypotheses);
  out.inliers = median_of(inliers);
  out.distance = median_of(distances);
  out.true_distance = median_of(truth);
  return out;
}

bool same(const Case& a, const Case& b) {
  for (std::size_t i = 0; i < a.results.size(); ++i) {
    if (a.results[i].F != b.results[i].F || a.results[i].inliers != b.results[i].inliers) {
      return false;
    }
  }
  return true;
}

}  // namespace

// The table of Palhares' thesis (2009): 304 correspondences, thresholds of 0.5 to 3 pixels, 100 and
// 300 hypotheses per round; every call has a seed of its own.
StudyResult study_ransac(const StudyDevices& devices, const StudyCommand& c) {
  MatchedPoints synthetic;
  std::vector<Correspondence> matches;
  const bool known = c.matches.empty();
  if (known) {
    synthetic = make_matched_points({.count = 304, .outliers = 0.4, .noise = 0.3, .seed = 1});
    matches = synthetic.matches;
  } else {
    matches = matches_from(c.matches).matches;
    require(matches.size() >= 8, c.matches, ": the study takes 8 correspondences or more, not ",
            matches.size());
  }
  const std::string source = known ? "synthetic, 40% outliers, noise 0.3 pixels" : c.matches;
  study::Table table{.title = "F by threshold and hypotheses per round"};
  table.columns = {{"threshold", "px", 1}, {"per round", "", 0}, {"CPU", "ms", kThreeDigits}};
  if (devices.cuda) {
    table.columns.push_back({"CUDA", "ms", kThreeDigits});
    table.columns.push_back({"CUDA and CPU"});
  }
  for (const study::Column& column :
       {study::Column{"rounds", "", 0}, study::Column{"hypotheses", "", 0},
        study::Column{"inliers", "", 0},
        study::Column{"median distance of the inliers", "px", 3}}) {
    table.columns.push_back(column);
  }
  if (known) table.columns.push_back({"median distance of correspondences without noise", "px", 3});
  table.caption = text(
      matches.size(), " correspondences (", source, "), host to host; medians of ", c.repeat,
      " seeds. The threshold is compared with the sum of a correspondence's two distances to its "
      "epipolar lines. ",
      devices.words(),
      ". The original took 9.6 to 172 ms for 304 correspondences of its own scene; which of its "
      "devices and settings gave which number is not known to us.");
  study::Plot plot{.name = "ransac-time", .title = "F from 304 correspondences by threshold"};
  if (!known) plot.title = text("F from ", matches.size(), " correspondences by threshold");
  plot.x = {"threshold (pixels)", study::AxisScale::linear};
  plot.y = {"time (ms)", study::AxisScale::logarithmic};
  plot.caption = table.caption.substr(0, table.caption.find(" The threshold"));
  for (const char* device : {"CPU", "CUDA"}) {
    if (device == std::string("CUDA") && !devices.cuda) continue;
    for (const int round : {100, 300}) {
      plot.series.push_back({text(device, ", ", round, " per round"), {}});
    }
  }
  Json list = Json::array();
  bool all_same = true;
  const std::vector<double> thresholds = {0.5, 1.0, 1.5, 2.0, 2.5, 3.0};
  Progress progress("measuring", int(2 * thresholds.size()) + 1, c.common.quiet);
  for (const double threshold : thresholds) {
    for (const int round : {100, 300}) {
      auto on = [&](const Context& context) {
        return measure(context, matches, synthetic, threshold, round, c.repeat);
      };
      const Case cpu = on(devices.cpu);
      std::optional<Case> cuda;
      if (devices.cuda) cuda = on(*devices.cuda);
      const Case& chosen = cuda ? *cuda : cpu;
      std::vector<Cell> row = {threshold, round, cpu.time.median};
      if (cuda) {
        const bool equal = same(cpu, *cuda);
        all_same &= equal;
        row.push_back(cuda->time.median);
        row.push_back(equal ? "equal to the bit" : "differ");
      }
      for (const double value :
           {chosen.rounds, chosen.hypotheses, chosen.inliers, chosen.distance}) {
        row.push_back(value);
      }
      if (known) row.push_back(chosen.true_distance);
      table.add(std::move(row));
      std::size_t series = round == 300;
      const Case* of_cuda = cuda ? &*cuda : nullptr;
      for (const Case* one : {&cpu, of_cuda}) {
        if (!one) continue;
        plot.series[series].x.push_back(threshold);
        plot.series[series].y.push_back(one->time.median);
        series += 2;
      }
      Json entry = {{"threshold", threshold},
                    {"round", round},
                    {"milliseconds", timing_json(chosen.time)},
                    {"rounds", chosen.rounds},
                    {"hypotheses", chosen.hypotheses},
                    {"inliers", chosen.inliers},
                    {"median_distance", chosen.distance}};
      if (known) entry["median_true_distance"] = chosen.true_distance;
      list.push_back(std::move(entry));
      progress.advance();
    }
  }
  StudyResult result;
  result.report.title = "Fundamental matrices by RANSAC";
  study::Section section{"Time and inliers"};
  if (devices.cuda) {
    section.words.push_back(all_same ? "CUDA and the CPU gave the same F and the same inliers for "
                                       "every seed, to the bit."
                                     : "CUDA and the CPU do not agree: see the table.");
    if (!all_same) result.failure = "CUDA and the CPU gave different matrices";
  }
  section.tables.push_back(std::move(table));
  section.plots.push_back(std::move(plot));
  result.report.sections.push_back(std::move(section));
  result.report.sections.push_back(null_vector_section(devices, matches, c));
  progress.advance();
  result.more = {{"matches", matches.size()}, {"source", source}, {"table", std::move(list)}};
  return result;
}

}  // namespace cornea::cli
