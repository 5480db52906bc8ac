// SPDX-License-Identifier: Apache-2.0
#include "cornea/describe/sift/sift.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/describe/sift/sift_math.h"
#include "cornea/describe/sift/sift_shape.h"
#include "cornea/describe/sift/sift_testing.h"

namespace cornea {
namespace {

using namespace core;
using namespace sift;

using testing::Blob;
using testing::blob_image;
using testing::draw;
using testing::equal;
using testing::random_blobs;
using testing::SiftOnDevice;
using testing::to_u8;

INSTANTIATE_TEST_SUITE_P(, SiftOnDevice, testing::every_device(), testing::device_name);

TEST_P(SiftOnDevice, FindsBlobsAtTheirPositionAndScale) {
  for (bool doubled : {true, false}) {
    for (double sigma : {2.5, 4.0, 7.3}) {
      const Blob blob{61.3, 47.8, sigma, 0.4};
      // A round blob has no orientation of its own.
      Sift sift(context, {.doubled = doubled, .orientations = 0});
      const Features found = sift.detect(draw({blob}, 130, 100));
      ASSERT_EQ(found.size(), 1u) << sigma;
      EXPECT_NEAR(found.keypoints[0].x, blob.x, 0.03);
      EXPECT_NEAR(found.keypoints[0].y, blob.y, 0.03);
      // The difference of Gaussians k s and s is strongest at s = sigma / sqrt(k); the assumed blur
      // of the image is subtracted.
      const double k = std::exp2(1.0 / 3);
      EXPECT_NEAR(found.keypoints[0].scale, std::sqrt(sigma * sigma / k), 0.06 * sigma);
    }
  }
}

TEST_P(SiftOnDevice, FindsNothingInAFlatOrTinyImage) {
  Sift sift(context);
  for (auto [w, h] : {std::pair(100, 80), {8, 8}, {1, 1}, {3, 200}, {200, 5}}) {
    Image<std::uint8_t> flat(w, h);
    std::fill_n(flat.host().data, w * h, std::uint8_t(93));
    EXPECT_EQ(sift.detect(flat).size(), 0u) << w << " x " << h;
  }
}

TEST_P(SiftOnDevice, TakesImagesOfAnySize) {
  Sift sift(context);
  for (auto [w, h] :
       {std::pair(8, 8), {6, 6}, {11, 300}, {301, 12}, {33, 31}, {1, 700}, {64, 48}}) {
    const auto image = testing::random_image<std::uint8_t>(w, h, 5);
    const Features found = sift.detect(image);
    for (const Keypoint& k : found.keypoints) {
      EXPECT_TRUE(k.x > 0 && k.y > 0 && k.x < w - 1 && k.y < h - 1) << w << " x " << h;
    }
    EXPECT_EQ(found.descriptors.size(), found.size() * 128);
  }
}

// Pairs points of two sets that lie within half a pixel of where `map` sends them and have the same
// octave, nearly the same scale and the nearest angle; calls f with the differences in x and y.
template <class Map, class F>
int pair_up(const Features& a, const Features& b, const Map& map, const F& f) {
  int pairs = 0;
  for (const Keypoint& p : a.keypoints) {
    const auto [x, y] = map(p.x, p.y);
    for (const Keypoint& q : b.keypoints) {
      if (std::abs(q.x - x) < 0.5 && std::abs(q.y - y) < 0.5 && q.octave == p.octave &&
          std::abs(q.scale / p.scale - 1) < 0.1) {
        f(q.x - x, q.y - y, p, q);
        ++pairs;
        break;
      }
    }
  }
  return pairs;
}

TEST_P(SiftOnDevice, HasNoPositionBiasUnderTranslationAndRotationByPi) {
  const int w = 400, h = 300;
  const auto blobs = random_blobs(w + 8, h + 4, 900, 3);
  const Image<std::uint8_t> image = to_u8(draw(blobs, w, h));
  const Image<std::uint8_t> shifted = to_u8(draw(blobs, w, h, 8, 4));
  Image<std::uint8_t> turned(w, h);
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) turned(x, y) = image(w - 1 - x, h - 1 - y);
  }
  for (bool doubled : {true, false}) {
    Sift sift(context, {.doubled = doubled});
    const Features found = sift.detect(image);
    const Features moved = sift.detect(shifted), around = sift.detect(turned);
    struct Sum {
      double x = 0, y = 0, ax = 0, ay = 0;
    };
    auto check = [&](const char* what, const Features& other, auto map) {
      Sum s;
      const int n = pair_up(found, other, map, [&](double dx, double dy, auto&, auto&) {
        s.x += dx, s.y += dy, s.ax += std::abs(dx), s.ay += std::abs(dy);
      });
      ASSERT_GT(n, 300) << what;
      for (double mean : {s.x / n, s.y / n}) EXPECT_LT(std::abs(mean), 0.01) << what;
      // Octaves beyond the first are sampled at other positions of the rotated image.
      for (double mean : {s.ax / n, s.ay / n}) EXPECT_LT(mean, 0.04) << what;
    };
    check("shift", moved, [](double x, double y) { return std::pair(x - 8, y - 4); });
    check("half turn", around, [&](double x, double y) { return std::pair(w - 1 - x, h - 1 - y); });
  }
}

