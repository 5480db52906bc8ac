// SPDX-License-Identifier: Apache-2.0
// Interest points of an image as text, one line per point, as other programs write them.
//
// The first line names the columns, in upper or lower case, separated by commas. x and y are
// required; scale (sigma, pixels), angle (radians, from x towards y) and response are optional;
// other columns are ignored. Every failure is an Error whose message begins with the name of the
// file and names the line.
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
// The same from a stream; `name` stands for the file in error messages.
PointTable read_points_csv(std::istream& in, const std::string& name);

}  // namespace cornea::io
