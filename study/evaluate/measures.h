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

using Matrix = std::array<double, 9>;  // row by row

// x' ~ M x; infinite where that lies at infinity.
Point mapped(const Matrix& M, const Point& p);
Matrix inverse_of(const Matrix& M);
Matrix product(const Matrix& a, const Matrix& b);

// The error of an answer that is missing, and the most that an error counts.
inline constexpr double kNoModelPixels = 100, kNoPoseDegrees = 180;
// A point is repeated within this distance of where it should be.
inline constexpr double kRepeatedPixels = 4;

struct Repeatability {
  int first = 0, second = 0;  // points
  int repeated = 0;
  double share = 0;         // repeated / 2 (1 / first + 1 / second), 0..1; 0 without points
  double localisation = 0;  // root of the mean squared distance of the repeated, pixels
};

// How many points of the second image lie within `within` pixels of where points of the first one
// should be (`expected`, in the second image). Each point counts once: pairs are taken from the
// nearest on, of equally near ones by the order of the points.
Repeatability repeatability(std::span<const Point> expected, std::span<const Point> found,
                            double within = kRepeatedPixels);

// The share of the points of a width x height image that would be repeated if `count` points lay
// anywhere: 1 - exp(-count pi within^2 / (width height)).
double repeated_by_chance(double count, double width, double height,
                          double within = kRepeatedPixels);

// Of every match the distance of x2 to H x1, pixels.
std::vector<double> transfer_errors(const Matrix& H, std::span<const Correspondence> matches);
// How many errors are at most the limit.
int count_within(std::span<const double> errors, double limit);

// Mean distance of the four corners of the first image under H and under the true homography,
// pixels, kNoModelPixels at most and where H is 0 or not finite.
double corner_error(const Matrix& H, const Matrix& truth, int width, int height);

// Median distance (of both points to their epipolar lines, added) of matches that are right,
// pixels, kNoModelPixels at most and where F is 0.
double epipolar_error(const Matrix& F, std::span<const Correspondence> right);

// x2 = R x1 + t.
struct RelativePose {
  Matrix R{};
  std::array<double, 3> t{};
};
// The larger one of the angles between the rotations and between the directions of t, degrees;
// kNoPoseDegrees where R or t is 0.
double pose_error(const RelativePose& pose, const RelativePose& truth);

// The area under the share of errors below x, x from 0 to the limit, over the limit: the mean of
// max(0, 1 - error / limit). 0..1; 0 without errors.
double area_under_recall(std::span<const double> errors, double limit);

double mean_of(std::span<const double> values);  // 0 of none
double median_of(std::vector<double> values);    // 0 of none; of an even number the mean of two

}  // namespace cornea::evaluate
