// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/image.h"

#include <type_traits>

#include <gtest/gtest.h>

namespace cornea {
namespace {

static_assert(!std::is_copy_constructible_v<Image<float>>);
static_assert(std::is_move_constructible_v<Image<float>>);
static_assert(std::is_convertible_v<HostView<float>, HostView<const float>>);
static_assert(!std::is_convertible_v<HostView<const float>, HostView<float>>);
static_assert(!std::is_convertible_v<HostView<float>, DeviceView<float>>);
static_assert(!std::is_convertible_v<DeviceView<float>, HostView<float>>);

TEST(Image, StoresPixels) {
  Image<std::uint16_t> image(5, 3);
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 5; ++x) image(x, y) = std::uint16_t(10 * y + x);
  }
  const Image<std::uint16_t> moved = std::move(image);
  EXPECT_EQ(moved(4, 2), 24);
  EXPECT_EQ(moved.host().row(1)[3], 13);
  EXPECT_EQ(moved.place(), Place::host);
}

TEST(Image, MoveAssignmentReplacesTheImage) {
  Image<float> a(2, 2), b(7, 1);
  b(6, 0) = 5;
  a = std::move(b);
  EXPECT_EQ(a.width(), 7);
  EXPECT_EQ(a(6, 0), 5);
  EXPECT_TRUE(b.empty());
}

TEST(Image, ANegativeSizeAndTheWrongKindOfMemoryAreErrors) {
  EXPECT_THROW(Image<float>(-1, 5), Error);
  EXPECT_THROW(Image<float>(3, 3).device(), Error);
}

TEST(AnyView, KnowsItsPixelTypeAndRefusesOthers) {
  const Image<Rgb<std::uint8_t>> image(4, 6);
  const AnyView view = image;
  EXPECT_EQ(view.pixel(), Pixel::rgb_u8);
  EXPECT_EQ(view.stride_bytes(), 12);
  EXPECT_EQ(view.host<Rgb<std::uint8_t>>().data, image.host().data);
  EXPECT_THROW(view.host<std::uint8_t>(), Error);
  EXPECT_THROW(view.device<Rgb<std::uint8_t>>(), Error);
  EXPECT_TRUE(AnyView(Image<float>()).empty());
  EXPECT_EQ(channel_of(Pixel::rgb_u16), Pixel::u16);
}

}  // namespace
}  // namespace cornea
