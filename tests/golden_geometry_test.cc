// SPDX-License-Identifier: Apache-2.0
// Compares the SVD and fundamental matrices with the results of plain definitions, in the folder
// golden of this project.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "golden_testing.h"

namespace cornea {
namespace {

using namespace testing;

// |A - U S V'| / |A| and the larger of |U'U - I| and |V'V - I| over sqrt(k), Frobenius norms.
struct SvdErrors {
  double reconstruction = 0, orthogonality = 0;
};
template <class T>
SvdErrors svd_errors(const SvdShape& shape, const std::vector<T>& a, const std::vector<T>& u,
                     const std::vector<T>& s, const std::vector<T>& v) {
  const int k = shape.rank();
  double difference = 0, norm = 0;
  for (int i = 0; i < shape.rows; ++i) {
    for (int j = 0; j < shape.cols; ++j) {
      double sum = a[i * shape.cols + j];
      norm += sum * sum;
      for (int l = 0; l < k; ++l) sum -= double(u[i * k + l]) * s[l] * v[j * k + l];
      difference += sum * sum;
    }
  }
  auto departure = [&](const std::vector<T>& m, int rows) {
    double squares = 0;
    for (int p = 0; p < k; ++p) {
      for (int q = 0; q < k; ++q) {
        double product = p == q ? -1 : 0;
        for (int i = 0; i < rows; ++i) product += double(m[i * k + p]) * m[i * k + q];
        squares += product * product;
      }
    }
    return std::sqrt(squares / k);
  };
  return {std::sqrt(difference / norm),
          std::max(departure(u, shape.rows), departure(v, shape.cols))};
}

class GoldenSvd : public Golden {
 protected:
  template <class T>
  void compare(const std::string& type, double tolerance) {
    Svd svd(context);
    for (const Json& golden : results("svd")) {
      const SvdShape shape{golden["rows"], golden["cols"], 1};
      const int k = shape.rank();
      SCOPED_TRACE(text(shape.rows, " x ", shape.cols, ", ", golden["kind"], ", ", type));
      const std::vector<T> a = golden["matrix"];
      std::vector<T> u(shape.rows * k), s(k), v(shape.cols * k);
      svd.compute<T>(shape, a, u, s, v);
      const double allowed = k > 32 ? 5 * tolerance : tolerance;
      const double largest = golden["values"][0];
      for (int i = 0; i < k; ++i) {
        expect_within(type + "_values",
                      std::abs(s[i] - golden["values"][i].get<double>()) / largest, allowed);
      }
      const SvdErrors errors = svd_errors(shape, a, u, s, v);
      expect_within(type + "_reconstruction", errors.reconstruction, allowed);
      expect_within(type + "_orthogonality", errors.orthogonality, allowed);
    }
  }
};

TEST_P(GoldenSvd, ValuesAndReconstruction) {
  compare<float>("float", kFloat);
  compare<double>("double", kDouble);
}

std::vector<Correspondence> correspondences(const Json& list) {
  std::vector<Correspondence> all;
  for (const Json& m : list) all.push_back({m[0], m[1], m[2], m[3]});
  return all;
}

// Normalised to norm 1 with coordinates in units of 400 pixels, in which all entries have similar
// magnitude.
std::array<double, 9> scaled(const std::array<double, 9>& f) {
  std::array<double, 9> out;
  double squares = 0;
  for (int i = 0; i < 9; ++i) {
    out[i] = f[i] * (i / 3 < 2 ? 400 : 1) * (i % 3 < 2 ? 400 : 1);
    squares += out[i] * out[i];
  }
  for (double& v : out) v /= std::sqrt(squares);
  return out;
}

TEST_P(Golden, FundamentalMatricesAndDistances) {
  for (const Json& golden : results("fundamental")) {
    SCOPED_TRACE(golden["name"]);
    const auto matches = correspondences(golden["matches"]);
    const std::array<double, 9> expected = golden["F"];
    for (std::size_t i = 0; i < matches.size(); ++i) {
      const double difference =
          epipolar_distance(expected, matches[i]) - golden["distances"][i].get<double>();
      expect_within("distance", std::abs(difference), kEpipolarDistance);
    }
    if (!golden.contains("inliers")) {
      const std::array<double, 9> f = scaled(eight_point(matches)), e = scaled(expected);
      for (int i = 0; i < 9; ++i) expect_within("F", std::abs(f[i] - e[i]), kFundamental);
      continue;
    }
    // With wrong matches among them: inliers and outliers must be classified as by the definition's
    // F.
    const FundamentalResult result = FundamentalEstimator(context).estimate(matches);
    EXPECT_EQ(result.kind, TwoView::general);
    for (std::size_t i = 0; i < matches.size(); ++i) {
      EXPECT_EQ(result.inliers[i], golden["inliers"][i] ? 1 : 0) << "match " << i;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, GoldenSvd, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace cornea