TEST_P(SiftOnDevice, GivesTheSameBytesForEveryPixelType) {
  const Image<std::uint8_t> bytes = to_u8(blob_image(200, 150));
  Image<std::uint16_t> words(200, 150);
  Image<float> floats(200, 150);
  Image<Rgb<std::uint8_t>> colour(200, 150);
  for (int y = 0; y < 150; ++y) {
    for (int x = 0; x < 200; ++x) {
      const std::uint8_t v = bytes(x, y);
      words(x, y) = std::uint16_t(v * 257), floats(x, y) = unit_value(v), colour(x, y) = {v, v, v};
    }
  }
  Sift sift(context);
  const Features found = sift.detect(bytes);
  EXPECT_GT(found.size(), 60u);
  EXPECT_TRUE(equal(found, sift.detect(floats)));
  EXPECT_TRUE(equal(found, sift.detect(colour)));
  const Features of_words = sift.detect(words);
  ASSERT_EQ(of_words.size(), found.size());  // 257 v / 65535 equals v / 255 except for the last bit
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(of_words.keypoints[i].x, found.keypoints[i].x, 1e-3);
  }
}

// The value by which a cap ranks a point.
float rank_of(const Keypoint& k, KeepPoints keep) {
  return keep == KeepPoints::contrast ? k.response
         : keep == KeepPoints::scale  ? k.scale
                                      : k.response * (k.scale * k.scale);
}
// The index of the first feature of each point. The features of a point are consecutive.
std::vector<std::size_t> beginnings(const Features& f) {
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < f.size(); ++i) {
    const Keypoint& k = f.keypoints[i];
    const Keypoint* last = i > 0 ? &f.keypoints[i - 1] : nullptr;
    if (!last || k.x != last->x || k.y != last->y || k.scale != last->scale) list.push_back(i);
  }
  return list;
}
// The features of some points, each with all its orientations, in order.
Features features_of(const Features& all, const std::vector<std::size_t>& first,
                     const std::vector<bool>& is_kept) {
  Features some;
  for (std::size_t p = 0; p < first.size(); ++p) {
    const std::size_t end = p + 1 < first.size() ? first[p + 1] : all.size();
    for (std::size_t i = first[p]; is_kept[p] && i < end; ++i) {
      some.keypoints.push_back(all.keypoints[i]);
      some.descriptors.insert(some.descriptors.end(), all.descriptor(i), all.descriptor(i) + 128);
    }
  }
  return some;
}

