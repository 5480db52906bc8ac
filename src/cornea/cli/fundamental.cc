// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/fundamental.h"

#include <memory>

#include "cornea/cli/estimator_command.h"

namespace cornea::cli {
namespace {

constexpr char kFundamentalDistance[] = "epipolar_distance";

Answer fundamental_answer(const FundamentalEstimator& estimator, const FundamentalResult& result) {
  const bool has_f = result.F != std::array<double, 9>{};
  const bool planar = result.kind == TwoView::planar;
  const std::string note = warning(result, estimator.options());
  Answer described;
  // Other results end with a line on standard error.
  if (ends_well(result.kind) && !note.empty()) described.text += note + "\n";
  if (has_f) described.text += "F\n" + matrix_text(result.F);
  if (planar) described.text += "H\n" + matrix_text(result.H);
  described.matrices = {{"F", has_f ? matrix_json(result.F) : Json(nullptr)}};
  described.facts = {{"warning", warning_json(result, estimator.options())},
                     {"threshold", result.threshold}};
  if (planar) described.facts["H"] = matrix_json(result.H);
  described.distance = [has_f, F = result.F](const Correspondence& match) {
    return has_f ? std::optional(epipolar_distance(F, match)) : std::nullopt;
  };
  described.failure = explanation(result, estimator.options());
  return described;
}

}  // namespace

Run add_fundamental(CLI::App& app) {
  auto c = std::make_shared<EstimatorCommand>();
  add_estimator_command(app, *c, "fundamental", "fundamental matrix from matched points, by RANSAC",
                        kFundamentalDistance,
                        "sum of the distances to both epipolar lines, pixels");
  return [c] {
    return run_estimator<FundamentalEstimator>(
        *c, "fundamental", kFundamentalDistance,
        [](FundamentalEstimator& estimator, const auto& matches) {
          return estimator.estimate(matches);
        },
        fundamental_answer);
  };
}

}  // namespace cornea::cli
