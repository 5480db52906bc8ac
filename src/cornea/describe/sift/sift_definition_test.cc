// SPDX-License-Identifier: Apache-2.0
// Compares SIFT's points and orientations with steps 1 to 3 of its definition (sift.h) in double
// precision.
//
// A decision within the rounding error of floats may go either way. The definition therefore
// answers yes, no or maybe. Every yes must be found, every point that is found must be a yes or
// close to a maybe, and there must be few of the latter.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/describe/sift/sift_testing.h"

namespace cornea {
namespace {

using namespace core;

using testing::SiftOnDevice;

// Margins within which a decision is a maybe.
constexpr double kTie = 1e-6;         // between two values of D, where black to white is 1
constexpr double kRelative = 1e-4;    // of |D| to the contrast, of the curvatures to their limit
constexpr double kHalfPixel = 1e-3;   // of a position to the middle between two pixels
constexpr double kPeakHeight = 1e-3;  // of a peak to 0.8 of the highest, relative to that

enum Verdict { no, maybe, yes };
Verdict decide(double margin, double uncertainty) {
  return margin > uncertainty ? yes : margin < -uncertainty ? no : maybe;
}
bool is_between_pixels(double x) { return std::abs(x - std::floor(x) - 0.5) < kHalfPixel; }

// 1. Scale space: one level.
struct Level {
  int width, height;
  std::vector<double> values;

  Level(int width, int height) : width(width), height(height), values(width * height) {}
  double operator()(int x, int y) const { return values[y * width + x]; }
  double& operator()(int x, int y) { return values[y * width + x]; }
};

// Blurs along the rows and transposes the result, so that two calls blur both ways. The image is
// mirrored at its border without repeating the edge.
Level blurred_rows(const Level& in, double sigma) {
  const int radius = int(std::ceil(4 * sigma)), last = in.width - 1;
  Level out(in.height, in.width);
  double sum = 0;
  for (int k = -radius; k <= radius; ++k) {
    const double weight = std::exp(-k * k / (2 * sigma * sigma));
    sum += weight;
    for (int x = 0; x < in.width; ++x) {
      int from = x + k;
      while (from < 0 || from > last) from = from < 0 ? -from : 2 * last - from;
      for (int y = 0; y < in.height; ++y) out(y, x) += weight * in(from, y);
    }
  }
  for (double& v : out.values) v /= sum;
  return out;
}
Level blurred(const Level& in, double sigma) {
  return blurred_rows(blurred_rows(in, sigma), sigma);
}

// Doubles along the rows and transposes. Pixel x lies at x / 2 - 1 / 4 in the image; border pixels
// are repeated.
Level doubled_rows(const Level& in) {
  Level out(in.height, 2 * in.width);
  for (int x = 0; x < 2 * in.width; ++x) {
    const int near = x / 2, far = std::clamp(near + (x % 2 ? 1 : -1), 0, in.width - 1);
    for (int y = 0; y < in.height; ++y) out(y, x) = 0.75 * in(near, y) + 0.25 * in(far, y);
  }
  return out;
}

using Cell = std::array<int, 3>;  // x, y, l: a pixel of D_l

struct Octave {
  int index;            // -1: doubled
  double step, origin;  // pixel x lies at step x + origin in the image
  std::vector<Level> levels;