constexpr KeepPoints kEveryKeep[] = {KeepPoints::contrast, KeepPoints::scale, KeepPoints::both};

TEST_P(SiftOnDevice, ACapKeepsTheHighestRankedPointsWithAllTheirOrientations) {
  const Image<std::uint8_t> image = to_u8(blob_image(320, 240));
  const Features all = Sift(context).detect(image);
  const std::vector<std::size_t> first = beginnings(all);
  ASSERT_GT(first.size(), 150u);
  ASSERT_GT(all.size(), first.size() + 20);
  for (KeepPoints keep : kEveryKeep) {
    std::vector<std::size_t> order(first.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return rank_of(all.keypoints[first[a]], keep) > rank_of(all.keypoints[first[b]], keep);
    });
    for (int most : {1, 50, 149, 100000}) {
      std::vector<bool> is_kept(first.size());
      for (std::size_t i = 0; i < std::min<std::size_t>(most, order.size()); ++i) {
        is_kept[order[i]] = true;
      }
      const Features some = Sift(context, {.keep = keep, .max_points = most}).detect(image);
      EXPECT_TRUE(equal(some, features_of(all, first, is_kept))) << int(keep) << ", " << most;
    }
  }
}

TEST_P(SiftOnDevice, CapsEveryCellOfAGrid) {
  const Image<std::uint8_t> image = to_u8(blob_image(320, 240));
  const int cell = 40, most = 3;
  const Features all = Sift(context).detect(image);
  const std::vector<std::size_t> first = beginnings(all);
  for (KeepPoints keep : kEveryKeep) {
    std::map<int, std::vector<std::size_t>> cells;
    for (std::size_t p = 0; p < first.size(); ++p) {
      const Keypoint& k = all.keypoints[first[p]];
      cells[int(k.y) / cell * 100 + int(k.x) / cell].push_back(p);
    }
    std::vector<bool> is_kept(first.size());
    for (auto& [c, points] : cells) {
      std::stable_sort(points.begin(), points.end(), [&](std::size_t a, std::size_t b) {
        return rank_of(all.keypoints[first[a]], keep) > rank_of(all.keypoints[first[b]], keep);
      });
      points.resize(std::min<std::size_t>(points.size(), most));
      for (std::size_t p : points) is_kept[p] = true;
    }
    const Features some =
        Sift(context, {.keep = keep, .cell = cell, .max_per_cell = most}).detect(image);
    EXPECT_TRUE(equal(some, features_of(all, first, is_kept))) << int(keep);
  }
}

TEST_P(SiftOnDevice, LenientPointsIncludeTheStrictOnesInOrder) {
  const Image<std::uint8_t> image = to_u8(blob_image(320, 240));
  const SiftOptions loose{.contrast = 0.01};
  SiftOptions tight = loose;
  tight.settle = Settling::strict;
  const Features lenient = Sift(context, loose).detect(image);
  const Features strict = Sift(context, tight).detect(image);
  EXPECT_GT(lenient.size(), strict.size() * 21 / 20);
  EXPECT_LT(lenient.size(), strict.size() * 3 / 2);
  std::size_t at = 0;  // both are in the same order
  for (std::size_t i = 0; i < strict.size(); ++i, ++at) {
    while (at < lenient.size() && !(lenient.keypoints[at] == strict.keypoints[i])) ++at;
    ASSERT_LT(at, lenient.size()) << i;
    EXPECT_EQ(std::memcmp(lenient.descriptor(at), strict.descriptor(i), 128), 0) << i;
  }
}

