// SPDX-License-Identifier: Apache-2.0
#include "cornea/describe/sift/sift_shape.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cornea/core/error.h"

namespace cornea::sift {
namespace {

using namespace core;

// Rows begin at multiples of this many floats.
constexpr int kRowFloats = 32;
constexpr int kLeastSide = 2 * kSiftBorder + 1;

}  // namespace

SiftShape sift_shape(const SiftOptions& options, int width, int height) {
  SiftShape shape{width, height, options.intervals + 3, {}, 0};
  const long long double_pixels = 4LL * width * height;
  require(!options.doubled || double_pixels <= std::numeric_limits<std::int32_t>::max(),
          "an image of ", width, " x ", height,
          " pixels is too large to be doubled; set doubled to false or split the image");
  OctaveShape octave;
  octave.index = options.doubled ? -1 : 0;
  octave.step = options.doubled ? 0.5f : 1.0f;
  octave.origin = options.doubled ? kDoubledOffset : 0.0f;
  octave.width = options.doubled ? 2 * width : width;
  octave.height = options.doubled ? 2 * height : height;
  while (std::min(octave.width, octave.height) >= kLeastSide &&
         (options.octaves == 0 || static_cast<int>(shape.octaves.size()) < options.octaves)) {
    octave.stride = divide_up(octave.width, kRowFloats) * kRowFloats;
    octave.offset = shape.floats;
    shape.floats += octave.level_floats() * shape.levels;
    shape.octaves.push_back(octave);
    octave.index += 1;
    octave.step *= 2;
    octave.width = (octave.width + 1) / 2;
    octave.height = (octave.height + 1) / 2;
  }
  return shape;
}

double level_increment(const SiftOptions& options, int level) {
  auto square = [](double v) { return v * v; };
  if (level == 0) {
    const double before = options.blur * (options.doubled ? 2 : 1);
    return std::sqrt(std::max(square(options.sigma) - square(before), 0.0));
  }
  const double before = options.sigma * std::exp2(double(level - 1) / options.intervals);
  return before * std::sqrt(std::exp2(2.0 / options.intervals) - 1);
}

SiftLimits sift_limits(const SiftOptions& options) {
  const double r = options.edge_ratio;
  return {options.intervals, static_cast<float>(options.contrast / options.intervals),
          r > 0 ? static_cast<float>((r + 1) * (r + 1) / r) : 0.0f,
          static_cast<float>(options.sigma), options.settle};
}

float turn_of_angle(float radians) {
  const double turns = double(radians) / kTurn;
  const float rest = static_cast<float>(turns - std::floor(turns));
  return rest < 1.0f ? rest : 0.0f;
}

PointShape shape_of(const Keypoint& point) {
  const Rotation r = rotation_of(turn_of_angle(point.axis));
  const float more = point.stretch - 1.0f;
  return {1.0f + more * (r.cosine * r.cosine), more * (r.cosine * r.sine),
          1.0f + more * (r.sine * r.sine)};
}

SizeLevels size_levels(const SiftOptions& options) {
  SizeLevels sizes;
  sizes.levels = options.intervals + 3;
  for (int k = 0; k < kSizes; ++k) {
    sizes.offset[k] =
        static_cast<int>(std::lround(options.intervals * std::log2(double(domain_size(k)))));
  }
  return sizes;
}

SiftPoint place_of(const SiftOptions& options, const SiftShape& shape, const Keypoint& point) {
  const int first = shape.octaves.front().index, last = shape.octaves.back().index;
  const double doublings = std::log2(point.scale / options.sigma);
  auto level_in = [&](int octave) {
    return static_cast<int>(std::lround(options.intervals * (doublings - octave)));
  };
  // A point that SIFT found is described in its own octave.
  int octave = point.octave;
  if (octave < first || octave > last || level_in(octave) < 0 ||
      level_in(octave) > options.intervals) {
    octave = static_cast<int>(std::floor(doublings + 0.5 / options.intervals));
    octave = std::clamp(octave, first, last);
  }
  const OctaveShape& o = shape.octaves[octave - first];
  return {(point.x - o.origin) / o.step,
          (point.y - o.origin) / o.step,
          point.scale / o.step,
          point.response,
          octave - first,
          std::clamp(level_in(octave), 0, shape.levels - 1)};
}

}  // namespace cornea::sift