  double d(int x, int y, int l) const { return levels[l + 1](x, y) - levels[l](x, y); }
  bool has_points(const Cell& p) const {
    return p[0] >= 5 && p[1] >= 5 && p[0] < levels[0].width - 5 && p[1] < levels[0].height - 5 &&
           p[2] >= 1 && p[2] <= int(levels.size()) - 3;
  }
};

std::vector<Octave> scale_space(const Image<float>& image, const SiftOptions& options) {
  Level base(image.width(), image.height());
  std::copy_n(image.host().data, base.values.size(), base.values.begin());
  if (options.doubled) base = doubled_rows(doubled_rows(base));
  const double step = options.doubled ? 0.5 : 1, blur = options.blur / step;
  base = blurred(base, std::sqrt(options.sigma * options.sigma - blur * blur));
  std::vector<Octave> octaves;
  for (int i = 0; std::min(base.width, base.height) >= 11; ++i) {
    Octave& o = octaves.emplace_back();
    o = {options.doubled ? i - 1 : i, step * (1 << i), options.doubled ? -0.25 : 0.0, {base}};
    for (int l = 1; l < options.intervals + 3; ++l) {
      const double blurred_to = options.sigma * std::exp2(double(l) / options.intervals);
      const double added = blurred_to * std::sqrt(1 - std::exp2(-2.0 / options.intervals));
      o.levels.push_back(blurred(o.levels.back(), added));
    }
    base = Level((base.width + 1) / 2, (base.height + 1) / 2);
    for (int y = 0; y < base.height; ++y) {
      for (int x = 0; x < base.width; ++x) base(x, y) = o.levels[options.intervals](2 * x, 2 * y);
    }
  }
  return octaves;
}

// 2. Points. Whether D is positive and the largest, or negative and the smallest, of its 3 x 3 x 3
// neighbourhood.
Verdict is_extremum(const Octave& o, const Cell& p) {
  const double own = o.d(p[0], p[1], p[2]), sign = own > 0 ? 1 : -1;
  double rival = 0;
  for (int i = 0; i < 27; ++i) {
    if (i == 13) continue;  // the pixel itself
    rival = std::max(rival, sign * o.d(p[0] + i % 3 - 1, p[1] + i / 3 % 3 - 1, p[2] + i / 9 - 1));
  }
  return decide(sign * own - rival, kTie);
}

struct Fit {
  std::array<double, 3> offset;  // x, y, l of the extremum
  double value;                  // of D there
  double trace, determinant;     // of the curvatures in x and y
};
Fit fit_at(const Octave& o, const Cell& p) {
  auto d = [&](int x, int y, int l) { return o.d(p[0] + x, p[1] + y, p[2] + l); };
  const double v = d(0, 0, 0);
  const double gx = (d(1, 0, 0) - d(-1, 0, 0)) / 2, xx = d(1, 0, 0) - 2 * v + d(-1, 0, 0);
  const double gy = (d(0, 1, 0) - d(0, -1, 0)) / 2, yy = d(0, 1, 0) - 2 * v + d(0, -1, 0);
  const double gl = (d(0, 0, 1) - d(0, 0, -1)) / 2, ll = d(0, 0, 1) - 2 * v + d(0, 0, -1);
  const double xy = (d(1, 1, 0) - d(1, -1, 0) - d(-1, 1, 0) + d(-1, -1, 0)) / 4;
  const double xl = (d(1, 0, 1) - d(1, 0, -1) - d(-1, 0, 1) + d(-1, 0, -1)) / 4;
  const double yl = (d(0, 1, 1) - d(0, 1, -1) - d(0, -1, 1) + d(0, -1, -1)) / 4;
  // Solves Hessian * offset = -gradient by Gauss-Jordan elimination with pivoting.
  std::array<double, 4> rows[3] = {{xx, xy, xl, -gx}, {xy, yy, yl, -gy}, {xl, yl, ll, -gl}};
  for (int i = 0; i < 3; ++i) {
    auto less = [&](auto& a, auto& b) { return std::abs(a[i]) < std::abs(b[i]); };
    std::swap(rows[i], *std::max_element(rows + i, rows + 3, less));
    for (int k = 0; k < 3; ++k) {
      const double share = k == i ? 0 : rows[k][i] / rows[i][i];
      for (int j = 0; j < 4; ++j) rows[k][j] -= share * rows[i][j];
    }
  }
  Fit fit{{}, 0, xx + yy, xx * yy - xy * xy};
  for (int i = 0; i < 3; ++i) fit.offset[i] = rows[i][3] / rows[i][i];
  fit.value = v + (gx * fit.offset[0] + gy * fit.offset[1] + gl * fit.offset[2]) / 2;
  return fit;
}

// Follows up to 5 fits to a pixel that contains its own extremum, unless they leave the octave.
Verdict settle_strictly(const Octave& o, Cell& p, Fit& fit) {
  for (int step = 0; step < 5; ++step) {
    fit = fit_at(o, p);
    Cell move;
    for (int i = 0; i < 3; ++i) {
      if (!(std::abs(fit.offset[i]) < 1e6)) return no;
      if (is_between_pixels(fit.offset[i])) return maybe;
      move[i] = int(std::lround(fit.offset[i]));
    }
    if (move == Cell{}) return yes;
    for (int i = 0; i < 3; ++i) p[i] += move[i];
    if (!o.has_points(p)) return no;
  }
  return no;
}

// Follows up to 5 fits within the level, one pixel at a time in x and y.
Verdict settle_in_level(const Octave& o, Cell& p, Fit& fit) {
  auto is_open = [](double offset, double limit) { return std::abs(offset - limit) < 1e-3; };
  fit = fit_at(o, p);
  for (int step = 0; step < 4; ++step) {
    Cell move = {};
    for (int i = 0; i < 2; ++i) {
      if (is_open(std::abs(fit.offset[i]), 0.6)) return maybe;
      move[i] = fit.offset[i] > 0.6 ? 1 : fit.offset[i] < -0.6 ? -1 : 0;
    }
    if (move == Cell{}) break;
    for (int i = 0; i < 2; ++i) p[i] += move[i];
    if (!o.has_points(p)) return no;
    fit = fit_at(o, p);
  }
  const auto [x, y, l] = fit.offset;
  const double furthest = std::max({std::abs(x), std::abs(y), std::abs(l)});
  if (is_open(furthest, 1.5)) return maybe;
  return furthest < 1.5 ? yes : no;
}

Verdict settle(const Octave& o, Cell& p, Fit& fit, Settling settling) {
  const Cell from = p;
  const Verdict strictly = settle_strictly(o, p, fit);
  if (strictly != no || settling == Settling::strict) return strictly;
  p = from;
  return settle_in_level(o, p, fit);
}

Verdict is_stable(const Fit& fit, const SiftOptions& options) {
  const double least = options.contrast / options.intervals, r = options.edge_ratio;
  const Verdict strong = decide(std::abs(fit.value) / least - 1, kRelative);
  if (r == 0) return strong;
  // Curvatures a and r a have trace^2 / determinant = (r + 1)^2 / r.
  const double limit = fit.determinant * (r + 1) * (r + 1) / r;
  return std::min(strong, decide(limit / (fit.trace * fit.trace) - 1, kRelative));
}

// 3. Orientations.
struct Peak {
  Verdict is_peak;
  double angle;
};

// The peaks for a point in pixels of its octave. Empty if it is uncertain which pixels its disc
// contains.
std::vector<Peak> peaks_at(const Level& level, double px, double py, double scale) {
  const double sigma = 1.5 * scale;
  if (is_between_pixels(px) || is_between_pixels(py) || is_between_pixels(3 * sigma)) return {};
  const long radius = std::lround(3 * sigma), cx = std::lround(px), cy = std::lround(py);
  std::array<double, 36> raw{}, bins{};
  for (long y = std::max(cy - radius, 1L); y <= std::min(cy + radius, level.height - 2L); ++y) {
    for (long x = std::max(cx - radius, 1L); x <= std::min(cx + radius, level.width - 2L); ++x) {
      if (std::hypot(x - cx, y - cy) > radius) continue;
      const double gx = level(x + 1, y) - level(x - 1, y), gy = level(x, y + 1) - level(x, y - 1);
      const double weight = std::exp(-std::pow(std::hypot(x - px, y - py) / sigma, 2) / 2);
      const double turn = std::atan2(gy, gx) / (2 * std::numbers::pi);
      raw[(std::lround(36 * turn) + 36) % 36] += std::hypot(gx, gy) * weight;
    }
  }
  for (int b = 0; b < 36; ++b) {
    auto at = [&](int i) { return raw[(b + i + 36) % 36]; };
    bins[b] = (at(-2) + 4 * at(-1) + 6 * at(0) + 4 * at(1) + at(2)) / 16;
  }
  const double highest = *std::max_element(bins.begin(), bins.end());
  std::vector<Peak> peaks;
  for (int b = 0; b < 36; ++b) {
    const double before = bins[(b + 35) % 36], height = bins[b], after = bins[(b + 1) % 36];
    const Verdict is_peak =
        std::min({decide(height - before, kTie * highest), decide(height - after, kTie * highest),
                  decide(height / highest - 0.8, kPeakHeight)});
    const double top = b + 0.5 * (before - after) / (before - 2 * height + after);
    if (is_peak != no) peaks.push_back({is_peak, 2 * std::numbers::pi * top / 36});
  }
  return peaks;
}

struct Point {
  Verdict is_point = no;
  int octave = 0;
  double x = 0, y = 0, scale = 0, response = 0;  // in the image's pixels
  std::vector<Peak> peaks;
};

// The expected points, in the order stated in sift.h.
std::vector<Point> definition(const Image<float>& image, const SiftOptions& options) {
  std::vector<Point> points;
  for (const Octave& o : scale_space(image, options)) {
    std::map<std::array<int, 3>, Point> found;  // by l, y and x of the pixel
    const int width = o.levels[0].width, height = o.levels[0].height;
    for (int i = 0; i < options.intervals * height * width; ++i) {
      Cell p = {i % width, i / width % height, i / width / height + 1};
      const Verdict extremum = o.has_points(p) ? is_extremum(o, p) : no;
      if (extremum == no) continue;
      Fit fit;
      const Verdict settled = settle(o, p, fit, options.settle);
      const Verdict is_point =
          std::min({extremum, settled, settled == yes ? is_stable(fit, options) : yes});
      if (is_point == no) continue;
      const double x = p[0] + fit.offset[0], y = p[1] + fit.offset[1];
      const double scale = options.sigma * std::exp2((p[2] + fit.offset[2]) / options.intervals);
      Point& point = found[{p[2], p[1], p[0]}];  // two extrema may converge to the same pixel
      point.is_point = std::max(point.is_point, is_point);
      point.octave = o.index, point.scale = o.step * scale, point.response = std::abs(fit.value);
      point.x = o.step * x + o.origin, point.y = o.step * y + o.origin;
      if (settled == yes) {
        const long level =
            std::clamp(std::lround(p[2] + fit.offset[2]), 1L, long(options.intervals));
        point.peaks = peaks_at(o.levels[level], x, y, scale);
      }
    }
    for (auto& [pixel, point] : found) points.push_back(point);
  }
  return points;
}

// Blobs of many sizes, bars with sharp and with soft edges, and smooth noise.
Image<float> mixed_image(int width, int height, int seed) {
  Image<float> image = testing::blob_image(width, height, seed);
  Random random(seed, 1);
  for (int i = 0; i < 46; ++i) {
    const double turn = random.uniform(0, 2 * std::numbers::pi), k = random.uniform(0.15, 1);
    const double cx = width * random.uniform(), cy = height * random.uniform();
    const double length = random.uniform(8, 25), breadth = random.uniform(2, 5);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const double u = (x - cx) * std::cos(turn) + (y - cy) * std::sin(turn);
        const double v = (y - cy) * std::cos(turn) - (x - cx) * std::sin(turn);
        const double inside = std::min(length - std::abs(u), breadth - std::abs(v));
        image(x, y) += float(i < 40 ? 0.01 * std::sin(k * u)
                                    : (i % 2 ? 0.2 : -0.2) / (1 + std::exp(-4 * k * inside)));
      }
    }
  }
  return image;
}

