// SPDX-License-Identifier: Apache-2.0
// write_image: chooses the format by the extension and converts the pixels to what it can hold.
#include <new>
#include <vector>

#include "cornea/core/build.h"
#include "cornea/io/convert.h"
#include "cornea/io/decoded.h"
#include "cornea/io/image_file.h"
#include "cornea/io/whole_file.h"

namespace cornea {
namespace {

using namespace core;
using namespace io;

namespace fs = std::filesystem;
using io::Bytes;
using io::DecodedImage;

// A view, and the converted pixels if a conversion was necessary.
struct Converted {
  DecodedImage pixels;
  AnyView view;
};

template <class T>
Converted converted(const AnyView& image) {
  if (image.pixel() == pixel_of<T>()) return {{}, image};
  Image<T> pixels = io::visit_pixels(image, [](auto from) { return io::convert_image<T>(from); });
  const AnyView view = pixels;
  return {std::move(pixels), view};
}

Converted as_8_bit(const AnyView& image) {
  return is_rgb(image.pixel()) ? converted<Rgb<std::uint8_t>>(image)
                               : converted<std::uint8_t>(image);
}

Converted as_float(const AnyView& image) {
  return is_rgb(image.pixel()) ? converted<Rgb<float>>(image) : converted<float>(image);
}

Converted as_integers(const AnyView& image) {
  return channel_of(image.pixel()) == Pixel::f32 ? as_8_bit(image) : Converted{{}, image};
}

Converted as_colour_integers(const AnyView& image) {
  if (image.pixel() == Pixel::u16) return converted<Rgb<std::uint16_t>>(image);
  return is_rgb(image.pixel()) ? as_integers(image) : converted<Rgb<std::uint8_t>>(image);
}

std::vector<std::uint8_t> encode(const fs::path& file, const AnyView& image,
                                 const WriteOptions& options) {
  const std::string extension = extension_in_lower_case(file);
  if (extension == ".png") return io::encode_png(as_integers(image).view);
  if (extension == ".jpg" || extension == ".jpeg") {
    return encode_jpeg(as_8_bit(image).view, options.jpeg_quality);
  }
  if (extension == ".pgm") {
    require(!is_rgb(image.pixel()), "PGM holds gray only; name the file .ppm or .png");
    return io::encode_pnm(as_integers(image).view);
  }
  if (extension == ".ppm") return io::encode_pnm(as_colour_integers(image).view);
  if (extension == ".pnm") return io::encode_pnm(as_integers(image).view);
  if (extension == ".pfm") return io::encode_pfm(as_float(image).view);
  if (extension == ".tif" || extension == ".tiff") {
    if constexpr (kHasTiff) return io::encode_tiff(image);
    fail(ErrorCode::unsupported,
         "this build has no TIFF support (libtiff was not found); name the file .png or .pfm");
  }
  fail(ErrorCode::unsupported, "no image format is written for the extension \"", extension,
       "\"; use .png, .jpg, .pgm, .ppm, .pnm, .pfm or .tif");
}

}  // namespace

std::vector<std::uint8_t> encode_image(const fs::path& file, const AnyView& image,
                                       const WriteOptions& options) {
  try {
    require(!image.empty(), "an image without pixels cannot be written");
    require(!image.on_device(), "the image lives in device memory; copy it first");
    require(image.pixel() != Pixel::f64,
            "a map of doubles cannot be stored in an image format; scale it to float");
    return encode(file, image, options);
  } catch (const Error& error) {
    fail(error.code(), file.string(), ": ", error.what());
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::out_of_memory, file.string(),
         ": not enough memory for its bytes; free memory first");
  }
}

void write_image(const fs::path& file, const AnyView& image, const WriteOptions& options) {
  write_whole_file(file, encode_image(file, image, options));
}

}  // namespace cornea
