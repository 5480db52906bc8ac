// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/image_file.h"

#include <algorithm>
#include <array>
#include <new>

#include "cornea/core/build.h"
#include "cornea/core/lower_case.h"
#include "cornea/io/content_hash.h"
#include "cornea/io/convert.h"
#include "cornea/io/decoded.h"
#include "cornea/io/loaded_file.h"
#include "cornea/io/pixel_range.h"
#include "cornea/io/upright.h"

namespace cornea {
namespace {

using namespace core;
using namespace io;

namespace fs = std::filesystem;
using io::Bytes;
using io::DecodedImage;
using io::Source;

[[noreturn]] void fail_not_built(const std::string& file, const char* format, const char* library) {
  fail(ErrorCode::unsupported, file, ": this build has no ", format, " support (", library,
       " was not found); convert the file to PNG");
}

// Without a library its functions do not exist; a discarded `if constexpr` branch may still name
// them.
ImageFileInfo probe_tiff(const Source& source) {
  if constexpr (kHasTiff) return io::probe_tiff(source);
  fail_not_built(source.name, "TIFF", "libtiff");
}
DecodedImage decode_tiff(const Source& source) {
  if constexpr (kHasTiff) return io::decode_tiff(source);
  fail_not_built(source.name, "TIFF", "libtiff");
}
ImageFileInfo probe_webp(const Source& source) {
  if constexpr (kHasWebp) return io::probe_webp(source);
  fail_not_built(source.name, "WebP", "libwebp");
}
DecodedImage decode_webp(const Source& source) {
  if constexpr (kHasWebp) return io::decode_webp(source);
  fail_not_built(source.name, "WebP", "libwebp");
}

struct Format {
  bool (*is)(Bytes);
  ImageFileInfo (*probe)(const Source&);
  DecodedImage (*decode)(const Source&);
  bool built_in;
  std::array<const char*, 4> extensions;  // in lower case; unused ones are null
};

constexpr Format kFormats[] = {
    {io::is_png, io::probe_png, io::decode_png, true, {".png"}},
    {io::is_jpeg, io::probe_jpeg, io::decode_jpeg, true, {".jpg", ".jpeg"}},
    {io::is_pnm, io::probe_pnm, io::decode_pnm, true, {".pgm", ".ppm", ".pbm", ".pnm"}},
    {io::is_pfm, io::probe_pfm, io::decode_pfm, true, {".pfm"}},
    {io::is_tiff, probe_tiff, decode_tiff, kHasTiff, {".tif", ".tiff"}},
    {io::is_webp, probe_webp, decode_webp, kHasWebp, {".webp"}},
};

// Calls f and turns running out of memory into an error that names the file.
template <class F>
auto naming_the_file(const std::string& name, F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::out_of_memory, name,
         ": not enough memory for its pixels; free memory or scale it down");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    fail(ErrorCode::out_of_memory, name, ": ", error.what(), "; free memory or scale it down");
  }
}

const Format& format_of(const Source& source) {
  if (source.bytes.empty()) {
    fail(ErrorCode::io, source.name, ": is empty; copy or save the file again");
  }
  for (const Format& format : kFormats) {
    if (format.is(source.bytes)) return format;
  }
  fail(ErrorCode::io, source.name,
       ": its first bytes are not those of an image that Cornea knows (PNG, JPEG, PBM, PGM, PPM, "
       "PFM, TIFF, WebP); convert it to PNG");
}

// The pixels, in the requested range and rotation, and what is known about them.
struct Decoded {
  DecodedImage pixels;
  std::optional<Exif> exif;
  std::optional<std::array<double, 2>> range;
};
Decoded decoded(Bytes bytes, const std::string& name, const ReadOptions& options) {
  const Source source{bytes, name, options.max_pixels};
  Decoded image{format_of(source).decode(source), decode_exif(bytes), {}};
  image.range = io::spread(image.pixels, options.range);
  const int orientation = image.exif.value_or(Exif{}).orientation;
  if (!options.upright || orientation == 1) return image;
  image.pixels = std::visit(
      [&]<class T>(const Image<T>& stored) -> DecodedImage {
        return io::turned_upright<T>(stored.host(), orientation);
      },
      image.pixels);
  return image;
}

