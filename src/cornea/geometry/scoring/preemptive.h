// SPDX-License-Identifier: Apache-2.0
// Preemptive scoring: hypotheses are first scored on a few correspondences, and only the best of
// each group on all (D. Nister, "Preemptive RANSAC for live structure and motion estimation", ICCV
// 2003).
#pragma once

#include <cstdint>

#include "cornea/core/host_device.h"

namespace cornea::geometry {

// Of the models of kLookGroup samples, only the kLookKept with the lowest cost over kLookMatches
// evenly spread matches are scored on all matches. Ties keep the first. A good model is rarely
// eliminated this way, and its round contains other models like it.
inline constexpr int kLookGroup = 32;
inline constexpr int kLookKept = 2;
inline constexpr int kLookMatches = 64;
// Up to this many matches preemptive scoring does not pay off.
inline constexpr int kTooFewForALook = 2 * kLookMatches;
CORNEA_HD constexpr bool looks_first(int count) { return count > kTooFewForALook; }
CORNEA_HD constexpr int look_match(int k, int count) {
  return int(std::int64_t{k} * count / kLookMatches);
}

}  // namespace cornea::geometry
