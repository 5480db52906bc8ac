// SPDX-License-Identifier: Apache-2.0
#include "cornea/filter/trilateral/trilateral.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "cornea/core/error.h"
#include "cornea/core/random.h"
#include "cornea/core/testing.h"
#include "cornea/core/transfer.h"
#include "cornea/filter/trilateral/trilateral_math.h"

namespace cornea {
namespace {

using namespace core;
using namespace trilateral;

// The definition in double precision, over all neighbours of every window unless `reach` limits it.
struct Plain {
  int w, h;
  std::vector<double> image, gx, gy, magnitude, a, b, out;
  std::vector<int> level;
  double sigma_r = 0;

  Plain(HostView<const float> in, double sigma, const std::vector<int>* reach = nullptr)
      : w(in.width), h(in.height) {
    image.resize(std::size_t(w) * h);
    gx = gy = magnitude = a = b = out = image;
    level.assign(image.size(), 0);
    auto at = [&](int x, int y) { return std::size_t(y) * w + x; };
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) image[at(x, y)] = in(x, y);
    }
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) {
        gx[at(x, y)] = x + 1 < w ? image[at(x + 1, y)] - image[at(x, y)] : 0;
        gy[at(x, y)] = y + 1 < h ? image[at(x, y + 1)] - image[at(x, y)] : 0;
        magnitude[at(x, y)] = std::hypot(gx[at(x, y)], gy[at(x, y)]);
      }
    }
    const auto [least, largest] = std::minmax_element(magnitude.begin(), magnitude.end());
    sigma_r = 0.15 * (*largest - *least);
    find_levels();
    if (sigma_r == 0) {
      out = image;
      return;
    }
    const int half = (int(sigma) - 1) / 2;
    auto weight = [&](int m, int n, double d) {
      return std::exp(-(m * m + n * n) / (2 * sigma * sigma)) *
             std::exp(-d * d / (2 * sigma_r * sigma_r));
    };
    auto around = [&](int x, int y, int reach, const std::function<void(int, int)>& f) {
      for (int n = std::max(-reach, -y); n <= std::min(reach, h - 1 - y); ++n) {
        for (int m = std::max(-reach, -x); m <= std::min(reach, w - 1 - x); ++m) f(m, n);
      }
    };
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) {
        double sum = 0, sum_x = 0, sum_y = 0;
        around(x, y, half, [&](int m, int n) {
          const std::size_t other = at(x + m, y + n);
          const double v = weight(m, n, magnitude[other] - magnitude[at(x, y)]);
          sum += v, sum_x += v * gx[other], sum_y += v * gy[other];
        });
        a[at(x, y)] = sum_x / sum;
        b[at(x, y)] = sum_y / sum;
      }
    }
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) {
        double sum = 0, sum_d = 0;
        around(x, y, (1 << level[at(x, y)]) / 2, [&](int m, int n) {
          if (reach && (std::abs(n) >= int(reach->size()) || std::abs(m) > (*reach)[std::abs(n)]))
            return;
          const double d =
              image[at(x + m, y + n)] - image[at(x, y)] - a[at(x, y)] * m - b[at(x, y)] * n;
          const double v = weight(m, n, d);
          sum += v, sum_d += v * d;
        });
        out[at(x, y)] = image[at(x, y)] + sum_d / sum;
      }
    }
  }

  void find_levels() {
    int count = 0;
    while ((2 << count) <= std::min(w, h)) ++count;
    ++count;
    std::vector<double> low = magnitude, high = magnitude;
    std::vector<char> open(level.size(), 1);
    for (int k = 1; k < count; ++k) {
      const std::vector<double> low_before = low, high_before = high;
      for (int y = 0; y < h; ++y) {
        for (int x = 0; x < w; ++x) {
          const std::size_t i = std::size_t(y) * w + x;
          for (int v = std::max(y - 1, 0); v <= std::min(y + 1, h - 1); ++v) {
            for (int u = std::max(x - 1, 0); u <= std::min(x + 1, w - 1); ++u) {
              low[i] = std::min(low[i], low_before[std::size_t(v) * w + u]);
              high[i] = std::max(high[i], high_before[std::size_t(v) * w + u]);
            }
          }
        }
      }
      for (std::size_t i = 0; i < level.size(); ++i) {
        open[i] &= !(high[i] > magnitude[i] + sigma_r || low[i] < magnitude[i] - sigma_r);
        level[i] += open[i];
      }
    }
  }
};

