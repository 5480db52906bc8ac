// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/two_view/batch.h"

#include <cmath>

#include "cornea/geometry/scoring/cost.h"

namespace cornea::geometry {
namespace {

Matrix3<double> to_normalised(double scale, double x, double y) {
  return {{scale, 0, -scale * x, 0, scale, -scale * y, 0, 0, 1}};
}
Matrix3<double> to_pixels(double scale, double x, double y) {
  return {{1 / scale, 0, x, 0, 1 / scale, y, 0, 0, 1}};
}

bool is_finite(const Correspondence& m) {
  return std::isfinite(m.x1) && std::isfinite(m.y1) && std::isfinite(m.x2) && std::isfinite(m.y2);
}

}  // namespace

std::array<double, 9> canonical(const Matrix3<double>& m) {
  double square = 0, largest = 0;
  for (double v : m.v) {
    square += v * v;
    if (std::abs(v) > std::abs(largest)) largest = v;
  }
  const double scale = (largest < 0 ? -1 : 1) / std::sqrt(square);
  std::array<double, 9> result;
  for (int i = 0; i < 9; ++i) result[i] = m.v[i] * scale;
  return result;
}

std::array<double, 9> epipolar_in_pixels(const Matrix3<double>& f, const Normalisation& n) {
  return canonical(transposed(to_normalised(n.scales.second, n.x2, n.y2)) *
                   (f * to_normalised(n.scales.first, n.x1, n.y1)));
}
std::array<double, 9> homography_in_pixels(const Matrix3<double>& h, const Normalisation& n) {
  return canonical(to_pixels(n.scales.second, n.x2, n.y2) *
                   (h * to_normalised(n.scales.first, n.x1, n.y1)));
}

void check_correspondences(std::span<const Correspondence> matches) {
  require(matches.size() <= kMostMatches, "a pair of ", matches.size(),
          " correspondences is too large; the limit is ", kMostMatches);
  bool finite = true;
  for (const Correspondence& m : matches) finite &= is_finite(m);
  for (std::size_t i = 0; !finite && i < matches.size(); ++i) {
    require(is_finite(matches[i]), "correspondence ", i,
            " has a coordinate that is not finite; remove it");
  }
}

}  // namespace cornea::geometry
