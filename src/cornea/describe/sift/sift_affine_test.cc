// SPDX-License-Identifier: Apache-2.0
// Affine shape and domain-size pooling, compared with their definition (sift.h) in double precision
// and on images whose affine map is known.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/describe/sift/sift_testing.h"
#include "cornea/match/match.h"

namespace cornea {
namespace {

using namespace core;

using testing::Blob;
using testing::blob_image;
using testing::equal;
using testing::random_blobs;
using testing::SiftOnDevice;
using testing::to_u8;

struct Matrix {
  double a = 1, b = 0, c = 0, d = 1;  // rows a b, c d
  std::array<double, 2> operator*(const std::array<double, 2>& v) const {
    return {a * v[0] + b * v[1], c * v[0] + d * v[1]};
  }
  Matrix operator*(const Matrix& m) const {
    return {a * m.a + b * m.c, a * m.b + b * m.d, c * m.a + d * m.c, c * m.b + d * m.d};
  }
  Matrix transposed() const { return {a, c, b, d}; }
  double determinant() const { return a * d - b * c; }
  Matrix inverse() const {
    const double n = determinant();
    return {d / n, -b / n, -c / n, a / n};
  }
};
Matrix frame_of(const Keypoint& k) {
  const AffineFrame f = affine_frame(k);
  return {f.a11, f.a12, f.a21, f.a22};
}

// ---------------------------------------------------------------------------------------------
// The definition.

struct Gradient {
  double x = 0, y = 0;
};
double between(const Image<float>& level, double x, double y) {
  const int x0 = int(std::floor(x)), y0 = int(std::floor(y));
  const double fx = x - x0, fy = y - y0;
  return (1 - fy) * ((1 - fx) * level(x0, y0) + fx * level(x0 + 1, y0)) +
         fy * ((1 - fx) * level(x0, y0 + 1) + fx * level(x0 + 1, y0 + 1));
}
// 0 unless the 4 x 4 pixels around the position are all inside.
Gradient gradient_at(const Image<float>& level, double x, double y) {
  if (x < 1 || y < 1 || x >= level.width() - 2 || y >= level.height() - 2) return {};
  return {between(level, x + 1, y) - between(level, x - 1, y),
          between(level, x, y + 1) - between(level, x, y - 1)};
}

// The symmetric square root of the inverse of the moments, with the smaller eigenvalue 1 and the
// larger one at most 5, computed from eigenvectors.
Matrix shape_of(double xx, double xy, double yy) {
  const double axis = 0.5 * std::atan2(2 * xy, xx - yy);  // of the larger moment
  const double mean = (xx + yy) / 2, radius = std::hypot((xx - yy) / 2, xy);
  const double stretch = std::min(5.0, std::sqrt((mean + radius) / (mean - radius)));
  const double c = std::cos(axis), s = std::sin(axis);
  // The longer axis is perpendicular to that of the larger moment.
  return {c * c + stretch * s * s, (1 - stretch) * c * s, (1 - stretch) * c * s,
          s * s + stretch * c * c};
}

struct PointPlace {
  double x, y, scale;
};

Matrix adapted(const Image<float>& level, const PointPlace& p) {
  Matrix a;
  for (int step = 0; step < 5; ++step) {
    double xx = 0, xy = 0, yy = 0;
    for (int i = 0; i < 144; ++i) {
      const double u = 1.25 * (i % 12 - 5.5), v = 1.25 * (i / 12 - 5.5);
      const auto offset = a * std::array{p.scale * u, p.scale * v};
      const Gradient g = gradient_at(level, p.x + offset[0], p.y + offset[1]);
      const double weight = std::exp(-(u * u + v * v) / (2 * 3 * 3));
      xx += weight * g.x * g.x, xy += weight * g.x * g.y, yy += weight * g.y * g.y;
    }
    a = shape_of(xx, xy, yy);
  }
  return a;
}

// The peaks of the orientation histogram in the normalised plane, as angles there, the highest
// first.
std::vector<double> angles_of(const Image<float>& level, const PointPlace& p, const Matrix& a) {
  std::array<double, 36> raw{}, bins{};
  for (int i = 0; i < 256; ++i) {
    const double u = 0.5625 * (i % 16 - 7.5), v = 0.5625 * (i / 16 - 7.5);
    const auto offset = a * std::array{p.scale * u, p.scale * v};
    const Gradient g = gradient_at(level, p.x + offset[0], p.y + offset[1]);
    const auto n = a.transposed() * std::array{g.x, g.y};
    const double weight = std::exp(-(u * u + v * v) / (2 * 1.5 * 1.5));
    const double turn = std::atan2(n[1], n[0]) / (2 * std::numbers::pi);
    raw[(std::lround(36 * turn) + 36) % 36] += std::hypot(n[0], n[1]) * weight;
  }
  for (int b = 0; b < 36; ++b) {
    auto at = [&](int i) { return raw[(b + i + 36) % 36]; };
    bins[b] = (at(-2) + 4 * at(-1) + 6 * at(0) + 4 * at(1) + at(2)) / 16;
  }
  const auto b = std::max_element(bins.begin(), bins.end()) - bins.begin();
  const double before = bins[(b + 35) % 36], height = bins[b], after = bins[(b + 1) % 36];
  return {2 * std::numbers::pi / 36 * (b + 0.5 * (before - after) / (before - 2 * height + after))};
}

// Normalised, clamped at 0.2 and normalised. `frame` maps the plane in which a cell is 3 wide.
std::vector<double> descriptor_of(const Image<float>& level, double x, double y,
                                  const Matrix& frame, int per_cell) {
  std::vector<double> cells(128);
  for (int j = 0; j < 5 * per_cell; ++j) {
    for (int i = 0; i < 5 * per_cell; ++i) {
      const double u = (i + 0.5) / per_cell - 2.5, v = (j + 0.5) / per_cell - 2.5;
      const auto offset = frame * std::array{3 * u, 3 * v};
      const Gradient g = gradient_at(level, x + offset[0], y + offset[1]);
      const auto n = frame.transposed() * std::array{g.x, g.y};
      const double weight = std::hypot(n[0], n[1]) * std::exp(-(u * u + v * v) / 8);
      double direction = std::atan2(n[1], n[0]) / (2 * std::numbers::pi) * 8;
      direction -= 8 * std::floor(direction / 8);
      for (int k = 0; k < 128; ++k) {
        const double off = std::abs(direction - k % 8);
        cells[k] += weight * std::max(0.0, 1 - std::abs(u - (k / 8 % 4 - 1.5))) *
                    std::max(0.0, 1 - std::abs(v - (k / 32 - 1.5))) *
                    std::max(0.0, 1 - std::min(off, 8 - off));
      }
    }
  }
  auto normalise = [&] {
    double sum = 0;
    for (double v : cells) sum += v * v;
    for (double& v : cells) v /= std::sqrt(sum);
  };
  normalise();
  for (double& v : cells) v = std::min(v, 0.2);
  normalise();
  return cells;
}

std::vector<double> bytes_of(std::vector<double> values, bool root) {
  double sum = 0, squares = 0;
  for (double v : values) sum += v, squares += v * v;
  for (double& v : values) {
    v = std::min(255.0, 512 * (root ? std::sqrt(v / sum) : v / std::sqrt(squares)));
  }
  return values;
}

std::vector<Keypoint> random_points(int width, int height, std::uint64_t seed) {
  Random random(seed);
  auto uniform = [&](double from, double to) {
    return float(from + (to - from) * random.uniform());
  };
  std::vector<Keypoint> points;
  for (int i = 0; i < 60; ++i) {
    points.push_back({uniform(0, width - 1), uniform(0, height - 1), uniform(1.8, 3.2),
                      uniform(0, 6.28), 0, 0, uniform(1, 3), uniform(0, 3.14)});
  }
  return points;
}
int level_of(double scale) { return int(std::lround(3 * std::log2(scale / 1.6))); }
int affine_level(double scale) { return std::max(level_of(scale) - 1, 0); }

TEST_P(SiftOnDevice, AdaptsShapesAndAnglesAsDefined) {
  const Image<float> image = blob_image(220, 180, 21);
  Sift sift(context, {.doubled = false, .affine_shape = true});
  const std::vector<Keypoint> points = random_points(220, 180, 5);
  Features found;
  sift.describe(image, points, found);
  int open = 0;
  for (const Keypoint& k : found.keypoints) {
    const Image<float> level = sift.level(0, affine_level(k.scale));
    const PointPlace p{k.x, k.y, k.scale};
    const Matrix a = adapted(level, p), f = frame_of(k);
    // F F^T does not depend on the angle.
    const Matrix expected = a * a.transposed(), w = f * f.transposed();
    const double s = double(k.scale) * k.scale;
    for (auto entry : {&Matrix::a, &Matrix::b, &Matrix::d}) {
      EXPECT_NEAR(w.*entry / s, expected.*entry, 2e-3 * (expected.a + expected.d)) << k.x;
    }
    const double angle = angles_of(level, p, a)[0];
    const auto x = a * std::array{std::cos(angle), std::sin(angle)};
    const double off = std::remainder(k.angle - std::atan2(x[1], x[0]), 2 * std::numbers::pi);
    // Differs if a sample lies on the border of two bins, or if two peaks have the same height.
    open += std::abs(off) > 2e-3;
  }
  EXPECT_LE(open, 4);
}

TEST_P(SiftOnDevice, DescribesTheNormalisedPatchAsDefined) {
  const Image<float> image = blob_image(220, 180, 22);
  const std::vector<Keypoint> points = random_points(220, 180, 6);
  for (bool root : {false, true}) {
    Sift sift(context, {.doubled = false, .affine_shape = true, .root = root});
    Features found;
    sift.describe(image, points, found, Angles::keep);
    EXPECT_EQ(found.keypoints, points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Keypoint& k = points[i];
      const auto expected = bytes_of(
          descriptor_of(sift.level(0, affine_level(k.scale)), k.x, k.y, frame_of(k), 4), root);
      for (int b = 0; b < 128; ++b) {
        EXPECT_NEAR(found.descriptor(i)[b], expected[b], 1.01) << i << ", " << b;
      }
    }
  }
}

TEST_P(SiftOnDevice, PoolsDomainSizesAsDefined) {
  const Image<float> image = blob_image(220, 180, 23);
  const std::vector<Keypoint> points = random_points(220, 180, 7);
  for (bool affine : {false, true}) {
    Sift sift(
        context,
        {.doubled = false, .affine_shape = affine, .domain_size_pooling = true, .root = false});
    Features found;
    sift.describe(image, points, found, Angles::keep);
    for (std::size_t i = 0; i < points.size(); ++i) {
      Keypoint k = points[i];
      if (!affine) k.stretch = 1, k.axis = 0;
      EXPECT_EQ(found.keypoints[i], k);
      const Matrix f = frame_of(k);
      std::vector<double> mean(128);
      for (int n = 0; n < 10; ++n) {
        const double size = 1.0 / 6 + n * (3 - 1.0 / 6) / 10;
        const long own = affine ? affine_level(k.scale) : level_of(k.scale);
        const long fits = own + std::lround(3 * std::log2(size));
        const Image<float> level = sift.level(0, int(std::clamp(fits, 0L, 5L)));
        const auto values =
            descriptor_of(level, k.x, k.y, {size * f.a, size * f.b, size * f.c, size * f.d}, 3);
        for (int b = 0; b < 128; ++b) mean[b] += values[b] / 10;
      }
      const auto expected = bytes_of(mean, false);
      for (int b = 0; b < 128; ++b) {
        EXPECT_NEAR(found.descriptor(i)[b], expected[b], 1.01) << i << ", " << b;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Images whose map is known.

// Blobs as seen by a camera that maps position p of the plane to m p + (width, height) / 2.
Image<float> seen(const std::vector<Blob>& blobs, int width, int height, const Matrix& m) {
  Image<float> image(width, height);
  const Matrix back = m.inverse();
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto at = back * std::array{x - width / 2.0, y - height / 2.0};
      double sum = 0.5;
      for (const Blob& b : blobs) {
        const double dx = at[0] - b.x, dy = at[1] - b.y, r = dx * dx + dy * dy;
        if (r < 25 * b.sigma * b.sigma) sum += b.height * std::exp(-r / (2 * b.sigma * b.sigma));
      }
      image(x, y) = float(sum);
    }
  }
  return image;
}
std::vector<Blob> blobs_of_plane(int side, int count, std::uint64_t seed) {
  std::vector<Blob> blobs = random_blobs(side, side, count, seed);
  for (Blob& b : blobs) b.x -= side / 2.0, b.y -= side / 2.0, b.sigma *= 1.3;
  return blobs;
}
const Matrix kTilted = {0.42, 0.1, -0.2, 1.1};  // a tilt of about 2.7

// The ratio of the axes of an ellipse seen in the frame of another: how far it is from round.
double axes_ratio(const Matrix& frame, const Matrix& other) {
  const Matrix m = frame.inverse() * other, w = m * m.transposed();
  const double mean = (w.a + w.d) / 2, radius = std::hypot((w.a - w.d) / 2, w.b);
  return std::sqrt((mean + radius) / (mean - radius));
}

TEST_P(SiftOnDevice, ShapesFollowAKnownMap) {
  const int n = 320;
  const std::vector<Blob> blobs = blobs_of_plane(n, 300, 31);
  const Image<float> front = seen(blobs, n, n, {}), tilted = seen(blobs, n, n, kTilted);
  auto ratios = [&](bool affine) {
    Sift sift(context, {.orientations = 0, .affine_shape = affine});
    const Features a = sift.detect(front), b = sift.detect(tilted);
    std::vector<double> all;
    for (const Keypoint& p : a.keypoints) {
      const auto at = kTilted * std::array{double(p.x) - n / 2, double(p.y) - n / 2};
      for (const Keypoint& q : b.keypoints) {
        if (std::hypot(q.x - n / 2 - at[0], q.y - n / 2 - at[1]) > 0.5) continue;
        if (q.scale > 1.2 * p.scale || q.scale < 0.3 * p.scale) continue;
        all.push_back(axes_ratio(kTilted * frame_of(p), frame_of(q)));
      }
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  const std::vector<double> round = ratios(false), adapted = ratios(true);
  ASSERT_GT(adapted.size(), 30u);
  EXPECT_GT(round[round.size() / 2], 2.4);
  EXPECT_LT(adapted[adapted.size() / 2], 1.4);
}

// The number of matches that join the same position of the plane.
int correct_matches(const Context& context, const SiftOptions& options, const Image<float>& front,
                    const Image<float>& tilted) {
  Sift sift(context, options);
  const Features a = sift.detect(front), b = sift.detect(tilted);
  const double cx = front.width() / 2.0, cy = front.height() / 2.0;
  int correct = 0;
  for (const Match& m : Matcher(context).match(a, b)) {
    const Keypoint &p = a.keypoints[std::size_t(m.a)], &q = b.keypoints[std::size_t(m.b)];
    const auto at = kTilted * std::array{p.x - cx, p.y - cy};
    correct += std::hypot(q.x - cx - at[0], q.y - cy - at[1]) < 2;
  }
  return correct;
}

TEST_P(SiftOnDevice, AffineShapeMatchesMoreOfATiltedImage) {
  const std::vector<Blob> blobs = blobs_of_plane(320, 300, 32);
  const Image<float> front = seen(blobs, 320, 320, {}), tilted = seen(blobs, 320, 320, kTilted);
  const int plain = correct_matches(context, {}, front, tilted);
  const int affine = correct_matches(context, {.affine_shape = true}, front, tilted);
  EXPECT_GT(affine, 2 * plain) << plain;
  EXPECT_GT(affine, 40);
}

TEST_P(SiftOnDevice, DescribeReproducesTheDescriptorsOfDetectedEllipses) {
  const Image<std::uint8_t> image = to_u8(blob_image(240, 180));
  for (bool pooled : {false, true}) {
    Sift sift(context, {.affine_shape = true, .domain_size_pooling = pooled});
    const Features found = sift.detect(image);
    Features again;
    sift.describe(image, found.keypoints, again, Angles::keep);
    ASSERT_EQ(again.size(), found.size());
    EXPECT_EQ(again.keypoints, found.keypoints);
    std::size_t differ = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      int most = 0;
      for (int k = 0; k < 128; ++k) {
        most = std::max(most, std::abs(found.descriptor(i)[k] - again.descriptor(i)[k]));
      }
      differ += most > 1;
    }
    EXPECT_LE(differ, found.size() / 100);
  }
}

TEST_P(SiftOnDevice, UprightEllipsesKeepTheXAxis) {
  const Features found =
      Sift(context, {.orientations = 0, .affine_shape = true}).detect(to_u8(blob_image(200, 150)));
  ASSERT_GT(found.size(), 50u);
  int stretched = 0;
  for (const Keypoint& k : found.keypoints) {
    EXPECT_LT(std::abs(std::remainder(k.angle, 2 * std::numbers::pi)), 1e-5);
    EXPECT_GE(k.stretch, 1);
    EXPECT_LE(k.stretch, 5.001f);
    stretched += k.stretch > 1.2f;
  }
  EXPECT_GT(stretched, int(found.size()) / 4);
}

TEST_P(SiftOnDevice, APointWithoutGradientsIsRound) {
  Image<float> image(64, 48);
  std::fill_n(image.host().data, 64 * 48, 0.25f);
  const std::vector<Corner> corners = {{30.5f, 20.25f, 1}, {0, 0, 1}, {63, 47, 1}};
  Features found;
  Sift(context, {.affine_shape = true, .domain_size_pooling = true})
      .describe(image, keypoints_of(corners, 2.5f), found);
  for (const Keypoint& k : found.keypoints) EXPECT_EQ(k.stretch, 1);
  for (std::uint8_t byte : found.descriptors) EXPECT_EQ(byte, 0);
}

TEST_P(SiftOnDevice, RejectsAnInvalidShape) {
  const Image<float> image = blob_image(64, 48);
  std::vector<Keypoint> points = {{30, 20, 2, 0, 0, 0, 0.5f, 0}};
  Sift sift(context, {.affine_shape = true});
  Features found;
  EXPECT_THROW(sift.describe(image, points, found, Angles::keep), Error);
  points[0].stretch = 2;
  points[0].axis = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(sift.describe(image, points, found, Angles::keep), Error);
}

TEST(SiftAffine, GivesTheSameBytesOnAnyNumberOfThreads) {
  const Image<std::uint8_t> image = to_u8(blob_image(320, 240));
  for (const SiftOptions& options :
       {SiftOptions{.affine_shape = true}, SiftOptions{.domain_size_pooling = true},
        SiftOptions{.affine_shape = true, .domain_size_pooling = true, .root = false}}) {
    const Features one = Sift(Context::cpu(1), options).detect(image);
    for (int threads : {2, 5}) {
      EXPECT_TRUE(equal(one, Sift(Context::cpu(threads), options).detect(image)));
    }
  }
}

}  // namespace
}  // namespace cornea
