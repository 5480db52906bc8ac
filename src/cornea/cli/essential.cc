// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/essential.h"

#include <memory>

#include "cornea/cli/camera.h"
#include "cornea/cli/estimator_command.h"
#include "cornea/cli/pose_words.h"

namespace cornea::cli {
namespace {

constexpr char kEssentialDistance[] = "epipolar_distance";

struct EssentialCommand : EstimatorCommand {
  CameraOptions camera;
};

IntrinsicsPair cameras_of(const EssentialCommand& c) {
  const std::optional<IntrinsicsPair> cameras = c.camera.given();
  if (!cameras) {
    throw UsageError(
        "the essential matrix needs the cameras: give --camera1 and --camera2, or --camera for "
        "both");
  }
  return *cameras;
}

std::string text_of(const EssentialResult& result, const IntrinsicsPair& given,
                    const std::string& note) {
  const bool has_pose = result.R != std::array<double, 9>{};
  std::string lines;
  if (has_pose && !result.pure_rotation) {
    lines += baseline_sentence(result.R, result.t, result.median_angle_degrees) + "\n";
    const std::string doubts = pose_warning(result);
    if (!doubts.empty()) lines += doubts + "\n";
  }
  // Omitted if the sentence on the baseline says it already. Other results end with a line on
  // standard error.
  if (ends_well(result.kind) && !note.empty() &&
      (result.kind != TwoView::general || result.pure_rotation)) {
    lines += note + "\n";
  }
  if (has_pose && result.focal_factor != 1) {
    lines += focal_sentence(given, result.focal_factor) + "\n";
  }
  if (has_pose) {
    lines += text("E\n", matrix_text(result.E), "R: ", rotation_text(result.R), "\n",
                  matrix_text(result.R), "t: ", vector_text(result.t), "\n");
  }
  return lines;
}

Answer essential_answer(const IntrinsicsPair& given, const EssentialOptions& options,
                        const EssentialResult& result) {
  const bool has_pose = result.R != std::array<double, 9>{};
  const IntrinsicsPair cameras = given.refocused(result.focal_factor);
  const std::string note = explanation(result, options);
  Answer described;
  described.text = text_of(result, given, note);
  described.matrices = {{"E", has_pose ? matrix_json(result.E) : Json(nullptr)},
                        {"R", has_pose ? matrix_json(result.R) : Json(nullptr)},
                        {"t", has_pose ? Json(result.t) : Json(nullptr)}};
  described.facts = {
      {"pure_rotation", result.pure_rotation},
      {"median_angle_degrees", has_pose ? Json(result.median_angle_degrees) : Json(nullptr)},
      {"threshold", result.threshold},
      {"warning", note.empty() ? Json(nullptr) : Json(note)},
      {"focal_factor", result.focal_factor},
      {"cameras",
       {{"first", camera_json(cameras.first)}, {"second", camera_json(cameras.second)}}}};
  const std::array<double, 9> F = fundamental_of(result.E, cameras);
  described.distance = [F, cameras](const Correspondence& m) -> std::optional<double> {
    const std::optional<Correspondence> place = undistorted(cameras, m);
    if (F == std::array<double, 9>{} || !place) return std::nullopt;
    return epipolar_distance(F, *place);
  };
  described.failure = note;
  return described;
}

}  // namespace

Run add_essential(CLI::App& app) {
  auto c = std::make_shared<EssentialCommand>();
  add_estimator_command(
      app, *c, "essential",
      "essential matrix and pose from matched points with known cameras, by RANSAC",
      kEssentialDistance, "sum of the distances to both epipolar lines, in undistorted pixels",
      [&](CLI::App& command) { add_camera_options(command, c->camera); });
  return [c] {
    const IntrinsicsPair cameras = cameras_of(*c);
    return run_estimator<EssentialEstimator>(
        *c, "essential", kEssentialDistance,
        [&](EssentialEstimator& estimator, const auto& matches) {
          return estimator.estimate(matches, cameras);
        },
        [&](const EssentialEstimator& estimator, const EssentialResult& result) {
          return essential_answer(cameras, estimator.options(), result);
        });
  };
}

}  // namespace cornea::cli
