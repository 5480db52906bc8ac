// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "cornea/core/simd.h"
#include "cornea/describe/sift/host_sift.h"
#include "cornea/describe/sift/sift_samples.h"

namespace cornea::sift {
namespace {

using namespace core;

template <int samples>
struct GridWeights {
  float of[samples];
  GridWeights(float spacing, float sigma) {
    for (int i = 0; i < samples; ++i) of[i] = grid_weight(i, samples, spacing, sigma);
  }
};
const GridWeights<kShapeGrid> kShapeWeights(kShapeSpacing, kShapeSigma);
const GridWeights<kAngleGrid> kAngleWeights(kAngleSpacing, kAngleSigma);

// Partial sums, each over every 32nd sample.
struct MomentParts {
  Four xx[kShapeParts / 4], xy[kShapeParts / 4], yy[kShapeParts / 4];
};
float total(Four* parts) {
  float* sums = reinterpret_cast<float*>(parts);
  for (int n = kShapeParts / 2; n > 0; n /= 2) {
    for (int i = 0; i < n; ++i) sums[i] += sums[i + n];
  }
  return sums[0];
}

template <bool inside>
Moments moments_of(HostView<const float> level, const SampleFrame& frame, SamplePlace instead) {
  MomentParts parts = {};
  for (int j = 0; j < kShapeGrid; ++j) {
    for (int i = 0; i < kShapeGrid; i += 4) {
      Four weight = load4(kShapeWeights.of + i) * kShapeWeights.of[j];
      const auto [gx, gy] = gradients_at<inside>(level, frame, instead, i, j, weight);
      const int part = (j * kShapeGrid + i) % kShapeParts / 4;
      parts.xx[part] += gx * gx * weight;
      parts.xy[part] += gx * gy * weight;
      parts.yy[part] += gy * gy * weight;
    }
  }
  return {total(parts.xx), total(parts.xy), total(parts.yy)};
}

template <bool inside>
void add_angles(HostView<const float> level, const SampleFrame& frame, SamplePlace instead,
                AngleParts& parts) {
  for (int j = 0; j < kAngleGrid; ++j) {
    float squares[kAngleGrid], weights[kAngleGrid];
    std::int32_t bins[kAngleGrid];
    for (int i = 0; i < kAngleGrid; i += 4) {
      Four weight = load4(kAngleWeights.of + i) * kAngleWeights.of[j];
      const auto [gx, gy] = gradients_at<inside>(level, frame, instead, i, j, weight);
      const Four along = frame.ax * gx + frame.ay * gy;
      const Four aside = frame.bx * gx + frame.by * gy;
      const Four turn = turn_of(aside, along);
      const FourWords bin = __builtin_convertvector(turn * float(kAngleBins) + 0.5f, FourWords);
      *reinterpret_cast<FourWords*>(bins + i) = bin;
      store4(squares + i, along * along + aside * aside);
      store4(weights + i, weight);
    }
    for (int i = 0; i < kAngleGrid; ++i) {
      // A full circle is bin 0.
      const int bin = static_cast<unsigned>(bins[i]) < kAngleBins ? bins[i] : 0;
      parts[(j * kAngleGrid + i) % kAngleParts][bin] += std::sqrt(squares[i]) * weights[i];
    }
  }
}

}  // namespace

CORNEA_VECTOR_CLONES
PointShape adapted_shape(HostView<const float> level, const SiftPoint& point,
                         const PointShape& last) {
  const SampleFrame frame =
      upright_frame(point.x, point.y, kShapeSpacing * point.scale, kShapeGrid, last);
  const SamplePlace instead = place_inside(level, point.x, point.y);
  return shape_of(all_inside(level, frame, kShapeGrid) ? moments_of<true>(level, frame, instead)
                                                       : moments_of<false>(level, frame, instead));
}

CORNEA_VECTOR_CLONES
int find_affine_angles(HostView<const float> level, const SiftPoint& point, const PointShape& shape,
                       int most, std::array<float, kMostAngles>& turns) {
  const SampleFrame frame =
      upright_frame(point.x, point.y, kAngleSpacing * point.scale, kAngleGrid, shape);
  const SamplePlace instead = place_inside(level, point.x, point.y);
  AngleParts parts = {};
  all_inside(level, frame, kAngleGrid) ? add_angles<true>(level, frame, instead, parts)
                                       : add_angles<false>(level, frame, instead, parts);
  return highest_peaks(parts, most, turns);
}

}  // namespace cornea::sift
