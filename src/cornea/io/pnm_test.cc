// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/file_testing.h"

namespace cornea {
namespace {

using testing::bytes_of_text;
using testing::ByteVector;
using testing::expect_error;
using testing::expect_same;

template <class T>
std::vector<T> values(const ByteVector& bytes) {
  return testing::pixels_of(decode_image<T>(bytes, "test.pnm"));
}
template <class T>
std::vector<T> values(const std::string& file) {
  return values<T>(bytes_of_text(file));
}

ByteVector binary(const std::string& header, const ByteVector& pixels) {
  ByteVector bytes = bytes_of_text(header);
  testing::append(bytes, pixels);
  return bytes;
}

void expect_refused(const ByteVector& bytes, const std::string& fragment) {
  expect_error(ErrorCode::io, fragment, [&] { decode_image<std::uint8_t>(bytes, "test.pnm"); });
}

TEST(Pnm, RoundTripsEveryDepthAndColour) {
  const testing::TemporaryFolder folder;
  const auto check = [&](const char* name, const auto& image) {
    using T = std::remove_cvref_t<decltype(image(0, 0))>;
    write_image(folder / name, image);
    expect_same(read_image<T>(folder / name), image);
  };
  check("a.pgm", testing::random_image<std::uint8_t>(31, 11, 1));
  check("b.pgm", testing::random_image<std::uint16_t>(31, 11, 2));
  check("a.ppm", testing::random_rgb<std::uint8_t>(31, 11, 3));
  check("b.pnm", testing::random_rgb<std::uint16_t>(31, 11, 4));
  check("c.pnm", testing::random_image<std::uint8_t>(31, 11, 5));
}

TEST(Pnm, WritesTheBytesOfTheSpecification) {
  Image<std::uint16_t> image(2, 1);
  image(0, 0) = 0x0102;
  image(1, 0) = 0xfffe;
  EXPECT_EQ(testing::encoded("a.pgm", image), binary("P5\n2 1\n65535\n", {1, 2, 0xff, 0xfe}));
  Image<Rgb<std::uint8_t>> colour(1, 1);
  colour(0, 0) = {3, 4, 5};
  EXPECT_EQ(testing::encoded("a.ppm", colour), binary("P6\n1 1\n255\n", {3, 4, 5}));
}

TEST(Pnm, ReadsTextWithComments) {
  EXPECT_EQ(values<std::uint8_t>("P2 # gray\n# a line\n2\n#between\n2 255\n0 1\n 254#end\n255\n"),
            (std::vector<std::uint8_t>{0, 1, 254, 255}));
  EXPECT_EQ(values<Rgb<std::uint8_t>>("P3\n1 2 255\n1 2 3\n4 5 6\n"),
            (std::vector<Rgb<std::uint8_t>>{{1, 2, 3}, {4, 5, 6}}));
  EXPECT_EQ(values<std::uint16_t>("P2 2 1 65535 258 65535 "),
            (std::vector<std::uint16_t>{258, 65535}));
}

TEST(Pnm, ReadsBinaryWithComments) {
  EXPECT_EQ(values<std::uint8_t>(binary("P5\n#c\n3 1 #d\n255\n", {'#', '\n', 7})),
            (std::vector<std::uint8_t>{'#', '\n', 7}));
  EXPECT_EQ(values<std::uint8_t>(binary("P5 1 1 255#c\n", {42})), (std::vector<std::uint8_t>{42}));
}

TEST(Pnm, AOneInABitmapIsBlack) {
  const std::vector<std::uint8_t> expected = {0, 255, 0, 255, 255, 0};
  EXPECT_EQ(values<std::uint8_t>("P1\n3 2\n101\n0 0 1"), expected);
  EXPECT_EQ(values<std::uint8_t>(binary("P4\n3 2\n", {0b10111111, 0b00100000})), expected);
  // Ten pixels take two bytes per row.
  EXPECT_EQ(values<std::uint8_t>(binary("P4 10 1\n", {0xff, 0x40})),
            (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0, 0, 255, 0}));
}

TEST(Pnm, ScalesAnyMaximumToTheWholeRangeWithRounding) {
  EXPECT_EQ(values<std::uint8_t>("P2 4 1 3 0 1 2 3 "),
            (std::vector<std::uint8_t>{0, 85, 170, 255}));
  EXPECT_EQ(values<std::uint8_t>(binary("P5 4 1 100\n", {0, 1, 50, 100})),
            (std::vector<std::uint8_t>{0, 3, 128, 255}));  // 2.55 and 127.5
  // 10 bit: 1 * 65535 / 1023 = 64.06
  EXPECT_EQ(values<std::uint16_t>(binary("P5 3 1 1023\n", {0, 0, 0, 1, 3, 0xff})),
            (std::vector<std::uint16_t>{0, 64, 65535}));
}

TEST(Pnm, AValueAboveTheMaximumIsAnError) {
  expect_refused(bytes_of_text("P2 2 1 100 5 101 "), "a value of 101 where 100 is the largest");
  expect_refused(binary("P5 2 1 100\n", {5, 101}), "a value of 101 where 100 is the largest");
  expect_refused(binary("P5 1 1 1000\n", {0x03, 0xe9}), "1001 where 1000");
}

TEST(Pnm, InvalidHeadersAreErrors) {
  expect_refused(bytes_of_text("P5 0 5 255\n"), "test.pnm: claims 0 x 5 pixels");
  expect_refused(bytes_of_text("P5 2 2 0\n1234"), "a largest value of 0");
  expect_refused(bytes_of_text("P5 2 2 65536\n12345678"), "a largest value of 65536");
  expect_refused(bytes_of_text("P5 -2 2 255\n1234"), "no number for the width");
  expect_refused(bytes_of_text("P5 two 2 255\n1234"), "no number for the width");
  expect_refused(bytes_of_text("P5 99999999999999999999999 2 255\n"), "no number for the width");
  expect_refused(bytes_of_text("P5 100000 100000 255\n"), "over the limit of 268435456");
  expect_refused(bytes_of_text("P5 3000000000 1 255\n"), "over the limit");
  expect_refused(bytes_of_text("P5 16384 16384 255\nabc"), "need 268435456 bytes and 3 are there");
  expect_refused(bytes_of_text("P1 2 1\n02"), "neither 0 nor 1");
}

TEST(Pnm, DetectsEveryTruncation) {
  const auto gray = testing::random_image<std::uint8_t>(9, 7, 6);
  testing::expect_cuts_are_found(testing::encoded("a.pgm", gray), 20, 7);
  testing::expect_cuts_are_found(
      testing::encoded("a.ppm", testing::random_rgb<std::uint16_t>(9, 7, 8)), 20, 9);
  // A number at the very end may have lost digits: 123 truncated to 12 must not be accepted.
  testing::expect_cuts_are_found(bytes_of_text("P2 3 2 255 100 101 102 103 104 123\n"), 20, 10);
  testing::expect_cuts_are_found(bytes_of_text("P1 6 2 101010 010101"), 20, 11);
}

TEST(Pnm, SurvivesNoise) {
  testing::expect_noise_is_survived(bytes_of_text("P2 3 2 255 100 101 102 103 104 123\n"), 300, 12);
}

TEST(Pnm, ProbeReportsTheStoredFormat) {
  const testing::TemporaryFolder folder;
  testing::write_bytes(folder / "a.pgm", bytes_of_text("P3 5 4 1023\n"));  // the header is enough
  const ImageFileInfo info = probe_image(folder / "a.pgm");
  EXPECT_EQ(info.format, "PPM");
  EXPECT_EQ(info.width, 5);
  EXPECT_EQ(info.height, 4);
  EXPECT_EQ(info.channels, 3);
  EXPECT_EQ(info.bits, 16);
}

}  // namespace
}  // namespace cornea
