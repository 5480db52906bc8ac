// SPDX-License-Identifier: Apache-2.0
// The measures of `cornea evaluate`, on plain numbers; docs/evaluate.md defines them for users.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "cornea/core/features.h"

namespace cornea::evaluate {

struct Point {
  double x = 0, y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

using Matrix = std::array<double, 9>;  // row-major

// x' ~ M x; infinite if x' is at infinity.
Point mapped(const Matrix& M, const Point& p);
Matrix inverse_of(const Matrix& M);
Matrix product(const Matrix& a, const Matrix& b);

// The error of a missing answer, and the maximum of an error.
inline constexpr double kNoModelPixels = 100, kNoPoseDegrees = 180;
// A point is repeated if it is found within this distance of where it should be.
inline constexpr double kRepeatedPixels = 4;

struct Repeatability {
  int first = 0, second = 0;  // number of points
  int repeated = 0;
  double share = 0;         // repeated / 2 (1 / first + 1 / second), 0..1; 0 without points
  double localisation = 0;  // root mean square distance of the repeated points, pixels
};

// The number of points of the second image within `within` pixels of the predicted positions of
// points of the first (`expected`, in the second image). Each point counts once: pairs are chosen
// greedily, nearest first; ties follow the order of the points.
Repeatability repeatability(std::span<const Point> expected, std::span<const Point> found,
                            double within = kRepeatedPixels);

// The fraction of points of a width x height image that would be repeated by chance if `count`
// points were placed at random: 1 - exp(-count pi within^2 / (width height)).
double repeated_by_chance(double count, double width, double height,
                          double within = kRepeatedPixels);

// For each match the distance of x2 to H x1, pixels.
std::vector<double> transfer_errors(const Matrix& H, std::span<const Correspondence> matches);
// The number of errors that do not exceed the limit.
int count_within(std::span<const double> errors, double limit);

// Mean distance between the four corners of the first image mapped by H and by the true homography,
// pixels; kNoModelPixels at most, and if H is 0 or not finite.
double corner_error(const Matrix& H, const Matrix& truth, int width, int height);

// Median over the correct matches of the sum of distances of both points to their epipolar lines,
// pixels; kNoModelPixels at most, and if F is 0.
double epipolar_error(const Matrix& F, std::span<const Correspondence> right);

// x2 = R x1 + t.
struct RelativePose {
  Matrix R{};
  std::array<double, 3> t{};
};
// The larger of the angles between the rotations and between the directions of t, degrees;
// kNoPoseDegrees if R or t is 0.
double pose_error(const RelativePose& pose, const RelativePose& truth);

// The area under the recall curve (the fraction of errors below x, for x from 0 to the limit),
// divided by the limit: the mean of max(0, 1 - error / limit). 0..1; 0 without errors.
double area_under_recall(std::span<const double> errors, double limit);

double mean_of(std::span<const double> values);  // 0 for no values
// 0 for no values; for an even number the mean of the two middle ones
double median_of(std::vector<double> values);

}  // namespace cornea::evaluate
