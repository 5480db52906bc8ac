// SPDX-License-Identifier: Apache-2.0
// The time-critical row functions of FOAGDD on the CPU. They work on plain arrays; foagdd_band.cc
// calls them row by row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cornea/core/isa.h"
#include "cornea/detect/foagdd/foagdd_bank.h"
#include "cornea/detect/foagdd/foagdd_math.h"

namespace cornea::foagdd {

// Columns that a call may read and write beyond the last requested one.
inline constexpr int kFoagddSlack = 48;

// Scratch memory of one thread.
template <class T>
struct FoagddBlock {
  std::vector<T> window, columns, tensor;
};
struct FoagddScratch {
  std::vector<float> differences;
  FoagddBlock<float> screen;
  FoagddBlock<double> exact;
};

// out[d][x] = |derivative d| at columns x = 0 .. count - 1. rows[a] points to column 0 of the row
// that lies a - radius rows below, a = 0 .. 2 radius; columns from -radius to count + radius - 1
// are read.
CORNEA_PER_ISA(void, foagdd_derivatives,
               (const FoagddBank& bank, const float* const* rows, int count, FoagddScratch& scratch,
                float* const* out),
               (bank, rows, count, scratch, out))

// Rows of derivatives, [row][direction], each pointing to column 0: the seven around the row of
// interest, or the eight around two rows, from three above to three below. Columns from -3 to count
// + 2 are read (+ 3 for cells).
template <int rows>
using FoagddRows = std::array<std::array<const float*, kFoagddMostDirections>, rows>;
using FoagddWindow = FoagddRows<2 * kFoagddDiscRadius + 1>;
using FoagddCellWindow = FoagddRows<2 * kFoagddDiscRadius + 2>;

// open[c] = 0 proves that no pixel of the cell at columns 2 c and 2 c + 1 of the two rows exceeds
// the threshold.
CORNEA_PER_ISA(void, foagdd_open_cells,
               (const FoagddCellWindow& window, int directions, int count, float threshold,
                FoagddScratch& scratch, std::uint8_t* open),
               (window, directions, count, threshold, scratch, open))

// Bounds of the measure at columns 0 .. count - 1, in float; zero where a group of eight columns
// has no open cell.
CORNEA_PER_ISA(void, foagdd_bounds,
               (const FoagddWindow& window, int directions, int count, float threshold,
                const std::uint8_t* open, FoagddScratch& scratch, float* upper, float* lower),
               (window, directions, count, threshold, open, scratch, upper, lower))

// The measure itself, in double, with the same bits as foagdd_tensor and foagdd_measure.
CORNEA_PER_ISA(void, foagdd_measures,
               (const FoagddWindow& window, int directions, int count, FoagddScratch& scratch,
                double* measure),
               (window, directions, count, scratch, measure))

}  // namespace cornea::foagdd