TEST_P(SiftOnDevice, FindsNoPointUnderTheMask) {
  const Image<std::uint8_t> image = to_u8(blob_image(200, 150));
  Image<std::uint8_t> mask(200, 150);
  for (int y = 0; y < 150; ++y) {
    for (int x = 0; x < 200; ++x) mask(x, y) = x < 100 ? 0 : 1;
  }
  const Features all = Sift(context).detect(image), right = Sift(context).detect(image, mask);
  std::size_t expected = 0;
  for (const Keypoint& k : all.keypoints) expected += k.x >= 99.5f;
  EXPECT_EQ(right.size(), expected);
  EXPECT_LT(right.size(), all.size());
  for (const Keypoint& k : right.keypoints) EXPECT_GE(k.x, 99.5f);
}

TEST_P(SiftOnDevice, TheEdgeTestAndTheContrastDropPoints) {
  const Image<std::uint8_t> image = to_u8(blob_image(320, 240));
  const std::size_t all = Sift(context, {.contrast = 0.01, .edge_ratio = 0}).detect(image).size();
  const std::size_t no_edges = Sift(context, {.contrast = 0.01}).detect(image).size();
  const std::size_t strong = Sift(context, {.contrast = 0.1}).detect(image).size();
  EXPECT_GT(all, no_edges);
  EXPECT_GT(no_edges, strong);
  EXPECT_GT(strong, 10u);
}

TEST_P(SiftOnDevice, ReportsStages) {
  Sift sift(context);
  sift.time_stages(true);
  const Features found = sift.detect(to_u8(blob_image(200, 150)));
  EXPECT_EQ(sift.report().points, found.size());
  EXPECT_EQ(sift.report().width, 200);
  std::set<std::string> names;
  for (const StageTime& stage : sift.report().stages) names.insert(stage.stage);
  for (const char* name : {"scale space", "points", "angles", "descriptors"}) {
    EXPECT_TRUE(names.count(name)) << name;
  }
}

TEST_P(SiftOnDevice, RejectsInvalidInputWithAReason) {
  Sift sift(context);
  Image<float> image = blob_image(60, 50);
  image(30, 20) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(sift.detect(image), Error);
  image(30, 20) = 0.5f;
  EXPECT_NO_THROW(sift.detect(image));
  Features out;
  for (float bad : {std::numeric_limits<float>::infinity(), 1e9f, -1e9f, 255.0f, 2.5f, -1.5f}) {
    image(30, 20) = bad;
    const std::vector<Keypoint> near = {{26, 22, 3, 0, 1, 0}, {31, 20, 2, 1, 1, 0}};
    EXPECT_THROW(sift.describe(image, near, out), Error);
    EXPECT_THROW(sift.detect(image, out), Error);
    image(30, 20) = 0.5f;
    EXPECT_NO_THROW(sift.describe(image, near, out));
    EXPECT_NO_THROW(sift.detect(image));
  }
  EXPECT_THROW(sift.detect(Image<float>()), Error);
  EXPECT_THROW(sift.detect(Image<double>(20, 20)), Error);
  Image<std::uint8_t> mask(60, 51);
  EXPECT_THROW(sift.detect(image, mask), Error);
  EXPECT_THROW(sift.level(99, 0), Error);
  EXPECT_THROW(sift.level(0, 6), Error);
  EXPECT_THROW(sift.memory_needed(10, 10, 0), Error);
  const std::vector<Keypoint> outside = {{70, 20, 2, 0, 1, 0}}, no_scale = {{30, 20, 0, 0, 1, 0}};
  EXPECT_THROW(sift.describe(image, outside, out), Error);
  EXPECT_THROW(sift.describe(image, no_scale, out), Error);
  const std::vector<Keypoint> tiny = {{30, 20, 1e-25f, 0, 1, 0}};
  EXPECT_THROW(sift.describe(image, tiny, out), Error);
  sift.describe(image, {}, out);
  EXPECT_EQ(out.size(), 0u);
  EXPECT_THROW(sift.memory_needed(2147483647, 2147483647), Error);
  EXPECT_THROW(sift.memory_needed(2147483647, 11), Error);
  EXPECT_THROW(sift.memory_needed(100000, 100000), Error);
}

