// SPDX-License-Identifier: Apache-2.0
#include "cornea/detect/foagdd/foagdd.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include <gtest/gtest.h>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"
#include "cornea/detect/foagdd/foagdd_band.h"
#include "cornea/detect/peaks/peak_search.h"

namespace cornea {
namespace {

using namespace core;
using namespace peaks;
using namespace foagdd;

using Plane = std::vector<std::vector<double>>;  // [row][column]

// The definition, written as plainly as possible, in double precision throughout.
class PlainFoagdd {
 public:
  PlainFoagdd(const Image<std::uint8_t>& image, const FoagddOptions& options)
      : image_(image), options_(options) {
    for (double scale : options.scales) maps_.push_back(measure_map(scale));
  }
  const Plane& map(std::size_t scale) const { return maps_[scale]; }

 private:
  static constexpr int kPadding = 7;

  // The extended image, in coordinates of the image.
  double pixel(int y, int x) const {
    auto mirrored = [](int i, int size) {
      while (i < 0 || i >= size) i = i < 0 ? -1 - i : 2 * size - 1 - i;
      return i;
    };
    const int w = image_.width(), h = image_.height();
    if (x < -kPadding || y < -kPadding || x >= w + kPadding || y >= h + kPadding) return 0;
    return image_(mirrored(x, w), mirrored(y, h));
  }

  Plane derivative(double scale, int direction) const {
    const int reach = options_.lattice / 2;
    const double t = std::numbers::pi * direction / options_.directions, rho = options_.rho;
    Plane kernel(options_.lattice, std::vector<double>(options_.lattice));
    double mean = 0;
    for (int x = -reach; x <= reach; ++x) {
      for (int y = -reach; y <= reach; ++y) {
        const double u = x * std::cos(t) + y * std::sin(t), v = -x * std::sin(t) + y * std::cos(t);
        const double value = -rho * u / (2 * std::numbers::pi * scale * scale) *
                             std::exp(-(rho * u * u + v * v / rho) / (2 * scale));
        kernel[x + reach][y + reach] = value;
        mean += value / (options_.lattice * options_.lattice);
      }
    }
    Plane out(image_.height() + 6, std::vector<double>(image_.width() + 6));
    for (int y = -3; y < image_.height() + 3; ++y) {
      for (int x = -3; x < image_.width() + 3; ++x) {
        double sum = 0;
        for (int a = -reach; a <= reach; ++a) {
          for (int b = -reach; b <= reach; ++b) {
            sum += (kernel[a + reach][b + reach] - mean) * pixel(y - a, x - b);
          }
        }
        out[y + 3][x + 3] = std::abs(sum);
      }
    }
    return out;
  }

  static double determinant(Plane m) {
    double product = 1;
    const std::size_t n = m.size();
    for (std::size_t k = 0; k < n; ++k) {
      std::size_t best = k;
      for (std::size_t i = k; i < n; ++i) {
        if (std::abs(m[i][k]) > std::abs(m[best][k])) best = i;
      }
      if (m[best][k] == 0) return 0;
      if (best != k) {
        std::swap(m[best], m[k]);
        product = -product;
      }
      product *= m[k][k];
      for (std::size_t i = k + 1; i < n; ++i) {
        for (std::size_t j = n; j-- > k;) m[i][j] -= m[i][k] / m[k][k] * m[k][j];
      }
    }
    return product;
  }

  Plane measure_map(double scale) const {
    static constexpr const char* kDisc[7] = {"0011100", "0111110", "1111111", "1111111",
                                             "1111111", "0111110", "0011100"};
    const int n = options_.directions;
    std::vector<Plane> g;
    for (int d = 0; d < n; ++d) g.push_back(derivative(scale, d));
    Plane map(image_.height(), std::vector<double>(image_.width()));
    for (int y = 0; y < image_.height(); ++y) {
      for (int x = 0; x < image_.width(); ++x) {
        Plane m(n, std::vector<double>(n));
        for (int a = 0; a < 7; ++a) {
          for (int b = 0; b < 7; ++b) {
            if (kDisc[a][b] == '0') continue;
            for (int i = 0; i < n; ++i) {
              for (int j = 0; j < n; ++j) m[i][j] += g[i][y + a][x + b] * g[j][y + a][x + b];
            }
          }
        }
        double trace = 0;
        for (int i = 0; i < n; ++i) trace += m[i][i];
        map[y][x] = determinant(m) / (trace + 2.22e-16);
      }
    }
    return map;
  }

