// SPDX-License-Identifier: Apache-2.0
#include "cornea/geometry/solvers/real_roots.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "cornea/core/random.h"

namespace cornea::geometry {
namespace {

// The polynomial with the given real roots, times as many quadratic factors without real roots as
// its degree needs.
template <int degree>
void from_roots(const std::vector<double>& roots, double scale, double (&p)[degree + 1]) {
  std::vector<double> product = {scale};
  auto multiply = [&](const std::vector<double>& by) {
    std::vector<double> next(product.size() + by.size() - 1, 0.0);
    for (std::size_t i = 0; i < product.size(); ++i) {
      for (std::size_t j = 0; j < by.size(); ++j) next[i + j] += product[i] * by[j];
    }
    product = next;
  };
  for (double root : roots) multiply({-root, 1});
  for (std::size_t i = roots.size(); i + 2 <= degree; i += 2) multiply({1 + 0.1 * i, 0.3, 1});
  ASSERT_EQ(product.size(), std::size_t(degree + 1));
  std::copy(product.begin(), product.end(), p);
}

TEST(RealRoots, AreAllFoundInRisingOrder) {
  core::Random random(1);
  for (int run = 0; run < 2000; ++run) {
    const int count = 2 * random.integer(0, 3);
    std::vector<double> wanted;
    for (int i = 0; i < count; ++i) {
      const double x = random.uniform(-1, 1);
      wanted.push_back(random.integer(0, 1) ? x : 1 / x);
    }
    std::sort(wanted.begin(), wanted.end());
    bool apart = true;
    for (int i = 1; i < count; ++i) apart &= wanted[i] - wanted[i - 1] > 0.01;
    if (!apart) continue;
    double p[11];
    from_roots<10>(wanted, random.uniform(-5, 5), p);
    ProjectiveRoot roots[10];
    ASSERT_EQ(real_roots<10>(p, roots), count) << "run " << run;
    for (int i = 0; i < count; ++i) {
      EXPECT_NEAR(roots[i].z / roots[i].w, wanted[i], 1e-8 * (1 + wanted[i] * wanted[i]));
    }
  }
}

TEST(RealRoots, AreFoundAtTheDivisionsOfTheLine) {
  double p[11];
  from_roots<10>({-1, 0, 0.5, 1, 2, 4}, 3, p);
  ProjectiveRoot roots[10];
  ASSERT_EQ(real_roots<10>(p, roots), 6);
  const double wanted[] = {-1, 0, 0.5, 1, 2, 4};
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(roots[i].z / roots[i].w, wanted[i], 1e-10);
}

TEST(RealRoots, AreFoundForHighDegreesAndLargeRoots) {
  double p[16];
  from_roots<15>({-1e6, -3, -0.9, 1e-4, 0.2, 0.7, 5}, -1, p);
  ProjectiveRoot roots[15];
  ASSERT_EQ(real_roots<15>(p, roots), 7);
  EXPECT_NEAR(roots[0].z / roots[0].w, -1e6, 1);
  EXPECT_NEAR(roots[3].z / roots[3].w, 1e-4, 1e-10);
  EXPECT_NEAR(roots[6].z / roots[6].w, 5, 1e-8);
}

TEST(RealRoots, AreNoneForInvalidPolynomials) {
  const double zero[11] = {}, constant[11] = {1};
  ProjectiveRoot roots[10];
  EXPECT_EQ(real_roots<10>(zero, roots), 0);
  EXPECT_EQ(real_roots<10>(constant, roots), 0);
}

}  // namespace
}  // namespace cornea::geometry
