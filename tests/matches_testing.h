// SPDX-License-Identifier: Apache-2.0
// For tests that give matches to the program: those of two synthetic views, and their lines in a
// CSV.
#pragma once

#include <string>
#include <vector>

#include "cornea/core/error.h"
#include "cornea/scene.h"

namespace cornea {

// A third of them are outliers.
inline std::vector<Correspondence> synthetic_matches(int count) {
  return make_matched_points({.count = count, .outliers = 0.33, .noise = 0.2, .seed = 3}).matches;
}

inline std::string csv_line(const Correspondence& m) {
  return text(m.x1, ",", m.y1, ",", m.x2, ",", m.y2);
}

inline std::string csv_of(const std::vector<Correspondence>& matches) {
  std::string lines;
  for (const Correspondence& m : matches) lines += csv_line(m) + "\n";
  return lines;
}

}  // namespace cornea