  const Image<std::uint8_t>& image_;
  FoagddOptions options_;
  std::vector<Plane> maps_;
};

// Blocks of gray, some noise, and a dark side where the measure is small.
template <class T = std::uint8_t>
Image<T> test_image(int width, int height, std::uint64_t seed, double white = 255) {
  Image<T> image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double block = unit_float(philox(seed, y / 9, x / 11).v[0]);
      const double noise = unit_float(philox(seed + 1000, y, x).v[0]);
      const double light = 0.1 + 0.9 * x / width;
      image(x, y) = static_cast<T>((0.95 * block + 0.05 * noise) * light * white);
    }
  }
  return image;
}

std::vector<FoagddOptions> option_sets() {
  std::vector<FoagddOptions> sets(1);
  for (int directions : {4, 5, 7, 9, 12, 16}) {
    FoagddOptions o;
    o.directions = directions;
    o.scales = {1.5, 2};
    o.peaks.threshold = directions < 8 ? 1e6 : 1e4;
    sets.push_back(o);
  }
  FoagddOptions round;
  round.rho = 1.1;
  round.scales = {2, 1, 1.5, 3, 4};
  round.peaks.threshold = 1e5;
  sets.push_back(round);
  FoagddOptions narrow;
  narrow.rho = 3;
  narrow.scales = {0.7};
  narrow.lattice = 9;
  narrow.peaks.nms = 3;
  sets.push_back(narrow);
  FoagddOptions wide;
  wide.scales = {6, 8};
  wide.lattice = 43;
  wide.peaks.threshold = 100;
  wide.peaks.nms = 9;
  sets.push_back(wide);
  FoagddOptions small_lattice;
  small_lattice.lattice = 5;
  small_lattice.peaks.nms = 13;
  sets.push_back(small_lattice);
  return sets;
}

class FoagddTest : public testing::OnEveryDevice {};

TEST_P(FoagddTest, AgreesWithThePlainDefinitionForAllOptions) {
  std::size_t corners_seen = 0;
  for (const FoagddOptions& options : option_sets()) {
    SCOPED_TRACE(text(options.directions, " directions, rho ", options.rho, ", scale ",
                      options.scales[0], ", lattice ", options.lattice));
    const auto image = test_image(47, 41, 7);
    const PlainFoagdd plain(image, options);
    Foagdd foagdd(context, options);
    const auto map = foagdd.response(image);
    // The more directions, the closer the tensor is to singular, and the larger the effect of the
    // last bits of the derivatives.
    const double share = options.directions <= 8 ? 1e-3 : 1e-2;
    for (int y = 0; y < 41; ++y) {
      for (int x = 0; x < 47; ++x) {
        const double expected = plain.map(0)[y][x];
        ASSERT_NEAR(map(x, y), expected, share * std::abs(expected) + 1e-6) << x << ", " << y;
      }
    }

    std::set<std::pair<int, int>> expected, doubtful, found;
    const int nms = options.peaks.nms, r = nms / 2;
    for (int y = nms + 1; y < 41 - nms; ++y) {
      for (int x = nms + 1; x < 47 - nms; ++x) {
        const double centre = plain.map(0)[y][x];
        double largest = 0, least = centre;
        for (int j = std::max(0, y - r); j <= std::min(40, y + r); ++j) {
          for (int i = std::max(0, x - r); i <= std::min(46, x + r); ++i) {
            if (i != x || j != y) largest = std::max(largest, plain.map(0)[j][i]);
          }
        }
        for (std::size_t s = 1; s < options.scales.size(); ++s) {
          least = std::min(least, plain.map(s)[y][x]);
        }
        const double threshold = options.peaks.threshold;
        if (std::abs(least / threshold - 1) < 1e-3 || std::abs(largest / centre - 1) < 1e-3) {
          doubtful.emplace(x, y);
        } else if (centre >= largest && least > threshold) {
          expected.emplace(x, y);
        }
      }
    }
    for (const Corner& c : foagdd.detect(image)) {
      if (!doubtful.count({int(c.x), int(c.y)})) found.emplace(int(c.x), int(c.y));
    }
    EXPECT_EQ(found, expected);
    corners_seen += expected.size();
  }
  EXPECT_GT(corners_seen, 40u);
}

