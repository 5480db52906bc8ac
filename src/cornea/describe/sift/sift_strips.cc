// SPDX-License-Identifier: Apache-2.0
// The scale space in strips of rows, for images whose levels do not fit into memory as a whole.
//
// Every level keeps the rows that points of the strip need for their orientations and descriptors,
// and those that the blur of the level above will need for the next strip. When the window moves
// on, the rows that both strips need are moved to the front of the level's memory, and only new
// rows are blurred: no row is blurred twice.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "cornea/core/parallel.h"
#include "cornea/describe/sift/host_sift.h"
#include "cornea/filter/gaussian/gaussian_blur.h"

namespace cornea::sift {
namespace {

using namespace core;
using namespace gaussian;

constexpr int kFewestRows = 16;

}  // namespace

int reach_of(float scale) {
  // The corner of the descriptor's grid and the orientation disc, with the neighbours that each
  // reads.
  const float corner = 0.5f * (kGrid - 1) * (kCellScales / kPerCell) * 1.4143f * scale;
  const float disc = 3.0f * kAngleSigma * scale + 1.0f;
  return static_cast<int>(std::ceil(std::max(corner, disc))) + 4;
}

bool HostScaleSpace::fits(const SiftShape& shape, int octave) const {
  if (!filters_.empty()) return true;
  const std::size_t floats = shape.floats - shape.octaves[octave].offset;
  return floats * sizeof(float) <= most_bytes_ || strip_shape(shape, octave).rows == 0;
}

// The result has no rows if strips would take as much memory as the whole octave.
StripShape HostScaleSpace::strip_shape(const SiftShape& shape, int octave) const {
  const OctaveShape& o = shape.octaves[octave];
  const int levels = shape.levels;
  StripShape strip;
  strip.tail.assign(levels, 0);
  int widest = 0;
  for (int l = levels - 1; l > 0; --l) {
    const int radius = static_cast<int>(kernels_[l].size() / 2);
    strip.tail[l - 1] = strip.tail[l] + radius;
    widest = std::max(widest, radius);
  }
  const double largest =
      options_.sigma * std::exp2((options_.intervals + 0.51) / options_.intervals);
  // Points with a larger stretch are described from patches.
  constexpr double kUsualStretch = 1.5;
  const double around = largest * (options_.affine_shape ? kUsualStretch : 1) *
                        (options_.domain_size_pooling ? double(kLargestSize) : 1);
  // At least the radius of every blur, so that the rows read above the first new row are still in
  // memory.
  strip.beyond = std::max(reach_of(static_cast<float>(around)) + kWalk, widest);
  // Later octaves begin with a level that is kept whole.
  const int first_level = octave == 0 ? 0 : 1;
  const int placed = octave == 0 ? static_cast<int>(kernels_[0].size() / 2) + 2 : 0;
  // Rows that the levels have in addition to the strip's own.
  std::ptrdiff_t besides = octave == 0 ? strip.beyond + strip.tail[0] + placed : 0;
  for (int l = first_level; l < levels; ++l) besides += 2 * strip.beyond + strip.tail[l];
  const auto room = static_cast<std::ptrdiff_t>(most_bytes_ / sizeof(float)) / o.stride - besides;
  const int buffers = levels - first_level + (octave == 0);
  const auto rows = std::max<std::ptrdiff_t>(room / buffers, kFewestRows);
  if (rows + 2 * strip.beyond + strip.tail[0] >= o.height) return {};
  strip.rows = static_cast<int>(rows);

  strip.capacity.assign(levels, 0);
  strip.offset.assign(levels, 0);
  for (int l = first_level; l < levels; ++l) {
    strip.capacity[l] = std::min(o.height, strip.rows + 2 * strip.beyond + strip.tail[l]);
    strip.offset[l] = strip.floats;
    strip.floats += std::size_t(strip.capacity[l]) * o.stride;
  }
  if (octave == 0) {
    strip.placed_capacity =
        std::min(o.height, strip.rows + strip.beyond + strip.tail[0] + 2 * placed);
    strip.placed_offset = strip.floats;
    strip.floats += std::size_t(strip.placed_capacity) * o.stride;
  }
  return strip;
}

std::size_t HostScaleSpace::part_floats(const SiftShape& shape, int octave) const {
  return fits(shape, octave) ? shape.floats - shape.octaves[octave].offset
                             : strip_shape(shape, octave).floats;
}

std::size_t HostScaleSpace::memory_needed(const SiftShape& shape) const {
  std::size_t part = 0, seeds[2] = {};
  for (int o = 0; o < static_cast<int>(shape.octaves.size()); ++o) {
    part = std::max(part, part_floats(shape, o));
    if (fits(shape, o)) break;
    if (o + 1 == static_cast<int>(shape.octaves.size())) break;
    std::size_t& seed = seeds[(o + 1) % 2];
    seed = std::max(seed, shape.octaves[o + 1].level_floats());
  }
  return (part + seeds[0] + seeds[1]) * sizeof(float);
}

HostScaleSpace::Rows HostScaleSpace::rows(int octave) const {
  if (in_strips_) return {top_, bottom_};
  return {0, shape_.octaves[octave].height};
}

HostScaleSpace::Rows HostScaleSpace::rows_in_memory(int octave) const {
  if (in_strips_) return {base_, made_.back()};
  return {0, shape_.octaves[octave].height};
}

void HostScaleSpace::make_strip() {
  const OctaveShape& o = shape_.octaves[first_];
  const int levels = shape_.levels, first_level = first_ == 0 ? 0 : 1;
  top_ = bottom_;
  bottom_ = std::min(o.height, top_ + strip_.rows);
  const int base = std::max(0, top_ - strip_.beyond);
  parallel_for(context_, levels - first_level, 1, [&](int i, int) {
    const int l = first_level + i;
    float* const memory = floats_.data<float>() + strip_.offset[l];
    if (base > base_ && made_[l] > base) {
      std::memmove(memory, memory + o.stride * (base - base_),
                   std::size_t(made_[l] - base) * o.stride * sizeof(float));
    }
  });
  base_ = base;
  for (int l = 0; l < levels; ++l) {
    const int until = std::min(o.height, bottom_ + strip_.beyond + strip_.tail[l]);
    if (l == 0 && first_ == 0) {
      // Doubled rows are computed in pairs.
      const int radius = static_cast<int>(kernels_[0].size() / 2);
      const int from = std::max(0, made_[0] - radius) / 2 * 2;
      const int to = std::min(o.height, divide_up(until + radius, 2) * 2);
      const HostView<float> placed =
          level_from(floats_.data<float>() + strip_.placed_offset, o, o.stride, from, 0);
      place_rows(from, to, placed);
      blur_rows(context_, kernels_[0], placed, level_to_write(0, 0), made_[0], until);
    } else if (l > 0) {
      blur_rows(context_, kernels_[l], level(first_, l - 1), level_to_write(first_, l), made_[l],
                until);
    }
    made_[l] = until;
    if (l == options_.intervals) seed_next(until);
  }
}

}  // namespace cornea::sift
