#include "cornea/geometry/two_view/essential.h"

#include <iostream>
#include <memory>

#include "cornea/catalog/estimators.h"
#include "cornea/cli/camera.h"
#include "cornea/cli/common.h"
#include "cornea/cli/flags.h"
#include "cornea/cli/pose_words.h"
#include "cornea/cli/two_view.h"
#include "cornea/core/error.h"
#include "cornea/core/stopwatch.h"

namespace cornea::cli {
namespace {

struct EssentialCommand {
  CommonOptions common;
  std::string matches, csv;
  CameraOptions camera;
  OptionFlags flags;
};

const std::vector<std::string> kNewColumns = {"epipolar_distance", "inlier"};

IntrinsicsPair cameras_of(const EssentialCommand& c) {
  const std::optional<IntrinsicsPair> cameras = c.camera.given();
  if (!cameras) {
    throw UsageError(
        "the essential matrix needs the cameras: give --camera1 and --camera2, or --camera for "
        "both");
  }
  return *cameras;
}

void print_result(const EssentialCommand& c, const Context& context, const EssentialResult& result,
                  double milliseconds) {
  print_counts(c.matches, context, result, milliseconds);
  // The others end with a line on standard error.
  const std::string note = explanation(result);
  const bool has_pose = result.R != std::array<double, 9>{};
  if (has_pose && !result.pure_rotation) {
    std::cout << baseline_sentence(result.R, result.t, result.median_angle_degrees) << "\n";
  }
  // What the sentence on the baseline does not say already.
  if (ends_well(result.kind) && !note.empty() &&
      (result.kind != TwoView::general || result.pure_rotation)) {
    std::cout << note << "\n";
  }
  if (has_pose && result.focal_factor != 1) {
    std::cout << focal_sentence(cameras_of(c), result.focal_factor) << "\n";
  }
  if (has_pose) {
    std::cout << "E\n"
              << matrix_text(result.E) << "R: " << rotation_text(result.R) << "\n"
              << matrix_text(result.R) << "t: " << vector_text(result.t) << "\n";
  }
  std::cout << std::flush;
}

Json result_json(const EssentialCommand& c, const Context& context, const EssentialResult& result,
                 double milliseconds) {
  const bool has_pose = result.R != std::array<double, 9>{};
  Json json = {{"E", has_pose ? matrix_json(result.E) : Json(nullptr)},
               {"R", has_pose ? matrix_json(result.R) : Json(nullptr)},
               {"t", has_pose ? Json(result.t) : Json(nullptr)}};
  add_counts(json, context, result, milliseconds);
  json["pure_rotation"] = result.pure_rotation;
  json["median_angle_degrees"] = has_pose ? Json(result.median_angle_degrees) : Json(nullptr);
  json["threshold"] = result.threshold;
  const std::string note = explanation(result);
  json["warning"] = note.empty() ? Json(nullptr) : Json(note);
  json["focal_factor"] = result.focal_factor;
  const IntrinsicsPair cameras = cameras_of(c).refocused(result.focal_factor);
  json["cameras"] = {{"first", camera_json(cameras.first)},
                     {"second", camera_json(cameras.second)}};
  return json;
}

int run_essential(const EssentialCommand& c) {
  const IntrinsicsPair cameras = cameras_of(c);
  const Context context = c.common.context();
  auto estimator = usage_checked([&] {
    return std::get<EssentialEstimator>(find_estimator("essential").make(context, c.flags.given()));
  });
  check_outputs({{c.matches}}, c.common.outputs({c.csv}));
  const MatchTable table = matches_from(c.matches, kNewColumns);
  EssentialResult result;
  const core::Stopwatch watch;
  try {
    result = estimator.estimate(table.matches, cameras);
  } catch (const Error& error) {
    fail(error.code(), input_name(c.matches), ": ", error.what());
  }
  const double milliseconds = watch.milliseconds();
  if (c.common.talks({c.csv})) print_result(c, context, result, milliseconds);
  if (!c.csv.empty()) {
    const std::array<double, 9> F =
        fundamental_of(result.E, cameras.refocused(result.focal_factor));
    const auto distance = [&](const Correspondence& m) -> std::optional<double> {
      const std::optional<Correspondence> place = undistorted(cameras, m);
      if (F == std::array<double, 9>{} || !place) return std::nullopt;
      return epipolar_distance(F, *place);
    };
    write_text(c.csv, csv_text(table, kNewColumns[0], distance, result.inliers));
  }
  c.common.write_json(result_json(c, context, result, milliseconds));
  if (ends_well(result.kind)) return 0;
  print_error(input_name(c.matches) + ": " + explanation(result));
  return 1;
}

}  // namespace

Run add_essential(CLI::App& app) {
  auto c = std::make_shared<EssentialCommand>();
  CLI::App* command = app.add_subcommand(
      "essential",
      "the essential matrix and the pose of matched points of known cameras, by RANSAC");
  add_matches_argument(*command, c->matches);
  add_camera_options(*command, c->camera);
  c->flags.add(*command, "Estimator", std::vector{find_estimator("essential")});
  command
      ->add_option("--csv", c->csv,
                   "all columns of the input, then epipolar_distance (to both epipolar lines "
                   "together, in pixels without distortion) and inlier")
      ->type_name("OUT.csv");
  add_common_options(*command, c->common);
  return [c] { return run_essential(*c); };
}

}  // namespace cornea::cli
