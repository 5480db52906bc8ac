// SPDX-License-Identifier: Apache-2.0
#include "cornea/filter/trilateral/plane_windows.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "cornea/filter/bilateral/range_weight.h"
#include "cornea/filter/bilateral/weight_pack.h"
#include "cornea/filter/trilateral/trilateral_math.h"

namespace cornea::trilateral::CORNEA_ISA {
namespace {

using namespace core;
using namespace bilateral;
using bilateral::CORNEA_ISA::weight_pack;

using Ints = Pack<std::int32_t>;
constexpr int kParts = kPlaneLanes / kWidth;

inline float sum_of(const Floats* lanes) {
  float sum = 0;
  for (int part = 0; part < kParts; ++part) {
    for (int i = 0; i < kWidth; ++i) sum += lanes[part][i];
  }
  return sum;
}

}  // namespace

float mean_above_plane(const PaddedImage& image, const PlaneWindows& windows, int x, int y,
                       int half, float a, float b) {
  Floats along[kParts], weights[kParts] = {}, sums[kParts] = {};
  Ints index[kParts];
  for (int part = 0; part < kParts; ++part) {
    for (int i = 0; i < kWidth; ++i) {
      index[part][i] = part * kWidth + i;
      along[part][i] = -a * float(part * kWidth + i);
    }
  }
  const float own = image.row(y)[x];
  const int top = std::max(-half, -y), bottom = std::min(half, image.height() - 1 - y);
  for (int n = top; n <= bottom; ++n) {
    const int reach = std::min(half, windows.reach[std::abs(n)]);
    const int left = std::max(-reach, -x),
              count = std::min(reach, image.width() - 1 - x) - left + 1;
    const float *row = image.row(y + n) + x + left, *of_column = windows.of_column() + left;
    const float row_part = windows.of_row(n);
    const float base = -fused(b, float(n), own);
    for (int i = 0; i < count; i += kPlaneLanes) {
      const Floats plane = pack_of(fused(-a, float(left + i), base));
      for (int part = 0; part < kParts; ++part) {
        const int at = i + part * kWidth;
        const Floats d = (load_pack(row + at) + plane) + along[part];
        Floats place = load_pack(of_column + at) + row_part;
        if (i + kPlaneLanes > count) place = index[part] < count - i ? place : pack_of(kNoWeight);
        const Floats w = weight_pack(d, place);
        weights[part] += w;
        sums[part] = fused(w, d, sums[part]);
      }
    }
  }
  return sum_of(sums) / sum_of(weights);
}

}  // namespace cornea::trilateral::CORNEA_ISA
