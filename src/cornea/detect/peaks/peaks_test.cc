// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/peaks/peaks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "cornea/core/build.h"
#include "cornea/core/testing.h"
#include "cornea/core/transfer.h"
#include "cornea/detect/peaks/device_peaks.h"
#include "cornea/detect/peaks/peaks_math.h"
#include "cornea/io/file_testing.h"

namespace cornea {
namespace {

using namespace core;
using namespace peaks;

template <class R>
Image<R> random_map(int width, int height, std::uint64_t seed, int levels) {
  Image<R> map(width, height);
  Random random(seed);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) map(x, y) = static_cast<R>(random.integer(-levels / 4, levels));
  }
  return map;
}

// The definition, pixel by pixel.
template <class R>
std::vector<Corner> plain_peaks(const Image<R>& image, Region region,
                                const Image<std::uint8_t>& mask, const PeakOptions& o,
                                double unit) {
  const HostView<const R> map = image.host();
  struct Found {
    R value;
    int x, y;
  };
  double cutoff = o.threshold * unit;
  auto allowed = [&](int x, int y) { return mask.empty() || mask(x, y) != 0; };
  if (o.relative) {
    R best = -std::numeric_limits<R>::infinity();
    for (int y = region.top; y < region.bottom; ++y) {
      for (int x = region.left; x < region.right; ++x) {
        if (allowed(x, y)) best = std::max(best, map(x, y));
      }
    }
    cutoff = best > 0 ? o.threshold * best : 0;
  }
  std::vector<Found> found;
  const int r = o.nms / 2;
  for (int y = region.top; y < region.bottom; ++y) {
    for (int x = region.left; x < region.right; ++x) {
      const R v = map(x, y);
      if (!(v > static_cast<R>(cutoff)) || !allowed(x, y)) continue;
      bool peak = true;
      for (int j = std::max(0, y - r); j <= std::min(map.height - 1, y + r); ++j) {
        for (int i = std::max(0, x - r); i <= std::min(map.width - 1, x + r); ++i) {
          if (map(i, j) > v) peak = false;
          if (map(i, j) == v && o.plateaus == Plateaus::first && (j < y || (j == y && i < x))) {
            peak = false;
          }
        }
      }
      if (peak) found.push_back({v, x, y});
    }
  }
  auto stronger = [](const Found& a, const Found& b) {
    if (a.value != b.value) return a.value > b.value;
    return a.y != b.y ? a.y < b.y : a.x < b.x;
  };
  if (o.min_distance > 0) {
    auto at = [&](const Found& f) {
      return corner_at(map, f.x, f.y, unit, o.subpixel == Subpixel::quadratic);
    };
    std::vector<Found> order = found, kept;
    std::sort(order.begin(), order.end(), stronger);
    for (const Found& f : order) {
      const Corner p = at(f);
      if (std::none_of(kept.begin(), kept.end(), [&](const Found& g) {
            const Corner q = at(g);
            return std::hypot(double(p.x) - q.x, double(p.y) - q.y) < o.min_distance;
          })) {
        kept.push_back(f);
      }
    }
    std::sort(kept.begin(), kept.end(),
              [](const Found& a, const Found& b) { return a.y != b.y ? a.y < b.y : a.x < b.x; });
    found = kept;
  }
  if (o.max_per_cell > 0) {
    std::vector<Found> kept;
    for (const Found& f : found) {
      int ahead = 0;
      for (const Found& g : found) {
        ahead += g.x / o.cell == f.x / o.cell && g.y / o.cell == f.y / o.cell && stronger(g, f);
      }
      if (ahead < o.max_per_cell) kept.push_back(f);
    }
    found = kept;
  }
  if (o.max_points > 0) {
    std::vector<Found> kept;
    for (const Found& f : found) {
      if (std::count_if(found.begin(), found.end(),
                        [&](const Found& g) { return stronger(g, f); }) < o.max_points) {
        kept.push_back(f);
      }
    }
    found = kept;
  }
  std::vector<Corner> corners;
  for (const Found& f : found) {
    corners.push_back(corner_at(map, f.x, f.y, unit, o.subpixel == Subpixel::quadratic));
  }
  return corners;
}