TEST_P(FoagddTest, MapsEqualThoseOfTheCpu) {
  const Context cpu = Context::cpu(1);
  for (const FoagddOptions& options : option_sets()) {
    Foagdd reference(cpu, options), tested(context, options);
    auto same = [&](const auto& image) {
      const auto expected = reference.response(image), map = tested.response(image);
      for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
          if (map(x, y) != expected(x, y)) return false;
        }
      }
      return true;
    };
    EXPECT_TRUE(same(test_image(131, 77, 3)));
    EXPECT_TRUE(same(test_image<std::uint16_t>(90, 75, 4, 65535)));
    EXPECT_TRUE(same(test_image<float>(64, 50, 5, 1)));
    EXPECT_TRUE(same(test_image(6, 5, 6)));
    EXPECT_TRUE(same(test_image(1, 1, 6)));
    EXPECT_TRUE(same(test_image(2, 40, 6)));
  }
}

TEST_P(FoagddTest, ScreeningLosesNoCornerAndInventsNone) {
  const Context cpu = Context::cpu(1);
  int corners = 0;
  for (int round = 0; round < 40; ++round) {
    FoagddOptions options;
    options.scales = {1.5};
    options.peaks.nms = 1 + 2 * (round % 6);
    options.peaks.threshold = std::pow(10.0, round % 5 * 3) - 1;  // 0, 999, .. 1e12
    if (round % 7 == 0) options.directions = 4 + round / 7;
    const auto image = round % 3 ? test_image(80 + round, 71, round)
                                 : testing::random_image<std::uint8_t>(63, 60 + round, round);
    // The same search on a map in which every value is exact.
    const FoagddBank bank = make_foagdd_bank(options, 1.5);
    Image<double> map(image.width(), image.height());
    foagdd_map_rows<std::uint8_t>(image.host(), bank, nullptr, 0, image.height(), map.host());
    const int nms = options.peaks.nms;
    const Region region = inside_margin(image.width(), image.height(), {nms + 1, nms});
    const auto expected = search_peaks<double>(cpu, map.host(), region, {}, options.peaks, 1, {});
    EXPECT_TRUE(Foagdd(context, options).detect(image) == expected) << "round " << round;
    corners += static_cast<int>(expected.size());
  }
  EXPECT_GT(corners, 5000);
}

TEST_P(FoagddTest, TiesAreAllKeptAndTheMarginIsThePublishedOne) {
  // The image repeats every eight columns, and so does the measure, bit for bit.
  Image<std::uint8_t> tiles(100, 80);
  for (int y = 0; y < 80; ++y) {
    for (int x = 0; x < 100; ++x) tiles(x, y) = std::uint8_t(philox(5, y / 3, x % 8 / 2).v[0]);
  }
  FoagddOptions options;
  options.scales = {1.5};
  options.peaks.nms = 17;
  const std::size_t all = Foagdd(context, options).detect(tiles).size();
  options.peaks.plateaus = Plateaus::first;
  const std::size_t first = Foagdd(context, options).detect(tiles).size();
  EXPECT_GT(all, 4u);
  EXPECT_LT(first, all / 2);  // all but the first have an equal neighbour before them
  options.peaks = FoagddOptions().peaks;

  const int w = 320, h = 240;
  bool first_row = false, last_row = false, first_column = false, last_column = false;
  for (int seed = 0; seed < 5; ++seed) {
    const auto noise = testing::random_image<std::uint8_t>(w, h, seed);
    for (const Corner& c : Foagdd(context, options).detect(noise)) {
      EXPECT_TRUE(c.x >= 6 && c.x <= w - 6 && c.y >= 6 && c.y <= h - 6);
      first_row |= c.y == 6;
      last_row |= c.y == h - 6;
      first_column |= c.x == 6;
      last_column |= c.x == w - 6;
    }
  }
  EXPECT_TRUE(first_row && last_row && first_column && last_column);
}

TEST_P(FoagddTest, AFlatImageHasNoCornersAndMeasureZero) {
  for (int value : {0, 128, 255}) {
    Image<std::uint8_t> image(40, 30);
    for (int i = 0; i < 40 * 30; ++i) image.host().data[i] = std::uint8_t(value);
    Foagdd foagdd(context);
    EXPECT_TRUE(foagdd.detect(image).empty());
    // The extended image is black beyond the mirrored border, which does not reach the middle.
    EXPECT_EQ(foagdd.response(image)(20, 15), 0.0f);
  }
}

