// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/homography.h"

#include <memory>

#include "cornea/cli/estimator_command.h"

namespace cornea::cli {
namespace {

constexpr char kHomographyDistance[] = "transfer_distance";

Answer homography_answer(const HomographyEstimator&, const HomographyResult& result) {
  const bool has_h = result.H != std::array<double, 9>{};
  const std::string note = explanation(result);
  Answer described;
  if (ends_well(result.kind) && !note.empty()) described.text += note + "\n";
  if (has_h) described.text += "H\n" + matrix_text(with_unit_corner(result.H));
  described.matrices = {{"H", has_h ? matrix_json(result.H) : Json(nullptr)}};
  described.facts = {{"threshold", result.threshold},
                     {"warning", note.empty() ? Json(nullptr) : Json(note)}};
  described.distance = [has_h, H = result.H](const Correspondence& match) {
    return has_h ? std::optional(transfer_distance(H, match)) : std::nullopt;
  };
  described.failure = note;
  return described;
}

}  // namespace

Run add_homography(CLI::App& app) {
  auto c = std::make_shared<EstimatorCommand>();
  add_estimator_command(
      app, *c, "homography",
      "homography from matched points of a plane or of a rotating camera, by RANSAC",
      kHomographyDistance, "from x2 to H x1 plus from x1 to H^-1 x2, pixels");
  return [c] {
    return run_estimator<HomographyEstimator>(
        *c, "homography", kHomographyDistance,
        [](HomographyEstimator& estimator, const auto& matches) {
          return estimator.estimate(matches);
        },
        homography_answer);
  };
}

}  // namespace cornea::cli
