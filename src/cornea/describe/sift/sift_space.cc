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
// Loops read some floats beyond the last row.
constexpr std::size_t kSlack = 64;

template <class T>
CORNEA_VECTOR_CLONES void unit_row(const T* row, int width, float* out) {
  for (int x = 0; x < width; ++x) out[x] = unit_value(row[x]);
}

// Twice as wide.
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

template <class T>
void place(const Context& context, HostView<const T> image, HostView<float> out) {
  parallel_for(context, image.height, kRowsAtOnce, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) unit_row(image.row(y), image.width, out.row(y));
  });
}

// Twice as wide and as high; beyond its edges the image goes on with its last pixels.
template <class T>
void place_doubled(const Context& context, HostView<const T> image, HostView<float> out) {
  parallel_for(context, image.height, kRowsAtOnce, [&](int begin, int end) {
    std::vector<float> unit(image.width), above(out.width), here(out.width), below(out.width);
    auto make = [&](int y, std::vector<float>& row) {
      unit_row(image.row(std::clamp(y, 0, image.height - 1)), image.width, unit.data());
      doubled_row(unit.data(), image.width, row.data());
    };
    make(begin - 1, above);
    make(begin, here);
    for (int y = begin; y < end; ++y) {
      make(y + 1, below);
      row_between(here.data(), above.data(), out.width, out.row(2 * y));
      row_between(here.data(), below.data(), out.width, out.row(2 * y + 1));
      above.swap(here);
      here.swap(below);
    }
  });
}

void place_half(const Context& context, HostView<const float> from, HostView<float> to) {
  parallel_for(context, to.height, kRowsAtOnce, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      const float* row = from.row(2 * y);
      float* out = to.row(y);
      for (int x = 0; x < to.width; ++x) out[x] = row[2 * x];
    }
  });
}

}  // namespace

HostScaleSpace::HostScaleSpace(const Context& context, const SiftOptions& options)
    : context_(context), options_(options), frames_(context, Working::stored), untimed_(context) {
  if (options.scale_space == ScaleSpace::gaussian) return;
  for (int l = 0; l < options.intervals + 3; ++l) {
    filters_.push_back(make_level_filter(context, options, l));
  }
}

HostView<float> HostScaleSpace::level_to_write(int octave, int level) {
  const OctaveShape& o = shape_.octaves[octave];
  return {floats_.data<float>() + o.offset + o.level_floats() * level, o.width, o.height, o.stride};
}

HostView<const float> HostScaleSpace::level(int octave, int level) const {
  return const_cast<HostScaleSpace*>(this)->level_to_write(octave, level);
}

void HostScaleSpace::filter(HostView<const float> from, HostView<float> to, int level) {
  if (filters_.empty()) {
    gaussian_blur(context_, from, to, level_increment(options_, level));
  } else {
    filters_[level]->run(from, to, level_unit(Pixel::f32), untimed_);
  }
}

void HostScaleSpace::build(AnyView image, const SiftShape& shape) {
  shape_ = shape;
  if (shape.octaves.empty()) return;
  floats_.reserve<float>(context_, shape.floats + kSlack);
  // The last level is not needed yet.
  const HostView<float> first = level_to_write(0, shape.levels - 1);
  auto place_pixels = [&](auto pixels) {
    options_.doubled ? place_doubled(context_, pixels, first) : place(context_, pixels, first);
  };
  const AnyView pixels = frames_.on_host(image);
  with_pixel(pixels.pixel(), [&](auto pixel) { place_pixels(pixels.host<decltype(pixel)>()); });
  for (int o = 0; o < static_cast<int>(shape.octaves.size()); ++o) {
    if (o == 0) {
      filter(first, level_to_write(0, 0), 0);
    } else {
      place_half(context_, level(o - 1, options_.intervals), level_to_write(o, 0));
    }
    for (int l = 1; l < shape.levels; ++l) filter(level(o, l - 1), level_to_write(o, l), l);
  }
}

}  // namespace cornea::sift
