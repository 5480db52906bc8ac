// SPDX-License-Identifier: Apache-2.0
// The behaviour that all filters share, tested with the Gaussian, whose sums have the same bits on
// every device.
#include "cornea/filter/image_filter.h"

#include <cmath>
#include <limits>
#include <vector>

#include "cornea/core/error.h"
#include "cornea/core/random.h"
#include "cornea/core/testing.h"
#include "cornea/core/transfer.h"
#include "cornea/filter/gaussian/gaussian_blur.h"
#include "cornea/filter/levels.h"

namespace cornea {
namespace {

using namespace core;
using namespace gaussian;
using namespace filter;

template <class T>
::testing::AssertionResult same_pixels(const Image<T>& a, const Image<T>& b) {
  if (a.width() != b.width() || a.height() != b.height()) return ::testing::AssertionFailure();
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) {
      if (a(x, y) != b(x, y)) {
        return ::testing::AssertionFailure()
               << "at " << x << ", " << y << ": " << +a(x, y) << " and " << +b(x, y);
      }
    }
  }
  return ::testing::AssertionSuccess();
}

// The expected result: the blur on the host, on gray levels.
template <class T>
Image<T> expected_blur(const Image<T>& image, double sigma) {
  const Context cpu = Context::cpu();
  Image<float> levels(image.width(), image.height()), blurred(image.width(), image.height());
  convert(cpu, image, Working::levels, levels.host());
  gaussian_blur(cpu, levels.host(), blurred.host(), sigma);
  Image<T> out(image.width(), image.height());
  from_levels(cpu, blurred.host(), out);
  return out;
}

class Filters : public testing::OnEveryDevice {
 protected:
  template <class T>
  void every_way(double sigma) {
    const auto image = testing::random_image<T>(131, 77, 3);
    const Image<T> expected = expected_blur(image, sigma);
    GaussianFilter filter(context, {sigma});
    EXPECT_TRUE(same_pixels(filter.apply(image), expected));
    auto in_place = testing::random_image<T>(131, 77, 3);
    filter.apply(in_place, in_place);
    EXPECT_TRUE(same_pixels(in_place, expected));
    // Regions of a larger image, whose rows are farther apart.
    Image<T> large(150, 90), large_out(150, 90);
    for (int y = 0; y < 77; ++y) {
      for (int x = 0; x < 131; ++x) large(x + 5, y + 7) = image(x, y);
    }
    const auto view = large.host();
    const auto out_view = large_out.host();
    filter.apply(HostView<const T>(&view(5, 7), 131, 77, view.stride),
                 HostView<T>(&out_view(2, 3), 131, 77, out_view.stride));
    for (int y = 0; y < 77; ++y) {
      for (int x = 0; x < 131; ++x) ASSERT_EQ(large_out(x + 2, y + 3), expected(x, y));
    }
    if (!context.is_cuda()) return;
    const Image<T> on_device = to_device(context, image);
    EXPECT_TRUE(same_pixels(to_host(context, filter.apply(on_device)), expected));
    Image<T> device_in_place = to_device(context, image);
    filter.apply(device_in_place, device_in_place);
    EXPECT_TRUE(same_pixels(to_host(context, device_in_place), expected));
    Image<T> queued(context, Place::device, 131, 77, "test");
    filter.enqueue(on_device, queued);
    filter.wait();
    EXPECT_TRUE(same_pixels(to_host(context, queued), expected));
    // Values that cannot be used are an error of their own image alone.
    Image<float> bad(131, 77);
    bad(5, 6) = std::numeric_limits<float>::quiet_NaN();
    const Image<float> bad_on_device = to_device(context, bad);
    Image<float> spoilt(context, Place::device, 131, 77, "test");
    filter.enqueue(bad_on_device, spoilt);
    EXPECT_TRUE(same_pixels(to_host(context, filter.apply(on_device)), expected));
    filter.enqueue(bad_on_device, spoilt);
    EXPECT_THROW(filter.wait(), Error);
  }
};
INSTANTIATE_TEST_SUITE_P(, Filters, testing::every_device(), testing::device_name);

TEST_P(Filters, AcceptEveryPixelTypeThroughEveryCall) {
  for (double sigma : {0.0, 0.7, 1.6, 7.0}) {
    every_way<std::uint8_t>(sigma);
    every_way<std::uint16_t>(sigma);
    every_way<float>(sigma);
  }
}