// Smooth patches, edges and noise, so that windows of every level occur; gray levels.
Image<float> test_image(int width, int height, std::uint64_t seed, bool whole_numbers = true) {
  Random random(seed);
  Image<float> image(width, height);
  const double noise = random.integer(0, 12), slope = random.uniform() * 0.8;
  const int step = random.integer(8, 60), edge_x = random.integer(0, width), kind = int(seed % 3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      double v =
          60 + slope * x + (x > edge_x ? 90 : 0) + (kind == 1 && (x / step + y / step) % 2) * 40;
      v += kind == 2 && y > height / 2 ? (random.uniform() - 0.5) * 120 : 0;
      v += (random.uniform() - 0.5) * noise;
      v = std::clamp(v, 0.0, 255.0);
      image(x, y) = static_cast<float>(whole_numbers ? std::round(v) : v);
    }
  }
  return image;
}

template <class T>
Image<T> converted(const Image<float>& image, double scale) {
  Image<T> out(image.width(), image.height());
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) out(x, y) = static_cast<T>(image(x, y) * scale);
  }
  return out;
}

double largest_difference(const Plain& plain, const Image<float>& image) {
  double largest = 0;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      largest = std::max(largest, std::abs(plain.out[std::size_t(y) * plain.w + x] - image(x, y)));
    }
  }
  return largest;
}

// The result on an 8-bit image, as gray levels.
Image<float> filtered(TrilateralFilter& filter, AnyView image) {
  Image<float> out(image.width(), image.height());
  filter.apply(image, out);
  return out;
}

class Trilateral : public testing::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(, Trilateral, testing::every_device(), testing::device_name);

TEST_P(Trilateral, AgreesWithTheDefinition) {
  Random random(3);
  for (int round = 0; round < 24; ++round) {
    const int w = random.integer(1, round % 4 ? 60 : 150), h = random.integer(1, 60);
    const double sigma = std::exp(random.uniform() * std::log(32.0)) / 2;
    const Image<float> levels = test_image(w, h, round);
    TrilateralFilter filter(context, {sigma, Grouping(round % 3)});
    const Plain plain(levels.host(), sigma);
    const auto image = converted<std::uint8_t>(levels, 1);
    EXPECT_LT(largest_difference(plain, filtered(filter, image)), 1e-3)
        << w << " x " << h << ", sigma " << sigma << ", grouping " << round % 3;
    const Image<std::uint8_t> map = filter.level_map(image);
    int wrong = 0;
    for (int i = 0; i < w * h; ++i) wrong += map(i % w, i / w) != plain.level[i];
    EXPECT_EQ(wrong, 0) << w << " x " << h;
  }
}

TEST_P(Trilateral, TheOrderOfPixelsChangesNoBit) {
  const auto image = converted<std::uint8_t>(test_image(170, 130, 5), 1);
  TrilateralFilter plain(context, {4, Grouping::none});
  const Image<float> expected = filtered(plain, image);
  for (Grouping grouping : {Grouping::sorted, Grouping::fastest}) {
    TrilateralFilter filter(context, {4, grouping});
    const Image<float> found = filtered(filter, image);
    for (int y = 0; y < found.height(); ++y) {
      for (int x = 0; x < found.width(); ++x)
        ASSERT_EQ(found(x, y), expected(x, y)) << x << ", " << y;
    }
  }
}

TEST_P(Trilateral, FlatAndTinyImagesAreUnchanged) {
  for (auto [w, h] : {std::pair(1, 1), std::pair(2, 1), std::pair(1, 2), std::pair(40, 30)}) {
    Image<std::uint8_t> image(w, h);
    for (int i = 0; i < w * h; ++i) image(i % w, i / w) = w * h == 2 ? 20 + 200 * i : 77;
    TrilateralFilter filter(context, {4});
    const auto out = filter.apply(image);
    for (int i = 0; i < w * h; ++i) EXPECT_EQ(out(i % w, i / w), image(i % w, i / w));

    Image<float> zeros(w, h);
    for (int i = 0; i < w * h; ++i) zeros(i % w, i / w) = i % 2 == 0 ? -0.0f : 0.0f;
    const Image<float> same = filter.apply(zeros);
    for (int i = 0; i < w * h; ++i)
      EXPECT_EQ(std::signbit(same(i % w, i / w)), i % 2 == 0) << w << " x " << h << ", " << i;
  }
}

