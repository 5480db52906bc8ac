#include "cornea/report/draw.h"

#include <algorithm>
#include <cmath>

#include "cornea/core/parallel.h"

namespace cornea {
namespace {

using Colour = Rgb<std::uint8_t>;

Colour blend(Colour below, Colour above, double share) {
  auto mix = [&](int a, int b) { return std::uint8_t(std::lround(a + (b - a) * share)); };
  return {mix(below.r, above.r), mix(below.g, above.g), mix(below.b, above.b)};
}

// How much of a pixel a line of this width covers, its middle `distance` from the pixel's centre.
double coverage(double distance, double width) {
  return std::clamp(width / 2 + 0.5 - distance, 0.0, 1.0);
}

struct Pen {
  double radius, line, halo;  // pixels: of the ring, of its bright line, of the dark one under it
};

Pen pen_for(int width, int height) {
  const double line = std::max(1.5, std::max(width, height) / 900.0);
  return {3.2 * line, line, 2.2 * line};
}

Image<Colour> enlarged(const Context& context, HostView<const Colour> image, int factor) {
  Image<Colour> result(image.width * factor, image.height * factor);
  parallel_for(context, image.height, 32, [&](int begin, int end) {
    for (int y = begin * factor; y < end * factor; ++y) {
      const Colour* from = image.row(y / factor);
      Colour* to = result.host().row(y);
      for (int x = 0; x < image.width; ++x) std::fill_n(to + x * factor, factor, from[x]);
    }
  });
  return result;
}

void draw_ring(HostView<Colour> image, double cx, double cy, double radius, double width,
               Colour colour, double opacity) {
  const double reach = radius + width + 1;
  const int top = std::max(0, int(std::floor(cy - reach)));
  const int bottom = std::min(image.height - 1, int(std::ceil(cy + reach)));
  const int left = std::max(0, int(std::floor(cx - reach)));
  const int right = std::min(image.width - 1, int(std::ceil(cx + reach)));
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      const double distance = std::abs(std::hypot(x - cx, y - cy) - radius);
      const double share = coverage(distance, width) * opacity;
      if (share > 0) image(x, y) = blend(image(x, y), colour, share);
    }
  }
}

}  // namespace

Image<Colour> draw_corners(const Context& context, HostView<const Colour> image,
                           std::span<const Corner> corners, const DrawOptions& options) {
  require(!image.empty(), "there is no image to draw on");
  const int longer = std::max(image.width, image.height);
  constexpr int kLargestFactor = 8;
  const int enlarge = std::clamp((options.smallest_side + longer - 1) / longer, 1, kLargestFactor);
  Image<Colour> canvas = enlarged(context, image, enlarge);
  const Pen pen = pen_for(canvas.width(), canvas.height());
  // Pixel centres at integers: the centre of the first small pixel of a block lies off its own.
  auto at = [&](float v) { return (v + 0.5) * enlarge - 0.5; };
  // All dark lines first, so that no ring darkens its neighbour's bright line.
  for (const Corner& c : corners) {
    draw_ring(canvas.host(), at(c.x), at(c.y), pen.radius, pen.halo, {0, 0, 0}, 0.75);
  }
  for (const Corner& c : corners) {
    draw_ring(canvas.host(), at(c.x), at(c.y), pen.radius, pen.line, options.colour, 1);
  }
  return canvas;
}

}  // namespace cornea
