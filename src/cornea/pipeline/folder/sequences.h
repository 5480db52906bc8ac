// Inside of pipeline: images that follow one another, by their names or by the times at which they
// were taken (choose_pairs.h has the rules).
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

// Rising, each once.
std::vector<Neighbours> neighbours_by_name(const std::vector<std::string>& names, int overlap);

struct Taken {
  std::string camera = {};                        // make and model
  std::optional<std::int64_t> microseconds = {};  // since 1970 by the camera's clock
};
std::vector<Neighbours> neighbours_by_time(const std::vector<Taken>& images, int overlap);

// Of "2026-11-17 09:05:31.25" (Exif::taken); empty where it is none.
std::optional<std::int64_t> microseconds_of(const std::string& taken);

}  // namespace cornea::folder