TEST_P(Trilateral, EveryTypeGivesTheSameImage) {
  const Image<float> levels = test_image(90, 70, 4);
  TrilateralFilter filter(context, {3});
  const Image<float> expected = filtered(filter, converted<std::uint8_t>(levels, 1));
  const Image<float> from_16 = filtered(filter, converted<std::uint16_t>(levels, 257));
  const Image<float> from_float = filtered(filter, converted<float>(levels, 1 / 255.0));
  const auto rounded = filter.apply(converted<std::uint8_t>(levels, 1));
  auto in_place = converted<std::uint16_t>(levels, 257);
  filter.apply(in_place, in_place);
  for (int y = 0; y < 70; ++y) {
    for (int x = 0; x < 90; ++x) {
      ASSERT_NEAR(from_16(x, y), expected(x, y), 1e-4);
      ASSERT_NEAR(from_float(x, y) * 255, expected(x, y), 1e-3) << x << ", " << y;
      ASSERT_EQ(rounded(x, y), std::uint8_t(expected(x, y) + 0.5f));
      ASSERT_NEAR(in_place(x, y) / 257.0, expected(x, y), 0.5 / 257 + 1e-4);
    }
  }
}

TEST_P(Trilateral, BatchesEqualSingleImages) {
  TrilateralFilter filter(context, {4});
  std::vector<Image<std::uint8_t>> images;
  std::vector<Image<float>> out;
  for (int i = 0; i < 5; ++i) {
    images.push_back(converted<std::uint8_t>(test_image(75, 66, i), 1));
    out.emplace_back(75, 66);
  }
  filter.apply_batch(std::vector<AnyView>(images.begin(), images.end()),
                     std::vector<AnyTarget>(out.begin(), out.end()));
  for (int i = 0; i < 5; ++i) {
    const Image<float> single = filtered(filter, images[i]);
    for (int p = 0; p < 75 * 66; ++p) ASSERT_EQ(out[i](p % 75, p / 75), single(p % 75, p / 75));
  }
}

TEST_P(Trilateral, ReportsTimesPerStage) {
  TrilateralFilter filter(context, {4});
  filter.time_stages(true);
  filter.apply(converted<std::uint8_t>(test_image(64, 64, 1), 1));
  for (const char* step :
       {"gradients", "min-max stack", "gradient smoothing", "adaptive level", "detail filter"}) {
    const auto& stages = filter.report().stages;
    EXPECT_TRUE(std::any_of(stages.begin(), stages.end(), [&](const StageTime& s) {
      return s.stage == step;
    })) << step;
  }
}

TEST_P(Trilateral, NotANumberIsAnError) {
  Image<float> image = converted<float>(test_image(30, 20, 1), 1 / 255.0);
  TrilateralFilter filter(context, {4});
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), INFINITY, -INFINITY, 1e30f, 2e6f}) {
    image(7, 5) = bad;
    EXPECT_THROW(filter.apply(image), Error) << bad;
  }
  Image<float> queued;
  if (context.is_cuda()) queued = to_device(context, image);
  image(7, 5) = 0.5f;
  EXPECT_NO_THROW(filter.apply(image));
  if (!context.is_cuda()) return;
  // What was queued is no error of another image.
  filter.enqueue(queued, queued);
  EXPECT_NO_THROW(filter.level_map(image));
}

TEST_P(Trilateral, NoiseInTheLastBitIsNotMadeWorse) {
  Image<float> image(40, 30);
  Random random(4);
  for (int i = 0; i < 40 * 30; ++i) {
    image(i % 40, i / 40) = random.uniform() < 0.1 ? std::nextafter(0.5f, 1.0f) : 0.5f;
  }
  TrilateralFilter filter(context, {4});
  const Image<float> out = filter.apply(image);
  for (int i = 0; i < 40 * 30; ++i) ASSERT_NEAR(out(i % 40, i / 40), 0.5f, 2e-7f);
}

