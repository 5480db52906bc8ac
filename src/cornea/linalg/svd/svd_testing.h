// SPDX-License-Identifier: Apache-2.0
// For the tests of the SVD: matrices of many kinds, and the properties that a decomposition must
// have.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include "cornea/core/testing.h"
#include "cornea/linalg/svd/svd.h"

namespace cornea::svd_testing {

using Eigen::MatrixXd;
using Eigen::VectorXd;

enum class Kind { normal, uniform, half_rank, graded, repeated, zero, identity, one_entry, ties };
inline constexpr Kind kKinds[] = {Kind::normal,   Kind::uniform,   Kind::half_rank,
                                  Kind::graded,   Kind::repeated,  Kind::zero,
                                  Kind::identity, Kind::one_entry, Kind::ties};

inline MatrixXd random_normal(int rows, int cols, core::Random& random) {
  MatrixXd a(rows, cols);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) a(i, j) = random.normal();
  }
  return a;
}

// Random orthonormal columns times `values` times random orthonormal rows.
inline MatrixXd with_values(int rows, int cols, const VectorXd& values, core::Random& random) {
  const int k = std::min(rows, cols);
  const auto thin = [&](int n) {
    const MatrixXd square = random_normal(n, k, random);
    return MatrixXd(Eigen::HouseholderQR<MatrixXd>(square).householderQ() *
                    MatrixXd::Identity(n, k));
  };
  return thin(rows) * values.asDiagonal() * thin(cols).transpose();
}

inline MatrixXd make_matrix(Kind kind, int rows, int cols, core::Random& random) {
  const int k = std::min(rows, cols);
  VectorXd values(k);
  switch (kind) {
    case Kind::normal:
      return random_normal(rows, cols, random);
    case Kind::uniform: {  // one value is far larger than the others
      MatrixXd a(rows, cols);
      for (int i = 0; i < a.size(); ++i) a.data()[i] = random.uniform();
      return a;
    }
    case Kind::half_rank: {
      const int rank = std::max(1, k / 2);
      return random_normal(rows, rank, random) * random_normal(rank, cols, random);
    }
    case Kind::graded:  // condition 1e12
      for (int i = 0; i < k; ++i) values(i) = std::pow(10.0, -12.0 * i / std::max(1, k - 1));
      return with_values(rows, cols, values, random);
    case Kind::repeated:
      for (int i = 0; i < k; ++i) values(i) = 1 + i % 2;
      return with_values(rows, cols, values, random);
    case Kind::zero:
      return MatrixXd::Zero(rows, cols);
    case Kind::identity:
      return MatrixXd::Identity(rows, cols);
    case Kind::one_entry: {
      MatrixXd a = MatrixXd::Zero(rows, cols);
      a(random.integer(0, rows - 1), random.integer(0, cols - 1)) = -3;
      return a;
    }
    case Kind::ties: {  // small integers: equal rows, zero columns, exact cancellation
      MatrixXd a(rows, cols);
      for (int i = 0; i < a.size(); ++i) a.data()[i] = random.integer(-1, 1);
      return a;
    }
  }
  return {};
}

template <class T>
struct Batch {
  Batch(int rows, int cols, int count)
      : shape{rows, cols, count},
        a(std::size_t(rows) * cols * count),
        u(std::size_t(rows) * shape.rank() * count),
        s(std::size_t(shape.rank()) * count),
        v(std::size_t(cols) * shape.rank() * count) {}

  void set(int index, const MatrixXd& m) {
    for (int i = 0; i < shape.rows; ++i) {
      for (int j = 0; j < shape.cols; ++j) {
        a[(std::size_t(index) * shape.rows + i) * shape.cols + j] = static_cast<T>(m(i, j));
      }
    }
  }
  void run(Svd& svd) { svd.compute<T>(shape, a, u, s, v); }
  static MatrixXd matrix(const std::vector<T>& from, int index, int rows, int cols) {
    using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    return Eigen::Map<const Rows>(from.data() + std::size_t(index) * rows * cols, rows, cols)
        .template cast<double>();
  }
  MatrixXd A(int i) const { return matrix(a, i, shape.rows, shape.cols); }
  MatrixXd U(int i) const { return matrix(u, i, shape.rows, shape.rank()); }
  VectorXd S(int i) const { return matrix(s, i, shape.rank(), 1); }
  MatrixXd V(int i) const { return matrix(v, i, shape.cols, shape.rank()); }

  SvdShape shape;
  std::vector<T> a, u, s, v;
};

struct Errors {
  double reconstruction = 0, orthogonality = 0;
};

template <class T>
Errors errors_of(const Batch<T>& batch, int i) {
  const int k = batch.shape.rank();
  const MatrixXd a = batch.A(i), u = batch.U(i), v = batch.V(i), one = MatrixXd::Identity(k, k);
  const double scale = a.norm() > 0 ? a.norm() : 1;
  return {(a - u * batch.S(i).asDiagonal() * v.transpose()).norm() / scale,
          std::max((u.transpose() * u - one).norm(), (v.transpose() * v - one).norm()) /
              std::sqrt(double(k))};
}

template <class T>
double bound(const SvdShape& shape) {
  const double base = sizeof(T) == sizeof(float) ? 1e-6 : 1e-14;
  return std::max(shape.rows, shape.cols) <= 32 ? base : 5 * base;
}

// Checks the errors against the bound, the descending order, and the values against Eigen's.
template <class T>
void expect_decomposed(const Batch<T>& batch, int i, bool compare = true) {
  const Errors e = errors_of(batch, i);
  const std::string what = text(batch.shape.rows, " x ", batch.shape.cols, " number ", i);
  EXPECT_LE(e.reconstruction, bound<T>(batch.shape)) << what;
  EXPECT_LE(e.orthogonality, bound<T>(batch.shape)) << what;
  const VectorXd s = batch.S(i);
  for (int j = 0; j < s.size(); ++j) {
    EXPECT_GE(s(j), 0) << what;
    EXPECT_LE(s(j), s(std::max(0, j - 1))) << what;
  }
  if (!compare) return;
  const MatrixXd a = batch.A(i);
  const VectorXd exact = Eigen::JacobiSVD<MatrixXd>(a).singularValues();
  EXPECT_LE((s - exact).cwiseAbs().maxCoeff(), 2 * bound<T>(batch.shape) * (exact(0) + 1e-300))
      << what;
}

}  // namespace cornea::svd_testing
