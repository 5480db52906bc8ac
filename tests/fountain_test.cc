// SPDX-License-Identifier: Apache-2.0
// Photographs of a fountain with known cameras: compares the inliers of `cornea pair` with the true
// fundamental matrix.
#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cornea/core/testing.h"
#include "cornea/cornea.h"
#include "cornea/scene.h"

namespace cornea {
namespace {

using Json = nlohmann::json;

Camera camera_of(const Json& json) {
  Camera camera;
  camera.width = json["width"];
  camera.height = json["height"];
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      camera.K(i, k) = json["K"][i][k];
      camera.R(i, k) = json["R_cam_from_world"][i][k];
    }
    camera.t(i) = json["t_cam_from_world"][i];
  }
  return camera;
}

std::array<double, 9> true_matrix(const Camera& a, const Camera& b) {
  const Eigen::Matrix3d F = fundamental(a, b);
  std::array<double, 9> rows{};
  for (int i = 0; i < 9; ++i) rows[std::size_t(i)] = F(i / 3, i % 3);
  return rows;
}

class Fountain : public testing::OnEveryDevice {};

// OpenCV's SIFT and MAGSAC++ reach 0.20, 0.18 and 0.14 pixel with 942, 1168 and 1269 inliers,
// counting points with several orientations several times; counted in the same way, Cornea had 934,
// 1173 and 1261.
TEST_P(Fountain, InliersOfTheDefaultsLieOnTheTrueEpipolarLines) {
  CORNEA_EXTERNAL_DATA_OR_SKIP(data, "data/fountain_p11");
  Json cameras;
  std::ifstream(data / "cameras.json") >> cameras;
  PairPipeline pipeline(context);
  for (const auto& [i, j] : {std::pair(0, 1), std::pair(1, 2), std::pair(4, 5)}) {
    SCOPED_TRACE(text("photographs ", i, " and ", j));
    const std::string a = text("000", i, ".jpg"), b = text("000", j, ".jpg");
    const PairResult r = pipeline.run(read_gray(data / "images" / a, {.upright = true}).view(),
                                      read_gray(data / "images" / b, {.upright = true}).view());
    const auto truth = true_matrix(camera_of(cameras[a]), camera_of(cameras[b]));
    std::vector<double> distances;
    for (std::size_t k = 0; k < r.matches.size(); ++k) {
      if (r.geometry.inliers[k]) distances.push_back(epipolar_distance(truth, r.correspondence(k)));
    }
    ASSERT_GE(distances.size(), 800u);
    std::sort(distances.begin(), distances.end());
    const double median = distances[distances.size() / 2];
    EXPECT_LE(median, 0.25);
    std::cout << "photographs " << i << " and " << j << ": " << distances.size()
              << " inliers, median " << median << " px\n";
  }
}

INSTANTIATE_TEST_SUITE_P(, Fountain, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace cornea
