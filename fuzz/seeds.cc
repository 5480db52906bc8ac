// SPDX-License-Identifier: Apache-2.0
// fuzz_seeds FOLDER writes the seed inputs of every harness into FOLDER/HARNESS. Formats that
// Cornea writes are made with its own writers, the others with their libraries or by hand.
#include "fuzz/seeds.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

// Included after <cstdio>, because it uses FILE without including it.
#include <jpeglib.h>
#include <png.h>

#include "cornea/core/build.h"
#include "cornea/io/convert.h"
#include "cornea/io/decoded.h"
#include "cornea/io/npy.h"
#include "cornea/io/whole_file.h"
#include "fuzz/checksum.h"

namespace cornea::fuzz {

void append(ByteVector& to, const ByteVector& more) {
  to.insert(to.end(), more.begin(), more.end());
}

void Seeds::add(const std::string& harness, const std::string& name, const ByteVector& bytes) {
  std::filesystem::create_directories(folder_ / harness);
  io::write_whole_file(folder_ / harness / name, bytes);
}

void Seeds::add(const std::string& harness, const std::string& name, const std::string& text) {
  add(harness, name, ByteVector(text.begin(), text.end()));
}

void Seeds::add_and_damaged(const std::string& harness, const std::string& name,
                            const ByteVector& bytes) {
  add(harness, name, bytes);
  const auto tail = std::ptrdiff_t(bytes.size() * 3 / 4);
  add(harness, name + ".cut", ByteVector(bytes.begin(), bytes.begin() + tail));
  ByteVector noisy = bytes;
  for (auto at = noisy.begin() + tail; at != noisy.end(); ++at) *at = std::uint8_t(*at * 181 + 77);
  add(harness, name + ".noisy", noisy);
}

ByteVector pattern(std::size_t count) {
  ByteVector samples(count);
  for (std::size_t i = 0; i < count; ++i) samples[i] = std::uint8_t(i * i / 3 + 11 * i);
  return samples;
}

template <class T>
Image<T> pattern_image(int width, int height) {
  Image<Rgb<std::uint8_t>> colour(width, height);
  const ByteVector samples = pattern(std::size_t(3 * width * height));
  std::copy(samples.begin(), samples.end(), reinterpret_cast<std::uint8_t*>(colour.host().data));
  return io::convert_image<T>(HostView<const Rgb<std::uint8_t>>(colour.host()));
}
template Image<std::uint8_t> pattern_image(int, int);
template Image<std::uint16_t> pattern_image(int, int);
template Image<float> pattern_image(int, int);
template Image<Rgb<std::uint8_t>> pattern_image(int, int);
template Image<Rgb<std::uint16_t>> pattern_image(int, int);
template Image<Rgb<float>> pattern_image(int, int);

namespace {

// Writes integers in either byte order.
class Writer {
 public:
  explicit Writer(bool big_endian) : big_endian_(big_endian) {}
  Writer& number(std::uint32_t value, int size) {
    for (int i = 0; i < size; ++i) {
      bytes_.push_back(std::uint8_t(value >> 8 * (big_endian_ ? size - 1 - i : i)));
    }
    return *this;
  }
  // An entry of a TIFF image file directory (IFD): tag, type, count, and the value or its offset.
  Writer& entry(std::uint32_t tag, std::uint32_t type, std::uint32_t count, std::uint32_t value) {
    number(tag, 2).number(type, 2).number(count, 4);
    constexpr std::uint32_t kShort = 3;
    if (type == kShort && count == 1) return number(value, 2).number(0, 2);
    return number(value, 4);
  }
  Writer& text(const std::string& letters) {
    bytes_.insert(bytes_.end(), letters.begin(), letters.end());
    return *this;
  }
  const ByteVector& bytes() const { return bytes_; }

 private:
  bool big_endian_;
  ByteVector bytes_;
};

// A PNG of packed rows, written with libpng.
struct RawPng {
  int bits = 8, colour_type = PNG_COLOR_TYPE_GRAY;
  bool interlaced = false, transparent = false;

