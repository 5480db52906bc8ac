// SPDX-License-Identifier: Apache-2.0
// Reads and writes image files.
//
// Reads PNG, JPEG, PBM/PGM/PPM and PFM, and TIFF and WebP if the build has them. The first bytes of
// a file determine its format, not its name. Pixels are returned as stored: gamma, colour profile,
// EXIF or TIFF orientation and pixel range are not applied unless requested. Only the first page is
// read. Alpha is dropped, which leaves the colour beneath it; palettes are looked up.
//
// Every failure is an Error whose message begins with the name of the file. Nothing is printed.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cornea/core/export.h"
#include "cornea/core/image.h"
#include "cornea/io/exif.h"

namespace cornea {

// Which stored values mean black and white.
struct CORNEA_API PixelRange {
  enum class Kind {
    full,       // the whole range of the type: 0..255, 0..65535, 0..1
    automatic,  // the same, but 16-bit images without values above 4095 are taken as 12-bit: times
                // 16
    given       // low and high, in stored values; values beyond them are clamped
  };
  Kind kind = Kind::full;
  double low = 0, high = 0;

  void validate() const;
};

struct ReadOptions {
  // A file whose header claims more pixels is rejected before memory is allocated for them.
  std::uint64_t max_pixels = std::uint64_t{1} << 28;
  // Rotates and mirrors the pixels as EXIF (or TIFF's orientation) states; otherwise they are
  // returned as stored.
  bool upright = false;
  // The range is spread over the whole range of the type before any other conversion.
  PixelRange range = {};
};

// What a file's header states, before any conversion.
struct ImageFileInfo {
  std::string format = {};  // "PNG", "JPEG", "PBM", "PGM", "PPM", "PFM", "TIFF", "WebP"
  int width = 0, height = 0;
  int channels = 0;       // including alpha; a palette counts as its colours
  int bits = 0;           // per channel
  bool is_float = false;  // as in PFM and some TIFF files
};

// Reads only the header: the pixels behind it may still be damaged.
CORNEA_API ImageFileInfo probe_image(const std::filesystem::path& file,
                                     const ReadOptions& options = {});

// T is uint8_t, uint16_t, float or Rgb<> of these. The file's pixels are converted to T:
//   depth   8 to 16 bit: times 257; 16 to 8 bit: rounded; integers to float: 0..1; float to
//           integers: clamped to 0..1 and rounded, NaN becomes 0; float to float: untouched
//   colour  to gray by gray_value (cornea/core/pixels.h) at the stored depth, before the depth is
//           changed; gray to colour by repetition
template <class T>
CORNEA_API Image<T> read_image(const std::filesystem::path& file, const ReadOptions& options = {});

// The same from bytes in memory; `name` stands for the file in error messages.
template <class T>
CORNEA_API Image<T> decode_image(std::span<const std::uint8_t> bytes, const std::string& name,
                                 const ReadOptions& options = {});

// Gray pixels at the file's own depth.
struct CORNEA_API GrayImage {
  std::variant<Image<std::uint8_t>, Image<std::uint16_t>, Image<float>> pixels = {};
  // The stored values that became black and white, if ReadOptions::range changed any.
  std::optional<std::array<double, 2>> range = {};
  int orientation = 0;  // stated by the file's EXIF, as in Exif; 0: not stated

  AnyView view() const;
  int width() const { return view().width(); }
  int height() const { return view().height(); }
};
CORNEA_API GrayImage read_gray(const std::filesystem::path& file, const ReadOptions& options = {});
// The same from bytes in memory; `name` stands for the file in error messages.
CORNEA_API GrayImage decode_gray(std::span<const std::uint8_t> bytes, const std::string& name,
                                 const ReadOptions& options = {});

// The same, together with the camera's metadata; `exif` is empty if the file holds no readable
// EXIF.
struct Photograph {
  GrayImage image = {};
  std::optional<Exif> exif = {};
  // The size of the file in bytes and their XXH64, by which equal files are recognised.
  std::uint64_t bytes = 0, hash = 0;
};
CORNEA_API Photograph read_photograph(const std::filesystem::path& file,
                                      const ReadOptions& options = {});

// The extension in lower case: ".jpg" for "a.JPG".
CORNEA_API std::string extension_in_lower_case(const std::filesystem::path& file);

// Whether this build reads files with this extension, in upper or lower case.
CORNEA_API bool can_read_extension(const std::filesystem::path& file);

struct WriteOptions {
  int jpeg_quality = 95;  // 1..100
};

// Writes a host image in the format given by the extension:
//   .png                8 or 16 bit, gray or colour
//   .jpg .jpeg          8 bit, gray or colour (chroma at half resolution); 16 bit is rounded to 8
//   .pgm .ppm .pnm      8 or 16 bit; .pgm gray, .ppm colour (gray is repeated), .pnm either
//   .pfm                float, exact; integers become 0..1
//   .tif .tiff          8 bit, 16 bit or float, where the build has libtiff
// Float pixels are written to the integer formats as 8 bit, clamped to 0..1. Maps of doubles are an
// error: how to display them is the caller's choice. The file is written to a temporary file in the
// same folder and then renamed, so that it appears complete or not at all.
CORNEA_API void write_image(const std::filesystem::path& file, const AnyView& image,
                            const WriteOptions& options = {});
// The bytes of such a file; the extension of the name gives the format.
CORNEA_API std::vector<std::uint8_t> encode_image(const std::filesystem::path& file,
                                                  const AnyView& image,
                                                  const WriteOptions& options = {});

// Encodes an 8-bit gray or RGB image as JPEG.
CORNEA_API std::vector<std::uint8_t> encode_jpeg(const AnyView& image, int quality);

}  // namespace cornea
