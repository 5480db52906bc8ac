// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "cornea/core/simd.h"
#include "cornea/describe/sift/host_sift.h"

namespace cornea::sift {
namespace {

using namespace core;

using Floats = Pack<float>;
using Words = Pack<std::int32_t>;

constexpr int kMostColumns = 64;  // gradients that are computed together

// The gradients of `count` pixels of a row: their bins and their weighted magnitudes.
CORNEA_VECTOR_CLONES
void gradient_row(const float* above, const float* row, const float* below, const float* weights,
                  float row_weight, int count, std::int32_t* bins, float* magnitudes) {
  float squares[kMostColumns + kLanes<float>];
  for (int i = 0; i < count; i += kLanes<float>) {
    const Floats gx = load_pack(row + i + 1) - load_pack(row + i - 1);
    const Floats gy = load_pack(below + i) - load_pack(above + i);
    store_pack(squares + i, gx * gx + gy * gy);
    const Floats turn = turn_of(gy, gx);
    const Words bin = __builtin_convertvector(turn * float(kAngleBins) + 0.5f, Words);
    store_pack(bins + i, bin == kAngleBins ? Words{} : bin);
  }
  for (int i = 0; i < count; ++i) {
    magnitudes[i] = std::sqrt(squares[i]) * (weights[i] * row_weight);
  }
}

}  // namespace

int find_angles(HostView<const float> level, const SiftPoint& point, int most,
                std::array<float, kMostAngles>& turns) {
  const AngleWindow window = angle_window(point);
  const int r = window.radius, side = 2 * r + 1;
  AngleParts parts = {};
  std::int32_t bins[kMostColumns + kLanes<float>];
  float magnitudes[kMostColumns + kLanes<float>];
  // Gradients need a neighbour on each side.
  const int left = std::max(window.x - r, 1), right = std::min(window.x + r, level.width - 2);
  const int top = std::max(window.y - r, 1), bottom = std::min(window.y + r, level.height - 2);
  float few_weights[kMostColumns];
  std::vector<float> many_weights(side > kMostColumns ? side : 0);
  float* const weights = many_weights.empty() ? few_weights : many_weights.data();
  for (int x = left; x <= right; ++x) {
    weights[x - left] = axis_weight(window.exponent, static_cast<float>(x) - point.x);
  }
  for (int y = top; y <= bottom; ++y) {
    const int j = y - window.y;
    const int half = static_cast<int>(std::sqrt(static_cast<double>(r * r - j * j)));
    const int last = std::min(window.x + half, right);
    const float row_weight = axis_weight(window.exponent, static_cast<float>(y) - point.y);
    for (int x = std::max(window.x - half, left); x <= last; x += kMostColumns) {
      const int count = std::min(kMostColumns, last - x + 1);
      const float* row = level.row(y) + x;
      gradient_row(row - level.stride, row, row + level.stride, weights + x - left, row_weight,
                   count, bins, magnitudes);
      // Partial histogram k gets every 32nd pixel of the window's square, starting with pixel k.
      const auto first = static_cast<std::uint32_t>(j + r) * side + x - (window.x - r);
      for (int i = 0; i < count; ++i) {
        parts[(first + i) % kAngleParts][bins[i]] += magnitudes[i];
      }
    }
  }
  return highest_peaks(parts, most, turns);
}

int highest_peaks(AngleParts& parts, int most, std::array<float, kMostAngles>& turns) {
  for (int part = 1; part < kAngleParts; ++part) {
    for (int b = 0; b < kAngleBins; ++b) parts[0][b] += parts[part][b];
  }
  auto raw = [&](int b) { return parts[0][(b + kAngleBins) % kAngleBins]; };
  float smooth[kAngleBins];
  for (int b = 0; b < kAngleBins; ++b) smooth[b] = smooth_bin(raw, b);
  auto bin = [&](int b) { return smooth[(b + kAngleBins) % kAngleBins]; };

  const float highest = *std::max_element(smooth, smooth + kAngleBins);
  int peaks[kAngleBins], count = 0;
  for (int b = 0; b < kAngleBins; ++b) {
    if (is_angle_peak(bin(b - 1), bin(b), bin(b + 1), highest)) peaks[count++] = b;
  }
  std::stable_sort(peaks, peaks + count, [&](int a, int b) { return smooth[a] > smooth[b]; });
  count = std::min(count, most);
  for (int i = 0; i < count; ++i) {
    turns[i] = peak_turn(peaks[i], bin(peaks[i] - 1), bin(peaks[i]), bin(peaks[i] + 1));
  }
  return count;
}

}  // namespace cornea::sift
