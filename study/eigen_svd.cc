// SPDX-License-Identifier: Apache-2.0
#include "study/svd_peers.h"
#include <Eigen/Dense>

namespace cornea::study {

void eigen_svd(int n, int count, std::span<const float> a, std::span<float> u, std::span<float> s,
               std::span<float> v) {
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::BDCSVD<Eigen::MatrixXf> svd(n, n, Eigen::ComputeFullU | Eigen::ComputeFullV);
  for (int i = 0; i < count; ++i) {
    const std::size_t at = std::size_t(i) * n * n;
    svd.compute(Eigen::Map<const Rows>(a.data() + at, n, n));
    Eigen::Map<Rows>(u.data() + at, n, n) = svd.matrixU();
    Eigen::Map<Rows>(v.data() + at, n, n) = svd.matrixV();
    Eigen::Map<Eigen::VectorXf>(s.data() + std::size_t(i) * n, n) = svd.singularValues();
  }
}

}  // namespace cornea::study
