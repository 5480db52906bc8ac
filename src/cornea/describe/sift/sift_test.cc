#include "cornea/describe/sift/sift.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numbers>
#include <set>

#include <gtest/gtest.h>

#include "cornea/core/testing.h"
#include "cornea/describe/sift/sift_math.h"
#include "cornea/describe/sift/sift_shape.h"
#include "cornea/filter/bilateral/bilateral.h"
#include "cornea/filter/gaussian/gaussian.h"
#include "cornea/filter/trilateral/trilateral.h"

namespace cornea {
namespace {

struct Blob {
  double x, y, sigma, height;
};

// A sum of round blobs, exact at any place, on mid gray.
std::vector<Blob> random_blobs(int width, int height, int count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Blob> blobs;
  for (int i = 0; i < count; ++i) {
    const double sigma = 1.5 * std::exp2(2.5 * random.uniform());
    const double sign = random.uniform() < 0.5 ? -1 : 1;
    blobs.push_back({width * random.uniform(), height * random.uniform(), sigma,
                     sign * (0.1 + 0.15 * random.uniform())});
  }
  return blobs;
}
Image<float> draw(const std::vector<Blob>& blobs, int width, int height, double left = 0,
                  double top = 0) {
  Image<float> image(width, height);
  std::fill_n(image.host().data, width * height, 0.5f);
  for (const Blob& b : blobs) {
    const int reach = int(5 * b.sigma);
    const int x0 = int(b.x - left), y0 = int(b.y - top);
    for (int y = std::max(0, y0 - reach); y <= std::min(height - 1, y0 + reach); ++y) {
      for (int x = std::max(0, x0 - reach); x <= std::min(width - 1, x0 + reach); ++x) {
        const double dx = x + left - b.x, dy = y + top - b.y;
        image(x, y) += float(b.height * std::exp(-(dx * dx + dy * dy) / (2 * b.sigma * b.sigma)));
      }
    }
  }
  return image;
}
Image<float> blob_image(int width, int height, std::uint64_t seed = 1) {
  return draw(random_blobs(width, height, width * height / 250, seed), width, height);
}
Image<std::uint8_t> to_u8(const Image<float>& image) {
  Image<std::uint8_t> out(image.width(), image.height());
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      out(x, y) = std::uint8_t(std::clamp(image(x, y) * 255.0f + 0.5f, 0.0f, 255.0f));
    }
  }
  return out;
}

bool equal(const Features& a, const Features& b) {
  return a.keypoints == b.keypoints && a.descriptors == b.descriptors;
}

class SiftOnDevice : public testing::OnEveryDevice {};
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

TEST_P(SiftOnDevice, DescribesATurnedImageAlike) {
  const int n = 257;
  const Image<float> image = blob_image(n, n, 8);
  Image<float> turned(n, n);  // by a quarter, x to y
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) turned(n - 1 - y, x) = image(x, y);
  }
  // Without doubling all octaves of 257 pixels are sampled alike from both ends.
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
      if (std::abs(turn) > 0.01) continue;  // of two peaks as high the other
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

TEST_P(SiftOnDevice, DescribesItsOwnPointsAsItFoundThem) {
  for (bool root : {false, true}) {
    const Image<std::uint8_t> image = to_u8(blob_image(240, 180));
    Sift sift(context, {.root = root});
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
    EXPECT_LE(differ, found.size() / 200);  // a level may be the next one by a rounding
    // And finds the strongest of their angles.
    sift.describe(image, found.keypoints, again, Angles::assign);
    std::size_t others = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const float turn = (again.keypoints[i].angle - found.keypoints[i].angle) / kTurn;
      others += std::abs(turn - std::round(turn)) > 1e-4f;
    }
    EXPECT_LT(others, found.size() / 3);  // further peaks of points with several
  }
}

