// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/describe/sift/sift_math.h"
#include "cornea/describe/sift/sift_testing.h"

namespace cornea {
namespace {

using namespace core;
using namespace sift;

using testing::Blob;
using testing::blob_image;
using testing::draw;
using testing::SiftOnDevice;
using testing::to_u8;

TEST_P(SiftOnDevice, DescriptorsAreInvariantToAQuarterTurn) {
  const int n = 257;
  const Image<float> image = blob_image(n, n, 8);
  Image<float> turned(n, n);  // rotated by a quarter turn, x to y
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) turned(n - 1 - y, x) = image(x, y);
  }
  // Without doubling all octaves of 257 pixels are sampled symmetrically from both ends.
  Sift sift(context, {.doubled = false, .orientations = 1});
  const Features a = sift.detect(image), b = sift.detect(turned);
  int pairs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Keypoint& p = a.keypoints[i];
    for (std::size_t j = 0; j < b.size(); ++j) {
      const Keypoint& q = b.keypoints[j];
      if (std::abs(q.x - (n - 1 - p.y)) > 0.01 || std::abs(q.y - p.x) > 0.01) continue;
      if (std::abs(q.scale - p.scale) > 0.01) continue;
      double turn = (q.angle - p.angle) / (2 * std::numbers::pi) - 0.25;
      turn -= std::round(turn);
      if (std::abs(turn) > 0.01) continue;  // the other one of two peaks of equal height
      double square = 0;
      for (int k = 0; k < 128; ++k) {
        const double d = double(a.descriptor(i)[k]) - b.descriptor(j)[k];
        square += d * d;
      }
      EXPECT_LT(std::sqrt(square), 12) << p.x << ", " << p.y;  // of 512
      ++pairs;
      break;
    }
  }
  EXPECT_GT(pairs, int(a.size() * 9 / 10));
}

TEST_P(SiftOnDevice, AnglesAreBelowTwoPi) {
  // On a ramp to the right many gradients point along x, with small deviations to both sides.
  std::vector<Blob> blobs;
  for (int i = 0; i < 96; ++i) blobs.push_back({15.0 + i % 12 * 20, 15.0 + i / 12 * 20, 2.5, 0.2});
  Image<float> image = draw(blobs, 260, 180);
  for (int y = 0; y < 180; ++y) {
    for (int x = 0; x < 260; ++x) image(x, y) += float(x) / 1000;
  }
  const Features found = Sift(context, {.doubled = false}).detect(image);
  EXPECT_GT(found.size(), 50u);
  for (const Keypoint& k : found.keypoints) {
    EXPECT_TRUE(k.angle >= 0 && k.angle < 2 * std::numbers::pi) << k.angle;
  }
}

TEST_P(SiftOnDevice, DescribeReproducesTheDescriptorsOfDetectedPoints) {
  for (bool root : {false, true}) {
    const Image<std::uint8_t> image = to_u8(blob_image(240, 180));
    const Settling settle = root ? Settling::lenient : Settling::strict;
    Sift sift(context, {.settle = settle, .root = root});
    const Features found = sift.detect(image);
    Features again;
    sift.describe(image, found.keypoints, again, Angles::keep);
    ASSERT_EQ(again.size(), found.size());
    EXPECT_TRUE(again.keypoints == found.keypoints);
    std::size_t differ = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      int most = 0;
      for (int k = 0; k < 128; ++k) {
        most = std::max(most, std::abs(found.descriptor(i)[k] - again.descriptor(i)[k]));
      }
      differ += most > 1;
    }
    // Rounding may select the neighbouring level, and the scale of a lenient point may lie outside
    // the levels of its octave.
    EXPECT_LE(differ, settle == Settling::lenient ? found.size() / 8 : found.size() / 200);
    // With Angles::assign it computes the strongest orientation of each point.
    sift.describe(image, found.keypoints, again, Angles::assign);
    std::size_t others = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const float turn = (again.keypoints[i].angle - found.keypoints[i].angle) / kTurn;
      others += std::abs(turn - std::round(turn)) > 1e-4f;
    }
    EXPECT_LT(others, found.size() / 3);  // further orientations of points that have several
  }
}

TEST_P(SiftOnDevice, DescribesCornersUprightOrWithAnOrientation) {
  const Image<std::uint8_t> image = to_u8(blob_image(120, 90));
  const std::vector<Corner> corners = {{30.5f, 40.25f, 1}, {0, 0, 2}, {119, 89, 3}, {60, 45, 4}};
  const auto points = keypoints_of(corners, 2.5f);
  Features turned, upright;
  Sift(context).describe(image, points, turned);
  Sift(context, {.orientations = 0}).describe(image, points, upright);
  ASSERT_EQ(turned.size(), 4u);
  ASSERT_EQ(upright.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(upright.keypoints[i].angle, 0);
    EXPECT_EQ(turned.keypoints[i].x, corners[i].x);
    int sum = 0;
    for (int k = 0; k < 128; ++k) sum += turned.descriptor(i)[k];
    EXPECT_GT(sum, 100) << i;
  }
  EXPECT_NE(turned.keypoints[0].angle, 0);
}