// The search on the context's own device.
template <class R>
std::vector<Corner> search(const Context& context, const Image<R>& map, Region region,
                           const Image<std::uint8_t>& mask, const PeakOptions& options,
                           double unit) {
  const HostView<const std::uint8_t> host_mask =
      mask.empty() ? HostView<const std::uint8_t>() : mask.host();
  if (!context.is_cuda()) {
    return search_peaks<R>(context, map.host(), region, host_mask, options, unit, {});
  }
  if constexpr (kHasCuda) {
    const Image<R> device_map = to_device(context, map);
    Image<std::uint8_t> device_mask;
    if (!mask.empty()) device_mask = to_device(context, mask);
    DevicePeaks peaks(context, options);
    peaks.prepare<R>(map.width(), map.height(), 1);
    peaks.enqueue_reset<R>(1, region,
                           mask.empty()
                               ? DeviceView<const std::uint8_t>()
                               : static_cast<const Image<std::uint8_t>&>(device_mask).device(),
                           unit);
    peaks.enqueue_search<R>(device_map.device(), 1, false);
    peaks.enqueue_delivery(1);
    context.synchronize();
    return peaks.fetch(0);
  }
  return {};
}

class Peaks : public testing::OnEveryDevice {
 protected:
  template <class R>
  void agrees_with_the_definition() {
    Random random(11);
    for (int round = 0; round < 150; ++round) {
      const int w = random.integer(1, 130), h = random.integer(1, 70);
      // Few levels make many ties.
      const Image<R> map = random_map<R>(w, h, round, round % 3 == 0 ? 5 : 1000000);
      Image<std::uint8_t> mask;
      if (round % 2) mask = testing::random_image<std::uint8_t>(w, h, round + 1000);
      for (int y = 0; y < mask.height(); ++y) {
        for (int x = 0; x < w; ++x) mask(x, y) = mask(x, y) > 80 ? 255 : 0;
      }
      PeakOptions o;
      o.relative = round % 5 == 0;
      o.threshold = o.relative ? random.uniform(0, 0.9) : random.uniform(-1, 3);
      o.nms = 2 * random.integer(0, 4) + 1;
      o.plateaus = random.integer(0, 1) ? Plateaus::all : Plateaus::first;
      o.subpixel = random.integer(0, 1) ? Subpixel::quadratic : Subpixel::none;
      if (random.integer(0, 1)) o.max_points = random.integer(1, 60);
      if (random.integer(0, 1)) {
        o.cell = random.integer(1, 50);
        o.max_per_cell = random.integer(1, 4);
      }
      const Region region = inside_margin(w, h, random.integer(0, 3));
      const double unit = round % 4 ? 1 : 3;
      const auto expected =
          region.empty() ? std::vector<Corner>() : plain_peaks(map, region, mask, o, unit);
      const auto got = search(context, map, region, mask, o, unit);
      ASSERT_EQ(got.size(), expected.size()) << "round " << round << ", " << w << " x " << h;
      EXPECT_TRUE(got == expected) << "round " << round << ", " << w << " x " << h;
    }
  }
};

TEST_P(Peaks, AgreeWithTheDefinitionOnFloatMaps) { agrees_with_the_definition<float>(); }
TEST_P(Peaks, AgreeWithTheDefinitionOnDoubleMaps) { agrees_with_the_definition<double>(); }

TEST_P(Peaks, ANanNeighbourSuppressesNothing) {
  Random random(29);
  for (int round = 0; round < 20; ++round) {
    Image<float> map = random_map<float>(70, 40, round, 50);
    for (int i = 0; i < 300; ++i) {
      map(random.integer(0, 69), random.integer(0, 39)) = std::numeric_limits<float>::quiet_NaN();
    }
    PeakOptions o;
    o.nms = 2 * (round % 4) + 1;
    const auto expected = plain_peaks(map, {0, 0, 70, 40}, {}, o, 1);
    EXPECT_FALSE(expected.empty());
    EXPECT_TRUE(search(context, map, {0, 0, 70, 40}, {}, o, 1) == expected) << "round " << round;
  }
}

TEST(PeaksOfAMap, CannotBeRefinedByGradientsOfAnImage) {
  const Image<float> map = random_map<float>(20, 20, 1, 50);
  testing::expect_error(ErrorCode::invalid_argument, "refine_corners()", [&] {
    find_peaks<float>(Context::cpu(1), map.host(), {.subpixel = Subpixel::gradient});
  });
}

TEST_P(Peaks, ReturnsAllPeaksOfAMapFullOfThem) {
  // More points than the pinned buffer holds.
  constexpr int kSide = 400;
  const Image<float> map = testing::random_image<float>(kSide, kSide, 5);
  PeakOptions options;
  options.nms = 1;
  options.threshold = -1;
  const auto corners = search(context, map, {0, 0, kSide, kSide}, {}, options, 1);
  ASSERT_EQ(corners.size(), std::size_t(kSide) * kSide);
  for (std::size_t i = 0; i < corners.size(); i += 997) {
    EXPECT_EQ(corners[i].x, i % kSide);
    EXPECT_EQ(corners[i].y, i / kSide);
    EXPECT_EQ(corners[i].response, map(i % kSide, i / kSide));
  }
}

