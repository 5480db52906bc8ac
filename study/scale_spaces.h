// SIFT in the Gaussian, the bilateral and the trilateral scale space, on pairs of an image and what
// became of it, whose geometry is known.
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
  Degradation how;  // with the turn and the scale that every pair has
};

// What points are sought, in every scale space alike.
struct PointSetting {
  std::string name, words;
  double contrast = 0.04;
  double edge_ratio = 10;
  // Each is a comparison of its own, of so many points of the largest |D| of each image; 0: all.
  std::vector<int> counts = {0};
};

// Of one image, one disturbance, one scale space and one number of points.
struct SpaceScore {
  double points = 0;              // of the first image
  double matches = 0;             // ratio 0.8, mutual, one per place
  double correct = 0;             // of these within 4 pixels of where the point went
  double seen = 0, repeated = 0;  // points that stay in the picture; those with a point within 4 px
  double correct_gaussian = 0;    // with descriptors of the Gaussian scale space at the same points

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
