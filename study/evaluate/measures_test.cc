// SPDX-License-Identifier: Apache-2.0
// Tests of the measures on cases that can be computed by hand.
#include "study/evaluate/measures.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace cornea::evaluate {
namespace {

constexpr Matrix kSame = {1, 0, 0, 0, 1, 0, 0, 0, 1};
Matrix moved_by(double x, double y) { return {1, 0, x, 0, 1, y, 0, 0, 1}; }

// A rotation about the axis x, y or z.
Matrix turned_by(int axis, double degrees) {
  const double c = std::cos(degrees * std::numbers::pi / 180),
               s = std::sin(degrees * std::numbers::pi / 180);
  if (axis == 0) return {1, 0, 0, 0, c, -s, 0, s, c};
  if (axis == 1) return {c, 0, s, 0, 1, 0, -s, 0, c};
  return {c, -s, 0, s, c, 0, 0, 0, 1};
}

TEST(EvaluateMeasures, MapsPointsAndBack) {
  const Matrix M = {2, 1, 3, 0, 1, -1, 0, 0.5, 1};
  EXPECT_EQ(mapped(M, {1, 2}), (Point{7.0 / 2, 1.0 / 2}));
  const Point back = mapped(inverse_of(M), mapped(M, {1, 2}));
  EXPECT_NEAR(back.x, 1, 1e-12);
  EXPECT_NEAR(back.y, 2, 1e-12);
  EXPECT_TRUE(std::isinf(mapped(M, {0, -2}).x));
}

TEST(EvaluateMeasures, RepeatabilityCountsEachPointOnce) {
  // Both expected points are near the found one at 10: only the nearer one is repeated.
  const std::vector<Point> expected = {{10, 13}, {10, 11}, {50, 50}};
  const std::vector<Point> found = {{10, 10}, {53, 54}, {50, 46}, {90, 90}};
  const Repeatability r = repeatability(expected, found);
  EXPECT_EQ(r.first, 3);
  EXPECT_EQ(r.second, 4);
  EXPECT_EQ(r.repeated, 2);  // 1 pixel and, at the limit, 4 pixels; (53, 54) is 5 pixels away
  EXPECT_DOUBLE_EQ(r.share, 2 / 2.0 * (1 / 3.0 + 1 / 4.0));
  EXPECT_DOUBLE_EQ(r.localisation, std::sqrt((1 + 16) / 2.0));
}

TEST(EvaluateMeasures, RepeatabilityTakesTheNearestPairsFirst) {
  // In the order of the points 0 - 3 would come first; 2 - 3 is nearer, and 0 is left over.
  const std::vector<Point> expected = {{0, 0}, {2, 0}};
  const std::vector<Point> found = {{3, 0}};
  const Repeatability r = repeatability(expected, found);
  EXPECT_EQ(r.repeated, 1);
  EXPECT_DOUBLE_EQ(r.localisation, 1);
}

TEST(EvaluateMeasures, NothingIsRepeatedWithoutPoints) {
  const std::vector<Point> one = {{1, 1}};
  for (const Repeatability& r :
       {repeatability({}, one), repeatability(one, {}), repeatability({}, {})}) {
    EXPECT_EQ(r.repeated, 0);
    EXPECT_EQ(r.share, 0);
    EXPECT_EQ(r.localisation, 0);
  }
}

TEST(EvaluateMeasures, ChanceGrowsWithTheNumberOfPoints) {
  EXPECT_NEAR(repeated_by_chance(100, 1000, 1000), 100 * std::numbers::pi * 16 / 1e6, 2e-5);
  EXPECT_NEAR(repeated_by_chance(1e9, 1000, 1000), 1, 1e-12);
}

TEST(EvaluateMeasures, TransferErrorsAreMeasuredInTheSecondImage) {
  const std::vector<Correspondence> matches = {{0, 0, 10, 0}, {5, 5, 15, 8}, {1, 1, 12, 1}};
  const std::vector<double> errors = transfer_errors(moved_by(10, 0), matches);
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_DOUBLE_EQ(errors[0], 0);
  EXPECT_DOUBLE_EQ(errors[1], 3);
  EXPECT_DOUBLE_EQ(errors[2], 1);
  EXPECT_EQ(count_within(errors, 1), 2);
  EXPECT_EQ(count_within(errors, 3), 3);
  EXPECT_EQ(count_within({}, 3), 0);
}

TEST(EvaluateMeasures, CornerErrorIsTheMeanOfFourCorners) {
  EXPECT_DOUBLE_EQ(corner_error(moved_by(3, 4), kSame, 640, 480), 5);
  // Scaled by 2 about the origin: the corners are off by 0, 9, hypot(9, 4) and 4.
  EXPECT_NEAR(corner_error({2, 0, 0, 0, 2, 0, 0, 0, 1}, kSame, 10, 5),
              (9 + std::hypot(9, 4) + 4) / 4, 1e-12);
  EXPECT_EQ(corner_error({}, kSame, 640, 480), kNoModelPixels);
  EXPECT_EQ(corner_error(moved_by(1e6, 0), kSame, 640, 480), kNoModelPixels);
  EXPECT_EQ(corner_error({1, 0, 0, 0, 1, 0, 0, 1, 0}, kSame, 640, 480), kNoModelPixels);
}

TEST(EvaluateMeasures, EpipolarErrorIsTheMedianOfTheSumOverBothLines) {
  // The second camera is to the right of the first: epipolar lines are rows, x2^T F x1 = y1 - y2 up
  // to the sign.
  const Matrix F = {0, 0, 0, 0, 0, -1, 0, 1, 0};
  const std::vector<Correspondence> right = {{0, 0, 5, 1}, {0, 3, 5, 3}, {2, 7, 9, 5}};
  EXPECT_NEAR(epipolar_error(F, right), 2, 1e-6);  // median of 2, 0 and 4
  EXPECT_EQ(epipolar_error({}, right), kNoModelPixels);
}

TEST(EvaluateMeasures, PoseErrorIsTheLargerAngle) {
  const RelativePose truth = {kSame, {1, 0, 0}};
  EXPECT_NEAR(pose_error({turned_by(1, 3), {1, 0, 0}}, truth), 3, 1e-9);
  EXPECT_NEAR(pose_error({turned_by(0, 1e-7), {1, 0, 0}}, truth), 1e-7, 1e-12);
  EXPECT_NEAR(pose_error({turned_by(2, 179), {1, 0, 0}}, truth), 179, 1e-9);
  EXPECT_NEAR(pose_error({turned_by(2, 1), {1, 1, 0}}, truth), 45, 1e-9);
  EXPECT_NEAR(pose_error({kSame, {-2, 0, 0}}, truth), 180, 1e-9);
  EXPECT_EQ(pose_error({}, truth), kNoPoseDegrees);
  EXPECT_EQ(pose_error({kSame, {}}, truth), kNoPoseDegrees);
  EXPECT_NEAR(pose_error({turned_by(1, 3), {}}, {kSame, {}}), 3, 1e-9);
  EXPECT_NEAR(pose_error({turned_by(1, 3), {1, 0, 0}}, {kSame, {}}), 3, 1e-9);
  EXPECT_EQ(pose_error({}, {kSame, {}}), kNoPoseDegrees);
}

TEST(EvaluateMeasures, AreaUnderRecallIsExact) {
  EXPECT_DOUBLE_EQ(area_under_recall(std::vector{0.0, 1.0, 10.0}, 2), (1 + 0.5 + 0) / 3);
  EXPECT_EQ(area_under_recall({}, 3), 0);
}

TEST(EvaluateMeasures, MediansAndMeans) {
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(mean_of(std::vector{1.0, 2.0}), 1.5);
  EXPECT_EQ(mean_of({}), 0);
}

}  // namespace
}  // namespace cornea::evaluate
