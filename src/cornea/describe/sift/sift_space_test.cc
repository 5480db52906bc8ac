// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include "cornea/describe/sift/sift_testing.h"
#include "cornea/filter/bilateral/bilateral.h"
#include "cornea/filter/gaussian/gaussian.h"
#include "cornea/filter/trilateral/trilateral.h"

namespace cornea {
namespace {

using testing::blob_image;
using testing::equal;
using testing::SiftOnDevice;
using testing::to_u8;

TEST_P(SiftOnDevice, ScaleSpaceOptionsAreApplied) {
  const Image<std::uint8_t> image = to_u8(blob_image(200, 160));
  for (int intervals : {1, 2, 3, 5, 8}) {
    const Features found = Sift(context, {.intervals = intervals, .contrast = 0.02}).detect(image);
    EXPECT_GT(found.size(), 50u) << intervals;
  }
  for (const Keypoint& k : Sift(context, {.octaves = 1}).detect(image).keypoints) {
    EXPECT_EQ(k.octave, -1);
  }
  for (const Keypoint& k : Sift(context, {.doubled = false}).detect(image).keypoints) {
    EXPECT_GE(k.octave, 0);
  }
  EXPECT_GT(Sift(context, {.sigma = 6}).detect(image).size(), 5u);
}

TEST_P(SiftOnDevice, LevelsAreTheFilterAppliedToTheLevelBefore) {
  const Image<float> image = blob_image(90, 70);
  for (ScaleSpace space : {ScaleSpace::gaussian, ScaleSpace::bilateral, ScaleSpace::trilateral}) {
    const SiftOptions options{.scale_space = space, .doubled = false};
    Sift sift(context, options);
    sift.detect(image);
    // The same with direct calls of the filters on the CPU.
    const Context cpu = Context::cpu(1);
    auto filtered = [&](const Image<float>& from, double sigma) {
      if (space == ScaleSpace::gaussian) return GaussianFilter(cpu, {sigma}).apply(from);
      if (space == ScaleSpace::bilateral) return BilateralFilter(cpu, {.sigma = sigma}).apply(from);
      return TrilateralFilter(cpu, {.sigma = sigma}).apply(from);
    };
    auto expect_equal = [&](const Image<float>& a, const Image<float>& b, int octave, int level) {
      ASSERT_EQ(a.width(), b.width());
      for (int y = 0; y < a.height(); ++y) {
        for (int x = 0; x < a.width(); ++x) {
          ASSERT_NEAR(a(x, y), b(x, y), 1e-5) << int(space) << " " << octave << ", " << level;
        }
      }
    };
    expect_equal(sift.level(0, 0), filtered(image, std::sqrt(1.6 * 1.6 - 0.5 * 0.5)), 0, 0);
    for (int octave = 0; octave < 2; ++octave) {
      for (int l = 1; l < 6; ++l) {
        const double sigma = 1.6 * std::exp2((l - 1) / 3.0) * std::sqrt(std::exp2(2.0 / 3) - 1);
        expect_equal(sift.level(octave, l), filtered(sift.level(octave, l - 1), sigma), octave, l);
      }
    }
    const Image<float> third = sift.level(0, 3), half = sift.level(1, 0);
    for (int y = 0; y < half.height(); ++y) {
      for (int x = 0; x < half.width(); ++x) ASSERT_EQ(half(x, y), third(2 * x, 2 * y));
    }
  }
}

TEST_P(SiftOnDevice, AcceptsAnyAssumedBlur) {
  const Image<std::uint8_t> image = to_u8(blob_image(120, 90));
  for (ScaleSpace space : {ScaleSpace::gaussian, ScaleSpace::bilateral, ScaleSpace::trilateral}) {
    for (double blur : {0.0, 0.7999, 0.8, 3.0}) {
      EXPECT_NO_THROW(Sift(context, {.scale_space = space, .blur = blur}).detect(image)) << blur;
    }
  }
}

TEST_P(SiftOnDevice, EdgePreservingScaleSpacesHavePoints) {
  const Image<std::uint8_t> image = to_u8(blob_image(160, 120));
  for (ScaleSpace space : {ScaleSpace::bilateral, ScaleSpace::trilateral}) {
    Sift sift(context, {.scale_space = space, .contrast = 0.01, .edge_ratio = 0});
    const Features found = sift.detect(image);
    EXPECT_GT(found.size(), 20u);
    EXPECT_TRUE(equal(found, sift.detect(image)));
    EXPECT_TRUE(equal(found, sift.detect(image)));  // from a graph, on CUDA
  }
}

}  // namespace
}  // namespace cornea
