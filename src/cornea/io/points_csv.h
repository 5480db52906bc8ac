// SPDX-License-Identifier: Apache-2.0
// Points of an image as text, a line per point, as other programs write them.
//
// The first line names the columns, in upper or lower case, with commas between: x and y must be
// among them, scale (sigma, pixels), angle (radians, from x towards y) and response may be; others
// are passed over. Every failure is an Error whose sentence begins with the name of the file and
// names the line.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "cornea/core/features.h"

namespace cornea::io {

struct PointTable {
  std::vector<Keypoint> points = {};
  bool has_response = false;
};

PointTable read_points_csv(const std::filesystem::path& file);
// The same from a stream; `name` stands for the file in errors.
PointTable read_points_csv(std::istream& in, const std::string& name);

}  // namespace cornea::io
