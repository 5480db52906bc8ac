// SPDX-License-Identifier: Apache-2.0
// Compares FOAGDD and the trilateral filter on photographs, which are stored elsewhere, with the
// results of their definitions; and FOAGDD on synthetic scenes, on which both devices must agree.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "golden_testing.h"

#include "cornea/scene.h"

namespace cornea {
namespace {

using namespace testing;

class GoldenFoagdd : public testing::OnEveryDevice {};

TEST_P(GoldenFoagdd, CornersAndMeasuresEqualThePublishedOnes) {
  CORNEA_EXTERNAL_DATA_OR_SKIP(folder, "golden/foagdd");
  Foagdd foagdd(context);
  int files = 0;
  std::size_t points = 0, samples = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const Json golden = Json::parse(std::ifstream(file.path()));
    const auto path = folder / "../.." / golden["image"].get<std::string>();
    if (!std::filesystem::exists(path)) {
      EXPECT_FALSE(testing::data_is_required()) << path << " is not here";
      continue;
    }
    SCOPED_TRACE(file.path().filename().string());
    ++files;
    const auto image = read_gray(path.string());
    const auto corners = foagdd.detect(image.view());
    points += expect_pixels(golden, corners);
    compare_responses(golden, corners, [](double found, double expected) {
      EXPECT_NEAR(found / expected, 1, 1e-3);
    });
    // In flat regions the reference consists of its own rounding errors: below 1e-6, 14 orders of
    // magnitude under the threshold, the test only requires small values.
    const auto map = foagdd.response(image.view());
    for (const Json& sample : golden["map_sample"]) {
      const double value = sample[2];
      const float mine = map(sample[0].get<int>(), sample[1].get<int>());
      EXPECT_NEAR(mine, value, 1e-3 * std::abs(value) + 1e-6);
      ++samples;
    }
  }
  EXPECT_GT(files, 0);
  RecordProperty("points", static_cast<int>(points));
  RecordProperty("samples", static_cast<int>(samples));
}

TEST_P(GoldenFoagdd, FiftyScenesGiveTheCornersOfTheCpuToTheBit) {
  Foagdd on_cpu(Context::cpu(1)), tested(context);
  for (int i = 0; i < 50; ++i) {
    SceneOptions options;
    options.kind = i % 2 ? SceneKind::boxes : SceneKind::plane;
    options.views = 1;
    options.width = 120 + 7 * (i % 13);
    options.height = 90 + 5 * (i % 11);
    options.samples = 2;
    options.seed = 100 + i;
    const Image<float> view = std::move(make_views(Context::cpu(), options).front().image);
    Image<std::uint8_t> bytes(view.width(), view.height());
    for (int y = 0; y < view.height(); ++y) {
      for (int x = 0; x < view.width(); ++x) {
        bytes(x, y) = std::uint8_t(std::clamp(view(x, y), 0.0f, 1.0f) * 255 + 0.5f);
      }
    }
    const auto expected = on_cpu.detect(bytes);
    EXPECT_GT(expected.size(), 2u) << "scene " << i;
    EXPECT_TRUE(tested.detect(bytes) == expected) << "scene " << i;
    EXPECT_TRUE(tested.detect(view) == on_cpu.detect(view)) << "scene " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(, GoldenFoagdd, testing::every_device(), testing::device_name);

class GoldenTrilateral : public testing::OnEveryDevice {};

TEST_P(GoldenTrilateral, EveryPixelEqualsTheDefinition) {
  CORNEA_EXTERNAL_DATA_OR_SKIP(folder, "golden/trilateral");
  int files = 0;
  double largest = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    // NAME_sigmaX.pfm is the result for NAME.png with that sigma.
    const std::string stem = file.path().stem().string();
    const std::size_t split = stem.find("_sigma");
    if (file.path().extension() != ".pfm" || split == std::string::npos) continue;
    SCOPED_TRACE(file.path().filename().string());
    ++files;
    const double sigma = std::stod(stem.substr(split + 6));
    const auto image = read_gray(folder / (stem.substr(0, split) + ".png"));
    const auto golden = read_image<float>(file.path());
    for (Grouping grouping : {Grouping::fastest, Grouping::none, Grouping::sorted}) {
      TrilateralFilter filter(context, {sigma, grouping});
      Image<float> out(image.width(), image.height());
      filter.apply(image.view(), out);
      for (int y = 0; y < out.height(); ++y) {
        for (int x = 0; x < out.width(); ++x) {
          const double difference = std::abs(double(out(x, y)) - golden(x, y));
          largest = std::max(largest, difference);
          ASSERT_LE(difference, 1e-3) << x << ", " << y;
        }
      }
    }
  }
  EXPECT_GE(files, 1);
  RecordProperty("files", files);
  RecordProperty("largest_difference", std::to_string(largest));
}
INSTANTIATE_TEST_SUITE_P(, GoldenTrilateral, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace cornea