bool is_same(const Point& a, const Keypoint& b) {
  return a.octave == b.octave && std::abs(a.x - b.x) < 0.01 && std::abs(a.y - b.y) < 0.01 &&
         std::abs(b.scale / a.scale - 1) < 0.01;
}
bool is_same(const Peak& a, double angle) {
  return std::abs(std::remainder(a.angle - angle, 2 * std::numbers::pi)) < 0.01;
}

// How many points were compared with the definition, and how many are a maybe.
struct Counts {
  int compared = 0, open = 0;
};

void compare_angles(const Point& p, const std::vector<double>& found, Counts& counts) {
  if (p.peaks.empty()) ++counts.open;
  for (const Peak& peak : p.peaks) {
    ++(peak.is_peak == yes ? counts.compared : counts.open);
    auto is_it = [&](double angle) { return is_same(peak, angle); };
    EXPECT_TRUE(peak.is_peak == maybe || std::any_of(found.begin(), found.end(), is_it))
        << "no angle " << peak.angle << " at " << p.x << ", " << p.y;
  }
  for (double angle : found) {
    auto is_it = [&](const Peak& peak) { return is_same(peak, angle); };
    EXPECT_TRUE(p.peaks.empty() || std::any_of(p.peaks.begin(), p.peaks.end(), is_it))
        << "an angle " << angle << " at " << p.x << ", " << p.y;
  }
}

