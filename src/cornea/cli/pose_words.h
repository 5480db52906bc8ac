// SPDX-License-Identifier: Apache-2.0
// The pose between two views in words.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "cornea/cli/common.h"
#include "cornea/geometry/two_view/relative_pose.h"

namespace cornea::cli {

// The direction of the second camera as seen by the first, and whether depth is reliable: "Seen
// from the first camera, the second stands to the right, in direction (0.99, 0.01, -0.12). The rays
// of a point meet at a median angle of 4.3 degrees, enough for depth."
std::string baseline_sentence(const std::array<double, 9>& R, const std::array<double, 3>& t,
                              double median_angle_degrees);
// Only the second of these sentences.
std::string angle_sentence(double median_angle_degrees);

// "The focal length found is 2759.5 pixels, 1.031 of the guess."
std::string focal_sentence(const IntrinsicsPair& guess, double factor);

std::string rotation_text(const std::array<double, 9>& R);
std::string vector_text(const std::array<double, 3>& v);
// "(512.3, 210.0) and (-8100, 400)"; "at infinity" for an epipole at infinity.
std::string epipoles_text(const Epipoles& epipoles);
Json epipoles_json(const Epipoles& epipoles);

}  // namespace cornea::cli
