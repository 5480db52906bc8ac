// SPDX-License-Identifier: Apache-2.0
// SIFT in the Gaussian, the bilateral and the trilateral scale space, on pairs of an image and a
// transformed copy with known geometry.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "study/study.h"

#include "cornea/describe/sift/sift.h"
#include "cornea/scene/degrade.h"

namespace cornea::cli {

inline constexpr ScaleSpace kSpaces[] = {ScaleSpace::gaussian, ScaleSpace::bilateral,
                                         ScaleSpace::trilateral};
inline constexpr const char* kSpaceNames[] = {"Gaussian", "bilateral", "trilateral"};
inline constexpr int kSpaceCount = 3, kTrilateral = 2;

struct Disturbance {
  std::string name;
  Degradation how;  // including the rotation and the scale that every pair has
};

// Options of the detection, the same in every scale space.
struct PointSetting {
  std::string name, words;
  double contrast = 0.04;
  double edge_ratio = 10;
  // Each count is a separate comparison with this number of points of largest |D| per image; 0:
  // all.
  std::vector<int> counts = {0};
};

// The scores of one image, one disturbance, one scale space and one number of points.
struct SpaceScore {
  double points = 0;   // of the first image
  double matches = 0;  // ratio 0.8, mutual, one per position
  double correct = 0;  // of these, within 4 pixels of the true position
  // points that stay in the image; those of them with a point within 4 px
  double seen = 0, repeated = 0;
  double correct_gaussian = 0;  // with descriptors of the Gaussian scale space at the same points

  SpaceScore& operator+=(const SpaceScore& o);
};

using SpaceScores = std::array<SpaceScore, kSpaceCount>;

// [number of points][disturbance] for one image; `advance` is called after each disturbance.
std::vector<std::vector<SpaceScores>> score_spaces(const Context& context,
                                                   const Image<std::uint8_t>& image,
                                                   const std::vector<Disturbance>& disturbances,
                                                   const PointSetting& setting,
                                                   const std::function<void()>& advance);

}  // namespace cornea::cli