TEST_P(SiftOnDevice, FindsTheExtremaAndOrientationsOfTheDefinition) {
  Counts points, angles;
  for (int i = 0; i < 20; ++i) {
    SiftOptions options =
        std::array<SiftOptions, 5>{{{},
                                    {.intervals = 2, .contrast = 0.02},
                                    {.doubled = false, .contrast = 0.01, .edge_ratio = 5},
                                    {.doubled = false, .intervals = 2, .contrast = 0.01},
                                    {.contrast = 0.01, .edge_ratio = 0}}}[i % 5];
    options.orientations = 8;  // more than any point has
    options.settle = i < 10 ? Settling::strict : Settling::lenient;
    const Image<float> image = i % 2 ? mixed_image(97, 83, i) : mixed_image(160, 120, i);
    const std::vector<Point> expected = definition(image, options);
    const std::vector<Keypoint> found = Sift(context, options).detect(image).keypoints;
    auto k = found.begin();  // both are in the same order
    auto expect_open_until = [&](auto end) {
      for (; k != end; ++k, ++points.open) {
        auto is_beside = [&](const Point& p) {
          return p.is_point == maybe && p.octave == k->octave &&
                 std::hypot(p.x - k->x, p.y - k->y) < 3 * std::exp2(p.octave);
        };
        EXPECT_TRUE(std::any_of(expected.begin(), expected.end(), is_beside))
            << "a point at " << k->x << ", " << k->y << ", scale " << k->scale;
      }
    };
    for (const Point& p : expected) {
      if (p.is_point != yes) continue;
      const auto first =
          std::find_if(k, found.end(), [&](auto& other) { return is_same(p, other); });
      ASSERT_TRUE(first != found.end()) << "no point at " << p.x << ", " << p.y << ", " << p.scale;
      expect_open_until(first);
      EXPECT_NEAR(k->response, p.response, 1e-4 * p.response);
      std::vector<double> its_angles;
      for (; k != found.end() && is_same(p, *k); ++k) its_angles.push_back(k->angle);
      compare_angles(p, its_angles, angles);
      ++points.compared;
    }
    expect_open_until(found.end());
  }
  RecordProperty("points", text(points.compared, " compared, ", points.open, " open"));
  RecordProperty("angles", text(angles.compared, " compared, ", angles.open, " open"));
  for (const Counts& counts : {points, angles}) {
    EXPECT_GT(counts.compared, 1000);
    EXPECT_LT(counts.open, counts.compared / 50);
  }
}

}  // namespace
}  // namespace cornea
