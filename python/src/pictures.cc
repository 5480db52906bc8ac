// SPDX-License-Identifier: Apache-2.0
#include "pictures.h"

#include "binding.h"
#include "tables.h"
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "cornea/core/error.h"
#include "cornea/io/convert.h"

namespace cornea::python {

Image<Rgb<std::uint8_t>> colours_of(const AnyView& image) {
  return io::visit_pixels(image,
                          [](auto view) { return io::convert_image<Rgb<std::uint8_t>>(view); });
}

namespace {

using namespace nb::literals;

DrawOptions draw_options(const Settings& settings, nb::handle colour) {
  auto options = options_from<DrawOptions>(settings, "draw");
  if (!colour.is_none()) {
    std::array<std::uint8_t, 3> rgb{};
    require(nb::try_cast(colour, rgb), "a colour is three whole numbers from 0 to 255");
    options.colour = {rgb[0], rgb[1], rgb[2]};
  }
  return options;
}

// Points with a scale are drawn as rings of that size with their angle; others as rings of a fixed
// size.
nb::object draw_points(const Context& context, nb::handle given_image, nb::handle columns,
                       nb::handle octave, const Settings& settings, nb::handle colour) {
  const GivenImage image = image_of(context, given_image);
  const Features points = features_from(columns, octave, nb::none());
  const DrawOptions options = draw_options(settings, colour);
  Image<Rgb<std::uint8_t>> picture;
  {
    nb::gil_scoped_release release;
    const Image<Rgb<std::uint8_t>> pixels = colours_of(image.view);
    bool scaled = false;
    std::vector<Corner> corners;
    for (const Keypoint& k : points.keypoints) {
      scaled |= k.scale > 0;
      corners.push_back({k.x, k.y, k.response});
    }
    picture = scaled ? draw_features(context, pixels.host(), points.keypoints, options)
                     : draw_corners(context, pixels.host(), corners, options);
  }
  return array_from(std::move(picture));
}

nb::object draw_lines(const Context& context, nb::handle first, nb::handle second,
                      nb::handle columns1, nb::handle octave1, nb::handle columns2,
                      nb::handle octave2, nb::handle matches, const Settings& settings) {
  const GivenImage a = image_of(context, first, "the first image");
  const GivenImage b = image_of(context, second, "the second image");
  const Features points1 = features_from(columns1, octave1, nb::none());
  const Features points2 = features_from(columns2, octave2, nb::none());
  const std::vector<Match> lines = matches_from(matches, points1.size(), points2.size());
  const DrawOptions options = draw_options(settings, nb::none());
  Image<Rgb<std::uint8_t>> picture;
  {
    nb::gil_scoped_release release;
    picture = draw_matches(context, colours_of(a.view).host(), colours_of(b.view).host(),
                           points1.keypoints, points2.keypoints, lines, options);
  }
  return array_from(std::move(picture));
}

}  // namespace

void bind_pictures(nb::module_& m) {
  m.def("draw_points", &draw_points, "context"_a, "image"_a.none(), "columns"_a.none(),
        "octave"_a.none(), "settings"_a, "colour"_a.none());
  m.def("draw_matches", &draw_lines, "context"_a, "first"_a.none(), "second"_a.none(),
        "columns1"_a.none(), "octave1"_a.none(), "columns2"_a.none(), "octave2"_a.none(),
        "matches"_a.none(), "settings"_a);
}

}  // namespace cornea::python
