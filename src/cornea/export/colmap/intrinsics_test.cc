// SPDX-License-Identifier: Apache-2.0
#include "cornea/export/colmap/intrinsics.h"

#include <array>
#include <limits>

#include <gtest/gtest.h>

namespace cornea::colmap {
namespace {

Camera camera(int model, std::vector<double> params) {
  Camera made;
  made.id = 7;
  made.model = model;
  made.width = 640;
  made.height = 480;
  made.params = std::move(params);
  return made;
}

std::string sentence_of(const Camera& damaged) {
  try {
    intrinsics_of(damaged);
  } catch (const DamagedRow& error) {
    return error.what();
  }
  return "";
}

TEST(ColmapIntrinsics, FiveModelsAreSupported) {
  // COLMAP's centre of a 640 x 480 image is (320, 240), Cornea's (319.5, 239.5).
  EXPECT_EQ(intrinsics_of(camera(0, {500, 320, 240})).value(),
            (Intrinsics{500, 500, 319.5, 239.5, 0, 0, 0, 0}));
  EXPECT_EQ(intrinsics_of(camera(1, {500, 510, 320, 240})).value(),
            (Intrinsics{500, 510, 319.5, 239.5, 0, 0, 0, 0}));
  EXPECT_EQ(intrinsics_of(camera(2, {500, 320, 240, -0.1})).value(),
            (Intrinsics{500, 500, 319.5, 239.5, -0.1, 0, 0, 0}));
  EXPECT_EQ(intrinsics_of(camera(3, {500, 320, 240, -0.1, 0.02})).value(),
            (Intrinsics{500, 500, 319.5, 239.5, -0.1, 0.02, 0, 0}));
  EXPECT_EQ(intrinsics_of(camera(4, {500, 510, 320, 240, -0.1, 0.02, 0.003, -0.004})).value(),
            (Intrinsics{500, 510, 319.5, 239.5, -0.1, 0.02, 0.003, -0.004}));
}

TEST(ColmapIntrinsics, UnsupportedModelsHaveNamesOnly) {
  EXPECT_FALSE(intrinsics_of(camera(5, {500, 500, 320, 240, 0, 0, 0, 0})).has_value());
  EXPECT_FALSE(intrinsics_of(camera(99, {})).has_value());
  EXPECT_FALSE(intrinsics_of(camera(-1, {})).has_value());
  EXPECT_EQ(name_of_model(0), "SIMPLE_PINHOLE");
  EXPECT_EQ(name_of_model(4), "OPENCV");
  EXPECT_EQ(name_of_model(5), "OPENCV_FISHEYE");
  EXPECT_EQ(name_of_model(17), "EQUIRECTANGULAR");
  EXPECT_EQ(name_of_model(18), "model 18");
  EXPECT_EQ(name_of_model(-1), "model -1");
}

TEST(ColmapIntrinsics, InvalidParametersAreNamed) {
  EXPECT_EQ(sentence_of(camera(2, {500, 320, 240})),
            "camera 7 has 3 parameters, but the model SIMPLE_RADIAL has 4");
  EXPECT_EQ(sentence_of(camera(1, {500, -510, 320, 240})),
            "camera 7 has a focal length of -510 pixels");
  EXPECT_EQ(sentence_of(camera(0, {0, 320, 240})), "camera 7 has a focal length of 0 pixels");
  EXPECT_EQ(sentence_of(camera(0, {500, std::numeric_limits<double>::quiet_NaN(), 240})),
            "camera 7 has a parameter that is not a number");
}

}  // namespace
}  // namespace cornea::colmap
