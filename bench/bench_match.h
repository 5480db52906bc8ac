// SPDX-License-Identifier: Apache-2.0
// `cornea bench --match`: descriptors to matches, host to host and from device memory.
#pragma once

#include <string>
#include <vector>

#include "cornea/cli/common.h"
#include "cornea/core/context.h"

namespace cornea::cli {

struct MatchSize {
  int a = 0, b = 0;
};
// "16700x20700"; anything else is wrong usage.
std::vector<MatchSize> parse_match_sizes(const std::vector<std::string>& sizes);

// One entry per size, and one for a batch of many small pairs.
Json measure_matches(const Context& context, const std::vector<MatchSize>& sizes, int repeat,
                     bool quiet);
void print_matches(const Json& results, const std::string& device);

}  // namespace cornea::cli