TEST_P(Filters, EveryRadiusAndSizeGivesTheSameBits) {
  Random random(6);
  for (int round = 0; round < 60; ++round) {
    const int w = random.integer(1, round % 2 ? 40 : 300), h = random.integer(1, 200);
    const double sigma = round < 44 ? (round % 22 + 0.9) / 4 : 30 * random.uniform();
    const auto image = testing::random_image<float>(w, h, round);
    GaussianFilter filter(context, {sigma});
    EXPECT_TRUE(same_pixels(filter.apply(image), expected_blur(image, sigma)))
        << w << " x " << h << ", sigma " << sigma;
  }
}

TEST_P(Filters, BatchesEqualSingleImages) {
  GaussianFilter filter(context, {2});
  std::vector<Image<std::uint8_t>> images, out;
  for (int i = 0; i < 7; ++i) {
    images.push_back(testing::random_image<std::uint8_t>(50, 43, i));
    out.emplace_back(50, 43);
  }
  filter.apply_batch(std::vector<AnyView>(images.begin(), images.end()),
                     std::vector<AnyTarget>(out.begin(), out.end()));
  EXPECT_EQ(filter.report().images, 7);
  for (int i = 0; i < 7; ++i) EXPECT_TRUE(same_pixels(out[i], expected_blur(images[i], 2)));
}

TEST_P(Filters, AllocateNothingAfterTheFirstImage) {
  GaussianFilter filter(context, {9});
  const auto image = testing::random_image<std::uint8_t>(90, 60, 1);
  Image<std::uint8_t> out(90, 60);
  filter.apply(image, out);
  const MemoryUse before = context.memory();
  for (int i = 0; i < 5; ++i) filter.apply(image, out);
  EXPECT_EQ(context.memory().bytes, before.bytes);
  EXPECT_EQ(context.memory().allocations, before.allocations);
}

TEST_P(Filters, RejectImagesThatCannotBeFiltered) {
  GaussianFilter filter(context, {1});
  Image<float> image = testing::random_image<float>(20, 10, 1), small(19, 10);
  EXPECT_THROW(filter.apply(image, small), Error);
  EXPECT_THROW(filter.apply(AnyView(), image), Error);
  Image<float> none;
  try {
    filter.apply(image, none);
    ADD_FAILURE() << "an empty result was accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the result is empty");
  }
  Image<std::uint8_t> bytes(20, 10);
  EXPECT_THROW(filter.apply(image, bytes), Error);
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), INFINITY, 2e6f}) {
    image(3, 3) = bad;
    EXPECT_THROW(filter.apply(image), Error);
  }
  // A failed filter in place leaves the image unchanged.
  EXPECT_THROW(filter.apply(image, image), Error);
  EXPECT_EQ(image(3, 3), 2e6f);
  EXPECT_EQ(image(4, 3), testing::random_image<float>(20, 10, 1)(4, 3));
  image(3, 3) = 0.5f;
  EXPECT_NO_THROW(filter.apply(image));
  EXPECT_THROW(GaussianFilter(context, {-1}), Error);
}

TEST_P(Filters, ColourBecomesGray) {
  const auto gray = testing::random_image<std::uint16_t>(50, 40, 5);
  Image<Rgb<std::uint16_t>> colour(50, 40);
  Image<Rgb<float>> floats(50, 40);
  Image<float> expected(50, 40);
  for (int i = 0; i < 50 * 40; ++i) {
    const std::uint16_t v = gray(i % 50, i / 50);
    colour(i % 50, i / 50) = {v, v, v};
    floats(i % 50, i / 50) = {0.25f, 0.5f, float(v) / 65535.0f};
    expected(i % 50, i / 50) = gray_value(floats(i % 50, i / 50));
  }
  GaussianFilter filter(context, {1.2});
  EXPECT_TRUE(same_pixels(filter.apply(colour), expected_blur(gray, 1.2)));
  EXPECT_TRUE(same_pixels(filter.apply(floats), expected_blur(expected, 1.2)));
  if (!context.is_cuda()) return;
  EXPECT_TRUE(same_pixels(to_host(context, filter.apply(to_device(context, colour))),
                          expected_blur(gray, 1.2)));
}

TEST(Levels, RoundAndClamp) {
  std::uint8_t eight = 0;
  std::uint16_t sixteen = 0;
  for (auto [level, expected] : {std::pair(-3.0f, 0), std::pair(0.49f, 0), std::pair(0.5f, 1),
                                 std::pair(254.6f, 255), std::pair(300.0f, 255)}) {
    set_level(eight, level);
    EXPECT_EQ(eight, expected) << level;
  }
  for (int v = 0; v < 65536; ++v) {
    set_level(sixteen, gray_level(std::uint16_t(v)));
    ASSERT_EQ(sixteen, v);
  }
}

}  // namespace
}  // namespace cornea