TEST_P(SiftOnDevice, DescribesCornersUprightOrTurned) {
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
  const Features plain = Sift(context).detect(image);
  const Features root = Sift(context, {.root = true}).detect(image);
  ASSERT_EQ(plain.size(), root.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    double sum = 0, square = 0;
    for (int k = 0; k < 128; ++k) sum += plain.descriptor(i)[k];
    for (int k = 0; k < 128; ++k) {
      const double expected = 512 * std::sqrt(plain.descriptor(i)[k] / sum);
      // Bytes of the plain descriptor are rounded, small ones by much of themselves, and cut at
      // 255.
      if (plain.descriptor(i)[k] > 20 && plain.descriptor(i)[k] < 255) {
        EXPECT_NEAR(root.descriptor(i)[k], std::min(expected, 255.0), 4);
      }
      square += double(root.descriptor(i)[k]) * root.descriptor(i)[k];
    }
    EXPECT_NEAR(std::sqrt(square), 512, 6);
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

TEST_P(SiftOnDevice, OptionsOfTheScaleSpaceAreHeard) {
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
    // In plain calls of the filters on the CPU.
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

TEST_P(SiftOnDevice, AnglesLieBelowAFullTurn) {
  // On a ramp to the right many gradients point straight along x, from both sides of it.
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

TEST_P(SiftOnDevice, AnyBlurOfTheImageWillDo) {
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

TEST_P(SiftOnDevice, BatchesGiveTheBytesOfSingleImages) {
  std::vector<Image<std::uint8_t>> images;
  std::vector<AnyView> views;
  for (int i = 0; i < 19; ++i) {
    images.push_back(to_u8(blob_image(150 + 0 * i, 110, i % 5)));
    views.push_back(images.back());
  }
  for (int most : {0, 40}) {
    Sift sift(context, {.max_points = most}), single(context, {.max_points = most});
    std::vector<Features> batch(images.size());
    for (int run = 0; run < 3; ++run) {
      sift.detect_batch(views, batch);
      for (std::size_t i = 0; i < images.size(); ++i) {
        EXPECT_TRUE(equal(batch[i], single.detect(images[i]))) << i;
      }
    }
  }
}

TEST_P(SiftOnDevice, GivesTheSameBytesAHundredTimes) {
  const Image<std::uint8_t> image = to_u8(blob_image(320, 240));
  const std::vector<AnyView> views(7, AnyView(image));
  for (const SiftOptions& options :
       {SiftOptions{}, SiftOptions{.max_points = 100},
        SiftOptions{.max_points = 150, .cell = 50, .max_per_cell = 4}}) {
    Sift sift(context, options);
    const Features first = sift.detect(image);
    Features again;
    std::vector<Features> batch(views.size());
    for (int i = 0; i < 100; ++i) {
      sift.detect(image, again);
      ASSERT_TRUE(equal(first, again)) << i;
      if (i % 10 != 0) continue;
      sift.detect_batch(views, batch);
      for (const Features& features : batch) ASSERT_TRUE(equal(first, features)) << i;
    }
  }
}

TEST_P(SiftOnDevice, AFrameDoesNotDependOnTheFramesBefore) {
  // What a call leaves behind: counts, marks, graphs, capacities.
  const Image<std::uint8_t> rich = to_u8(blob_image(320, 240, 1));
  const Image<std::uint8_t> poor = to_u8(draw({{160.2, 120.4, 5, 0.4}}, 320, 240));
  Sift sift(context);
  const Features of_rich = sift.detect(rich), of_poor = sift.detect(poor);
  EXPECT_GT(of_rich.size(), 10 * of_poor.size());
  Features found;
  for (int i = 0; i < 60; ++i) {
    sift.detect(rich, found);
    ASSERT_TRUE(equal(found, of_rich)) << i;
    sift.detect(poor, found);
    ASSERT_TRUE(equal(found, of_poor)) << i;
  }
  // With times by stage the steps run one after the other.
  sift.time_stages(true);
  sift.detect(rich, found);
  EXPECT_TRUE(equal(found, of_rich));
}

// A lattice of small blobs has far more points than photographs.
Image<std::uint8_t> crowded_image(int width, int height) {
  std::vector<Blob> lattice;
  for (int y = 0; y < height; y += 9) {
    for (int x = 0; x < width; x += 9) lattice.push_back({x + 0.3, y + 0.1, 1.5, 0.4});
  }
  return to_u8(draw(lattice, width, height));
}

TEST_P(SiftOnDevice, MemoryThatGrowsAfterABatchIsSeen) {
  // After a batch there is room for more points of a single image than it was told of.
  const Image<std::uint8_t> plain = to_u8(blob_image(400, 300)), crowded = crowded_image(400, 300);
  for (const SiftOptions& options :
       {SiftOptions{.contrast = 0.001, .edge_ratio = 0, .max_points = 100},
        SiftOptions{.contrast = 0.001, .edge_ratio = 0, .orientations = 1}}) {
    Sift sift(context, options);
    std::vector<Features> batch(16);
    sift.detect_batch(std::vector<AnyView>(16, AnyView(plain)), batch);
    const Features of_plain = sift.detect(plain);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(equal(sift.detect(plain), of_plain));
    const Features expected = Sift(context, options).detect(crowded);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(equal(sift.detect(crowded), expected)) << i;
    EXPECT_TRUE(equal(sift.detect(plain), of_plain));
  }
}

TEST_P(SiftOnDevice, LargerImagesInBetweenDoNotDisturb) {
  const SiftOptions options{
      .scale_space = ScaleSpace::trilateral, .contrast = 0.01, .edge_ratio = 0, .max_points = 200};
  const Image<std::uint8_t> small = to_u8(blob_image(80, 60)), large = to_u8(blob_image(160, 120));
  Sift sift(context, options);
  std::vector<Features> batch(16);
  sift.detect_batch(std::vector<AnyView>(16, AnyView(small)), batch);
  const Features of_small = sift.detect(small);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(equal(sift.detect(small), of_small));
  const Features of_large = sift.detect(large);
  EXPECT_TRUE(equal(of_large, Sift(context, options).detect(large)));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(equal(sift.detect(small), of_small)) << i;
}

TEST_P(SiftOnDevice, MakesRoomForMorePointsThanUsual) {
  const Image<std::uint8_t> image = crowded_image(800, 600);
  const SiftOptions options{.contrast = 0.001, .edge_ratio = 0};
  Sift sift(context, options);
  EXPECT_GT(sift.detect(to_u8(blob_image(800, 600))).size(), 500u);
  const Features found = sift.detect(image);
  EXPECT_GT(found.size(), 20000u);
  std::vector<Features> batch(3);
  Sift(context, options).detect_batch(std::vector<AnyView>(3, AnyView(image)), batch);
  for (const Features& features : batch) EXPECT_TRUE(equal(found, features));
}

TEST_P(SiftOnDevice, FramesTakeNoMoreMemory) {
  const Image<std::uint8_t> image = to_u8(blob_image(200, 150));
  Sift sift(context);
  Features features;
  for (int i = 0; i < 3; ++i) sift.detect(image, features);
  const auto before = context.memory().allocations;
  for (int i = 0; i < 10; ++i) sift.detect(image, features);
  EXPECT_EQ(context.memory().allocations, before);
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
  for (float bad : {std::numeric_limits<float>::infinity(), 1e9f, -1e9f}) {
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

TEST_P(SiftOnDevice, StatesItsMemory) {
  Sift doubled(context), plain(context, {.doubled = false});
  EXPECT_GT(doubled.memory_needed(1920, 1080), 3 * plain.memory_needed(1920, 1080));
  EXPECT_GE(plain.memory_needed(1920, 1080), 6u * 4 * 1920 * 1080);
  const Image<std::uint8_t> image = to_u8(blob_image(300, 200));
  const std::size_t before = context.memory().bytes;
  doubled.detect(image);
  // Pinned memory for results and the slack of blocks come on top.
  const double taken = double(context.memory().bytes - before);
  EXPECT_NEAR(doubled.memory_needed(300, 200) / taken, 1, 0.4) << taken;
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

TEST(Sift, GivesTheSameBytesOnAnyThreads) {
  const Image<std::uint8_t> image = to_u8(blob_image(320, 240));
  const Features one = Sift(Context::cpu(1)).detect(image);
  for (int threads : {2, 5}) EXPECT_TRUE(equal(one, Sift(Context::cpu(threads)).detect(image)));
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

double at(const Image<float>& level, double x, double y) {
  const int x0 = int(std::floor(x)), y0 = int(std::floor(y));
  const double fx = x - x0, fy = y - y0;
  return (1 - fy) * ((1 - fx) * level(x0, y0) + fx * level(x0 + 1, y0)) +
         fy * ((1 - fx) * level(x0, y0 + 1) + fx * level(x0 + 1, y0 + 1));
}

// As the header says, without a thought for speed.
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
  Sift sift(context, {.doubled = false});
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

// What CUDA finds is what the CPU finds: with the Gaussian to the bit (on CPUs with fused
// multiplications), and with the other filters, which differ in the last digits, within the bounds
// that we promise.
TEST(SiftDevices, Agree) {
  const auto devices = testing::devices();
  if (std::find(devices.begin(), devices.end(), "cuda") == devices.end()) {
    GTEST_SKIP() << "there is no CUDA device here";
  }
  const Context cuda = Context::cuda(), cpu = Context::cpu();
  for (const SiftOptions& options :
       {SiftOptions{}, SiftOptions{.doubled = false}, SiftOptions{.root = true, .max_points = 300},
        SiftOptions{.contrast = 0.01, .cell = 30, .max_per_cell = 2},
        SiftOptions{.intervals = 5, .orientations = 0}, SiftOptions{.octaves = 2, .sigma = 2.1},
        SiftOptions{.scale_space = ScaleSpace::bilateral, .contrast = 0.02},
        SiftOptions{.scale_space = ScaleSpace::trilateral, .contrast = 0.01, .edge_ratio = 0}}) {
    Sift on_cuda(cuda, options), on_cpu(cpu, options);
    std::size_t points = 0, near = 0, alike = 0, equal_bits = 0;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const auto image = to_u8(blob_image(300 + int(seed), 221, seed));
      Image<std::uint8_t> mask(image.width(), image.height());
      for (int i = 0; i < mask.width() * mask.height(); ++i) mask.host().data[i] = i / 7 % 11 != 0;
      const AnyView used = seed == 5 ? AnyView(mask) : AnyView();
      const Features a = on_cpu.detect(image, used), b = on_cuda.detect(image, used);
      points += std::max(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < b.size(); ++j) {
          const Keypoint &p = a.keypoints[i], &q = b.keypoints[j];
          if (std::abs(p.x - q.x) > 0.05f || std::abs(p.y - q.y) > 0.05f ||
              std::abs(p.scale / q.scale - 1) > 0.01f || std::abs(p.angle - q.angle) > 0.01f) {
            continue;
          }
          ++near;
          int most = 0;
          for (int k = 0; k < 128; ++k) {
            most = std::max(most, std::abs(a.descriptor(i)[k] - b.descriptor(j)[k]));
          }
          alike += most <= 2;
          equal_bits += most == 0 && p == q;
          break;
        }
      }
      if (options.scale_space != ScaleSpace::gaussian) continue;
      Features c, d;
      on_cpu.describe(image, a.keypoints, c);
      on_cuda.describe(image, a.keypoints, d);
      EXPECT_TRUE(equal(c, d));
    }
    std::printf("[ sift     ] %zu points, %zu near, %zu alike, %zu equal to the bit\n", points,
                near, alike, equal_bits);
    EXPECT_GE(near, points * 995 / 1000);
    EXPECT_GE(alike, near * 99 / 100);
    if (options.scale_space == ScaleSpace::gaussian) {
      EXPECT_EQ(equal_bits, points);
    }
  }
}

TEST(SiftDevices, GoesOnWhenThereWasNoMoreMemory) {
  const auto devices = testing::devices();
  if (std::find(devices.begin(), devices.end(), "cuda") == devices.end()) {
    GTEST_SKIP() << "there is no CUDA device here";
  }
  const Context cuda = Context::cuda();
  std::vector<Memory> hog;
  for (std::size_t block : {std::size_t{8} << 30, std::size_t{1} << 30, std::size_t{1} << 28}) {
    try {
      for (;;) hog.push_back(cuda.allocate(Place::device, block, "test: all there is"));
    } catch (const Error&) {
    }
  }
  Sift sift(cuda);
  Image<std::uint8_t> large(4000, 3000);
  std::memset(large.host().data, 7, 4000 * 3000);
  try {
    sift.detect(large);
    ADD_FAILURE() << "there was memory left";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("4000 x 3000"), std::string::npos) << error.what();
  }
  hog.clear();
  EXPECT_EQ(sift.detect(large).size(), 0u);
  EXPECT_GT(sift.detect(to_u8(blob_image(200, 150))).size(), 50u);
}

}  // namespace
}  // namespace cornea
