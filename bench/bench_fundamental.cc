// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_fundamental.h"

#include <algorithm>
#include <iostream>
#include <numeric>

#include "bench/bench_timing.h"
#include "study/table.h"

#include "cornea/catalog/estimators.h"
#include "cornea/cli/progress.h"
#include "cornea/core/stopwatch.h"
#include "cornea/geometry/two_view/two_view.h"
#include "cornea/io/matches_csv.h"
#include "cornea/scene/matched_points.h"

namespace cornea::cli {
namespace {

using Pairs = std::vector<std::vector<Correspondence>>;

// `estimate(views, keys, results)` is one call for all pairs.
template <class Result, class Estimate>
Json measure_case(const std::string& what, const Pairs& pairs, int repeat,
                  const Estimate& estimate) {
  const std::vector<std::span<const Correspondence>> views(pairs.begin(), pairs.end());
  std::vector<std::uint64_t> keys(pairs.size());
  std::iota(keys.begin(), keys.end(), 0);
  std::vector<Result> results(pairs.size());
  const Timing time = time_calls(repeat, [&] { estimate(views, keys, results); });
  std::int64_t hypotheses = 0, inliers = 0, found = 0;
  for (const Result& result : results) {
    hypotheses += result.hypotheses;
    inliers += result.inlier_count;
    found += result.kind == TwoView::general || result.kind == TwoView::planar;
  }
  return {{"case", what},
          {"pairs", pairs.size()},
          {"matches", pairs.front().size()},
          {"milliseconds", timing_json(time)},
          {"hypotheses", hypotheses},
          {"hypotheses_per_second", hypotheses / time.median * 1000},
          {"inliers", inliers},
          {"general", found},
          {"repeat", repeat}};
}
Json measure_case(const std::string& what, const Pairs& pairs, FundamentalEstimator& estimator,
                  int repeat) {
  return measure_case<FundamentalResult>(what, pairs, repeat,
                                         [&](const auto& views, const auto& keys, auto& results) {
                                           estimator.estimate_batch(views, keys, results);
                                         });
}

Pairs synthetic(int pairs, int matches, double outliers, double noise, double plane = 0) {
  Pairs result;
  for (int i = 0; i < pairs; ++i) {
    result.push_back(make_matched_points({.count = matches,
                                          .outliers = outliers,
                                          .noise = noise,
                                          .plane = plane,
                                          .seed = std::uint64_t(1000 + i)})
                         .matches);
  }
  return result;
}

}  // namespace

Json measure_fundamental(const Context& context, const Settings& settings, int repeat) {
  const EstimatorEntry& entry = find_estimator("fundamental");
  Json results = Json::array();
  // Only hypotheses and their costs; few matches agree, so that the search does not terminate
  // early.
  for (const int round : {1 << 10, 1 << 14, 1 << 18}) {
    Settings plain = settings;
    plain["round"] = text(round);
    plain["max-hypotheses"] = text(context.is_cuda() ? 4 * round : round);
    plain["confidence"] = "0.999999999999";
    for (const char* step : {"optimise", "check-plane", "refine"}) plain[step] = "no";
    auto hypotheses = std::get<FundamentalEstimator>(entry.make(context, plain));
    results.push_back(measure_case(text("hypotheses alone, rounds of ", round),
                                   synthetic(1, 304, 0.9, 0.5), hypotheses,
                                   std::max(3, repeat / 10)));
  }
  auto estimator = std::get<FundamentalEstimator>(entry.make(context, settings));
  for (const double noise : {0.2, 0.5}) {
    results.push_back(measure_case(text("one pair, half outliers, noise ", noise),
                                   synthetic(1, 1000, 0.5, noise), estimator, repeat));
  }
  const int many = context.is_cuda() ? 1000 : 100;
  results.push_back(measure_case("many pairs, half outliers, noise 0.2",
                                 synthetic(many, 1000, 0.5, 0.2), estimator,
                                 std::max(3, repeat / 20)));
  EssentialEstimator essential(context);
  // The camera of make_matched_points().
  const Intrinsics camera{900, 900, 639.5, 479.5};
  HomographyEstimator homography(context);
  for (const int pairs : {1, many}) {
    const int times = pairs == 1 ? repeat : std::max(3, repeat / 20);
    const std::string of = pairs == 1 ? "one pair" : "many pairs";
    const std::vector<IntrinsicsPair> cameras(pairs, {camera, camera});
    results.push_back(measure_case<EssentialResult>(
        of + ", E, half outliers, noise 0.2", synthetic(pairs, 1000, 0.5, 0.2), times,
        [&](const auto& views, const auto& keys, auto& out) {
          essential.estimate_batch(views, cameras, keys, out);
        }));
    results.push_back(measure_case<HomographyResult>(
        of + ", H, half outliers, noise 0.2", synthetic(pairs, 1000, 0.5, 0.2, 1), times,
        [&](const auto& views, const auto& keys, auto& out) {
          homography.estimate_batch(views, keys, out);
        }));
  }
  return results;
}

void print_fundamental(const Json& results, const std::string& device) {
  study::Table table{.columns = study::text_columns({"F", "pairs", "matches", "median", "p90",
                                                     "hypotheses", "per second", "inliers"})};
  for (const Json& r : results) {
    char rate[32];
    std::snprintf(rate, sizeof rate, "%.1f M", r["hypotheses_per_second"].get<double>() / 1e6);
    table.add({r["case"].get<std::string>(), text(r["pairs"]), text(r["matches"]),
               milliseconds_text(r["milliseconds"]["median"]),
               milliseconds_text(r["milliseconds"]["p90"]), text(r["hypotheses"]), rate,
               text(r["inliers"])});
  }
  std::cout << device << ", matches in host memory to F, E and H\n"
            << study::terminal_text(table) << std::flush;
}

Json measure_match_files(const Context& context, const std::vector<std::string>& files,
                         const Settings& settings, int repeat, bool quiet) {
  const EstimatorEntry& entry = find_estimator("fundamental");
  Json results = Json::array();
  Progress progress("estimating", static_cast<int>(files.size()), quiet);
  for (const std::string& file : files) {
    const auto matches = read_matches_csv(file);
    Json seeds = Json::array();
    std::vector<double> times;
    for (int seed = 0; seed < repeat; ++seed) {
      Settings with_seed = settings;
      with_seed["seed"] = text(seed);
      auto estimator = std::get<FundamentalEstimator>(entry.make(context, with_seed));
      FundamentalResult result = estimator.estimate(matches);  // not timed: allocates memory
      const core::Stopwatch watch;
      result = estimator.estimate(matches);
      times.push_back(watch.milliseconds());
      seeds.push_back({{"seed", seed},
                       {"F", result.F},
                       {"kind", name(result.kind)},
                       {"inliers", result.inlier_count},
                       {"hypotheses", result.hypotheses},
                       {"converged", result.converged()},
                       {"milliseconds", times.back()}});
    }
    results.push_back({{"file", file},
                       {"matches", matches.size()},
                       {"milliseconds", timing_json(summarise(times))},
                       {"seeds", seeds}});
    progress.advance();
  }
  return results;
}

void print_match_files(const Json& results, const std::string& device) {
  study::Table table{
      .columns = study::text_columns({"file", "matches", "seeds", "median", "p90", "inliers"})};
  for (const Json& r : results) {
    table.add({r["file"].get<std::string>(), text(r["matches"]), text(r["seeds"].size()),
               milliseconds_text(r["milliseconds"]["median"]),
               milliseconds_text(r["milliseconds"]["p90"]), text(r["seeds"][0]["inliers"])});
  }
  std::cout << device << ", matches in host memory to F, E and H\n"
            << study::terminal_text(table) << std::flush;
}

}  // namespace cornea::cli
