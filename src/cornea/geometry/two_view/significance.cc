// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/significance.h"

#include <algorithm>
#include <cmath>

namespace cornea::geometry {
namespace {

double log_choose(int n, int k) {
  double sum = 0;
  for (int i = 1; i <= k; ++i) sum += std::log(double(n - k + i) / i);
  return sum;
}

bool is_random(int inliers, int count, int sample, double probability) {
  if (inliers <= sample) return true;
  // C(n, k) < (e n / k)^k and C(k, sample) <= 2^k: nearly all models are significant by this bound.
  const double bound = inliers * (1 + std::log(2.0 * count / inliers)) +
                       (inliers - sample) * std::log(std::min(probability, 1.0));
  return bound >= 0 && significance(inliers, count, sample, probability) <= 0;
}

}  // namespace

double significance(int support, int count, int sample, double probability) {
  if (support <= sample) return 0;
  return -((support - sample) * std::log(std::min(probability, 1.0)) + log_choose(count, support) +
           log_choose(support, sample));
}

double side_of(const Normalisation& normalisation) {
  // The mean distance of the points of a square from its centre is 0.3826 sides; normalised it is
  // sqrt(2).
  constexpr double kSide = 1.4142135623730951 / 0.3826;
  return kSide / std::max(normalisation.scales.first, normalisation.scales.second);
}

double side_of(std::span<const Correspondence> matches) {
  double sums[8] = {};
  for (const Correspondence& m : matches) {
    const double at[4] = {m.x1, m.y1, m.x2, m.y2};
    for (int i = 0; i < 4; ++i) sums[2 * i] += at[i], sums[2 * i + 1] += at[i] * at[i];
  }
  const double n = double(matches.size());
  const auto variance = [&](int i) {
    const double mean = sums[2 * i] / n;
    return sums[2 * i + 1] / n - mean * mean;
  };
  const double least = std::min(variance(0) + variance(1), variance(2) + variance(3));
  return std::sqrt(6 * std::max(least, 0.0));  // a side of 1 has a variance of 1/12 per coordinate
}

// The threshold is the sum of the distances to both lines: each is a strip as wide as it.
bool random_epipolar(int inliers, int count, int sample, double threshold, double side) {
  return is_random(inliers, count, sample, threshold / side);
}

// The threshold is the sum of the distances to both points: each is in a disc of this diameter.
bool random_transfer(int inliers, int count, double threshold, double side) {
  constexpr double kDisc = 0.7853981633974483;  // pi / 4
  const double share = threshold / side;
  return is_random(inliers, count, 4, kDisc * share * share);
}

}  // namespace cornea::geometry
