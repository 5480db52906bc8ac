#include "cornea/io/exif.h"

#include "cornea/io/file_testing.h"

namespace cornea {
namespace {

using namespace core;

using testing::ByteVector;

// Writes a TIFF folder by folder, in either order of bytes.
class TiffMaker {
 public:
  explicit TiffMaker(bool big_endian) : big_(big_endian) {
    bytes_ = testing::bytes_of_text(big_ ? "MM" : "II");
    put(42, 2);
    put(8, 4);
  }
  struct Field {
    std::uint32_t tag, type, count;
    ByteVector value;
  };
  ByteVector number(std::uint32_t v, int size) const {
    ByteVector out;
    for (int i = 0; i < size; ++i) {
      out.push_back(std::uint8_t(v >> 8 * (big_ ? size - 1 - i : i)));
    }
    return out;
  }
  Field whole(std::uint32_t tag, std::uint32_t v, bool is_long = false) const {
    return {tag, is_long ? 4u : 3u, 1, number(v, is_long ? 4 : 2)};
  }
  Field rational(std::uint32_t tag, std::uint32_t above, std::uint32_t below) const {
    Field field{tag, 5, 1, number(above, 4)};
    testing::append(field.value, number(below, 4));
    return field;
  }
  Field text(std::uint32_t tag, const std::string& s) const {
    Field field{tag, 2, std::uint32_t(s.size() + 1), testing::bytes_of_text(s)};
    field.value.push_back(0);
    return field;
  }
  // A folder of fields, followed by the values that do not fit into four bytes.
  void folder(const std::vector<Field>& fields) {
    put(std::uint32_t(fields.size()), 2);
    ByteVector beyond;
    const std::size_t after = bytes_.size() + 12 * fields.size() + 4;
    for (const Field& f : fields) {
      put(f.tag, 2);
      put(f.type, 2);
      put(f.count, 4);
      if (f.value.size() > 4) {
        put(std::uint32_t(after + beyond.size()), 4);
        testing::append(beyond, f.value);
      } else {
        ByteVector padded = f.value;
        padded.resize(4);
        testing::append(bytes_, padded);
      }
    }
    put(0, 4);
    testing::append(bytes_, beyond);
  }
  std::size_t size() const { return bytes_.size(); }
  const ByteVector& bytes() const { return bytes_; }

