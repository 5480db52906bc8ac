// SPDX-License-Identifier: Apache-2.0
#include "cornea/report/draw.h"

#include <algorithm>
#include <cmath>

#include "cornea/core/parallel.h"

namespace cornea {
namespace {

using namespace core;

using Colour = Rgb<std::uint8_t>;

Colour blend(Colour below, Colour above, double share) {
  auto mix = [&](int a, int b) { return std::uint8_t(std::lround(a + (b - a) * share)); };
  return {mix(below.r, above.r), mix(below.g, above.g), mix(below.b, above.b)};
}

// The coverage of a pixel by a line of this width whose centre line is `distance` away from the
// pixel's centre.
double coverage(double distance, double width) {
  return std::clamp(width / 2 + 0.5 - distance, 0.0, 1.0);
}

struct Pen {
  // pixels: radius of the ring, width of its bright line and of the dark line under it
  double radius, line, halo;
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

// Draws over a box of pixels with a function that returns the distance of a pixel from the line.
template <class Distance>
void draw_line(HostView<Colour> image, double left, double top, double right, double bottom,
               double width, Colour colour, double opacity, const Distance& distance) {
  const int y0 = std::max(0, int(std::floor(top - width - 1)));
  const int y1 = std::min(image.height - 1, int(std::ceil(bottom + width + 1)));
  const int x0 = std::max(0, int(std::floor(left - width - 1)));
  const int x1 = std::min(image.width - 1, int(std::ceil(right + width + 1)));
  for (int y = y0; y <= y1; ++y) {
    for (int x = x0; x <= x1; ++x) {
      const double share = coverage(distance(x, y), width) * opacity;
      if (share > 0) image(x, y) = blend(image(x, y), colour, share);
    }
  }
}

void draw_ring(HostView<Colour> image, double cx, double cy, double radius, double width,
               Colour colour, double opacity) {
  draw_line(image, cx - radius, cy - radius, cx + radius, cy + radius, width, colour, opacity,
            [=](int x, int y) { return std::abs(std::hypot(x - cx, y - cy) - radius); });
}

// From (x0, y0) to (x1, y1).
void draw_segment(HostView<Colour> image, double x0, double y0, double x1, double y1, double width,
                  Colour colour, double opacity) {
  const double dx = x1 - x0, dy = y1 - y0, square = std::max(dx * dx + dy * dy, 1e-12);
  draw_line(image, std::min(x0, x1), std::min(y0, y1), std::max(x0, x1), std::max(y0, y1), width,
            colour, opacity, [=](int x, int y) {
              const double t = std::clamp(((x - x0) * dx + (y - y0) * dy) / square, 0.0, 1.0);
              return std::hypot(x - x0 - t * dx, y - y0 - t * dy);
            });
}

// The same for long lines: only pixels near the line are visited.
void draw_long_line(HostView<Colour> image, double x0, double y0, double x1, double y1,
                    double width, Colour colour, double opacity) {
  const bool steep = std::abs(y1 - y0) > std::abs(x1 - x0);
  if (steep) {
    std::swap(x0, y0);
    std::swap(x1, y1);
  }
  if (x0 > x1) {
    std::swap(x0, x1);
    std::swap(y0, y1);
  }
  const double slope = x1 > x0 ? (y1 - y0) / (x1 - x0) : 0, squeeze = 1 / std::hypot(1.0, slope);
  const double reach = (width / 2 + 0.5) / squeeze;
  const int along_end = steep ? image.height : image.width;
  const int across_end = steep ? image.width : image.height;
  const int last = std::min(along_end - 1, int(std::ceil(x1)));
  for (int x = std::max(0, int(std::floor(x0))); x <= last; ++x) {
    const double middle = y0 + (x - x0) * slope;
    const int bottom = std::min(across_end - 1, int(std::floor(middle + reach)));
    for (int y = std::max(0, int(std::ceil(middle - reach))); y <= bottom; ++y) {
      const double share = coverage(std::abs(y - middle) * squeeze, width) * opacity;
      Colour& pixel = steep ? image(y, x) : image(x, y);
      pixel = blend(pixel, colour, share);
    }
  }
}

// The image on which marks are drawn, and the mapping of the original's pixels to it.
struct Canvas {
  Image<Colour> image;
  int enlarge;
  Pen pen;
  // Pixel centres are at integers, so enlarging shifts them by half a pixel of each scale.
  double at(float v) const { return (v + 0.5) * enlarge - 0.5; }
};

Canvas canvas_for(const Context& context, HostView<const Colour> image,
                  const DrawOptions& options) {
  require(!image.empty(), "there is no image to draw on");
  const int longer = std::max(image.width, image.height);
  constexpr int kLargestFactor = 8;
  const int enlarge = std::clamp((options.smallest_side + longer - 1) / longer, 1, kLargestFactor);
  Image<Colour> large = enlarged(context, image, enlarge);
  const Pen pen = pen_for(large.width(), large.height());
  return {std::move(large), enlarge, pen};
}

// Draws all dark lines first, so that no mark darkens its neighbour's bright line.
template <class Draw>
void draw_twice(const Pen& pen, Colour colour, const Draw& draw) {
  draw(pen.halo, Colour{0, 0, 0}, 0.75);
  draw(pen.line, colour, 1.0);
}

}  // namespace

Image<Colour> draw_corners(const Context& context, HostView<const Colour> image,
                           std::span<const Corner> corners, const DrawOptions& options) {
  Canvas canvas = canvas_for(context, image, options);
  draw_twice(canvas.pen, options.colour, [&](double width, Colour colour, double opacity) {
    for (const Corner& c : corners) {
      draw_ring(canvas.image.host(), canvas.at(c.x), canvas.at(c.y), canvas.pen.radius, width,
                colour, opacity);
    }
  });
  return std::move(canvas.image);
}

Image<Colour> draw_features(const Context& context, HostView<const Colour> image,
                            std::span<const Keypoint> points, const DrawOptions& options) {
  Canvas canvas = canvas_for(context, image, options);
  draw_twice(canvas.pen, options.colour, [&](double width, Colour colour, double opacity) {
    for (const Keypoint& p : points) {
      const double x = canvas.at(p.x), y = canvas.at(p.y), radius = 2.0 * p.scale * canvas.enlarge;
      draw_ring(canvas.image.host(), x, y, radius, width, colour, opacity);
      draw_segment(canvas.image.host(), x, y, x + radius * std::cos(p.angle),
                   y + radius * std::sin(p.angle), width, colour, opacity);
    }
  });
  return std::move(canvas.image);
}

Image<Colour> draw_matches(const Context& context, HostView<const Colour> first,
                           HostView<const Colour> second, std::span<const Keypoint> first_points,
                           std::span<const Keypoint> second_points, std::span<const Match> matches,
                           const DrawOptions& options) {
  require(!first.empty() && !second.empty(), "there is no image to draw on");
  Image<Colour> both(first.width + second.width, std::max(first.height, second.height));
  for (int y = 0; y < both.height(); ++y) {
    Colour* row = both.host().row(y);
    std::fill_n(row, both.width(), Colour{0, 0, 0});
    if (y < first.height) std::copy_n(first.row(y), first.width, row);
    if (y < second.height) std::copy_n(second.row(y), second.width, row + first.width);
  }
  Canvas canvas = canvas_for(context, both.host(), options);
  // Bright colours that colour-blind people can distinguish (Okabe and Ito).
  constexpr Colour kColours[] = {{230, 159, 0},  {86, 180, 233}, {0, 158, 115},
                                 {240, 228, 66}, {213, 94, 0},   {204, 121, 167}};
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const Match& m = matches[i];
    require(m.a >= 0 && std::size_t(m.a) < first_points.size() && m.b >= 0 &&
                std::size_t(m.b) < second_points.size(),
            "match ", i, " joins points ", m.a, " and ", m.b, ", which do not exist");
  }
  const std::size_t most = options.most_lines > 0 ? options.most_lines : matches.size();
  const std::size_t lines = std::min(most, matches.size());
  for (std::size_t line = 0; line < lines; ++line) {
    const Match& m = matches[line * matches.size() / lines];
    const Keypoint &a = first_points[m.a], &b = second_points[m.b];
    const double x0 = canvas.at(a.x), y0 = canvas.at(a.y);
    const double x1 = canvas.at(b.x + float(first.width)), y1 = canvas.at(b.y);
    const Colour colour = kColours[line % std::size(kColours)];
    const HostView<Colour> to = canvas.image.host();
    draw_long_line(to, x0, y0, x1, y1, canvas.pen.line, colour, 0.8);
    draw_ring(to, x0, y0, canvas.pen.radius, canvas.pen.line, colour, 1);
    draw_ring(to, x1, y1, canvas.pen.radius, canvas.pen.line, colour, 1);
  }
  return std::move(canvas.image);
}

}  // namespace cornea