TEST_P(SiftOnDevice, RootIsTheSquareRootOfTheNormalised) {
  const Image<std::uint8_t> image = to_u8(blob_image(200, 160));
  const Features plain = Sift(context, {.root = false}).detect(image);
  const Features root = Sift(context, {.root = true}).detect(image);
  ASSERT_EQ(plain.size(), root.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    double sum = 0, square = 0;
    for (int k = 0; k < 128; ++k) sum += plain.descriptor(i)[k];
    for (int k = 0; k < 128; ++k) {
      const double expected = 512 * std::sqrt(plain.descriptor(i)[k] / sum);
      // Bytes of the plain descriptor are rounded, which is a large relative error for small ones,
      // and clamped at 255.
      if (plain.descriptor(i)[k] > 20 && plain.descriptor(i)[k] < 255) {
        EXPECT_NEAR(root.descriptor(i)[k], std::min(expected, 255.0), 4);
      }
      square += double(root.descriptor(i)[k]) * root.descriptor(i)[k];
    }
    EXPECT_NEAR(std::sqrt(square), 512, 6);
  }
}

double at(const Image<float>& level, double x, double y) {
  const int x0 = int(std::floor(x)), y0 = int(std::floor(y));
  const double fx = x - x0, fy = y - y0;
  return (1 - fy) * ((1 - fx) * level(x0, y0) + fx * level(x0 + 1, y0)) +
         fy * ((1 - fx) * level(x0, y0 + 1) + fx * level(x0 + 1, y0 + 1));
}

// The definition in the header, written as plainly as possible.
std::vector<double> plain_descriptor(const Image<float>& level, double px, double py, double scale,
                                     double angle) {
  std::vector<double> cells(128);
  const double c = std::cos(angle), s = std::sin(angle), side = 3 * scale;
  for (int j = 0; j < 20; ++j) {
    for (int i = 0; i < 20; ++i) {
      const double u = (i + 0.5) / 4 - 2.5, v = (j + 0.5) / 4 - 2.5;
      const double x = px + side * (c * u - s * v), y = py + side * (s * u + c * v);
      if (x < 1 || y < 1 || x >= level.width() - 2 || y >= level.height() - 2) continue;
      const double gx = at(level, x + 1, y) - at(level, x - 1, y);
      const double gy = at(level, x, y + 1) - at(level, x, y - 1);
      const double weight = std::hypot(gx, gy) * std::exp(-(u * u + v * v) / 8);
      double direction = (std::atan2(gy, gx) - angle) / (2 * std::numbers::pi) * 8;
      direction -= 8 * std::floor(direction / 8);
      for (int row = 0; row < 4; ++row) {
        for (int column = 0; column < 4; ++column) {
          const double near = std::max(0.0, 1 - std::abs(u - (column - 1.5))) *
                              std::max(0.0, 1 - std::abs(v - (row - 1.5)));
          for (int d = 0; d < 8; ++d) {
            const double off = std::min(std::abs(direction - d), 8 - std::abs(direction - d));
            cells[row * 32 + column * 8 + d] += weight * near * std::max(0.0, 1 - off);
          }
        }
      }
    }
  }
  auto norm = [&] {
    double sum = 0;
    for (double v : cells) sum += v * v;
    return std::sqrt(sum);
  };
  const double most = 0.2 * norm();
  for (double& v : cells) v = std::min(v, most);
  const double after = norm();
  for (double& v : cells) v = std::min(255.0, 512 * v / after);
  return cells;
}

TEST_P(SiftOnDevice, DescriptorsAreThoseOfThePlainDefinition) {
  const Image<float> image = blob_image(200, 160, 12);
  Sift sift(context, {.doubled = false, .root = false});
  Random random(4);
  std::vector<Keypoint> points;
  for (int i = 0; i < 60; ++i) {
    const auto uniform = [&](double to) { return float(to * random.uniform()); };
    points.push_back({uniform(199), uniform(159), 1.6f + uniform(1.4), uniform(6.28), 0, 0});
  }
  Features found;
  sift.describe(image, points, found, Angles::keep);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Keypoint& p = points[i];
    const Image<float> level = sift.level(0, int(std::lround(3 * std::log2(p.scale / 1.6))));
    const auto expected = plain_descriptor(level, p.x, p.y, p.scale, p.angle);
    for (int k = 0; k < 128; ++k) {
      EXPECT_NEAR(found.descriptor(i)[k], expected[k], 1.01) << i << ", " << k;
    }
  }
}

}  // namespace
}  // namespace cornea