TEST_P(FoagddTest, SixteenBitAndFloatImagesGiveTheSameCorners) {
  const auto bytes = test_image(120, 90, 11);
  Image<std::uint16_t> words(120, 90);
  Image<float> floats(120, 90);
  for (int y = 0; y < 90; ++y) {
    for (int x = 0; x < 120; ++x) {
      words(x, y) = std::uint16_t(bytes(x, y) * 257);
      floats(x, y) = bytes(x, y) / 255.0f;
    }
  }
  Foagdd foagdd(context);
  const auto expected = foagdd.detect(bytes);
  EXPECT_GT(expected.size(), 20u);
  for (const auto& corners : {foagdd.detect(words), foagdd.detect(floats)}) {
    ASSERT_EQ(corners.size(), expected.size());
    for (std::size_t i = 0; i < corners.size(); ++i) {
      EXPECT_EQ(corners[i].x, expected[i].x);
      EXPECT_EQ(corners[i].y, expected[i].y);
      EXPECT_NEAR(corners[i].response / expected[i].response, 1, 1e-3);
    }
  }
}

TEST_P(FoagddTest, ExtremeValuesAndThresholdsAreHandled) {
  auto image = test_image<float>(60, 50, 2, 1);
  for (int y = 0; y < 50; ++y) {
    for (int x = 0; x < 60; ++x) image(x, y) = image(x, y) < 0.5f ? -1.0f : 2.0f;
  }
  FoagddOptions options;
  options.directions = 16;
  const auto corners = Foagdd(context).detect(image);
  EXPECT_GT(corners.size(), 5u);
  EXPECT_TRUE(corners == Foagdd(Context::cpu(1)).detect(image));
  const auto most = Foagdd(context, options).detect(image);
  EXPECT_GT(most.size(), 5u);
  EXPECT_TRUE(most == Foagdd(Context::cpu(1), options).detect(image));
  // A threshold beyond the largest float, with and without screening.
  for (Subpixel subpixel : {Subpixel::none, Subpixel::quadratic}) {
    options.peaks.threshold = 1e60;
    options.peaks.subpixel = subpixel;
    EXPECT_TRUE(Foagdd(context, options).detect(image).empty());
  }
}

TEST(FoagddOptionsTest, RejectsInvalidOptions) {
  auto refused = [](auto change) {
    FoagddOptions options;
    change(options);
    EXPECT_THROW(Foagdd(Context::cpu(), options), Error);
  };
  refused([](FoagddOptions& o) { o.directions = 3; });
  refused([](FoagddOptions& o) { o.directions = 17; });
  refused([](FoagddOptions& o) { o.scales = {}; });
  refused([](FoagddOptions& o) { o.scales = {1, 2, 3, 4, 5, 6}; });
  refused([](FoagddOptions& o) { o.scales = {0}; });
  refused([](FoagddOptions& o) { o.scales = {std::nan("")}; });
  refused([](FoagddOptions& o) { o.rho = 0; });
  refused([](FoagddOptions& o) { o.rho = INFINITY; });
  refused([](FoagddOptions& o) { o.lattice = 30; });
  refused([](FoagddOptions& o) { o.lattice = 65; });
  refused([](FoagddOptions& o) { o.peaks.nms = 4; });
}

TEST(FoagddBankTest, OmitsWeightsBelowFloatPrecision) {
  const FoagddOptions options;
  EXPECT_EQ(make_foagdd_bank(options, 1.5).radius, 8);
  EXPECT_EQ(make_foagdd_bank(options, 3).radius, 11);
  EXPECT_EQ(make_foagdd_bank(options, 4.5).radius, 14);
}

// Padding and tiles have the bank's radius in both directions.
TEST(FoagddBankTest, NoRowIsWiderThanTheRadius) {
  for (int directions = 4; directions <= 16; ++directions) {
    for (double rho : {0.1, 1.0, 1.5, 2.5, 4.0, 5.0, 7.0, 10.0}) {
      for (double scale : {1.0, 1.5, 2.5, 4.0}) {
        FoagddOptions options;
        options.directions = directions;
        options.rho = rho;
        const FoagddBank bank = make_foagdd_bank(options, scale);
        for (int width : bank.half_widths) {
          ASSERT_LE(width, bank.radius) << directions << " " << rho << " " << scale;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, FoagddTest, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace cornea
