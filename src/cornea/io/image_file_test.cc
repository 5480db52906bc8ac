// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/image_file.h"

#include <csignal>
#include <limits>

#include <sys/resource.h>

#include "cornea/core/build.h"
#include "cornea/core/pixels.h"
#include "cornea/io/file_testing.h"

namespace cornea {
namespace {

using namespace core;

using testing::bytes_of_text;
using testing::ByteVector;
using testing::expect_error;
using testing::expect_same;

TEST(ReadImage, RecognisesTheFormatByTheFirstBytes) {
  const testing::TemporaryFolder folder;
  const auto image = testing::random_image<std::uint8_t>(6, 5, 1);
  testing::write_bytes(folder / "really_png.jpg", testing::encoded("a.png", image));
  expect_same(read_image<std::uint8_t>(folder / "really_png.jpg"), image);
  EXPECT_EQ(probe_image(folder / "really_png.jpg").format, "PNG");
}

TEST(ReadImage, BadFilesAreErrorsThatNameThem) {
  const testing::TemporaryFolder folder;
  const auto refused = [&](const std::string& name, const std::string& fragment) {
    const std::string sentence = (folder / name).string() + fragment;
    expect_error(ErrorCode::io, sentence, [&] { read_image<std::uint8_t>(folder / name); });
    expect_error(ErrorCode::io, sentence, [&] { read_gray(folder / name); });
    expect_error(ErrorCode::io, sentence, [&] { probe_image(folder / name); });
  };
  refused("missing.png", ": there is no such file");
  std::filesystem::create_directory(folder / "folder.png");
  refused("folder.png", ": is a folder");
  testing::write_bytes(folder / "empty.png", {});
  refused("empty.png", ": is empty");
  testing::write_bytes(folder / "notes.jpg", bytes_of_text("Dear diary, no pixels today.\n"));
  refused("notes.jpg", ": its first bytes are not those of an image");
  testing::write_bytes(folder / "tiny.png", {0x89});
  refused("tiny.png", ": its first bytes are not those of an image");
}

TEST(ReadImage, RejectsFilesOver4GiBBeforeReadingThem) {
  const testing::TemporaryFolder folder;
  testing::write_bytes(folder / "huge.png", {0});
  std::error_code failed;
  std::filesystem::resize_file(folder / "huge.png", (std::uint64_t{1} << 32) + 1, failed);
  if (failed) GTEST_SKIP() << "no sparse file of this size here: " << failed.message();
  expect_error(ErrorCode::io, "at most 4 GiB", [&] { probe_image(folder / "huge.png"); });
}

// One row in every type that a file can hold.
template <class T>
Image<T> row(std::initializer_list<T> pixels) {
  Image<T> image(static_cast<int>(pixels.size()), 1);
  std::copy(pixels.begin(), pixels.end(), image.host().data);
  return image;
}

template <class To, class From>
std::vector<To> through(const std::string& file_name, std::initializer_list<From> pixels) {
  const ByteVector bytes = testing::encoded(file_name, row<From>(pixels));
  return testing::pixels_of(decode_image<To>(bytes, file_name));
}

TEST(ReadImage, ConvertsDepthWithRounding) {
  using U8 = std::uint8_t;
  using U16 = std::uint16_t;
  EXPECT_EQ((through<U16, U8>("a.png", {0, 1, 128, 255})),
            (std::vector<U16>{0, 257, 32896, 65535}));
  EXPECT_EQ((through<U8, U16>("a.png", {0, 128, 129, 385, 386, 65406, 65407, 65535})),
            (std::vector<U8>{0, 0, 1, 1, 2, 254, 255, 255}));
  EXPECT_EQ((through<float, U8>("a.png", {0, 51, 255})), (std::vector<float>{0, 0.2f, 1}));
  EXPECT_EQ((through<float, U16>("a.png", {0, 13107, 65535})), (std::vector<float>{0, 0.2f, 1}));
}

TEST(ReadImage, ClampsFloatsToTheRangeOfIntegers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ((through<std::uint8_t, float>("a.pfm", {-3, 0, 0.5f, 0.7f, 1, 9, nan, inf, -inf})),
            (std::vector<std::uint8_t>{0, 0, 128, 179, 255, 255, 0, 255, 0}));
  EXPECT_EQ((through<std::uint16_t, float>("a.pfm", {-3, 0, 0.5f, 1, 9, nan, inf})),
            (std::vector<std::uint16_t>{0, 0, 32768, 65535, 65535, 0, 65535}));
}

TEST(ReadImage, ConvertsColourToGrayAtTheStoredDepth) {
  using Rgb8 = Rgb<std::uint8_t>;
  using Rgb16 = Rgb<std::uint16_t>;
  // 0.299 R + 0.587 G + 0.114 B: 76.245, 149.685, 29.07, and (10, 20, 30): 18.15
  EXPECT_EQ((through<std::uint8_t, Rgb8>(
                "a.png", {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {10, 20, 30}, {255, 255, 255}})),
            (std::vector<std::uint8_t>{76, 150, 29, 18, 255}));
  EXPECT_EQ((through<std::uint16_t, Rgb16>("a.png", {{65535, 0, 0}, {1000, 2000, 3000}})),
            (std::vector<std::uint16_t>{19595, 1815}));
  // Rounded to 76 at 8 bit first, then converted to 16 bit.
  EXPECT_EQ((through<std::uint16_t, Rgb8>("a.png", {{255, 0, 0}})),
            (std::vector<std::uint16_t>{76 * 257}));
  EXPECT_EQ((through<float, Rgb<float>>("a.pfm", {{0.5f, 0.25f, 2.0f}})),
            (std::vector<float>{gray_value(Rgb<float>{0.5f, 0.25f, 2.0f})}));
}

TEST(ReadImage, RepeatsGrayIntoColour) {
  EXPECT_EQ((through<Rgb<std::uint16_t>, std::uint8_t>("a.png", {7})),
            (std::vector<Rgb<std::uint16_t>>{{1799, 1799, 1799}}));
  EXPECT_EQ((through<Rgb<float>, float>("a.pfm", {0.3f})),
            (std::vector<Rgb<float>>{{0.3f, 0.3f, 0.3f}}));
}

TEST(ReadGray, KeepsTheDepthOfTheFile) {
  const testing::TemporaryFolder folder;
  const auto wide = testing::random_image<std::uint16_t>(5, 4, 2);
  write_image(folder / "wide.png", wide);
  const GrayImage read = read_gray(folder / "wide.png");
  expect_same(std::get<Image<std::uint16_t>>(read.pixels), wide);
  EXPECT_EQ(read.view().pixel(), Pixel::u16);
  EXPECT_EQ(read.width(), 5);
  EXPECT_EQ(read.height(), 4);

  write_image(folder / "colour.ppm", row<Rgb<std::uint8_t>>({{255, 0, 0}}));
  EXPECT_EQ(std::get<Image<std::uint8_t>>(read_gray(folder / "colour.ppm").pixels)(0, 0), 76);
  write_image(folder / "float.pfm", row<float>({-0.75f}));
  EXPECT_EQ(std::get<Image<float>>(read_gray(folder / "float.pfm").pixels)(0, 0), -0.75f);
}

TEST(WriteImage, RoundsFloatsTo8BitInIntegerFormats) {
  for (const char* name : {"a.png", "a.pgm", "a.pnm"}) {
    EXPECT_EQ((through<std::uint16_t, float>(name, {-1, 0.5f, 1, 2})),
              (std::vector<std::uint16_t>{0, 128 * 257, 65535, 65535}))
        << name;
  }
  EXPECT_EQ((through<Rgb<std::uint8_t>, float>("a.ppm", {0.2f})),
            (std::vector<Rgb<std::uint8_t>>{{51, 51, 51}}));
  EXPECT_EQ((through<Rgb<std::uint16_t>, std::uint16_t>("a.ppm", {1234})),
            (std::vector<Rgb<std::uint16_t>>{{1234, 1234, 1234}}));
  EXPECT_EQ((through<std::uint8_t, std::uint16_t>("a.jpg", {65535, 65535})),
            (std::vector<std::uint8_t>{255, 255}));
}

TEST(WriteImage, RejectsPixelsThatAFormatCannotHold) {
  const testing::TemporaryFolder folder;
  const auto gray = testing::random_image<std::uint8_t>(3, 3, 3);
  const auto colour = testing::random_rgb<std::uint8_t>(3, 3, 4);
  const Image<double> doubles(3, 3);
  const auto refused = [&](ErrorCode code, const std::string& name, const AnyView& image,
                           const std::string& fragment) {
    expect_error(code, (folder / name).string() + ": " + fragment,
                 [&] { write_image(folder / name, image); });
  };
  refused(ErrorCode::invalid_argument, "a.png", doubles, "a map of doubles");
  refused(ErrorCode::invalid_argument, "a.png", AnyView(), "an image without pixels");
  refused(ErrorCode::invalid_argument, "a.pgm", colour, "PGM holds gray only");
  refused(ErrorCode::unsupported, "a.xyz", gray, "no image format is written");
  refused(ErrorCode::unsupported, "noextension", gray, "no image format is written");
  expect_error(ErrorCode::invalid_argument, "a.jpg: a JPEG quality of 0",
               [&] { write_image(folder / "a.jpg", gray, {.jpeg_quality = 0}); });
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(WriteImage, AFailureLeavesNothingBehind) {
  const testing::TemporaryFolder folder;
  const auto image = testing::random_image<std::uint8_t>(3, 3, 5);
  expect_error(ErrorCode::io, "its folder does not exist",
               [&] { write_image(folder / "no" / "where.png", image); });
  std::filesystem::create_directory(folder / "taken.png");
  expect_error(ErrorCode::io, "taken.png: is a folder",
               [&] { write_image(folder / "taken.png", image); });
  std::filesystem::remove(folder / "taken.png");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(WriteImage, RunningOutOfSpaceKeepsTheOldFile) {
  const testing::TemporaryFolder folder;
  const auto image = testing::random_image<std::uint8_t>(64, 64, 6);
  testing::write_bytes(folder / "a.pgm", {1, 2, 3});
  // A file size limit stands for a full disk; the signal that comes with it is ignored.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_action = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_error(ErrorCode::io, "a.pgm: cannot be written to its end",
               [&] { write_image(folder / "a.pgm", image); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_action);
  EXPECT_EQ(testing::bytes_of_file(folder / "a.pgm"), (ByteVector{1, 2, 3}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteImage, AcceptsNamesOfTheMaximumLength) {
  const testing::TemporaryFolder folder;
  const std::string name = std::string(251, 'a') + ".png";
  const auto image = testing::random_image<std::uint8_t>(3, 3, 9);
  write_image(folder / name, image);
  expect_same(read_image<std::uint8_t>(folder / name), image);
}

TEST(WriteImage, ReplacesAFileAndLeavesNoTemporaryFile) {
  const testing::TemporaryFolder folder;
  write_image(folder / "a.png", testing::random_image<std::uint8_t>(30, 30, 7));
  const auto second = testing::random_image<std::uint16_t>(4, 3, 8);
  write_image(folder / "a.png", second);
  expect_same(read_image<std::uint16_t>(folder / "a.png"), second);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(CanReadExtension, KnowsTheExtensionsOfThisBuild) {
  for (const char* name :
       {"a.png", "a.jpg", "b.JPEG", "c.d.pgm", "/x/y.ppm", "a.PbM", "a.pnm", "a.pfm"}) {
    EXPECT_TRUE(can_read_extension(name)) << name;
  }
  for (const char* name : {"a.txt", "png", "a.png.gz", ".png", "", "a."}) {
    EXPECT_FALSE(can_read_extension(name)) << name;
  }
  EXPECT_EQ(can_read_extension("a.tif"), kHasTiff);
  EXPECT_EQ(can_read_extension("a.TIFF"), kHasTiff);
  EXPECT_EQ(can_read_extension("a.webp"), kHasWebp);
}

TEST(ReadImage, ReportsAFormatThatTheBuildLacks) {
  const ByteVector tiff = {'I', 'I', 42, 0, 8, 0, 0, 0};
  const ByteVector webp = bytes_of_text("RIFF    WEBPVP8 ");
  if (!kHasTiff) {
    expect_error(ErrorCode::unsupported, "a.tif: this build has no TIFF support (libtiff was not",
                 [&] { decode_image<std::uint8_t>(tiff, "a.tif"); });
  }
  if (!kHasWebp) {
    expect_error(ErrorCode::unsupported, "a.webp: this build has no WebP support (libwebp was not",
                 [&] { decode_image<std::uint8_t>(webp, "a.webp"); });
  }
  if (kHasTiff && kHasWebp) GTEST_SKIP() << "this build has both TIFF and WebP";
}

}  // namespace
}  // namespace cornea
