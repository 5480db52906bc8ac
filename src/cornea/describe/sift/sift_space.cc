// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/core/pixels.h"
#include "cornea/core/simd.h"
#include "cornea/describe/sift/host_sift.h"
#include "cornea/describe/sift/sift_backend.h"
#include "cornea/filter/gaussian/gaussian_blur.h"

namespace cornea::sift {
namespace {

using namespace core;
using namespace filter;
using namespace gaussian;

constexpr int kRowsAtOnce = 32;

template <class T>
CORNEA_VECTOR_CLONES void unit_row(const T* row, int width, float* out) {
  for (int x = 0; x < width; ++x) out[x] = unit_value(row[x]);
}

// Doubles a row.
CORNEA_VECTOR_CLONES
void doubled_row(const float* row, int width, float* out) {
  out[0] = row[0];
  for (int x = 0; x + 1 < width; ++x) {
    out[2 * x + 1] = between(row[x], row[x + 1]);
    out[2 * x + 2] = between(row[x + 1], row[x]);
  }
  out[2 * width - 1] = row[width - 1];
}

CORNEA_VECTOR_CLONES
void row_between(const float* a, const float* b, int width, float* out) {
  for (int x = 0; x < width; ++x) out[x] = between(a[x], b[x]);
}

// Rows [top, bottom) and columns [left, right) of an image.
template <class T>
void place(HostView<const T> image, int top, int bottom, int left, int right, HostView<float> out) {
  for (int y = top; y < bottom; ++y) {
    unit_row(image.row(y) + left, right - left, out.row(y) + left);
  }
}

// Doubles an image; border pixels are repeated. Computes the rows [2 top, 2 bottom) and the columns
// [2 left, 2 right).
template <class T>
void place_doubled(HostView<const T> image, int top, int bottom, int left, int right,
                   HostView<float> out) {
  const int columns = right - left;
  std::vector<float> unit(columns), above(2 * columns), here(2 * columns), below(2 * columns);
  auto make = [&](int y, std::vector<float>& row) {
    unit_row(image.row(std::clamp(y, 0, image.height - 1)) + left, columns, unit.data());
    doubled_row(unit.data(), columns, row.data());
  };
  make(top - 1, above);
  make(top, here);
  for (int y = top; y < bottom; ++y) {
    make(y + 1, below);
    row_between(here.data(), above.data(), 2 * columns, out.row(2 * y) + 2 * left);
    row_between(here.data(), below.data(), 2 * columns, out.row(2 * y + 1) + 2 * left);
    above.swap(here);
    here.swap(below);
  }
}

void place_half(const Context& context, HostView<const float> from, HostView<float> to, int top,
                int bottom) {
  parallel_for(context, bottom - top, kRowsAtOnce, [&](int begin, int end) {
    for (int y = top + begin; y < top + end; ++y) {
      const float* row = from.row(2 * y);
      float* out = to.row(y);
      for (int x = 0; x < to.width; ++x) out[x] = row[2 * x];
    }
  });
}

}  // namespace

HostScaleSpace::HostScaleSpace(const Context& context, const SiftOptions& options,
                               std::size_t most_bytes)
    : context_(context),
      options_(options),
      most_bytes_(most_bytes),
      frames_(context, Working::stored),
      untimed_(context) {
  for (int l = 0; l < options.intervals + 3; ++l) {
    if (options.scale_space == ScaleSpace::gaussian) {
      const double sigma = level_increment(options, l);
      kernels_.push_back(gaussian_kernel(sigma, gaussian_radius(sigma)));
    } else {
      filters_.push_back(make_level_filter(context, options, l));
    }
  }
}

void HostScaleSpace::begin(AnyView image, const SiftShape& shape) {
  shape_ = shape;
  first_ = end_ = 0;
  in_strips_ = false;
  one_part_ = shape.octaves.empty() || fits(shape, 0);
  if (!shape.octaves.empty()) pixels_ = frames_.on_host(image);
}

bool HostScaleSpace::next() {
  const int octaves = static_cast<int>(shape_.octaves.size());
  const bool same_octave = in_strips_ && bottom_ < shape_.octaves[first_].height;
  if (!same_octave) {
    if (end_ == octaves) return false;
    first_ = end_;
    in_strips_ = !fits(shape_, first_);
    end_ = in_strips_ ? first_ + 1 : octaves;
    floats_.reserve<float>(context_, part_floats(shape_, first_) + kRowSlack);
    if (in_strips_) {
      strip_ = strip_shape(shape_, first_);
      bottom_ = base_ = seeded_ = 0;
      made_.assign(shape_.levels, 0);
      if (end_ < octaves) {
        seeds_[end_ % 2].reserve<float>(context_, shape_.octaves[end_].level_floats() + kRowSlack);
      }
    }
  }
  in_strips_ ? make_strip() : make_whole();
  return true;
}

HostView<float> HostScaleSpace::seed(int octave) const {
  const OctaveShape& o = shape_.octaves[octave];
  return {seeds_[octave % 2].data<float>(), o.width, o.height, o.stride};
}

HostView<float> HostScaleSpace::level_to_write(int octave, int level) const {
  const OctaveShape& o = shape_.octaves[octave];
  if (level == 0 && octave == first_ && octave > 0) return seed(octave);
  float* const floats = floats_.data<float>();
  if (in_strips_) return level_from(floats + strip_.offset[level], o, o.stride, base_, 0);
  const std::size_t offset = o.offset - shape_.octaves[first_].offset;
  return {floats + offset + o.level_floats() * level, o.width, o.height, o.stride};
}

HostView<const float> HostScaleSpace::level(int octave, int level) const {
  return level_to_write(octave, level);
}

void HostScaleSpace::filter(HostView<const float> from, HostView<float> to, int level) {
  if (filters_.empty()) {
    blur_rows(context_, kernels_[level], from, to, 0, from.height);
  } else {
    filters_[level]->run(from, to, level_unit(Pixel::f32), untimed_);
  }
}

void HostScaleSpace::place_part(int top, int bottom, int left, int right,
                                HostView<float> out) const {
  with_pixel(pixels_.pixel(), [&](auto pixel) {
    const auto image = pixels_.host<decltype(pixel)>();
    if (!options_.doubled) return place(image, top, bottom, left, right, out);
    place_doubled(image, top / 2, divide_up(bottom, 2), left / 2, divide_up(right, 2), out);
  });
}

void HostScaleSpace::place_rows(int top, int bottom, HostView<float> out) const {
  parallel_for(context_, bottom - top, 2 * kRowsAtOnce,
               [&](int begin, int end) { place_part(top + begin, top + end, 0, out.width, out); });
}

// Computes all octaves from first_ on.
void HostScaleSpace::make_whole() {
  for (int o = first_; o < end_; ++o) {
    if (o == 0) {
      // The memory of the last level is still free.
      const HostView<float> placed = level_to_write(0, shape_.levels - 1);
      place_rows(0, placed.height, placed);
      filter(placed, level_to_write(0, 0), 0);
    } else if (o > first_) {
      const HostView<float> to = level_to_write(o, 0);
      place_half(context_, level(o - 1, options_.intervals), to, 0, to.height);
    }
    for (int l = 1; l < shape_.levels; ++l) filter(level(o, l - 1), level_to_write(o, l), l);
  }
}

// Computes the next octave's first level from the rows above `bottom` of level n.
void HostScaleSpace::seed_next(int bottom) {
  if (end_ == static_cast<int>(shape_.octaves.size())) return;
  const int until = divide_up(bottom, 2);
  place_half(context_, level(first_, options_.intervals), seed(end_), seeded_, until);
  seeded_ = until;
}

void HostScaleSpace::release() {
  floats_ = Buffer(Place::host, "sift: scale space");
  for (Buffer& buffer : seeds_) buffer = Buffer(Place::host, "sift: first level of an octave");
  shape_ = {};
  first_ = end_ = 0;
  in_strips_ = false;
}

}  // namespace cornea::sift
