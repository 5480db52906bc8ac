// SPDX-License-Identifier: Apache-2.0
// The fundamental matrices that a sample of correspondences gives: of rank 2, and only those with
// all points in front of both cameras.
#pragma once

#include "cornea/geometry/algebra/rank_two.h"
#include "cornea/geometry/solvers/models.h"
#include "cornea/geometry/solvers/oriented.h"

namespace cornea::geometry {

using FundamentalModels = Models<3>;

CORNEA_HD inline void add_model(const Matrix3<float>& model, const Sample<float, kLargestSample>& s,
                                int points, FundamentalModels& models) {
  Vector3<float> left;
  const Matrix3<float> exact = rank_two(model, left);
  models.fixed = true;
  if (oriented(exact, left, s, points) > 0) models.m[models.count++] = exact;
}

}  // namespace cornea::geometry
