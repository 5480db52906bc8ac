// SPDX-License-Identifier: Apache-2.0
// Duplicate matches between the same two positions. A point with several orientations is several
// features at one position, and a list made by hand or by other programs may repeat a line;
// statistics over matches count such duplicates once.
//
// Two matches are equal if all four coordinates are. Duplicates are found by hashing, in linear
// time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cornea/core/features.h"
#include "cornea/match/match.h"

namespace cornea::match {

struct Places {
  std::vector<Correspondence> distinct = {};  // in the order of their first occurrence
  // For each correspondence, the index of its equal in `distinct`.
  std::vector<std::uint32_t> of = {};
};

// Reuses its hash table from call to call.
class PlaceFinder {
 public:
  // Whether there are duplicates.
  bool repeats(std::span<const Correspondence> matches);
  Places places(std::span<const Correspondence> matches);

 private:
  // The index of an equal correspondence seen before, or `number`, which is then remembered.
  std::uint32_t first_equal(std::span<const Correspondence> matches, std::uint32_t number);
  void clear(std::size_t count);

  std::vector<std::uint32_t> table_;  // indices plus 1; 0: free
  int shift_ = 0;
};

// Among matches between the same positions the one with the smallest distance is kept; ties keep
// the first. `places` are the positions of the matches.
void keep_one_per_place(std::vector<Match>& matches, std::span<const Correspondence> places);

}  // namespace cornea::match
