#include "cornea/describe/sift/sift.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
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

TEST_P(SiftOnDevice, FindsBlobsWhereTheyAreAtTheirScale) {
  for (bool doubled : {true, false}) {
    for (double sigma : {2.5, 4.0, 7.3}) {
      const Blob blob{61.3, 47.8, sigma, 0.4};
      // A round blob has no direction of its own.
      Sift sift(context, {.doubled = doubled, .orientations = 0});
      const Features found = sift.detect(draw({blob}, 130, 100));
      ASSERT_EQ(found.size(), 1u) << sigma;
      EXPECT_NEAR(found.keypoints[0].x, blob.x, 0.03);
      EXPECT_NEAR(found.keypoints[0].y, blob.y, 0.03);
      // The difference of Gaussians k s and s is strongest where s = sigma / sqrt(k), less the blur
      // that the image is taken to have.
      const double k = std::exp2(1.0 / 3);
      EXPECT_NEAR(found.keypoints[0].scale, std::sqrt(sigma * sigma / k), 0.06 * sigma);
    }
  }
}

TEST_P(SiftOnDevice, FindsNothingInAnImageOfOneColourOrWithoutRoom) {
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

// Pairs points of two sets that lie within half a pixel of where `map` sends them, with one octave
// and nearly one scale and, nearest in angle; hands the differences in x and y to f.
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

TEST_P(SiftOnDevice, HasNoBiasUnderAShiftAndAHalfTurn) {
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
      // Octaves beyond the first are sampled at other places of the turned image.
      for (double mean : {s.ax / n, s.ay / n}) EXPECT_LT(mean, 0.04) << what;
    };
    check("shift", moved, [](double x, double y) { return std::pair(x - 8, y - 4); });
    check("half turn", around, [&](double x, double y) { return std::pair(w - 1 - x, h - 1 - y); });
  }
}

TEST_P(SiftOnDevice, GivesTheSameBytesForEveryTypeOfImage) {
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
  ASSERT_EQ(of_words.size(), found.size());  // 257 v / 65535 is v / 255 but for the last bit
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(of_words.keypoints[i].x, found.keypoints[i].x, 1e-3);
  }
}

TEST_P(SiftOnDevice, CapsKeepTheStrongest) {
  const Image<std::uint8_t> image = to_u8(blob_image(320, 240));
  const Features all = Sift(context).detect(image);
  ASSERT_GT(all.size(), 200u);
  for (int most : {1, 50, 199}) {
    const Features some = Sift(context, {.max_points = most}).detect(image);
    ASSERT_EQ(some.size(), std::size_t(most));
    // The strongest in the order of all.
    std::vector<float> responses;
    for (const Keypoint& k : all.keypoints) responses.push_back(k.response);
    std::nth_element(responses.begin(), responses.begin() + most - 1, responses.end(),
                     std::greater<>());
    const float last = responses[most - 1];
    std::size_t at = 0;
    for (std::size_t i = 0; i < some.size(); ++i) {
      EXPECT_GE(some.keypoints[i].response, last);
      while (at < all.size() && !(all.keypoints[at] == some.keypoints[i])) ++at;
      ASSERT_LT(at, all.size());
      EXPECT_EQ(std::memcmp(all.descriptor(at), some.descriptor(i), 128), 0);
    }
  }
}

TEST_P(SiftOnDevice, CapsEveryCellOfAGrid) {
  const Image<std::uint8_t> image = to_u8(blob_image(320, 240));
  const int cell = 40, most = 3;
  const Features all = Sift(context, {.orientations = 1}).detect(image);
  const Features some =
      Sift(context, {.orientations = 1, .cell = cell, .max_per_cell = most}).detect(image);
  auto cell_of = [&](const Keypoint& k) { return int(k.y) / cell * 100 + int(k.x) / cell; };
  std::map<int, std::vector<float>> cells;
  for (const Keypoint& k : all.keypoints) cells[cell_of(k)].push_back(k.response);
  std::map<int, std::vector<float>> kept;
  for (const Keypoint& k : some.keypoints) kept[cell_of(k)].push_back(k.response);
  for (auto& [c, responses] : cells) {
    std::sort(responses.begin(), responses.end(), std::greater<>());
    responses.resize(std::min<std::size_t>(responses.size(), most));
    std::sort(kept[c].begin(), kept[c].end(), std::greater<>());
    EXPECT_EQ(kept[c], responses) << c;
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

TEST_P(SiftOnDevice, SaysWhatItCannotUse) {
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
  sift.describe(image, {}, out);
  EXPECT_EQ(out.size(), 0u);
}

TEST(SiftOptions, AreChecked) {
  const Context cpu = Context::cpu(1);
  EXPECT_THROW(Sift(cpu, {.intervals = 0}), Error);
  EXPECT_THROW(Sift(cpu, {.intervals = 9}), Error);
  EXPECT_THROW(Sift(cpu, {.sigma = 0}), Error);
  EXPECT_THROW(Sift(cpu, {.contrast = -1}), Error);
  EXPECT_THROW(Sift(cpu, {.edge_ratio = 0.5}), Error);
  EXPECT_THROW(Sift(cpu, {.orientations = 9}), Error);
  EXPECT_THROW(Sift(cpu, {.cell = 10}), Error);
  EXPECT_THROW(Sift(cpu, {.max_per_cell = 10}), Error);
  EXPECT_THROW(Sift(cpu, {.max_points = -1}), Error);
  EXPECT_THROW(sift_shape({}, 60000, 30000), Error);  // doubled: more than 2^31 pixels
}

// The formulas in double.

TEST(SiftMath, TurnsPowersAndRotationsAreRight) {
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