TEST_P(Peaks, SubpixelFindsTheVertexOfAParaboloid) {
  Image<float> map(9, 9);
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 9; ++x) {
      const double dx = x - 4.3, dy = y - 3.8;
      map(x, y) = static_cast<float>(10 - dx * dx - 2 * dy * dy - 0.5 * dx * dy);
    }
  }
  PeakOptions options;
  options.subpixel = Subpixel::quadratic;
  const auto corners = search(context, map, {1, 1, 8, 8}, {}, options, 1);
  ASSERT_EQ(corners.size(), 1u);
  EXPECT_NEAR(corners[0].x, 4.3, 1e-4);
  EXPECT_NEAR(corners[0].y, 3.8, 1e-4);
}

TEST_P(Peaks, PointsKeepTheMinimumDistance) {
  Random random(12);
  for (int round = 0; round < 24; ++round) {
    const int width = random.integer(20, 90), height = random.integer(20, 90);
    const Image<float> map = random_map<float>(width, height, 100 + round, round % 2 ? 2000 : 30);
    PeakOptions options;
    options.nms = round % 3 == 0 ? 1 : 3;
    options.plateaus = round % 5 == 0 ? Plateaus::all : Plateaus::first;
    options.subpixel = round % 4 == 0 ? Subpixel::quadratic : Subpixel::none;
    options.min_distance = round < 4 ? 1000 : random.uniform(0.5, 25);
    if (round % 3 == 1) options.max_points = random.integer(1, 20);
    if (round % 4 == 1) options.cell = 16, options.max_per_cell = 2;
    const Region region{0, 0, width, height};
    const auto corners = search(context, map, region, {}, options, 1);
    EXPECT_FALSE(corners.empty());
    EXPECT_TRUE(corners == plain_peaks(map, region, {}, options, 1)) << "round " << round;
  }
}

// Each point is the stronger neighbour of the next, so that they have to be decided one after the
// other.
TEST_P(Peaks, ALongChainOfNeighboursKeepsEverySecond) {
  Image<double> map(2001, 9);
  for (int y = 0; y < 9; ++y) std::fill_n(&map(0, y), 2001, 0.0);
  for (int x = 2; x < 2001; x += 2) map(x, 4) = 5000 - x;
  PeakOptions options;
  options.min_distance = 2.5;
  const auto corners = search(context, map, {0, 0, 2001, 9}, {}, options, 1);
  ASSERT_EQ(corners.size(), 500u);
  for (std::size_t i = 0; i < corners.size(); ++i) EXPECT_EQ(corners[i].x, 2 + 4 * float(i));
}

TEST_P(Peaks, AFlatMapHasNoneUnderARelativeThreshold) {
  for (float value : {0.0f, -2.0f}) {
    Image<float> map(20, 20);
    for (int y = 0; y < 20; ++y) std::fill_n(&map(0, y), 20, value);
    PeakOptions options;
    options.relative = true;
    options.plateaus = Plateaus::all;
    EXPECT_TRUE(search(context, map, {0, 0, 20, 20}, {}, options, 1).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(, Peaks, testing::every_device(), testing::device_name);

TEST(PeakOptions, RejectsInvalidOptions) {
  auto refuses = [](auto change) {
    PeakOptions options;
    change(options);
    EXPECT_THROW(options.validate(), Error);
  };
  refuses([](auto& o) { o.threshold = std::nan(""); });
  refuses([](auto& o) { o.nms = 4; });
  refuses([](auto& o) { o.nms = 0; });
  refuses([](auto& o) { o.relative = true, o.threshold = 1; });
  refuses([](auto& o) { o.relative = true, o.threshold = -0.1; });
  refuses([](auto& o) { o.max_points = -1; });
  refuses([](auto& o) { o.min_distance = -1; });
  refuses([](auto& o) { o.min_distance = std::nan(""); });
  refuses([](auto& o) { o.cell = 16; });
  refuses([](auto& o) { o.max_per_cell = 2; });
  EXPECT_NO_THROW(PeakOptions().validate());
}

TEST(OrderedBits, SortAsTheNumbersDo) {
  const double values[] = {-1e300, -2.5, -1e-300, -0.0, 1e-300, 0.5, 7, 1e300};
  for (std::size_t i = 0; i + 1 < std::size(values); ++i) {
    EXPECT_LT(ordered_bits(values[i]), ordered_bits(values[i + 1]));
    EXPECT_EQ(from_ordered_bits(ordered_bits(values[i])), values[i]);
    const float f = static_cast<float>(values[i]);
    EXPECT_EQ(from_ordered_bits(ordered_bits(f)), f);
  }
}

}  // namespace
}  // namespace cornea
