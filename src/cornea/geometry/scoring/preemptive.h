// SPDX-License-Identifier: Apache-2.0
// Preemptive scoring: hypotheses are first held against a few correspondences, and only the best of
// each group against all (D. Nister, "Preemptive RANSAC for live structure and motion estimation",
// ICCV 2003).
#pragma once

#include <cstdint>

#include "cornea/core/host_device.h"

namespace cornea::geometry {

// Samples of 8: of every kLookGroup hypotheses those kLookKept are held against all matches that
// have the least cost over some of them, evenly spread; of equal ones the first. A good hypothesis
// is rarely one of so many that look better, and its round has others like it.
inline constexpr int kLookGroup = 32;
inline constexpr int kLookKept = 2;
inline constexpr int kLookMatches = 64;
// With fewer matches a look is not worth its while.
inline constexpr int kFewestForALook = 2 * kLookMatches;
CORNEA_HD constexpr bool looks_first(int count) { return count > kFewestForALook; }
CORNEA_HD constexpr int look_match(int k, int count) {
  return int(std::int64_t{k} * count / kLookMatches);
}

}  // namespace cornea::geometry
