// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/significance.h"

#include <algorithm>
#include <cmath>

#include "cornea/geometry/ransac/host_team.h"

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
  const Scales& scales = normalisation.scales;
  return kSide * (1 / scales.first + 1 / scales.second) / 2;
}

double side_of(std::span<const Correspondence> matches) {
  HostPoints points;
  points.set(matches);
  return side_of(normalise(points));
}

// The threshold is the sum of the distances to both lines: each is a strip as wide as it, in images
// of one size. In images of two sizes, the widths of the strips are proportional to the sizes.
bool random_epipolar(const Inliers& inliers, const Inliers& within_noise, int sample, double side) {
  const auto random = [&](const Inliers& of) {
    return is_random(of.inliers, of.count, sample, of.threshold / side);
  };
  return random(inliers) && random(within_noise);
}

// The threshold is the sum of the distances to both points: each is in a disc of this diameter.
bool random_transfer(const Inliers& inliers, double side) {
  constexpr double kDisc = 0.7853981633974483;  // pi / 4
  const double share = inliers.threshold / side;
  return is_random(inliers.inliers, inliers.count, 4, kDisc * share * share);
}

}  // namespace cornea::geometry
