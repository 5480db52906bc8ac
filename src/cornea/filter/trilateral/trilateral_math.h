// SPDX-License-Identifier: Apache-2.0
// The trilateral filter's formulas that the CPU and CUDA share.
#pragma once

#include <cfloat>
#include <cmath>
#include <vector>

#include "cornea/core/host_device.h"

namespace cornea::trilateral {

inline constexpr double kTrilateralBeta = 0.15;
inline constexpr double kTrilateralMostSigma = 100;

// The squared magnitude of a gradient. The stack holds squares, which have the same order; for
// 8-bit images they are exact.
CORNEA_HD inline float squared_magnitude(float gx, float gy) { return gx * gx + gy * gy; }

// sigma_r, from the smallest and the largest square.
CORNEA_HD inline double trilateral_range(float least, float largest) {
  return kTrilateralBeta * (std::sqrt(double(largest)) - std::sqrt(double(least)));
}

// The range of squares that agree with a pixel: `least` to `largest`. Magnitudes are compared in
// double; these are the outermost floats that pass, so that a float comparison gives the same
// decision.
struct LevelLimits {
  float least, largest;
};
CORNEA_HD inline LevelLimits level_limits(float squared, double sigma_r) {
  const double magnitude = std::sqrt(double(squared));
  const double high = magnitude + sigma_r, low = magnitude - sigma_r;
  // On CUDA pixels that cannot be used (FloatLimits) reach this function before they are rejected.
  if (!(high < 1e15)) return {0, FLT_MAX};
  LevelLimits limits{0, static_cast<float>(high * high)};
  while (std::sqrt(double(limits.largest)) > high) {
    limits.largest = std::nextafter(limits.largest, 0.0f);
  }
  for (float next; std::sqrt(double(next = std::nextafter(limits.largest, INFINITY))) <= high;) {
    limits.largest = next;
  }
  if (low <= 0) return limits;
  limits.least = static_cast<float>(low * low);
  while (std::sqrt(double(limits.least)) < low) {
    limits.least = std::nextafter(limits.least, INFINITY);
  }
  for (float next;
       limits.least > 0 && std::sqrt(double(next = std::nextafter(limits.least, 0.0f))) >= low;) {
    limits.least = next;
  }
  return limits;
}

// Half the width of a level's window.
CORNEA_HD inline int level_half_width(int level) { return (1 << level) / 2; }

inline int trilateral_level_count(int width, int height) {
  int levels = 0;
  for (int side = width < height ? width : height; side > 0; side /= 2) ++levels;
  return levels;
}

// Number of partial sums of the last step: the neighbours of a row are added to them cyclically,
// and they are combined at the end. It matches the vector width of CPUs and is the same on all
// devices.
inline constexpr int kPlaneLanes = 8;

// Half the width of the window in which gradients are smoothed.
inline int gradient_half_width(double sigma) { return (static_cast<int>(sigma) - 1) / 2; }

// The largest extent that any window needs: reach[|n|] along x for |n| <= R. Neighbours farther
// than R are skipped, which changes the result by no more than the rounding of the sums:
//
// Let g(m, n) = exp(-(m^2 + n^2) / (2 sigma^2)) and w = g exp(-D^2 / (2 sigma_r^2)) <= g. Let N and
// W be the sums of D w and w over a window, M = N / W, and N', W' their parts from beyond R, where
// the sum of g is G. Skipping these changes the mean by
//
//   |(N - N') / (W - W') - M| = |M W' - N'| / (W - W') <= |M| W' + |N'|
//
// because the centre, with w = 1, makes W - W' >= 1. Here W' <= G, and |N'| <= e^(-1/2) sigma_r G
// because |D| exp(-D^2 / (2 sigma_r^2)) is at most e^(-1/2) sigma_r. And |M| <= 10 sigma_r:
// neighbours with |D| <= t sigma_r give at most t sigma_r of it; each of the others, for t >= 1, at
// most t sigma_r exp(-t^2 / 2) g, where all g add up to T <= (1 + sqrt(2 pi) sigma)^2; with t^2 = 2
// ln T that is 2 t sigma_r, and 2 t <= 9.5 for sigma <= 100 (where ln T < 1/2, t = 1 gives 2
// sigma_r). So the mean changes by less than 11 sigma_r G. R is the smallest integer >= 1 with G <=
// 2^-27, which gives 1.4 sigma_r 2^-24, less than 1.4 units in the last place of sigma_r as a
// float.
std::vector<int> window_reach(double sigma);

}  // namespace cornea::trilateral