 private:
  void put(std::uint32_t v, int size) { testing::append(bytes_, number(v, size)); }
  bool big_;
  ByteVector bytes_;
};

ByteVector camera_tiff(bool big_endian, std::uint32_t orientation) {
  // The second folder comes where the first one ends; its place is known once that has been made.
  std::uint32_t second = 0;
  for (;;) {
    TiffMaker tiff(big_endian);
    tiff.folder({tiff.text(0x010F, "Maker & Sons "), tiff.text(0x0110, "Z9"),
                 tiff.whole(0x0112, orientation), tiff.whole(0x8769, second, true)});
    if (second == tiff.size()) {
      tiff.folder({tiff.rational(0x920A, 355, 10), tiff.whole(0xA002, 3008, true),
                   tiff.whole(0xA003, 2000, true), tiff.rational(0xA20E, 3008, 2),
                   tiff.whole(0xA210, 3), tiff.whole(0xA405, 53)});
      return tiff.bytes();
    }
    second = std::uint32_t(tiff.size());
  }
}

// A JPEG file with the TIFF in its first segment.
ByteVector with_exif(const ByteVector& jpeg, const ByteVector& tiff) {
  ByteVector bytes(jpeg.begin(), jpeg.begin() + 2);
  const std::size_t length = 2 + 6 + tiff.size();
  testing::append(bytes, {0xFF, 0xE1, std::uint8_t(length >> 8), std::uint8_t(length)});
  testing::append(bytes, {'E', 'x', 'i', 'f', 0, 0});
  testing::append(bytes, tiff);
  bytes.insert(bytes.end(), jpeg.begin() + 2, jpeg.end());
  return bytes;
}

TEST(Exif, ReadsOrientationAndLensInBothOrdersOfBytes) {
  for (bool big_endian : {false, true}) {
    const ByteVector jpeg = encode_jpeg(testing::random_image<std::uint8_t>(8, 8, 1), 90);
    const auto exif = decode_exif(with_exif(jpeg, camera_tiff(big_endian, 6)));
    ASSERT_TRUE(exif);
    EXPECT_EQ(exif->orientation, 6);
    EXPECT_TRUE(exif->turns());
    EXPECT_DOUBLE_EQ(exif->focal_mm, 35.5);
    EXPECT_DOUBLE_EQ(exif->focal_35mm, 53);
    EXPECT_DOUBLE_EQ(exif->focal_plane_pixels_per_mm, 150.4);
    EXPECT_EQ(exif->pixels_across, 3008);
    EXPECT_EQ(exif->pixels_down, 2000);
    EXPECT_EQ(exif->make, "Maker & Sons");
    EXPECT_EQ(exif->model, "Z9");
  }
}

TEST(Exif, FilesWithoutItHaveNone) {
  const auto image = testing::random_image<std::uint8_t>(8, 8, 2);
  for (const char* name : {"a.jpg", "a.png", "a.pgm"}) {
    EXPECT_FALSE(decode_exif(testing::encoded(name, image))) << name;
  }
  EXPECT_FALSE(decode_exif({}));
}

TEST(Exif, IsFoundInPngAndWebpChunks) {
  const ByteVector tiff = camera_tiff(true, 3);
  const auto size = std::uint8_t(tiff.size());
  ASSERT_LT(tiff.size(), 256u);
  ByteVector png = testing::encoded("a.png", testing::random_image<std::uint8_t>(8, 8, 3));
  ByteVector chunk = {0, 0, 0, size, 'e', 'X', 'I', 'f'};
  testing::append(chunk, tiff);
  testing::append(chunk, {0, 0, 0, 0});
  png.insert(png.begin() + 33, chunk.begin(), chunk.end());  // after the header
  ASSERT_TRUE(decode_exif(png));
  EXPECT_EQ(decode_exif(png)->orientation, 3);

  ByteVector webp = testing::bytes_of_text("RIFFxxxxWEBPVP8X");
  testing::append(webp, {3, 0, 0, 0, 1, 2, 3, 0});  // an odd chunk and its padding
  testing::append(webp, {'E', 'X', 'I', 'F', size, 0, 0, 0});
  testing::append(webp, tiff);
  ASSERT_TRUE(decode_exif(webp));
  EXPECT_EQ(decode_exif(webp)->orientation, 3);
}

TEST(Exif, FieldsThatDoNotAddUpKeepTheirDefaults) {
  TiffMaker tiff(false);
  tiff.folder({tiff.whole(0x0112, 9),
               {0x010F, 2, 4000000000u, {1, 2, 3, 4}},
               {0x0110, 5, 1, {0xF0, 0xFF, 0xFF, 0xFF}},
               tiff.whole(0x8769, 0xFFFFFFF0u, true)});
  const auto exif = decode_exif(tiff.bytes());
  ASSERT_TRUE(exif);
  EXPECT_EQ(exif->orientation, 1);
  EXPECT_EQ(exif->make, "");
  EXPECT_EQ(exif->model, "");
  EXPECT_EQ(exif->focal_mm, 0);
}

TEST(Exif, AFolderThatPointsToItselfEnds) {
  TiffMaker tiff(true);
  tiff.folder({tiff.whole(0x8769, 8, true), tiff.whole(0x0112, 5)});
  ASSERT_TRUE(decode_exif(tiff.bytes()));
  EXPECT_EQ(decode_exif(tiff.bytes())->orientation, 5);
}

TEST(Exif, DivisionByZeroIsNoFocalLength) {
  TiffMaker tiff(true);
  tiff.folder({tiff.whole(0x8769, 26, true)});
  ASSERT_EQ(tiff.size(), 26u);
  tiff.folder({tiff.rational(0x920A, 35, 0), tiff.rational(0xA20E, 0, 0)});
  ASSERT_TRUE(decode_exif(tiff.bytes()));
  EXPECT_EQ(decode_exif(tiff.bytes())->focal_mm, 0);
  EXPECT_EQ(decode_exif(tiff.bytes())->focal_plane_pixels_per_mm, 0);
}

// Copies that are exactly as long as the cut: a sanitizer sees a read beyond.
TEST(Exif, SurvivesEveryCutAndNoise) {
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
  }
}

// The corner of the upright picture that each stored corner becomes, by the standard's table: the
// stored row 0 is the picture's top, top, bottom, bottom, left, right, right, left side, and the
// stored column 0 its left, right, right, left, top, top, bottom, bottom.
TEST(Exif, ReadingUprightTurnsAndMirrors) {
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
    EXPECT_EQ(read_gray(file).width(), 48);  // as stored unless asked
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
