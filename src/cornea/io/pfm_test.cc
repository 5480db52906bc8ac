// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <limits>

#include "cornea/io/file_testing.h"

namespace cornea {
namespace {

using testing::bytes_of_text;
using testing::ByteVector;
using testing::expect_error;

ByteVector pfm(const std::string& header, const std::vector<float>& values, bool little_endian) {
  ByteVector bytes = bytes_of_text(header);
  for (const float v : values) {
    const auto bits = std::bit_cast<std::uint32_t>(v);
    for (int i = 0; i < 4; ++i) {
      bytes.push_back(std::uint8_t(bits >> (little_endian ? 8 * i : 24 - 8 * i)));
    }
  }
  return bytes;
}

TEST(Pfm, FloatsRoundTripToTheBit) {
  auto image = testing::random_image<float>(13, 9, 1);
  image(0, 0) = -0.0f;
  image(1, 0) = 1e-42f;  // subnormal
  image(2, 0) = -std::numeric_limits<float>::infinity();
  image(3, 0) = std::numeric_limits<float>::max();
  image(4, 0) = std::nextafter(1.0f, 2.0f);
  image(5, 0) = std::numeric_limits<float>::quiet_NaN();
  const auto read = decode_image<float>(testing::encoded("a.pfm", image), "a.pfm");
  ASSERT_EQ(read.width(), 13);
  ASSERT_EQ(read.height(), 9);
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 13; ++x) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(read(x, y)),
                std::bit_cast<std::uint32_t>(image(x, y)));
    }
  }
  const auto colour = testing::random_rgb<float>(5, 6, 2);
  testing::expect_same(decode_image<Rgb<float>>(testing::encoded("c.pfm", colour), "c.pfm"),
                       colour);
}

TEST(Pfm, TheBottomRowComesFirstInBothByteOrders) {
  for (const bool little : {true, false}) {
    const ByteVector bytes = pfm(little ? "Pf\n2 2\n-1.0\n" : "Pf\n2 2\n1\n", {1, 2, 3, 4}, little);
    const auto image = decode_image<float>(bytes, "a.pfm");
    EXPECT_EQ(testing::pixels_of(image), (std::vector<float>{3, 4, 1, 2}));
    const auto colour = decode_image<Rgb<float>>(
        pfm(little ? "PF 1 2 -1.0\n" : "PF 1 2 2.5\n", {1, 2, 3, 4, 5, 6}, little), "c.pfm");
    EXPECT_EQ(colour(0, 0), (Rgb<float>{4, 5, 6}));
    EXPECT_EQ(colour(0, 1), (Rgb<float>{1, 2, 3}));
  }
}

TEST(Pfm, IsWrittenLittleEndian) {
  Image<float> image(1, 2);
  image(0, 0) = 0.25f;
  image(0, 1) = -7.0f;
  EXPECT_EQ(testing::encoded("a.pfm", image), pfm("Pf\n1 2\n-1.0\n", {-7.0f, 0.25f}, true));
}

TEST(Pfm, IntegersAreWrittenAsZeroToOne) {
  Image<std::uint8_t> image(2, 1);
  image(0, 0) = 255;
  image(1, 0) = 51;
  const auto read = decode_image<float>(testing::encoded("a.pfm", image), "a.pfm");
  EXPECT_EQ(read(0, 0), 1.0f);
  EXPECT_EQ(read(1, 0), 0.2f);
}

TEST(Pfm, DetectsTruncationAndBadHeaders) {
  testing::expect_cuts_are_found(testing::encoded("a.pfm", testing::random_image<float>(6, 5, 3)),
                                 20, 4);
  const auto refused = [](const std::string& bytes, const std::string& fragment) {
    expect_error(ErrorCode::io, fragment,
                 [&] { decode_image<float>(bytes_of_text(bytes), "a.pfm"); });
  };
  refused("Pf\n1 1\n0\nabcd", "the scale");
  refused("Pf\n1 1\nnan\nabcd", "the scale");
  refused("Pf\n1 1\nx\nabcd", "no number for the scale");
  refused("Pf\n0 1\n-1\nabcd", "claims 0 x 1 pixels");
  refused("PF\n70000 70000\n-1\nabcd", "over the limit");
}

TEST(Pfm, ProbeReportsFloat) {
  const testing::TemporaryFolder folder;
  write_image(folder / "a.pfm", testing::random_rgb<float>(3, 2, 5));
  const ImageFileInfo info = probe_image(folder / "a.pfm");
  EXPECT_EQ(info.format, "PFM");
  EXPECT_EQ(info.channels, 3);
  EXPECT_EQ(info.bits, 32);
  EXPECT_TRUE(info.is_float);
}

}  // namespace
}  // namespace cornea