TEST(TrilateralThreads, GiveTheSameBytes) {
  const auto image = test_image(150, 190, 4);
  TrilateralFilter one(Context::cpu(1), {3}), three(Context::cpu(3), {3});
  const Image<float> scaled = converted<float>(image, 1 / 255.0);
  const Image<float> a = one.apply(scaled), b = three.apply(scaled);
  for (int i = 0; i < 150 * 190; ++i) ASSERT_EQ(a(i % 150, i / 150), b(i % 150, i / 150));
}

TEST(TrilateralOptions, AreChecked) {
  EXPECT_THROW(TrilateralFilter(Context::cpu(), {0}), Error);
  EXPECT_THROW(TrilateralFilter(Context::cpu(), {1e4}), Error);
  EXPECT_THROW(TrilateralFilter(Context::cpu(), {std::nan("")}), Error);
}

// CPU and CUDA on images of many sizes, so that every tile border is covered.
TEST(TrilateralDevices, GiveTheSameBits) {
  if (cuda_devices().empty()) GTEST_SKIP() << "no CUDA device";
  const Context cpu = Context::cpu(), cuda = Context::cuda();
  Random random(8);
  for (int round = 0; round < 50; ++round) {
    const int w = round == 0 ? 1 : random.integer(1, 500),
              h = round < 2 ? 1 : random.integer(1, 400);
    const double sigma = round == 2 ? 100 : 0.5 * std::exp(random.uniform() * std::log(32.0));
    const Image<float> levels = test_image(w, h, round, round % 2 == 0);
    const Image<float> image = converted<float>(levels, 1 / 255.0);
    TrilateralFilter on_cpu(cpu, {sigma}), on_cuda(cuda, {sigma});
    const Image<float> a = on_cpu.apply(image), b = on_cuda.apply(image);
    int different = 0;
    for (int p = 0; p < w * h; ++p) different += a(p % w, p / w) != b(p % w, p / w);
    EXPECT_EQ(different, 0) << w << " x " << h << ", sigma " << sigma;
  }
}

TEST(TrilateralReach, SkipsNothingAboveFloatRounding) {
  for (double sigma : {0.5, 1.0, 1.6, 4.0, 7.3}) {
    const std::vector<int> reach = window_reach(sigma);
    const int radius = int(reach.size()) - 1;
    double left_out = 0;
    const int far = 4 * radius + 10;
    for (int n = -far; n <= far; ++n) {
      for (int m = -far; m <= far; ++m) {
        const bool inside = std::abs(n) <= radius && std::abs(m) <= reach[std::abs(n)];
        if (!inside) left_out += std::exp(-(m * m + n * n) / (2 * sigma * sigma));
      }
    }
    EXPECT_LE(left_out, 0x1p-27) << sigma;
    // The reach is not much larger than necessary.
    EXPECT_LT(radius, 7.3 * sigma + 2) << sigma;
  }
  // The filter with windows far wider than the reach: the floats are the same with and without it,
  // except for a few that differ in the last bit.
  int differ = 0, pixels = 0;
  for (int seed = 0; seed < 4; ++seed) {
    const Image<float> image = test_image(90, 80, 3 * seed + seed % 2);
    const std::vector<int> reach = window_reach(1.2);
    const Plain whole(image.host(), 1.2), cut(image.host(), 1.2, &reach);
    EXPECT_GT(*std::max_element(whole.level.begin(), whole.level.end()), 4);
    for (std::size_t i = 0; i < whole.out.size(); ++i, ++pixels) {
      const auto a = float(whole.out[i]), b = float(cut.out[i]);
      differ += a != b;
      EXPECT_LE(std::abs(a - b), std::nextafter(std::abs(a), INFINITY) - std::abs(a));
      EXPECT_LE(std::abs(whole.out[i] - cut.out[i]), 11 * whole.sigma_r * 0x1p-27);
    }
  }
  EXPECT_LE(differ, pixels / 5000);
}

}  // namespace
}  // namespace cornea
