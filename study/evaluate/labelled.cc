// SPDX-License-Identifier: Apache-2.0
// Part three: F from correspondences of which some are labelled as correct.
#include <algorithm>

#include "study/evaluate/evaluate.h"

#include "cornea/cli/progress.h"
#include "cornea/core/error.h"

namespace cornea::evaluate {
namespace {

constexpr double kFailedPixels = 3;  // a median distance above this is a failure

struct Runs {
  std::vector<double> all, by_pair;  // errors of all seeds; mean over seeds per pair
  int failed = 0;
};

}  // namespace

Part measure_labelled(Evaluation& evaluation, const std::vector<Labelled>& labelled) {
  Part part{{"Fundamental matrices from labelled correspondences"}};
  const std::vector<EstimatorCandidate*> who = evaluation.estimators_of("fundamental");
  std::vector<Runs> runs(who.size());
  part.details = {{"results", Json::array()}};
  cli::Progress progress("labelled correspondences", int(labelled.size() * who.size()),
                         evaluation.quiet);
  for (const Labelled& pair : labelled) {
    for (std::size_t i = 0; i < who.size(); ++i) {
      std::vector<double> errors;
      for (AnyEstimator& seeded : who[i]->by_seed) {
        const FundamentalResult found =
            std::get<FundamentalEstimator>(seeded).estimate(pair.matches);
        errors.push_back(epipolar_error(found.F, pair.right));
        runs[i].failed += errors.back() > kFailedPixels;
      }
      runs[i].all.insert(runs[i].all.end(), errors.begin(), errors.end());
      runs[i].by_pair.push_back(mean_of(errors));
      part.details["results"].push_back({{"estimator", who[i]->name},
                                         {"pair", pair.name},
                                         {"matches", pair.matches.size()},
                                         {"right", pair.right.size()},
                                         {"errors", errors}});
      progress.advance();
    }
  }
  progress.finish();
  const std::size_t seeds = who.empty() ? 0 : who.front()->by_seed.size();
  study::Table table{
      "F: distance of the right correspondences",
      text("Median over the correspondences labelled as right of the sum of both distances to "
           "epipolar lines; ",
           labelled.size(), " pairs, ", seeds, " seeds; a failure is a run above ", kFailedPixels,
           " pixels"),
      {{"estimator"},
       {"mean", "px", 3},
       {"median", "px", 3},
       {"worst pair", "px", 3},
       {"failures", "%", 1}},
      {}};
  study::Table by_pair{
      "F: mean error per pair", text("Means over ", seeds, " seeds"), {{"pair"}}, {}};
  for (const EstimatorCandidate* e : who) by_pair.columns.push_back({e->name, "px", 3});
  for (std::size_t i = 0; i < who.size(); ++i) {
    table.add({who[i]->name, mean_of(runs[i].all), median_of(runs[i].all),
               *std::max_element(runs[i].by_pair.begin(), runs[i].by_pair.end()),
               percent(double(runs[i].failed) / double(runs[i].all.size()))});
  }
  for (std::size_t k = 0; k < labelled.size(); ++k) {
    std::vector<study::Cell> row = {labelled[k].name};
    for (const Runs& r : runs) row.push_back(r.by_pair[k]);
    by_pair.add(std::move(row));
  }
  sort_by(table, 1, true);
  part.best = {best_of(table, 1, "F on labelled correspondences, mean distance")};
  part.section.tables = {std::move(table), std::move(by_pair)};
  return part;
}

}  // namespace cornea::evaluate
