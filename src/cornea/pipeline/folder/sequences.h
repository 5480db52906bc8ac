// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: images that follow one another, by name or by the time they were taken
// (choose_pairs.h has the rules).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cornea::folder {

// Indices of two images, the lower one first.
struct Neighbours {
  int first = 0, second = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Neighbours&, const Neighbours&) = default;
};

// Sorted, each pair once.
std::vector<Neighbours> neighbours_by_name(const std::vector<std::string>& names, int overlap);

struct Taken {
  std::string camera = {};                        // make and model
  std::optional<std::int64_t> microseconds = {};  // since 1970 by the camera's clock
};
std::vector<Neighbours> neighbours_by_time(const std::vector<Taken>& images, int overlap);

// Parses "2026-11-17 09:05:31.25" (Exif::taken); empty if it is not a time.
std::optional<std::int64_t> microseconds_of(const std::string& taken);

}  // namespace cornea::folder
