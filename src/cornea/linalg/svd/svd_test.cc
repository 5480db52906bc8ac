// SPDX-License-Identifier: Apache-2.0
#include "cornea/linalg/svd/svd.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "cornea/core/error.h"
#include "cornea/core/testing.h"
#include "cornea/linalg/svd/svd_testing.h"

namespace cornea {
namespace {

using namespace core;

using namespace svd_testing;

class SvdTest : public testing::OnEveryDevice {
 protected:
  Svd svd{context};

  // Decomposes one matrix of every kind, `repeat` times.
  template <class T>
  void expect_all_kinds(int rows, int cols, int repeat = 1) {
    Random random(17, rows * 1000 + cols);
    constexpr int kinds = std::size(kKinds);
    Batch<T> batch(rows, cols, kinds * repeat);
    for (int i = 0; i < kinds * repeat; ++i) {
      batch.set(i, make_matrix(kKinds[i % kinds], rows, cols, random));
    }
    batch.run(svd);
    EXPECT_EQ(svd.report().not_converged, 0) << rows << " x " << cols;
    EXPECT_EQ(svd.report().not_finite, 0);
    for (int i = 0; i < kinds * repeat; ++i) expect_decomposed(batch, i);
  }
};

TEST_P(SvdTest, DecomposesSquaresOfEverySmallSize) {
  for (int n = 1; n <= 32; ++n) {
    expect_all_kinds<float>(n, n, n <= 16 ? 3 : 1);
    expect_all_kinds<double>(n, n);
  }
}

TEST_P(SvdTest, DecomposesTallAndWideMatrices) {
  for (auto [rows, cols] : {std::pair{9, 8},
                            {8, 9},
                            {1, 7},
                            {7, 1},
                            {50, 3},
                            {3, 200},
                            {31, 32},
                            {32, 17},
                            {300, 9},
                            {5000, 2}}) {
    expect_all_kinds<float>(rows, cols);
    expect_all_kinds<double>(rows, cols);
  }
}

TEST_P(SvdTest, DecomposesLargeMatrices) {
  for (auto [rows, cols] : {std::pair{33, 33}, {64, 40}, {40, 64}, {65, 65}, {150, 35}}) {
    expect_all_kinds<float>(rows, cols);
    expect_all_kinds<double>(rows, cols);
  }
}

TEST_P(SvdTest, DecomposesMatricesOf300By200) {
  Random random(3);
  Batch<float> batch(300, 200, 4);
  Batch<double> wide(200, 300, 1);
  const Kind kinds[] = {Kind::normal, Kind::half_rank, Kind::graded, Kind::uniform};
  for (int i = 0; i < 4; ++i) batch.set(i, make_matrix(kinds[i], 300, 200, random));
  wide.set(0, make_matrix(Kind::half_rank, 200, 300, random));
  batch.run(svd);
  EXPECT_EQ(svd.report().not_converged, 0);
  wide.run(svd);
  EXPECT_EQ(svd.report().not_converged, 0);
  for (int i = 0; i < 4; ++i) expect_decomposed(batch, i, false);
  expect_decomposed(wide, 0, false);
}

TEST_P(SvdTest, KeepsItsBoundsOverManyRandomMatrices) {
  for (int n : {6, 9, 16}) {
    Random random(n);
    Batch<float> batch(n, n, 3000);
    for (int i = 0; i < 3000; ++i) batch.set(i, random_normal(n, n, random));
    batch.run(svd);
    Errors most;
    for (int i = 0; i < 3000; ++i) {
      const Errors e = errors_of(batch, i);
      most.reconstruction = std::max(most.reconstruction, e.reconstruction);
      most.orthogonality = std::max(most.orthogonality, e.orthogonality);
    }
    EXPECT_LE(most.reconstruction, 1e-6) << n;
    EXPECT_LE(most.orthogonality, 1e-6) << n;
    EXPECT_LE(svd.report().most_sweeps, 12);
    EXPECT_GE(svd.report().most_sweeps, 3);
  }
}

TEST_P(SvdTest, HugeAndTinyMatricesAreNoHarder) {
  for (int n : {3, 10, 20, 40}) {
    Random random(n);
    const MatrixXd a = random_normal(n + 2, n, random), b = random_normal(n, n, random);
    Batch<float> tall(n + 2, n, 3), square(n, n, 3);
    Batch<double> far(n, n, 2);
    const double scales[] = {1e30, 1e-30, 1};
    for (int i = 0; i < 3; ++i) {
      tall.set(i, scales[i] * a);
      square.set(i, scales[i] * b);
    }
    far.set(0, 1e300 * b);
    far.set(1, 1e-290 * b);
    tall.run(svd);
    square.run(svd);
    far.run(svd);
    for (int i = 0; i < 3; ++i) {
      expect_decomposed(tall, i);
      expect_decomposed(square, i);
    }
    const VectorXd s = Eigen::JacobiSVD<MatrixXd>(b).singularValues();
    EXPECT_LE((far.S(0) / 1e300 - s).norm(), 1e-13 * s.norm());
    EXPECT_LE((far.S(1) / 1e-290 - s).norm(), 1e-13 * s.norm());
  }
}

TEST_P(SvdTest, ScalingByAPowerOfTwoScalesTheValuesExactly) {
  Random random(8);
  for (int n : {5, 12, 40}) {
    Batch<float> batch(n, n, 2);
    const MatrixXd a = random_normal(n, n, random);
    batch.set(0, a);
    batch.set(1, std::ldexp(1, 40) * a);
    batch.run(svd);
    EXPECT_EQ(batch.U(0), batch.U(1));
    EXPECT_EQ(batch.V(0), batch.V(1));
    EXPECT_EQ(std::ldexp(1, 40) * batch.S(0), batch.S(1));
  }
}

// Bit-identical results alone, in a batch, and beside matrices that are hard, easy or not finite.
TEST_P(SvdTest, AMatrixDoesNotDependOnItsBatch) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (auto [rows, cols] :
       {std::pair{3, 3}, {6, 6}, {9, 9}, {9, 8}, {16, 16}, {21, 21}, {32, 32}, {40, 34}}) {
    Random random(rows);
    constexpr int kinds = std::size(kKinds);
    Batch<float> batch(rows, cols, 2 * kinds + 1);
    for (int i = 0; i < batch.shape.count; ++i) {
      batch.set(i, make_matrix(kKinds[i % kinds], rows, cols, random));
    }
    batch.a[0] = nan;
    batch.run(svd);
    for (int i = 1; i < batch.shape.count; ++i) {
      Batch<float> alone(rows, cols, 1);
      alone.set(0, batch.A(i));
      alone.run(svd);
      const auto same = [&](const std::vector<float>& one, const std::vector<float>& all) {
        return std::memcmp(one.data(), all.data() + std::size_t(i) * one.size(),
                           one.size() * sizeof(float)) == 0;
      };
      EXPECT_TRUE(same(alone.u, batch.u)) << rows << " x " << cols << " number " << i;
      EXPECT_TRUE(same(alone.s, batch.s)) << rows << " x " << cols << " number " << i;
      EXPECT_TRUE(same(alone.v, batch.v)) << rows << " x " << cols << " number " << i;
    }
  }
}

TEST_P(SvdTest, GivesTheSameBytesEveryTimeAndForEveryThreadCount) {
  Random random(4);
  Batch<double> first(13, 13, 200);
  for (int i = 0; i < 200; ++i) first.set(i, random_normal(13, 13, random));
  Batch<double> second = first, third = first;
  first.run(svd);
  second.run(svd);
  Svd other(Context::from_name(GetParam(), 3));
  third.run(other);
  EXPECT_EQ(first.u, second.u);
  EXPECT_EQ(first.u, third.u);
  EXPECT_EQ(first.v, third.v);
  EXPECT_EQ(first.s, third.s);
}

TEST_P(SvdTest, ComputesOnlyTheRequestedResults) {
  for (auto [rows, cols] : {std::pair{7, 7}, {9, 6}, {6, 9}, {50, 36}}) {
    Random random(rows);
    Batch<double> all(rows, cols, 5);
    for (int i = 0; i < 5; ++i) all.set(i, random_normal(rows, cols, random));
    all.run(svd);
    std::vector<double> u(all.u.size()), s(all.s.size()), v(all.v.size());
    svd.compute<double>(all.shape, all.a, u, {}, {});
    svd.compute<double>(all.shape, all.a, {}, s, {});
    svd.compute<double>(all.shape, all.a, {}, {}, v);
    EXPECT_EQ(u, all.u);
    EXPECT_EQ(s, all.s);
    EXPECT_EQ(v, all.v);
  }
}

// In float, computing U and V also corrects the values (svd_math.h, refreshes): without them the
// values are a few roundings less accurate.
TEST_P(SvdTest, ValuesAloneAgreeWithTheFullDecomposition) {
  Random random(5);
  Batch<float> all(20, 20, 5);
  for (int i = 0; i < 5; ++i) all.set(i, random_normal(20, 20, random));
  all.run(svd);
  std::vector<float> s(all.s.size());
  svd.compute<float>(all.shape, all.a, {}, s, {});
  for (std::size_t i = 0; i < s.size(); ++i) EXPECT_NEAR(s[i], all.s[i], 1e-5);
}

TEST_P(SvdTest, MatricesThatAreNotFiniteAreFlagged) {
  const double bad[] = {std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity()};
  for (auto [rows, cols] : {std::pair{4, 4}, {9, 9}, {12, 5}, {5, 12}, {32, 32}, {40, 40}}) {
    Random random(6);
    Batch<float> batch(rows, cols, 8);
    for (int i = 0; i < 8; ++i) batch.set(i, random_normal(rows, cols, random));
    for (int i = 0; i < 3; ++i) {
      batch.a[std::size_t(2 * i + 2) * rows * cols - 1 - i] = static_cast<float>(bad[i]);
    }
    batch.run(svd);
    EXPECT_EQ(svd.report().not_finite, 3);
    EXPECT_EQ(svd.report().first_not_finite, 1);
    EXPECT_EQ(svd.report().not_converged, 0);
    for (int i = 0; i < 8; ++i) {
      if (i % 2 == 1 && i < 6) {
        EXPECT_TRUE(batch.U(i).array().isNaN().all());
        EXPECT_TRUE(batch.S(i).array().isNaN().all());
        EXPECT_TRUE(batch.V(i).array().isNaN().all());
      } else {
        expect_decomposed(batch, i);
      }
    }
  }
}

TEST_P(SvdTest, TooFewSweepsAreReported) {
  for (int n : {8, 20, 40}) {
    Random random(7);
    Batch<float> batch(n, n, 10);
    for (int i = 0; i < 10; ++i) batch.set(i, random_normal(n, n, random));
    batch.set(4, MatrixXd::Identity(n, n));
    Svd hasty(context, {.max_sweeps = 1});
    batch.run(hasty);
    EXPECT_EQ(hasty.report().not_converged, 9);
    EXPECT_EQ(hasty.report().most_sweeps, 1);
  }
}

TEST_P(SvdTest, EmptyShapesHaveEmptyResults) {
  for (const SvdShape& shape : {SvdShape{0, 5, 3}, {5, 0, 3}, {0, 0, 1}, {4, 4, 0}}) {
    svd.compute<float>(shape, {}, {}, {}, {});
    EXPECT_EQ(svd.report().most_sweeps, 0);
    EXPECT_EQ(svd.report().not_finite, 0);
  }
}

TEST_P(SvdTest, BadArgumentsAreErrors) {
  std::vector<float> a(18), u(17), s(6);
  EXPECT_THROW((svd.compute<float>({3, 3, -1}, a, {}, s, {})), Error);
  EXPECT_THROW((svd.compute<float>({3, 3, 1}, a, {}, s, {})), Error);
  EXPECT_THROW((svd.compute<float>({3, 3, 2}, a, u, s, {})), Error);
  EXPECT_THROW((svd.compute<float>({3, 3, 2}, a, {}, {s.data(), 5}, {})), Error);
  EXPECT_THROW((svd.enqueue<float>({3, 3, 2}, nullptr, nullptr, s.data(), nullptr)), Error);
  EXPECT_THROW(Svd(context, {.max_sweeps = 0}), Error);
  svd.compute<float>({3, 3, 2}, a, {}, s, {});
}

// Uses the context's own memory: device memory on CUDA.
TEST_P(SvdTest, AcceptsMatricesInTheContextsMemory) {
  for (auto [rows, cols] : {std::pair{5, 5}, {12, 7}, {7, 12}, {35, 60}}) {
    Random random(9);
    Batch<float> batch(rows, cols, 50);
    for (int i = 0; i < 50; ++i) batch.set(i, random_normal(rows, cols, random));
    Batch<float> direct = batch;
    batch.run(svd);
    if (!context.is_cuda()) {
      svd.enqueue<float>(direct.shape, direct.a.data(), direct.u.data(), direct.s.data(),
                         direct.v.data());
    } else {
      const auto bytes = [](const std::vector<float>& v) { return v.size() * sizeof(float); };
      Memory a = context.allocate(Place::device, bytes(direct.a), "test"),
             u = context.allocate(Place::device, bytes(direct.u), "test"),
             s = context.allocate(Place::device, bytes(direct.s), "test"),
             v = context.allocate(Place::device, bytes(direct.v), "test");
      context.upload(a.data(), bytes(direct.a), direct.a.data(), bytes(direct.a), bytes(direct.a),
                     1);
      svd.enqueue<float>(direct.shape, static_cast<const float*>(a.data()),
                         static_cast<float*>(u.data()), static_cast<float*>(s.data()),
                         static_cast<float*>(v.data()));
      const auto fetch = [&](std::vector<float>& to, const Memory& from) {
        context.download(to.data(), bytes(to), from.data(), bytes(to), bytes(to), 1);
      };
      fetch(direct.u, u);
      fetch(direct.s, s);
      fetch(direct.v, v);
      context.synchronize();
    }
    EXPECT_EQ(direct.u, batch.u);
    EXPECT_EQ(direct.s, batch.s);
    EXPECT_EQ(direct.v, batch.v);
    EXPECT_GT(svd.report().most_sweeps, 0);
  }
}

TEST_P(SvdTest, AllocatesNothingAfterTheFirstCallOfASize) {
  if (!context.is_cuda()) GTEST_SKIP() << "the CPU takes nothing from the pool";
  for (auto [rows, cols] : {std::pair{6, 6}, {20, 9}, {40, 36}}) {
    Random random(2);
    Batch<float> batch(rows, cols, 20);
    for (int i = 0; i < 20; ++i) batch.set(i, random_normal(rows, cols, random));
    batch.run(svd);
    svd.report();
    const auto before = context.memory().allocations;
    batch.run(svd);
    svd.report();
    EXPECT_EQ(context.memory().allocations, before);
  }
}

INSTANTIATE_TEST_SUITE_P(, SvdTest, testing::every_device(), testing::device_name);

}  // namespace
}  // namespace cornea
