// Matches that join the same two places. A point with several orientations is several features at
// one place, and a list made by hand or by other programs may repeat a line; what is counted over
// matches counts such places once.
//
// Places are equal where all four coordinates are. Found by hashing, in linear time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cornea/core/features.h"
#include "cornea/match/match.h"

namespace cornea::match {

struct Places {
  std::vector<Correspondence> distinct = {};  // in the order in which they first appear
  std::vector<std::uint32_t> of = {};         // of each correspondence, its number among these
};

// Keeps its table from call to call.
class PlaceFinder {
 public:
  // Whether any two are equal.
  bool repeats(std::span<const Correspondence> matches);
  Places places(std::span<const Correspondence> matches);

 private:
  // The number of an equal one that was seen before, or `number`, which is remembered.
  std::uint32_t first_equal(std::span<const Correspondence> matches, std::uint32_t number);
  void clear(std::size_t count);

  std::vector<std::uint32_t> table_;  // numbers plus 1; 0: free
  int shift_ = 0;
};

// Of the matches that join the same places, those with the least distance stay, of equal ones the
// first. `places` are those of the matches.
void keep_one_per_place(std::vector<Match>& matches, std::span<const Correspondence> places);

}  // namespace cornea::match
