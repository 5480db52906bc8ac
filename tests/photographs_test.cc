// SPDX-License-Identifier: Apache-2.0
// Photographs: matches are those of a plain loop and agree with the true homography, and filters
// and SIFT give the same bits on every device.
#include <algorithm>
#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "cornea/core/testing.h"
#include "cornea/cornea.h"

namespace cornea {
namespace {

namespace fs = std::filesystem;

fs::path photograph(const fs::path& folder, int number) {
  for (const char* ending : {".ppm", ".pgm", ".png", ".jpg"}) {
    const fs::path file = folder / text("img", number, ending);
    if (fs::exists(file)) return file;
  }
  return {};
}

int squared_distance(const std::uint8_t* a, const std::uint8_t* b) {
  int sum = 0;
  for (int k = 0; k < Features::kLength; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

class Photographs : public testing::OnEveryDevice {};

TEST_P(Photographs, MatchesEqualThoseOfAPlainLoopAndAreMostlyCorrect) {
  CORNEA_EXTERNAL_DATA_OR_SKIP(folder, "data/vgg_affine/graf");
  std::ifstream truth(folder / "H1to2.txt");
  ASSERT_TRUE(truth && !photograph(folder, 2).empty()) << folder << " lacks files";
  double h[9];
  for (double& v : h) truth >> v;
  FeatureExtractor extractor(context, "sift", {{"max-points", "1500"}});
  Features a, b;
  extractor.extract(read_gray(photograph(folder, 1)).view(), a);
  extractor.extract(read_gray(photograph(folder, 2)).view(), b);

  Matcher matcher(context);
  const auto nearest = matcher.nearest(a, b);
  ASSERT_EQ(nearest.size(), a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    Nearest n;
    for (int j = 0; j < static_cast<int>(b.size()); ++j) {
      const int d2 = squared_distance(a.descriptor(i), b.descriptor(j));
      if (d2 < n.d2) {
        n = {j, d2, n.index, n.d2};
      } else if (d2 < n.second_d2) {
        n.second = j;
        n.second_d2 = d2;
      }
    }
    ASSERT_EQ(nearest[i], n) << "feature " << i;
  }

  const auto matches = matcher.match(a, b);
  int right = 0;
  for (const Match& m : matches) {
    const Keypoint &p = a.keypoints[m.a], &q = b.keypoints[m.b];
    const double w = h[6] * p.x + h[7] * p.y + h[8];
    right += std::hypot((h[0] * p.x + h[1] * p.y + h[2]) / w - q.x,
                        (h[3] * p.x + h[4] * p.y + h[5]) / w - q.y) < 3;
  }
  EXPECT_GT(matches.size(), 300u);
  EXPECT_GT(right, 0.8 * double(matches.size()));
}

// The filters that preserve edges, and SIFT on their scale spaces, on photographs: every device
// gives the bits of a single thread of the CPU.
TEST_P(Photographs, AreFilteredToTheSameBitsOnEveryDevice) {
  CORNEA_EXTERNAL_DATA_OR_SKIP(folder, "data");
  const Context cpu = Context::cpu(1);
  for (const char* name : {"corners/house.png", "photos/building.jpg", "photos/leuvenA.jpg"}) {
    SCOPED_TRACE(name);
    const GrayImage photograph = read_gray(folder / name);
    for (const char* filter : {"bilateral", "trilateral"}) {
      Image<float> a(photograph.width(), photograph.height()), b(a.width(), a.height());
      find_filter(filter).make(cpu, {})->apply(photograph.view(), a);
      find_filter(filter).make(context, {})->apply(photograph.view(), b);
      int different = 0;
      for (int y = 0; y < a.height(); ++y)
        for (int x = 0; x < a.width(); ++x) different += a(x, y) != b(x, y);
      EXPECT_EQ(different, 0) << filter;
    }
  }
}

TEST_P(Photographs, HaveTheSameFeaturesOnEveryDevice) {
  CORNEA_EXTERNAL_DATA_OR_SKIP(folder, "data");
  const Context cpu = Context::cpu(1);
  for (const char* name : {"corners/house.png", "photos/box.png", "photos/home.jpg"}) {
    SCOPED_TRACE(name);
    const GrayImage photograph = read_gray(folder / name);
    for (const char* scale_space : {"gaussian", "bilateral", "trilateral"}) {
      const Settings settings{
          {"scale-space", scale_space}, {"contrast", "0.02"}, {"doubled", "no"}};
      Features a, b;
      FeatureExtractor(cpu, "sift", settings).extract(photograph.view(), a);
      FeatureExtractor(context, "sift", settings).extract(photograph.view(), b);
      EXPECT_GT(a.size(), 50u) << scale_space;
      EXPECT_EQ(a.keypoints, b.keypoints) << scale_space;
      EXPECT_EQ(a.descriptors, b.descriptors) << scale_space;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Photographs, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace cornea