TEST_P(SiftOnDevice, AnErrorLeavesNoResults) {
  Sift sift(context);
  const Image<float> good = blob_image(60, 50);
  Image<float> bad = blob_image(60, 50);
  bad(30, 20) = std::numeric_limits<float>::quiet_NaN();
  const Features earlier = sift.detect(good);
  ASSERT_GT(earlier.size(), 0u);
  std::vector<Features> out(3, earlier);
  const std::vector<AnyView> images = {good, bad, good};
  EXPECT_THROW(sift.detect_batch(images, out), Error);
  for (const Features& features : out) EXPECT_EQ(features.size(), 0u);
  Features described = earlier;
  EXPECT_THROW(sift.describe(bad, earlier.keypoints, described), Error);
  EXPECT_EQ(described.size(), 0u);
  // The same if the call is refused.
  described = earlier;
  EXPECT_THROW(sift.describe(good, {{Keypoint{.x = 1000, .scale = 2}}}, described), Error);
  EXPECT_EQ(described.size(), 0u);
  Features detected = earlier;
  EXPECT_THROW(sift.detect(good, detected, Image<std::uint8_t>(3, 3)), Error);
  EXPECT_EQ(detected.size(), 0u);
}

TEST(SiftOptions, AreChecked) {
  const Context cpu = Context::cpu(1);
  EXPECT_THROW(Sift(cpu, {.intervals = 0}), Error);
  EXPECT_THROW(Sift(cpu, {.intervals = 9}), Error);
  EXPECT_THROW(Sift(cpu, {.sigma = 0}), Error);
  EXPECT_THROW(Sift(cpu, {.scale_space = ScaleSpace::bilateral, .sigma_range = 1e7}), Error);
  EXPECT_THROW(Sift(cpu, {.sigma_range = std::nan("")}), Error);
  EXPECT_THROW(Sift(cpu, {.contrast = -1}), Error);
  EXPECT_THROW(Sift(cpu, {.edge_ratio = 0.5}), Error);
  EXPECT_THROW(Sift(cpu, {.orientations = 9}), Error);
  EXPECT_THROW(Sift(cpu, {.cell = 10}), Error);
  EXPECT_THROW(Sift(cpu, {.max_per_cell = 10}), Error);
  EXPECT_THROW(Sift(cpu, {.max_points = -1}), Error);
  EXPECT_THROW(sift_shape({}, 60000, 30000), Error);  // doubled: more than 2^31 pixels
}

// The formulas compared with double precision.

TEST(SiftMath, AnglesPowersAndRotationsMatchDoublePrecision) {
  Random random(9);
  for (int i = 0; i < 10000; ++i) {
    const float x = float(random.uniform() - 0.5), y = float(random.uniform() - 0.5);
    double turn = std::atan2(double(y), double(x)) / (2 * std::numbers::pi);
    if (turn < 0) turn += 1;
    EXPECT_NEAR(turn_of(y, x), turn, 4e-7);
    const float e = float(40 * random.uniform() - 30);
    EXPECT_NEAR(power_of_two(e) / std::exp2(double(e)), 1, 3e-7);
    const float t = float(random.uniform());
    const Rotation r = rotation_of(t);
    EXPECT_NEAR(r.cosine, std::cos(2 * std::numbers::pi * t), 4e-7);
    EXPECT_NEAR(r.sine, std::sin(2 * std::numbers::pi * t), 4e-7);
  }
  EXPECT_EQ(turn_of(0.0f, 0.0f), 0);
  EXPECT_EQ(turn_of(0.0f, 1.0f), 0);
  EXPECT_NEAR(turn_of(1.0f, 0.0f), 0.25, 1e-7);
  EXPECT_NEAR(turn_of(0.0f, -1.0f), 0.5, 1e-7);
  EXPECT_NEAR(turn_of(-1.0f, 0.0f), 0.75, 1e-7);
}

}  // namespace
}  // namespace cornea
