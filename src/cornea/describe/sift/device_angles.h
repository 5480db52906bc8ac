// SPDX-License-Identifier: Apache-2.0
// For .cu files of SIFT: from a warp's orientation histograms to the angles of a point.
#pragma once

#include "cornea/describe/sift/device_sift.h"

namespace cornea::sift {

// Length of a histogram, padded so that lanes that add to the same bin have no bank conflict.
inline constexpr int kAnglePitch = kAngleBins + 1;
static_assert(kAngleParts == core::kWarp);

// Sums the histograms of a warp's lanes and writes the highest peaks of the sum as the angles of
// point i of an image. `raw` and `smooth` have room for kAngleBins each.
inline __device__ void place_peaks(const float* histograms, float* raw, float* smooth, int most,
                                   const PointLists& points, int image, std::uint32_t i,
                                   const AngleLists& angles) {
  using core::kWarp;
  const int lane = threadIdx.x % kWarp;
  for (int b = lane; b < kAngleBins; b += kWarp) {
    float sum = histograms[b];
#pragma unroll 8
    for (int part = 1; part < kAngleParts; ++part) sum += histograms[part * kAnglePitch + b];
    raw[b] = sum;
  }
  __syncwarp();
  auto wrapped = [](int b) {
    return b < 0 ? b + kAngleBins : b >= kAngleBins ? b - kAngleBins : b;
  };
  float highest = 0;
  for (int b = lane; b < kAngleBins; b += kWarp) {
    smooth[b] = smooth_bin([&](int k) { return raw[wrapped(k)]; }, b);
    highest = fmaxf(highest, smooth[b]);
  }
  for (int step = kWarp / 2; step > 0; step /= 2) {
    highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, step));
  }
  __syncwarp();
  auto is_peak = [&](int b) {
    return is_angle_peak(smooth[wrapped(b - 1)], smooth[b], smooth[wrapped(b + 1)], highest);
  };
  const int second = lane + kWarp;
  const bool first_is = is_peak(lane);
  const bool second_is = second < kAngleBins && is_peak(min(second, kAngleBins - 1));
  const std::uint64_t peaks =
      std::uint64_t(__ballot_sync(~0u, second_is)) << kWarp | __ballot_sync(~0u, first_is);
  const std::size_t at = std::size_t(image) * points.capacity + i;
  auto place = [&](int b) {
    int rank = 0;  // number of peaks that are higher, or equal and before it
    for (std::uint64_t rest = peaks; rest; rest &= rest - 1) {
      const int other = __ffsll(rest) - 1;
      rank += smooth[other] > smooth[b] || (smooth[other] == smooth[b] && other < b);
    }
    if (rank >= most) return;
    angles.turns[at * kMostAngles + rank] =
        peak_turn(b, smooth[wrapped(b - 1)], smooth[b], smooth[wrapped(b + 1)]);
  };
  if (first_is) place(lane);
  if (second_is) place(second);
  if (lane == 0) {
    const int found = min(__popcll(peaks), most);
    angles.counts[at] = found;
    // A sum does not depend on the order of atomics.
    atomicAdd(angles.group_counts + image * point_groups(points.capacity) + i / kGroupPoints,
              std::uint32_t(found));
  }
}

}  // namespace cornea::sift
