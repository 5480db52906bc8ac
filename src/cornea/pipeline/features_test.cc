// SPDX-License-Identifier: Apache-2.0
#include "cornea/pipeline/features.h"

#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"
#include "cornea/io/file_testing.h"
#include "cornea/match/match.h"

namespace cornea {
namespace {

class Extraction : public testing::OnEveryDevice {};

TEST_P(Extraction, EveryDetectorsPointsAreDescribed) {
  const auto image = testing::random_image<std::uint8_t>(120, 90, 1);
  for (const DetectorEntry& entry : detector_table()) {
    FeatureExtractor extractor(context, entry.name, {{"max-points", "20"}});
    Features found;
    extractor.extract(image, found);
    // A point with several orientations gives several features.
    std::set<std::pair<float, float>> places;
    for (const Keypoint& k : found.keypoints) places.insert({k.x, k.y});
    EXPECT_EQ(places.size(), 20u) << entry.name;
    EXPECT_GE(found.size(), 20u) << entry.name;
    EXPECT_EQ(found.descriptors.size(), found.size() * Features::kLength) << entry.name;
    EXPECT_GT(extractor.milliseconds(), 0) << entry.name;
  }
}

TEST_P(Extraction, CornersKeepTheirPositionsAndOrder) {
  const auto image = testing::random_image<std::uint8_t>(120, 90, 1);
  const auto corners = find_detector("harris").make(context, {})->detect(image);
  Features found;
  FeatureExtractor(context, "harris").extract(image, found);
  ASSERT_EQ(found.size(), corners.size());
  for (std::size_t i = 0; i < corners.size(); ++i) {
    EXPECT_EQ(found.keypoints[i].x, corners[i].x);
    EXPECT_EQ(found.keypoints[i].y, corners[i].y);
  }
}

TEST_P(Extraction, AShiftedPictureMatchesAtItsShift) {
  const auto large = testing::random_image<std::uint8_t>(40, 40, 3);
  // Random squares of 6 pixels; the second image shows them 7 pixels to the right and 4 down.
  Image<std::uint8_t> first(180, 160), second(180, 160);
  for (int y = 0; y < 160; ++y) {
    for (int x = 0; x < 180; ++x) {
      first(x, y) = large((x + 7) / 6, (y + 4) / 6);
      second(x, y) = large(x / 6, y / 6);
    }
  }
  for (const char* detector : {"sift", "harris"}) {
    FeatureExtractor extractor(context, detector);
    Features a, b;
    extractor.extract(first, a);
    extractor.extract(second, b);
    const auto matches = Matcher(context).match(a, b);
    int right = 0;
    for (const Match& m : matches) {
      const float dx = b.keypoints[m.b].x - a.keypoints[m.a].x - 7;
      const float dy = b.keypoints[m.b].y - a.keypoints[m.a].y - 4;
      right += dx * dx + dy * dy < 1;
    }
    EXPECT_GT(matches.size(), 50u) << detector;
    EXPECT_GT(right, 0.9 * double(matches.size())) << detector;
  }
}

INSTANTIATE_TEST_SUITE_P(, Extraction, testing::every_device(), testing::device_name);

TEST(ExtractionErrors, LeaveNoFeaturesOfAnEarlierImage) {
  const auto image = testing::random_image<std::uint8_t>(120, 90, 1);
  for (const char* detector : {"sift", "harris"}) {
    FeatureExtractor extractor(Context::cpu(1), detector, {}, 100);
    Features found;
    extractor.extract(image, found);
    EXPECT_GT(found.size(), 0u);
    const HostView<const std::uint8_t> no_rows(image.host().data, 120, 0);
    EXPECT_THROW(extractor.extract(no_rows, found), Error);
    EXPECT_EQ(found.size() + found.descriptors.size(), 0u) << detector;
  }
}

TEST(ExtractionErrors, UnknownDetectorsAndSettingsAreNamed) {
  testing::expect_error(ErrorCode::invalid_argument, "sobel",
                        [] { FeatureExtractor(Context::cpu(1), "sobel"); });
  testing::expect_error(ErrorCode::invalid_argument, "k", [] {
    FeatureExtractor(Context::cpu(1), "sift", {{"k", "1"}});
  });
}

}  // namespace
}  // namespace cornea
