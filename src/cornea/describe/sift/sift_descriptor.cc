#include <algorithm>
#include <cmath>
#include <cstring>

#include "cornea/core/simd.h"
#include "cornea/describe/sift/host_sift.h"

namespace cornea::sift {
namespace {

using namespace core;

// Four samples at a time, or four pixels of a row.
typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
typedef std::int32_t FourWords __attribute__((vector_size(16), aligned(4), may_alias));

Four load4(const float* from) { return *reinterpret_cast<const Four*>(from); }

// Columns of a 4 x 4 matrix become rows.
void transpose(Four& a, Four& b, Four& c, Four& d) {
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

// What the samples of one row give: magnitudes under the Gaussian, and directions of 0..8.
struct SampleRow {
  float magnitude[kGrid], direction[kGrid];
};

struct Weights {
  float gaussian[kGrid], second[kGrid];
};
const Weights kWeights = [] {
  Weights w;
  for (int i = 0; i < kGrid; ++i) w.gaussian[i] = sample_weight(i), w.second[i] = second_share(i);
  return w;
}();

bool inside(HostView<const float> level, float x, float y) {
  return is_sampled(x, y, level.width, level.height);
}

// Samples outside the level weigh nothing, whatever is read at `instead`; with `all_inside` there
// are none.
struct SamplePlace {
  float x, y;
};
template <bool all_inside>
void sample_row(HostView<const float> level, const DescriptorFrame& frame, SamplePlace instead,
                int j, SampleRow& out) {
  const float row_x = frame.x - static_cast<float>(j) * frame.ay;
  const float row_y = frame.y + static_cast<float>(j) * frame.ax;
  float squares[kGrid], weights[kGrid];
  for (int i = 0; i < kGrid; i += 4) {
    const Four index = Four{0, 1, 2, 3} + static_cast<float>(i);
    Four x = row_x + index * frame.ax, y = row_y + index * frame.ay;
    Four weight = load4(kWeights.gaussian + i) * kWeights.gaussian[j];
    if constexpr (!all_inside) {
      for (int k = 0; k < 4; ++k) {
        if (inside(level, x[k], y[k])) continue;
        x[k] = instead.x, y[k] = instead.y;
        weight[k] = 0;
      }
    }
    const FourWords column = __builtin_convertvector(x, FourWords);
    const FourWords row = __builtin_convertvector(y, FourWords);
    const Four fx = x - __builtin_convertvector(column, Four);
    const Four fy = y - __builtin_convertvector(row, Four);
    Four across[4], down[4];
    for (int k = 0; k < 4; ++k) {
      const float* at = level.data + level.stride * (row[k] - 1) + column[k] - 1;
      const Four r0 = load4(at), r1 = load4(at + level.stride);
      const Four r2 = load4(at + 2 * level.stride), r3 = load4(at + 3 * level.stride);
      const Four f = Four{} + fy[k];
      across[k] = mix(r1, r2, f);
      down[k] = mix(r2 - r0, r3 - r1, f);
    }
    transpose(across[0], across[1], across[2], across[3]);
    transpose(down[0], down[1], down[2], down[3]);
    const Four gx = mix(across[2] - across[0], across[3] - across[1], fx);
    const Four gy = mix(down[1], down[2], fx);
    const Four along = frame.rotation.cosine * gx + frame.rotation.sine * gy;
    const Four aside = frame.rotation.cosine * gy - frame.rotation.sine * gx;
    *reinterpret_cast<Four*>(out.direction + i) = turn_of(aside, along) * float(kDirections);
    *reinterpret_cast<Four*>(squares + i) = gx * gx + gy * gy;
    *reinterpret_cast<Four*>(weights + i) = weight;
  }
  for (int i = 0; i < kGrid; ++i) out.magnitude[i] = std::sqrt(squares[i]) * weights[i];
}

// Shares a row's samples out between cells and directions. The first and the last cell lie beyond
// the descriptor.
using CellRow = float[kCells + 2][kDirections];
void share_out(const SampleRow& samples, CellRow& cells) {
  for (int i = 0; i < kGrid; ++i) {
    const DirectionShares to = direction_shares(samples.direction[i], samples.magnitude[i]);
    float* cell = cells[i / kPerCell];
    const float share = kWeights.second[i];
    cell[kDirections + to.first] += to.to_first * share;
    cell[kDirections + to.second] += to.to_second * share;
    cell[to.first] += to.to_first * (1.0f - share);
    cell[to.second] += to.to_second * (1.0f - share);
  }
}

constexpr int kParts = 32;
// The sum of kDescriptorLength values: of each 32nd, and then of halves.
template <class Value>
float sum_of(const Value& value) {
  float sums[kParts];
  for (int i = 0; i < kParts; ++i) {
    sums[i] = ((value(i) + value(i + kParts)) + value(i + 2 * kParts)) + value(i + 3 * kParts);
  }
  for (int n = kParts / 2; n > 0; n /= 2) {
    for (int i = 0; i < n; ++i) sums[i] += sums[i + n];
  }
  return sums[0];
}

}  // namespace

CORNEA_VECTOR_CLONES
void describe_point(HostView<const float> level, const SiftPoint& point, float turn, bool root,
                    std::uint8_t* descriptor) {
  const DescriptorFrame frame = descriptor_frame(point.x, point.y, point.scale, turn);
  // The window is a square: its corners tell whether it leaves the level.
  constexpr float kLast = kGrid - 1;
  bool all_inside = true;
  for (int corner = 0; corner < 4; ++corner) {
    const int column = corner % 2, row = corner / 2;
    const float i = column * kLast, j = row * kLast;
    const float x = frame.x - j * frame.ay, y = frame.y + j * frame.ax;
    // Rounding may carry a sample a little further than this says.
    const float right = x + i * frame.ax, down = y + i * frame.ay;
    all_inside &=
        inside(level, right - 0.01f, down - 0.01f) && inside(level, right + 0.01f, down + 0.01f);
  }
  // Near the point, where the level lies in memory; the 4 x 4 pixels around it are inside.
  const SamplePlace instead{std::clamp(point.x, 1.0f, static_cast<float>(level.width - 3)),
                            std::clamp(point.y, 1.0f, static_cast<float>(level.height - 3))};
  float values[kDescriptorLength] = {};
  for (int j = 0; j < kGrid; ++j) {
    SampleRow samples;
    all_inside ? sample_row<true>(level, frame, instead, j, samples)
               : sample_row<false>(level, frame, instead, j, samples);
    CellRow cells = {};
    share_out(samples, cells);
    // Between two rows of cells.
    const int second = j / kPerCell;
    for (int row = second - 1; row <= second; ++row) {
      if (row < 0 || row >= kCells) continue;
      const float share = row == second ? kWeights.second[j] : 1.0f - kWeights.second[j];
      float* to = values + row * kCells * kDirections;
      const float* from = cells[1];
      for (int i = 0; i < kCells * kDirections; ++i) to[i] += share * from[i];
    }
  }
  const float norm = std::sqrt(sum_of([&](int i) { return values[i] * values[i]; }));
  const float most = kDescriptorCut * norm;
  for (float& v : values) v = std::min(v, most);
  if (root) {
    const float sum = sum_of([&](int i) { return values[i]; });
    const float scale = sum > 0 ? 1.0f / sum : 0.0f;
    for (int i = 0; i < kDescriptorLength; ++i) {
      descriptor[i] = descriptor_byte(512.0f * std::sqrt(values[i] * scale));
    }
  } else {
    const float after = std::sqrt(sum_of([&](int i) { return values[i] * values[i]; }));
    const float scale = after > 0 ? 512.0f / after : 0.0f;
    for (int i = 0; i < kDescriptorLength; ++i) descriptor[i] = descriptor_byte(values[i] * scale);
  }
}

}  // namespace cornea::sift
