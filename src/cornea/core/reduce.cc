// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/reduce.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "cornea/core/error.h"
#include "cornea/core/frames.h"
#include "cornea/core/pixels.h"

namespace cornea::core {
namespace {

constexpr int kSmallest = 16;

// The input pixels that an output pixel covers along an axis of `from` input and `to` output
// pixels. In units of 1 / to of an input pixel, input pixel j covers [j to, (j + 1) to) and output
// pixel i covers [i from, (i + 1) from).
struct Cover {
  int first, last;  // inclusive
  std::int64_t first_share, last_share;
};
Cover cover_of(int i, int from, int to) {
  const std::int64_t begin = std::int64_t(i) * from, end = begin + from;
  const int first = int(begin / to), last = int((end - 1) / to);
  if (first == last) return {first, last, from, from};
  return {first, last, (first + 1LL) * to - begin, end - std::int64_t(last) * to};
}
std::int64_t share_of(const Cover& cover, int j, int to) {
  return j == cover.first ? cover.first_share : j == cover.last ? cover.last_share : to;
}

template <class T>
constexpr int kChannels = 1;
template <class T>
constexpr int kChannels<Rgb<T>> = 3;

// Sums rows first, then columns of the result.
template <class T>
Image<T> area_means(HostView<const T> image, int width, int height) {
  using Channel = GrayOf<T>;
  using Sum = std::conditional_t<std::is_same_v<Channel, float>, double, std::uint64_t>;
  constexpr int kPer = kChannels<T>;
  Image<T> out(width, height);
  const std::size_t values = std::size_t(image.width) * kPer;
  std::vector<Sum> column(values);
  const Sum area = Sum(image.width) * Sum(image.height);
  for (int y = 0; y < height; ++y) {
    const Cover rows = cover_of(y, image.height, height);
    std::fill(column.begin(), column.end(), Sum{});
    for (int v = rows.first; v <= rows.last; ++v) {
      const auto share = static_cast<Sum>(share_of(rows, v, height));
      const auto* from = reinterpret_cast<const Channel*>(image.row(v));
      for (std::size_t i = 0; i < values; ++i) column[i] += share * static_cast<Sum>(from[i]);
    }
    auto* to = reinterpret_cast<Channel*>(out.host().row(y));
    for (int x = 0; x < width; ++x) {
      const Cover columns = cover_of(x, image.width, width);
      for (int c = 0; c < kPer; ++c) {
        Sum sum{};
        for (int u = columns.first; u <= columns.last; ++u) {
          sum += static_cast<Sum>(share_of(columns, u, width)) * column[std::size_t(u) * kPer + c];
        }
        if constexpr (std::is_same_v<Channel, float>) {
          to[x * kPer + c] = static_cast<float>(sum / area);
        } else {
          to[x * kPer + c] = static_cast<Channel>((sum + area / 2) / area);
        }
      }
    }
  }
  return out;
}

// An output pixel is 0 if any input pixel that it covers is 0: the minimum over its area.
Image<std::uint8_t> least_of_areas(HostView<const std::uint8_t> mask, int width, int height) {
  Image<std::uint8_t> out(width, height);
  for (int y = 0; y < height; ++y) {
    const Cover rows = cover_of(y, mask.height, height);
    for (int x = 0; x < width; ++x) {
      const Cover columns = cover_of(x, mask.width, width);
      std::uint8_t least = 255;
      for (int v = rows.first; v <= rows.last; ++v) {
        const std::uint8_t* row = mask.row(v);
        least = std::min(least, *std::min_element(row + columns.first, row + columns.last + 1));
      }
      out(x, y) = least;
    }
  }
  return out;
}

int reduced_side(int side, int longest, int max_size) {
  return std::max(1, int((2LL * side * max_size + longest) / (2LL * longest)));
}

}  // namespace

void check_max_size(int max_size) {
  require(max_size == 0 || max_size >= kSmallest, "max_size is ", max_size,
          " and must be 0 (off) or at least ", kSmallest, " pixels");
}

Reduced::Reduced(AnyView image, AnyView mask, int max_size) : given_(image), given_mask_(mask) {
  check_max_size(max_size);
  const int longest = std::max(image.width(), image.height());
  if (max_size == 0 || longest <= max_size) return;
  require(!image.on_device(),
          "an image in device memory cannot be reduced to max_size; reduce it first, or set "
          "max_size to 0");
  check_image_of_any_size(Context::cpu(), image, mask);
  const int width = reduced_side(image.width(), longest, max_size);
  const int height = reduced_side(image.height(), longest, max_size);
  scale_x_ = double(image.width()) / width;
  scale_y_ = double(image.height()) / height;
  with_pixel(image.pixel(), [&](auto pixel) {
    using T = decltype(pixel);
    pixels_ = area_means(image.host<T>(), width, height);
  });
  if (mask.empty()) return;
  mask_ = least_of_areas(mask.host<std::uint8_t>(), width, height);
}

AnyView Reduced::image() const {
  if (!is_smaller()) return given_;
  return std::visit([](const auto& pixels) { return AnyView(pixels); }, pixels_);
}

AnyView Reduced::mask() const { return mask_.empty() ? given_mask_ : AnyView(mask_); }

void Reduced::to_given(std::vector<Keypoint>& points) const {
  if (!is_smaller()) return;
  const double scale = std::sqrt(scale_x_ * scale_y_);
  for (Keypoint& p : points) {
    p.x = static_cast<float>((p.x + 0.5) * scale_x_ - 0.5);
    p.y = static_cast<float>((p.y + 0.5) * scale_y_ - 0.5);
    p.scale = static_cast<float>(p.scale * scale);
  }
}

}  // namespace cornea::core