  ByteVector bytes() const {
    constexpr int kWidth = 9, kHeight = 7;
    ByteVector out;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    const auto write = [](png_structp p, png_bytep data, std::size_t n) {
      auto* to = static_cast<ByteVector*>(png_get_io_ptr(p));
      to->insert(to->end(), data, data + n);
    };
    png_set_write_fn(png, &out, write, nullptr);
    png_set_IHDR(png, info, kWidth, kHeight, bits, colour_type,
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    const png_byte alpha[] = {0, 128};
    const png_color_16 clear = {.index = 0, .red = 1, .green = 2, .blue = 3, .gray = 1};
    if (colour_type == PNG_COLOR_TYPE_PALETTE) {
      std::vector<png_color> palette(std::size_t{1} << bits);
      for (std::size_t i = 0; i < palette.size(); ++i)
        palette[i] = {png_byte(i), 2, png_byte(3 * i)};
      png_set_PLTE(png, info, palette.data(), int(palette.size()));
      if (transparent) png_set_tRNS(png, info, alpha, 2, nullptr);
    } else if (transparent) {
      png_set_tRNS(png, info, nullptr, 0, &clear);
    }
    png_write_info(png, info);
    std::vector<ByteVector> rows(kHeight, pattern(png_get_rowbytes(png, info)));
    std::vector<png_bytep> pointers;
    for (ByteVector& row : rows) pointers.push_back(row.data());
    png_write_image(png, pointers.data());
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return out;
  }
};

ByteVector png_chunk(const std::string& name, const ByteVector& data) {
  ByteVector chunk(name.begin(), name.end());
  append(chunk, data);
  ByteVector bytes(4), checksum(4);
  put_big_endian_32(std::uint32_t(data.size()), bytes.data());
  put_big_endian_32(crc32(chunk), checksum.data());
  append(bytes, chunk);
  append(bytes, checksum);
  return bytes;
}

// Inserts a chunk after the header.
ByteVector with_chunk(ByteVector png, const std::string& name, const ByteVector& data) {
  constexpr std::ptrdiff_t kHeaderEnd = 33;
  const ByteVector chunk = png_chunk(name, data);
  png.insert(png.begin() + kHeaderEnd, chunk.begin(), chunk.end());
  return png;
}

ByteVector raw_jpeg(int channels, J_COLOR_SPACE space, bool progressive) {
  constexpr int kWidth = 19, kHeight = 17;
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_width = kWidth;
  info.image_height = kHeight;
  info.input_components = channels;
  info.in_color_space = space;
  jpeg_set_defaults(&info);
  if (progressive) jpeg_simple_progression(&info);
  info.restart_in_rows = progressive ? 0 : 1;
  jpeg_start_compress(&info, TRUE);
  ByteVector row = pattern(std::size_t(kWidth * channels));
  while (info.next_scanline < info.image_height) {
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&info, &pointer, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  const ByteVector bytes(buffer, buffer + size);
  std::free(buffer);
  return bytes;
}

// Inserts EXIF as the first segment.
ByteVector with_exif(const ByteVector& jpeg, const ByteVector& exif) {
  Writer bytes(true);
  bytes.number(0xFFD8FFE1, 4)
      .number(std::uint32_t(2 + 6 + exif.size()), 2)
      .text("Exif")
      .number(0, 2);
  ByteVector out = bytes.bytes();
  append(out, exif);
  out.insert(out.end(), jpeg.begin() + 2, jpeg.end());
  return out;
}

void add_png_seeds(Seeds& seeds) {
  seeds.add_and_damaged("png", "gray8", io::encode_png(pattern_image<std::uint8_t>(9, 7)));
  seeds.add_and_damaged("png", "rgb16", io::encode_png(pattern_image<Rgb<std::uint16_t>>(9, 7)));
  seeds.add("png", "gray1", RawPng{.bits = 1}.bytes());
  seeds.add("png", "gray4_clear", RawPng{.bits = 4, .transparent = true}.bytes());
  seeds.add("png", "gray16_interlaced", RawPng{.bits = 16, .interlaced = true}.bytes());
  seeds.add("png", "gray_alpha", RawPng{.colour_type = PNG_COLOR_TYPE_GRAY_ALPHA}.bytes());
  seeds.add("png", "rgb_interlaced",
            RawPng{.colour_type = PNG_COLOR_TYPE_RGB, .interlaced = true}.bytes());
  seeds.add("png", "rgb_clear",
            RawPng{.colour_type = PNG_COLOR_TYPE_RGB, .transparent = true}.bytes());
  seeds.add("png", "rgba16", RawPng{.bits = 16, .colour_type = PNG_COLOR_TYPE_RGB_ALPHA}.bytes());
  seeds.add("png", "palette2",
            RawPng{.bits = 2, .colour_type = PNG_COLOR_TYPE_PALETTE, .transparent = true}.bytes());
  seeds.add("png", "palette8",
            RawPng{.colour_type = PNG_COLOR_TYPE_PALETTE, .interlaced = true}.bytes());
  seeds.add("png", "text", with_chunk(RawPng{}.bytes(), "tEXt", {'k', 0, 'v'}));
  const ByteVector turned = with_chunk(RawPng{}.bytes(), "eXIf", camera_exif(true, 6));
  seeds.add("png", "exif", turned);
  seeds.add("exif", "png", turned);
}

void add_jpeg_seeds(Seeds& seeds) {
  const ByteVector gray = encode_jpeg(pattern_image<std::uint8_t>(17, 9), 90);
  seeds.add_and_damaged("jpeg", "gray", gray);
  seeds.add("jpeg", "rgb", encode_jpeg(pattern_image<Rgb<std::uint8_t>>(17, 9), 50));
  seeds.add("jpeg", "restarts", raw_jpeg(3, JCS_RGB, false));
  seeds.add_and_damaged("jpeg", "progressive", raw_jpeg(3, JCS_RGB, true));
  seeds.add("jpeg", "gray_progressive", raw_jpeg(1, JCS_GRAYSCALE, true));
  seeds.add("jpeg", "cmyk", raw_jpeg(4, JCS_CMYK, false));
  for (int orientation : {3, 6}) {
    const ByteVector turned = with_exif(gray, camera_exif(orientation == 3, orientation));
    seeds.add("jpeg", text("exif", orientation), turned);
    seeds.add("exif", text("jpeg", orientation), turned);
  }
}

void add_text_header_seeds(Seeds& seeds) {
  seeds.add("pnm", "p1", "P1\n# bits\n4 2\n0 1 1 0\n1001\n");
  seeds.add("pnm", "p2", "P2 3 2 15\n0 1 2\n13 14 15\n");
  seeds.add("pnm", "p3", "P3 1 2 1023\n1 2 3 1021 1022 1023\n");
  seeds.add("pnm", "p4", "P4 9 2\n\x81\x80\x7e\x7f");
  seeds.add_and_damaged("pnm", "p5", io::encode_pnm(pattern_image<std::uint8_t>(5, 3)));
  seeds.add("pnm", "p5_wide", io::encode_pnm(pattern_image<std::uint16_t>(5, 3)));
  seeds.add("pnm", "p6", io::encode_pnm(pattern_image<Rgb<std::uint8_t>>(3, 2)));
  seeds.add("pnm", "p6_wide", io::encode_pnm(pattern_image<Rgb<std::uint16_t>>(3, 2)));
  seeds.add_and_damaged("pfm", "gray", io::encode_pfm(pattern_image<float>(4, 3)));
  seeds.add("pfm", "rgb", io::encode_pfm(pattern_image<Rgb<float>>(3, 2)));
  seeds.add("pfm", "big_endian", "Pf 2 1 1.0\n\x3f\x40zz\x7f\xc0zz");
}

void add_table_seeds(Seeds& seeds) {
  seeds.add("npy", "empty", std::string(1, '\0'));
  seeds.add("npy", "table", "\3abcdef");
  seeds.add("npy", "too_few", "\3abcd");
  seeds.add("points_csv", "named", "x,y,response\n1,2,0.5\n-3.25,4e2,-1\n");
  seeds.add("points_csv", "columns", "id, \"Y\" ,X,scale,angle\r\n7,2,1,+3,0\r\n\r\n");
  seeds.add("points_csv", "odd", "x,y\nnan,1\n1,\n");
  seeds.add("points_csv", "bytes",
            io::encode_npy(2, 3, std::vector<std::uint8_t>{1, 2, 3, 4, 5, 255}));
  seeds.add("points_csv", "floats",
            std::string("\x93NUMPY\x02\0\x3c\0\0\0", 12) +
                "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }\n" +
                std::string("\0\0\x80?", 4));
  seeds.add("matches_csv", "named", "x1,y1,x2,y2\n1,2,3,4\n0.5,-1e-3,7,8.25\n");
  seeds.add("matches_csv", "columns", "id;y2;X2;\"y1\"; x1\n\"a;\"\"b\";4;3;2;1\n");
  seeds.add("matches_csv", "wide", "# x1 y1 x2 y2 note\n1 2 3 4 \"a b\"\n");
  seeds.add("matches_csv", "index", "0,1,2,3,4\n1,2,3,4,5\n");
  seeds.add("matches_csv", "mark",
            "\xEF\xBB\xBF"
            "1;2;3;4;0.9\r\n\r\n5 6\t7 8\n");
  seeds.add("matches_csv", "odd", "nan,inf,-inf,0x1p3\n1,2,,4\n");
  seeds.add("named_matches", "text", "a.jpg b.jpg\n0 17\n3 21\n\n# next\na.jpg c.jpg\n4 5\n");
  seeds.add("named_matches", "csv", "image1,image2,index1,index2\na,b,0,1\n\"c\",b,5,6\n");
  seeds.add("named_matches", "odd", "a b\n0 -1\n");
  seeds.add("exif", "little_endian", camera_exif(false, 8));
  seeds.add_and_damaged("exif", "big_endian", camera_exif(true, 5));
}

}  // namespace

ByteVector camera_exif(bool big_endian, int orientation) {
  constexpr std::uint32_t kByte = 1, kAscii = 2, kShort = 3, kLong = 4, kRational = 5;
  constexpr std::uint32_t kFirst = 8, kSecond = kFirst + 2 + 5 * 12 + 4,
                          kGps = kSecond + 2 + 8 * 12 + 4, kEnd = kGps + 2 + 6 * 12 + 4;
  // A letter and its terminator are in the first bytes of an entry, whatever the byte order.
  const auto letter = [&](char c) {
    return big_endian ? std::uint32_t(c) << 24 : std::uint32_t(c);
  };
  Writer tiff(big_endian);
  tiff.text(big_endian ? "MM" : "II").number(42, 2).number(kFirst, 4);
  tiff.number(5, 2)
      .entry(0x010F, kAscii, 6, kEnd)  // make
      .entry(0x0110, kAscii, 3, 0x5A390000)
      .entry(0x0112, kShort, 1, std::uint32_t(orientation))
      .entry(0x8769, kLong, 1, kSecond)
      .entry(0x8825, kLong, 1, kGps)
      .number(0, 4);
  tiff.number(8, 2)
      .entry(0x9003, kAscii, 20, kEnd + 78)
      .entry(0x9291, kAscii, 2, letter('5'))
      .entry(0x920A, kRational, 1, kEnd + 6)  // focal length
      .entry(0xA002, kLong, 1, 3008)
      .entry(0xA003, kShort, 1, 2000)
      .entry(0xA20E, kRational, 1, kEnd + 14)  // pixels per unit of the sensor
      .entry(0xA210, kShort, 1, 3)
      .entry(0xA405, kShort, 1, 53)
      .number(0, 4);
  tiff.number(6, 2)
      .entry(1, kAscii, 2, letter('N'))
      .entry(2, kRational, 3, kEnd + 22)
      .entry(3, kAscii, 2, letter('W'))
      .entry(4, kRational, 3, kEnd + 46)
      .entry(5, kByte, 1, big_endian ? 1u << 24 : 1u)
      .entry(6, kRational, 1, kEnd + 70)
      .number(0, 4);
  tiff.text("Maker").number(0, 1).number(355, 4).number(10, 4).number(3008, 4).number(2, 4);
  for (const std::uint32_t part : {48, 1, 8, 1, 1425, 100}) tiff.number(part, 4);
  for (const std::uint32_t part : {11, 1, 34, 1, 315, 10}) tiff.number(part, 4);
  tiff.number(1039, 4).number(2, 4).text("2026:11:17 09:05:31").number(0, 1);
  return tiff.bytes();
}

}  // namespace cornea::fuzz

int main(int argc, char** argv) {
  using namespace cornea;
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
    return 2;
  }
  fuzz::Seeds seeds(argv[1]);
  fuzz::add_png_seeds(seeds);
  fuzz::add_jpeg_seeds(seeds);
  fuzz::add_text_header_seeds(seeds);
  fuzz::add_table_seeds(seeds);
  if constexpr (kHasTiff) fuzz::add_tiff_seeds(seeds);
  if constexpr (kHasWebp) fuzz::add_webp_seeds(seeds);
  if constexpr (kHasSqlite) fuzz::add_colmap_seeds(seeds);
  return 0;
}
