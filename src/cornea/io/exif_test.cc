// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/exif.h"

#include "cornea/io/exif_testing.h"
#include "cornea/io/file_testing.h"

namespace cornea {
namespace {

using namespace core;

using testing::ByteVector;
using testing::TiffMaker;
using testing::with_exif;

ByteVector camera_tiff(bool big_endian, std::uint32_t orientation) {
  // The second IFD follows the first; its offset is known only once the first has been built.
  std::uint32_t second = 0;
  for (;;) {
    TiffMaker tiff(big_endian);
    tiff.folder({tiff.text(0x010F, "Maker & Sons "), tiff.text(0x0110, "Z9"),
                 tiff.whole(0x0112, orientation), tiff.whole(0x8769, second, true),
                 tiff.whole(0x8825, second, true)});
    if (second == tiff.size()) {
      // GPS and EXIF use different tags, so that one IFD can serve as both.
      tiff.folder({tiff.text(1, "N"), tiff.rationals(2, {48, 1, 8, 1, 1425, 100}),
                   tiff.text(3, "W"), tiff.rationals(4, {11, 1, 34, 1, 315, 10}), tiff.byte(5, 1),
                   tiff.rational(6, 1039, 2), tiff.text(0x9003, "2026:11:17 09:05:31"),
                   tiff.text(0x9291, "25"), tiff.rational(0x920A, 355, 10),
                   tiff.whole(0xA002, 3008, true), tiff.whole(0xA003, 2000, true),
                   tiff.rational(0xA20E, 3008, 2), tiff.whole(0xA210, 3), tiff.whole(0xA405, 53)});
      return tiff.bytes();
    }
    second = std::uint32_t(tiff.size());
  }
}

TEST(Exif, ReadsOrientationAndLensInBothByteOrders) {
  for (bool big_endian : {false, true}) {
    const ByteVector jpeg = encode_jpeg(testing::random_image<std::uint8_t>(8, 8, 1), 90);
    const auto exif = decode_exif(with_exif(jpeg, camera_tiff(big_endian, 6)));
    ASSERT_TRUE(exif);
    EXPECT_EQ(exif->orientation, 6);
    EXPECT_TRUE(exif->swaps_sides());
    EXPECT_TRUE(exif->orientation_said);
    EXPECT_DOUBLE_EQ(exif->focal_mm, 35.5);
    EXPECT_DOUBLE_EQ(exif->focal_35mm, 53);
    EXPECT_DOUBLE_EQ(exif->focal_plane_pixels_per_mm, 150.4);
    EXPECT_EQ(exif->pixels_across, 3008);
    EXPECT_EQ(exif->pixels_down, 2000);
    EXPECT_EQ(exif->make, "Maker & Sons");
    EXPECT_EQ(exif->model, "Z9");
    EXPECT_EQ(exif->taken, "2026-11-17 09:05:31.25");
    EXPECT_TRUE(exif->gps);
  }
}

TEST(Exif, FilesWithoutExifGiveNone) {
  const auto image = testing::random_image<std::uint8_t>(8, 8, 2);
  for (const char* name : {"a.jpg", "a.png", "a.pgm"}) {
    EXPECT_FALSE(decode_exif(testing::encoded(name, image))) << name;
  }
  EXPECT_FALSE(decode_exif({}));
}

TEST(Exif, IsFoundInPngAndWebpChunks) {
  const ByteVector tiff = camera_tiff(true, 3);
  const auto low = std::uint8_t(tiff.size() % 256), high = std::uint8_t(tiff.size() / 256);
  ByteVector png = testing::encoded("a.png", testing::random_image<std::uint8_t>(8, 8, 3));
  ByteVector chunk = {0, 0, high, low, 'e', 'X', 'I', 'f'};
  testing::append(chunk, tiff);
  testing::append(chunk, {0, 0, 0, 0});
  png.insert(png.begin() + 33, chunk.begin(), chunk.end());  // after the header
  ASSERT_TRUE(decode_exif(png));
  EXPECT_EQ(decode_exif(png)->orientation, 3);

  ByteVector webp = testing::bytes_of_text("RIFFxxxxWEBPVP8X");
  testing::append(webp, {3, 0, 0, 0, 1, 2, 3, 0});  // an odd chunk and its padding
  testing::append(webp, {'E', 'X', 'I', 'F', low, high, 0, 0});
  testing::append(webp, tiff);
  ASSERT_TRUE(decode_exif(webp));
  EXPECT_EQ(decode_exif(webp)->orientation, 3);
}

TEST(Exif, InconsistentFieldsKeepTheirDefaults) {
  TiffMaker tiff(false);
  tiff.folder({tiff.whole(0x0112, 9),
               {0x010F, 2, 4000000000u, {1, 2, 3, 4}},
               {0x0110, 5, 1, {0xF0, 0xFF, 0xFF, 0xFF}},
               tiff.whole(0x8769, 0xFFFFFFF0u, true)});
  const auto exif = decode_exif(tiff.bytes());
  ASSERT_TRUE(exif);
  EXPECT_EQ(exif->orientation, 1);
  EXPECT_FALSE(exif->orientation_said);
  EXPECT_EQ(exif->make, "");
  EXPECT_EQ(exif->model, "");
  EXPECT_EQ(exif->focal_mm, 0);
}

TEST(Exif, AnIfdThatPointsToItselfTerminates) {
  TiffMaker tiff(true);
  tiff.folder({tiff.whole(0x8769, 8, true), tiff.whole(0x0112, 5)});
  ASSERT_TRUE(decode_exif(tiff.bytes()));
  EXPECT_EQ(decode_exif(tiff.bytes())->orientation, 5);
}

TEST(Exif, ADenominatorOfZeroGivesNoFocalLength) {
  TiffMaker tiff(true);
  tiff.folder({tiff.whole(0x8769, 26, true)});
  ASSERT_EQ(tiff.size(), 26u);
  tiff.folder({tiff.rational(0x920A, 35, 0), tiff.rational(0xA20E, 0, 0)});
  ASSERT_TRUE(decode_exif(tiff.bytes()));
  EXPECT_EQ(decode_exif(tiff.bytes())->focal_mm, 0);
  EXPECT_EQ(decode_exif(tiff.bytes())->focal_plane_pixels_per_mm, 0);
}

using Fields = std::vector<TiffMaker::Field>;

// The EXIF read from an IFD that `tag` points to.
Exif exif_of_folder(std::uint32_t tag, bool big_endian, const Fields& fields) {
  TiffMaker tiff(big_endian);
  tiff.folder({tiff.whole(tag, 26, true)});
  tiff.folder(fields);
  return decode_exif(tiff.bytes()).value();
}

const TiffMaker kLittle(false);

// 48 degrees 8' 14.25" north, 11 degrees 34' 31.5" west, 519.5 m below sea level.
Fields munich_or_not() {
  return {kLittle.text(1, "N"), kLittle.rationals(2, {48, 1, 8, 1, 1425, 100}),
          kLittle.text(3, "W"), kLittle.rationals(4, {11, 1, 34, 1, 315, 10}),
          kLittle.byte(5, 1),   kLittle.rationals(6, {1039, 2})};
}

Exif exif_of_gps(const Fields& fields) { return exif_of_folder(0x8825, false, fields); }

Exif with_gps_field(std::size_t index, const TiffMaker::Field& field) {
  Fields fields = munich_or_not();
  fields[index] = field;
  return exif_of_gps(fields);
}

TEST(Exif, ReadsWhereAPhotographWasTaken) {
  const auto gps = exif_of_gps(munich_or_not()).gps;
  ASSERT_TRUE(gps);
  EXPECT_DOUBLE_EQ(gps->latitude, 48 + 8 / 60.0 + 14.25 / 3600);
  EXPECT_DOUBLE_EQ(gps->longitude, -(11 + 34 / 60.0 + 31.5 / 3600));
  EXPECT_EQ(gps->altitude_m, -519.5);

  const TiffMaker big(true);
  const auto south =
      exif_of_folder(0x8825, true,
                     {big.text(1, "S"), big.rationals(2, {3350, 100, 0, 1, 0, 1}), big.text(3, "E"),
                      big.rationals(4, {151, 1, 125, 10, 0, 1}), big.rationals(6, {58, 1})});
  ASSERT_TRUE(south.gps);
  EXPECT_EQ(south.gps->latitude, -33.5);
  EXPECT_EQ(south.gps->longitude, 151 + 12.5 / 60);
  EXPECT_EQ(south.gps->altitude_m, 58);  // above sea level unless the reference states otherwise
  EXPECT_EQ(with_gps_field(4, kLittle.byte(5, 2)).gps->altitude_m, 519.5);
}

TEST(Exif, InvalidPositionsAreDropped) {
  for (std::size_t missing : {0, 1, 2, 3}) {
    Fields fields = munich_or_not();
    fields.erase(fields.begin() + std::ptrdiff_t(missing));
    EXPECT_FALSE(exif_of_gps(fields).gps) << missing;
  }
  EXPECT_FALSE(with_gps_field(0, kLittle.text(1, "E")).gps);
  EXPECT_FALSE(with_gps_field(0, kLittle.text(1, "")).gps);
  EXPECT_FALSE(with_gps_field(1, kLittle.rationals(2, {48, 1, 8, 1, 0, 0})).gps);
  EXPECT_FALSE(with_gps_field(1, kLittle.rationals(2, {48, 0, 8, 1, 0, 1})).gps);
  EXPECT_FALSE(with_gps_field(1, kLittle.rationals(2, {90, 1, 0, 1, 1, 1})).gps);
  EXPECT_FALSE(with_gps_field(1, kLittle.rationals(2, {48, 1, 61, 1, 1, 1})).gps);
  EXPECT_FALSE(with_gps_field(1, kLittle.rationals(2, {48, 1, 8, 1})).gps);
  EXPECT_FALSE(with_gps_field(1, kLittle.whole(2, 48, true)).gps);
  EXPECT_FALSE(with_gps_field(3, kLittle.rationals(4, {181, 1, 0, 1, 0, 1})).gps);
  EXPECT_TRUE(with_gps_field(3, kLittle.rationals(4, {180, 1, 0, 1, 0, 1})).gps);
  EXPECT_FALSE(with_gps_field(5, kLittle.text(9, "V")).gps);
  EXPECT_TRUE(with_gps_field(5, kLittle.text(9, "A")).gps);
}

TEST(Exif, AnInvalidAltitudeKeepsThePosition) {
  for (const TiffMaker::Field& field :
       {kLittle.rationals(6, {5, 0}), kLittle.rationals(6, {0xFFFFFFFFu, 1}),
        kLittle.rationals(6, {1, 1, 2, 1}), kLittle.whole(6, 7)}) {
    const auto gps = with_gps_field(5, field).gps;
    ASSERT_TRUE(gps);
    EXPECT_FALSE(gps->altitude_m);
  }
  EXPECT_FALSE(with_gps_field(4, kLittle.byte(5, 4)).gps->altitude_m);
  EXPECT_FALSE(with_gps_field(4, kLittle.text(5, "1")).gps->altitude_m);
}

TEST(Exif, ReadsWhenAPhotographWasTaken) {
  auto taken = [](const std::string& date_time, const std::string& part) {
    return exif_of_folder(0x8769, false,
                          {kLittle.text(0x9003, date_time), kLittle.text(0x9291, part)})
        .taken;
  };
  EXPECT_EQ(taken("2026:11:17 09:05:31", "250"), "2026-11-17 09:05:31.25");
  EXPECT_EQ(taken("2026:11:17 09:05:31", "05  "), "2026-11-17 09:05:31.05");
  for (const char* part : {"", "000", "x", "1.5", "1234567890"}) {
    EXPECT_EQ(taken("2026:11:17 09:05:31", part), "2026-11-17 09:05:31") << part;
  }
  EXPECT_LT(taken("2026:11:17 09:05:31", ""), taken("2026:11:17 09:05:31", "05"));
  EXPECT_LT(taken("2026:11:17 09:05:31", "05"), taken("2026:11:17 09:05:31", "5"));
  for (const char* none :
       {"0000:00:00 00:00:00", "    :  :     :  :  ", "2026:13:17 09:05:31", "2026:11:32 09:05:31",
        "2026:11:17 24:05:31", "2026:11:17 09:60:31", "2026:11:17 09:05:61", "2026:11:17",
        "2026-11-17 09:05:31", "2026:11:17 09:05:311"}) {
    EXPECT_EQ(taken(none, "25"), "") << none;
  }
}

// The copies are exactly as long as the cut, so that a sanitizer detects reads beyond the end.
TEST(Exif, SurvivesTruncationAndNoise) {
  const ByteVector jpeg = encode_jpeg(testing::random_image<std::uint8_t>(8, 8, 4), 50);
  const ByteVector whole = with_exif(jpeg, camera_tiff(true, 8));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const ByteVector cut(whole.begin(), whole.begin() + std::ptrdiff_t(length));
    decode_exif(cut);
  }
  const ByteVector tiff = camera_tiff(false, 8);
  for (std::size_t length = 0; length < tiff.size(); ++length) {
    decode_exif(ByteVector(tiff.begin(), tiff.begin() + std::ptrdiff_t(length)));
  }
  Random random(5);
  for (int round = 0; round < 20000; ++round) {
    ByteVector noisy = round % 2 ? whole : tiff;
    for (int k = random.integer(1, 6); k > 0; --k) {
      const int last = int(std::min<std::size_t>(noisy.size(), 260)) - 1;
      noisy[std::size_t(random.integer(0, last))] = std::uint8_t(random.integer(0, 255));
    }
    const auto exif = decode_exif(noisy);
    if (!exif) continue;
    EXPECT_GE(exif->orientation, 1);
    EXPECT_LE(exif->orientation, 8);
    EXPECT_GE(exif->focal_mm, 0);
    EXPECT_LE(exif->make.size(), 256u);
    if (exif->gps) {
      EXPECT_LE(std::abs(exif->gps->latitude), 90);
      EXPECT_LE(std::abs(exif->gps->longitude), 180);
      EXPECT_LE(std::abs(exif->gps->altitude_m.value_or(0)), 1e5);
    }
  }
}

// The corner of the upright picture that each stored corner becomes, by the standard's table for
// orientations 1 to 8: stored row 0 is the picture's top, top, bottom, bottom, left, right, right,
// left side, and stored column 0 its left, right, right, left, top, top, bottom, bottom.
TEST(Exif, ReadingUprightRotatesAndMirrors) {
  Image<std::uint8_t> stored(48, 32);  // four flat corners, whole JPEG blocks each
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 48; ++x) stored(x, y) = std::uint8_t(40 + 60 * (x >= 24) + 120 * (y >= 16));
  }
  constexpr int kTopLeft = 40, kTopRight = 100, kBottomLeft = 160, kBottomRight = 220;
  struct Shown {
    int top_left, top_right, bottom_left;
  };
  const Shown shown[] = {
      {kTopLeft, kTopRight, kBottomLeft},     {kTopRight, kTopLeft, kBottomRight},
      {kBottomRight, kBottomLeft, kTopRight}, {kBottomLeft, kBottomRight, kTopLeft},
      {kTopLeft, kBottomLeft, kTopRight},     {kBottomLeft, kTopLeft, kBottomRight},
      {kBottomRight, kTopRight, kBottomLeft}, {kTopRight, kBottomRight, kTopLeft}};
  const ByteVector jpeg = encode_jpeg(stored, 98);
  const testing::TemporaryFolder folder;
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    const auto file = folder / text("o", orientation, ".jpg");
    testing::write_bytes(file, with_exif(jpeg, camera_tiff(true, std::uint32_t(orientation))));
    const GrayImage upright = read_gray(file, {.upright = true});
    ASSERT_EQ(upright.width(), orientation >= 5 ? 32 : 48);
    ASSERT_EQ(upright.height(), orientation >= 5 ? 48 : 32);
    const auto pixels = upright.view().host<std::uint8_t>();
    const int right = pixels.width - 3, bottom = pixels.height - 3;
    EXPECT_NEAR(pixels(2, 2), shown[orientation - 1].top_left, 3);
    EXPECT_NEAR(pixels(right, 2), shown[orientation - 1].top_right, 3);
    EXPECT_NEAR(pixels(2, bottom), shown[orientation - 1].bottom_left, 3);
    EXPECT_EQ(read_gray(file).width(), 48);  // as stored by default
    EXPECT_EQ(read_image<Rgb<std::uint8_t>>(file, {.upright = true}).width(), upright.width());
  }
}

TEST(Exif, FocalLengthsInPixelsFollowTheLongerSide) {
  Exif exif;
  EXPECT_EQ(focal_pixels(exif, 1024, 683), 0);
  exif.focal_mm = 5;
  EXPECT_EQ(focal_pixels(exif, 1024, 683), 0);
  exif.focal_plane_pixels_per_mm = 200;
  exif.pixels_across = 2000;  // 10 mm
  EXPECT_EQ(focal_pixels(exif, 683, 1024), 512);
  exif.focal_35mm = 28;
  EXPECT_EQ(focal_pixels(exif, 1000, 500), 800);
}

}  // namespace
}  // namespace cornea
