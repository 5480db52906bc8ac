// SPDX-License-Identifier: Apache-2.0
#include "binding.h"
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include "cornea/core/error.h"
#include "cornea/io/image_file.h"
#include "cornea/io/matches_csv.h"
#include "cornea/io/whole_file.h"

namespace cornea::python {
namespace {

using namespace nb::literals;

// range: "auto", "full" or (low, high).
PixelRange range_from(nb::handle range) {
  if (nb::isinstance<nb::str>(range)) {
    const auto name = nb::cast<std::string>(range);
    require(name == "auto" || name == "full", "range is 'auto', 'full' or two numbers, not '", name,
            "'");
    return {name == "auto" ? PixelRange::Kind::automatic : PixelRange::Kind::full};
  }
  require(nb::len(range) == 2, "range is 'auto', 'full' or two numbers");
  PixelRange given{PixelRange::Kind::given, nb::cast<double>(range[0]), nb::cast<double>(range[1])};
  given.validate();
  return given;
}

ReadOptions reading_from(bool upright, nb::handle range, std::uint64_t max_pixels) {
  return {.max_pixels = max_pixels, .upright = upright, .range = range_from(range)};
}

// (pixels, facts): gray at the bit depth of the file, and the file's metadata.
nb::tuple read_gray_file(const std::filesystem::path& file, bool upright, nb::handle range,
                         std::uint64_t max_pixels) {
  const ReadOptions options = reading_from(upright, range, max_pixels);
  Photograph photograph;
  {
    nb::gil_scoped_release release;
    photograph = read_photograph(file, options);
  }
  nb::dict facts;
  facts["orientation"] = photograph.image.orientation;
  const GrayImage& image = photograph.image;
  const double focal =
      photograph.exif ? focal_pixels(*photograph.exif, image.width(), image.height()) : 0;
  facts["focal_pixels"] = focal > 0 ? nb::object(nb::float_(focal)) : nb::none();
  nb::object pixels =
      std::visit([](auto& own) { return array_from(std::move(own)); }, photograph.image.pixels);
  return nb::make_tuple(pixels, facts);
}

template <class T>
nb::object read_as(const std::filesystem::path& file, const ReadOptions& options) {
  Image<T> image;
  {
    nb::gil_scoped_release release;
    image = read_image<T>(file, options);
  }
  return array_from(std::move(image));
}

// RGB at the bit depth of the file.
nb::object read_colour_file(const std::filesystem::path& file, bool upright, nb::handle range,
                            std::uint64_t max_pixels, bool as_bytes) {
  const ReadOptions options = reading_from(upright, range, max_pixels);
  const ImageFileInfo info = probe_image(file, options);
  if (as_bytes || (!info.is_float && info.bits <= 8))
    return read_as<Rgb<std::uint8_t>>(file, options);
  return info.is_float ? read_as<Rgb<float>>(file, options)
                       : read_as<Rgb<std::uint16_t>>(file, options);
}

const Context& host() {
  static const Context& context = *new Context(Context::cpu(1));
  return context;
}

void write_file(const std::filesystem::path& file, nb::handle array, int jpeg_quality) {
  const GivenImage image = image_of(host(), array);
  nb::gil_scoped_release release;
  write_image(file, image.view, {.jpeg_quality = jpeg_quality});
}

nb::bytes encode_png(nb::handle array) {
  const GivenImage image = image_of(host(), array);
  std::vector<std::uint8_t> bytes;
  {
    nb::gil_scoped_release release;
    bytes = encode_image("picture.png", image.view);
  }
  return nb::bytes(bytes.data(), bytes.size());
}

void write_text_file(const std::filesystem::path& file, const nb::bytes& contents) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(contents.c_str());
  const std::vector<std::uint8_t> bytes(data, data + contents.size());
  nb::gil_scoped_release release;
  io::write_whole_file(file, bytes);
}

nb::object read_matches(const std::filesystem::path& file) {
  std::vector<Correspondence> matches;
  {
    nb::gil_scoped_release release;
    matches = read_matches_csv(file);
  }
  std::vector<float> numbers;
  numbers.reserve(4 * matches.size());
  for (const Correspondence& m : matches) numbers.insert(numbers.end(), {m.x1, m.y1, m.x2, m.y2});
  return array_from(std::move(numbers), {matches.size(), std::size_t(4)});
}

}  // namespace

void bind_files(nb::module_& m) {
  m.def("read_gray", &read_gray_file, "file"_a, "upright"_a, "range"_a, "max_pixels"_a);
  m.def("read_colour", &read_colour_file, "file"_a, "upright"_a, "range"_a, "max_pixels"_a,
        "as_bytes"_a);
  m.def("write_image", &write_file, "file"_a, "image"_a.none(), "jpeg_quality"_a);
  m.def("encode_png", &encode_png, "image"_a.none());
  m.def("write_file", &write_text_file, "file"_a, "contents"_a);
  m.def("read_matches", &read_matches, "file"_a);
  m.attr("MAX_PIXELS") = ReadOptions().max_pixels;
}

}  // namespace cornea::python