template <class T>
Image<T> into(DecodedImage image) {
  if (auto* same = std::get_if<Image<T>>(&image)) return std::move(*same);
  return std::visit(
      []<class From>(const Image<From>& from) {
        return io::convert_image<T>(HostView<const From>(from.host()));
      },
      image);
}

GrayImage gray_at_own_depth(Decoded image) {
  return std::visit(
      [&]<class From>(Image<From>& from) -> GrayImage {
        return {into<typename io::ColourOf<From>::Channel>(std::move(from)), image.range,
                image.exif ? image.exif->orientation : 0};
      },
      image.pixels);
}

}  // namespace

ImageFileInfo probe_image(const fs::path& file, const ReadOptions& options) {
  return naming_the_file(file.string(), [&] {
    const io::LoadedFile loaded(file);
    const Source source{loaded.bytes(), file.string(), options.max_pixels};
    return format_of(source).probe(source);
  });
}

template <class T>
Image<T> read_image(const fs::path& file, const ReadOptions& options) {
  return naming_the_file(file.string(), [&] {
    return into<T>(decoded(io::LoadedFile(file).bytes(), file.string(), options).pixels);
  });
}

template <class T>
Image<T> decode_image(std::span<const std::uint8_t> bytes, const std::string& name,
                      const ReadOptions& options) {
  return naming_the_file(name, [&] { return into<T>(decoded(bytes, name, options).pixels); });
}

GrayImage read_gray(const fs::path& file, const ReadOptions& options) {
  return naming_the_file(file.string(), [&] {
    return gray_at_own_depth(decoded(io::LoadedFile(file).bytes(), file.string(), options));
  });
}

GrayImage decode_gray(std::span<const std::uint8_t> bytes, const std::string& name,
                      const ReadOptions& options) {
  return naming_the_file(name, [&] { return gray_at_own_depth(decoded(bytes, name, options)); });
}

Photograph read_photograph(const fs::path& file, const ReadOptions& options) {
  return naming_the_file(file.string(), [&]() -> Photograph {
    const io::LoadedFile loaded(file);
    Decoded image = decoded(loaded.bytes(), file.string(), options);
    const std::optional<Exif> exif = image.exif;
    return {gray_at_own_depth(std::move(image)), exif, loaded.bytes().size(),
            content_hash(loaded.bytes())};
  });
}

AnyView GrayImage::view() const {
  return std::visit([](const auto& image) { return AnyView(image); }, pixels);
}

std::string extension_in_lower_case(const fs::path& file) {
  return in_lower_case(file.extension().string());
}

bool can_read_extension(const fs::path& file) {
  const std::string extension = extension_in_lower_case(file);
  return std::any_of(std::begin(kFormats), std::end(kFormats), [&](const Format& format) {
    return format.built_in && std::any_of(format.extensions.begin(), format.extensions.end(),
                                          [&](const char* e) { return e && e == extension; });
  });
}

template Image<std::uint8_t> read_image(const fs::path&, const ReadOptions&);
template Image<std::uint16_t> read_image(const fs::path&, const ReadOptions&);
template Image<float> read_image(const fs::path&, const ReadOptions&);
template Image<Rgb<std::uint8_t>> read_image(const fs::path&, const ReadOptions&);
template Image<Rgb<std::uint16_t>> read_image(const fs::path&, const ReadOptions&);
template Image<Rgb<float>> read_image(const fs::path&, const ReadOptions&);

template Image<std::uint8_t> decode_image(Bytes, const std::string&, const ReadOptions&);
template Image<std::uint16_t> decode_image(Bytes, const std::string&, const ReadOptions&);
template Image<float> decode_image(Bytes, const std::string&, const ReadOptions&);
template Image<Rgb<std::uint8_t>> decode_image(Bytes, const std::string&, const ReadOptions&);
template Image<Rgb<std::uint16_t>> decode_image(Bytes, const std::string&, const ReadOptions&);
template Image<Rgb<float>> decode_image(Bytes, const std::string&, const ReadOptions&);

}  // namespace cornea
