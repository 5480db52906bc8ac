// SPDX-License-Identifier: Apache-2.0
#include "cornea/catalog/detectors.h"

#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"

namespace cornea {
namespace {

TEST(DetectorTable, EveryDetectorCanBeMadeFromItsOwnDefaults) {
  const auto image = testing::random_image<std::uint8_t>(80, 60, 1);
  const Context context = Context::cpu();
  for (const DetectorEntry& entry : detector_table()) {
    Settings defaults;
    for (const Flag& flag : entry.flags) defaults[flag.name] = flag.default_text;
    ASSERT_NE(bool(entry.make), bool(entry.make_sift)) << entry.name;
    if (entry.make_sift) {
      const Features plain = entry.make_sift(context, {})->detect(image);
      EXPECT_GT(plain.size(), 10u);
      EXPECT_TRUE(plain.descriptors ==
                  entry.make_sift(context, defaults)->detect(image).descriptors);
      continue;
    }
    const auto plain = entry.make(context, {})->detect(image);
    EXPECT_GT(plain.size(), 10u) << entry.name;
    EXPECT_TRUE(plain == entry.make(context, defaults)->detect(image)) << entry.name;
  }
}

TEST(DetectorTable, SettingsReachTheDetector) {
  const auto image = testing::random_image<std::uint8_t>(80, 60, 1);
  const Context context = Context::cpu();
  for (const DetectorEntry& entry : detector_table()) {
    if (entry.make_sift) {
      const Settings seven = {{"max-points", "7"}, {"orientations", "1"}};
      EXPECT_EQ(entry.make_sift(context, seven)->detect(image).size(), 7u);
      for (const auto& [name, keep] :
           {std::pair("contrast", KeepPoints::contrast), std::pair("scale", KeepPoints::scale),
            std::pair("both", KeepPoints::both)}) {
        EXPECT_EQ(entry.make_sift(context, {{"keep", name}})->options().keep, keep);
      }
      const Settings strict = {{"settle", "strict"}}, lenient = {{"settle", "lenient"}};
      EXPECT_EQ(entry.make_sift(context, strict)->options().settle, Settling::strict);
      EXPECT_EQ(entry.make_sift(context, lenient)->options().settle, Settling::lenient);
      const SiftOptions set =
          entry.make_sift(context, {{"scale-space", "trilateral"}, {"doubled", "no"}})->options();
      EXPECT_TRUE(set.scale_space == ScaleSpace::trilateral && !set.doubled);
      continue;
    }
    EXPECT_EQ(entry.make(context, {{"max-points", "7"}})->detect(image).size(), 7u);
    const auto fitted = entry.make(context, {{"subpixel", "quadratic"}})->detect(image);
    int between = 0;
    for (const Corner& corner : fitted) between += corner.x != std::floor(corner.x);
    EXPECT_GT(between, 5) << entry.name;
  }
  const DetectorEntry harris = find_detector("harris");
  EXPECT_FALSE(harris.make(context, {{"measure", "shi-tomasi"}})->detect(image) ==
               harris.make(context, {})->detect(image));
}

TEST(DetectorTable, InvalidSettingsAreNamed) {
  const Context context = Context::cpu();
  const DetectorEntry harris = find_detector("harris");
  auto complaint = [&](const Settings& settings) -> std::string {
    try {
      harris.make(context, settings);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(complaint({{"window", "abc"}}).find("window"), std::string::npos);
  EXPECT_NE(complaint({{"window", "3.5"}}).find("whole number"), std::string::npos);
  EXPECT_NE(complaint({{"measure", "best"}}).find("shi-tomasi"), std::string::npos);
  EXPECT_NE(complaint({{"sharpness", "1"}}).find("sharpness"), std::string::npos);
  EXPECT_NE(complaint({{"threshold", "nan"}}).find("not a number"), std::string::npos);
  EXPECT_NE(complaint({{"subpixel", "maybe"}}).find("subpixel"), std::string::npos);
  EXPECT_THROW(find_detector("sobel"), Error);
}

}  // namespace
}  // namespace cornea
