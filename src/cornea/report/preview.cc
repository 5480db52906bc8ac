// SPDX-License-Identifier: Apache-2.0
#include "cornea/report/preview.h"

#include <algorithm>
#include <cmath>

#include "cornea/core/error.h"
#include "cornea/core/parallel.h"
#include "cornea/io/image_file.h"

namespace cornea::report {
namespace {

using namespace core;

using Colour = Rgb<std::uint8_t>;

// The input pixels that an output pixel covers: the first, and the weight of each.
struct Cover {
  int first = 0;
  std::vector<float> shares;
};

std::vector<Cover> covers(int from, int to) {
  std::vector<Cover> result(static_cast<std::size_t>(to));
  const double step = double(from) / to;
  for (int i = 0; i < to; ++i) {
    const double begin = i * step, end = std::min<double>(from, begin + step);
    Cover& cover = result[std::size_t(i)];
    cover.first = int(begin);
    for (int k = cover.first; k < from && k < end; ++k) {
      const double share = std::min<double>(k + 1, end) - std::max<double>(k, begin);
      cover.shares.push_back(float(std::max(share, 0.0) / (end - begin)));
    }
  }
  return result;
}

std::uint8_t rounded(float v) { return std::uint8_t(std::clamp(v + 0.5f, 0.0f, 255.0f)); }

}  // namespace

Image<Colour> scaled_down(const Context& context, HostView<const Colour> image, int longest_side) {
  const int longest = std::max(image.width, image.height);
  const double scale = std::min(1.0, double(longest_side) / longest);
  const int width = std::max(1, int(std::lround(image.width * scale)));
  const int height = std::max(1, int(std::lround(image.height * scale)));
  const std::vector<Cover> across = covers(image.width, width), down = covers(image.height, height);
  Image<Colour> result(width, height);
  parallel_for(context, height, 16, [&](int begin, int end) {
    std::vector<Rgb<float>> sums(static_cast<std::size_t>(image.width));
    for (int y = begin; y < end; ++y) {
      std::fill(sums.begin(), sums.end(), Rgb<float>{0, 0, 0});
      const Cover& rows = down[std::size_t(y)];
      for (std::size_t k = 0; k < rows.shares.size(); ++k) {
        const Colour* row = image.row(rows.first + int(k));
        const float share = rows.shares[k];
        for (std::size_t x = 0; x < sums.size(); ++x) {
          sums[x].r += share * row[x].r;
          sums[x].g += share * row[x].g;
          sums[x].b += share * row[x].b;
        }
      }
      Colour* out = result.host().row(y);
      for (int x = 0; x < width; ++x) {
        const Cover& columns = across[std::size_t(x)];
        Rgb<float> sum{0, 0, 0};
        for (std::size_t k = 0; k < columns.shares.size(); ++k) {
          const Rgb<float>& v = sums[std::size_t(columns.first) + k];
          sum.r += columns.shares[k] * v.r;
          sum.g += columns.shares[k] * v.g;
          sum.b += columns.shares[k] * v.b;
        }
        out[x] = {rounded(sum.r), rounded(sum.g), rounded(sum.b)};
      }
    }
  });
  return result;
}

Preview make_preview(const Context& context, HostView<const Colour> image, int longest_side,
                     std::size_t most_bytes) {
  require(!image.empty(), "there is no image to show");
  constexpr int kQualities[] = {88, 80, 70, 58};
  for (int side = longest_side;; side = side * 3 / 4) {
    const Image<Colour> small = scaled_down(context, image, side);
    for (int quality : kQualities) {
      std::vector<std::uint8_t> jpeg = encode_jpeg(small, quality);
      const bool smallest = side < 64 && quality == kQualities[3];
      if (jpeg.size() <= most_bytes || smallest) {
        return {std::move(jpeg), small.width(), small.height()};
      }
    }
  }
}

}  // namespace cornea::report
