// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "cornea/core/simd.h"
#include "cornea/describe/sift/host_sift.h"
#include "cornea/describe/sift/sift_samples.h"

namespace cornea::sift {
namespace {

using namespace core;

// Weights of the samples along one axis: the Gaussian, and the share of the second cell.
template <int per_cell>
struct Grid {
  static constexpr int kSamples = (kCells + 1) * per_cell;  // samples per row of the grid
  static constexpr int kRoom = divide_up(kSamples, 4) * 4;
  float gaussian[kRoom] = {}, second[kRoom] = {};
  Grid() {
    for (int i = 0; i < kSamples; ++i) {
      gaussian[i] = sample_weight(i, per_cell);
      second[i] = second_share(i, per_cell);
    }
  }
};
template <int per_cell>
const Grid<per_cell> kGridOf;

// The samples of one row: magnitudes weighted by the Gaussian, and directions of 0..8.
template <int per_cell>
struct SampleRow {
  static constexpr int kRoom = Grid<per_cell>::kRoom;
  float magnitude[kRoom], direction[kRoom];
};

template <int per_cell, bool inside, bool affine>
void sample_row(HostView<const float> level, const SampleFrame& frame, SamplePlace instead, int j,
                SampleRow<per_cell>& out) {
  const Grid<per_cell>& grid = kGridOf<per_cell>;
  constexpr int kRoom = Grid<per_cell>::kRoom;
  float squares[kRoom], weights[kRoom];
  for (int i = 0; i < kRoom; i += 4) {
    Four weight = load4(grid.gaussian + i) * grid.gaussian[j];
    const auto [gx, gy] =
        gradients_at<inside>(level, frame, instead, i, j, weight, Grid<per_cell>::kSamples);
    const Four along = frame.ax * gx + frame.ay * gy;
    const Four aside = frame.bx * gx + frame.by * gy;
    store4(out.direction + i, turn_of(aside, along) * float(kDirections));
    // A rotation alone does not change the magnitude.
    store4(squares + i, affine ? along * along + aside * aside : gx * gx + gy * gy);
    store4(weights + i, weight);
  }
  for (int i = 0; i < kRoom; ++i) out.magnitude[i] = std::sqrt(squares[i]) * weights[i];
}

// Distributes the samples of a row between cells and directions. The first and the last cell lie
// outside the descriptor. The directions of a cell are one vector, or two on processors with
// vectors of 16 bytes, where GCC would split selections of a longer one into single values: adding
// zero to most directions takes less time than two scattered accesses to memory.
static_assert(kDirections == 8);
#ifdef __x86_64__
typedef float Directions __attribute__((vector_size(32), aligned(4), may_alias));
typedef std::int32_t Numbers __attribute__((vector_size(32)));
constexpr Numbers kNumbers = {0, 1, 2, 3, 4, 5, 6, 7};
#else
typedef float Directions __attribute__((vector_size(16), aligned(4), may_alias));
typedef std::int32_t Numbers __attribute__((vector_size(16)));
constexpr Numbers kNumbers = {0, 1, 2, 3};
#endif
constexpr int kPerVector = sizeof(Directions) / sizeof(float), kVectors = kDirections / kPerVector;
using CellRow = float[kCells + 2][kDirections];
template <int per_cell>
void share_out(const SampleRow<per_cell>& samples, CellRow& cells) {
  const Grid<per_cell>& grid = kGridOf<per_cell>;
  Directions before[kVectors] = {};
  const auto part_of = [&](int cell, int v) -> Directions& {
    return *reinterpret_cast<Directions*>(cells[cell] + v * kPerVector);
  };
  for (int cell = 0; cell <= kCells; ++cell) {
    Directions after[kVectors] = {};
    for (int i = cell * per_cell; i < (cell + 1) * per_cell; ++i) {
      const DirectionShares to = direction_shares(samples.direction[i], samples.magnitude[i]);
      for (int v = 0; v < kVectors; ++v) {
        const Numbers each = kNumbers + v * kPerVector;
        const Directions second = each == to.second ? Directions{} + to.to_second : Directions{};
        const Directions both = each == to.first ? Directions{} + to.to_first : second;
        after[v] += both * grid.second[i];
        before[v] += both * (1.0f - grid.second[i]);
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      part_of(cell, v) = before[v];
      before[v] = after[v];
    }
  }
  for (int v = 0; v < kVectors; ++v) part_of(kCells + 1, v) = before[v];
}

constexpr int kParts = 32;
// The sum of kDescriptorLength values: 32 partial sums over every 32nd value, then combined by
// halves.
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

// The sums of all cells, before they are normalised.
template <int per_cell, bool affine>
void cells_of(HostView<const float> level, const SampleFrame& frame, SamplePlace instead,
              float* values) {
  const Grid<per_cell>& grid = kGridOf<per_cell>;
  const bool inside = all_inside(level, frame, grid.kSamples);
  std::fill_n(values, kDescriptorLength, 0.0f);
  for (int j = 0; j < grid.kSamples; ++j) {
    SampleRow<per_cell> samples;
    inside ? sample_row<per_cell, true, affine>(level, frame, instead, j, samples)
           : sample_row<per_cell, false, affine>(level, frame, instead, j, samples);
    CellRow cells;
    share_out(samples, cells);
    // The sample row lies between two rows of cells.
    const int second = j / per_cell;
    for (int row = second - 1; row <= second; ++row) {
      if (row < 0 || row >= kCells) continue;
      const float share = row == second ? grid.second[j] : 1.0f - grid.second[j];
      float* to = values + row * kCells * kDirections;
      const float* from = cells[1];
      for (int i = 0; i < kCells * kDirections; ++i) to[i] += share * from[i];
    }
  }
}

float norm_of(const float* values) {
  return std::sqrt(sum_of([&](int i) { return values[i] * values[i]; }));
}
void cut(float* values) {
  const float most = kDescriptorCut * norm_of(values);
  for (int i = 0; i < kDescriptorLength; ++i) values[i] = std::min(values[i], most);
}

void write_bytes(const float* values, bool root, std::uint8_t* descriptor) {
  if (root) {
    const float sum = sum_of([&](int i) { return values[i]; });
    const float scale = sum > 0 ? 1.0f / sum : 0.0f;
    for (int i = 0; i < kDescriptorLength; ++i) {
      descriptor[i] = descriptor_byte(512.0f * std::sqrt(values[i] * scale));
    }
  } else {
    const float norm = norm_of(values);
    const float scale = norm > 0 ? 512.0f / norm : 0.0f;
    for (int i = 0; i < kDescriptorLength; ++i) descriptor[i] = descriptor_byte(values[i] * scale);
  }
}

}  // namespace

CORNEA_VECTOR_CLONES
void describe_point(HostView<const float> level, const SiftPoint& point, float turn, bool root,
                    std::uint8_t* descriptor) {
  float values[kDescriptorLength];
  const SampleFrame frame =
      round_frame(point.x, point.y, descriptor_spacing(point.scale), kGrid, turn);
  cells_of<kPerCell, false>(level, frame, place_inside(level, point.x, point.y), values);
  cut(values);
  write_bytes(values, root, descriptor);
}

CORNEA_VECTOR_CLONES
void describe_affine(HostView<const float> level, const SiftPoint& point, const PointShape& shape,
                     float turn, bool root, std::uint8_t* descriptor) {
  float values[kDescriptorLength];
  const SampleFrame frame =
      turned_frame(point.x, point.y, descriptor_spacing(point.scale), kGrid, shape, turn);
  cells_of<kPerCell, true>(level, frame, place_inside(level, point.x, point.y), values);
  cut(values);
  write_bytes(values, root, descriptor);
}

CORNEA_VECTOR_CLONES
void describe_pooled(std::span<const HostView<const float>> levels, const SiftPoint& point,
                     const PointShape& shape, float turn, bool root, std::uint8_t* descriptor) {
  constexpr int kPooled = Grid<kPooledPerCell>::kSamples;
  float values[kDescriptorLength], sums[kDescriptorLength] = {};
  for (int k = 0; k < kSizes; ++k) {
    const HostView<const float> level = levels[k];
    const float spacing = descriptor_spacing(domain_size(k) * point.scale, kPooledPerCell);
    const SampleFrame frame = turned_frame(point.x, point.y, spacing, kPooled, shape, turn);
    cells_of<kPooledPerCell, true>(level, frame, place_inside(level, point.x, point.y), values);
    cut(values);
    const float norm = norm_of(values);
    const float scale = norm > 0 ? 1.0f / norm : 0.0f;
    for (int i = 0; i < kDescriptorLength; ++i) sums[i] += values[i] * scale;
  }
  write_bytes(sums, root, descriptor);
}

}  // namespace cornea::sift
