// SPDX-License-Identifier: Apache-2.0
// `cornea bench --fundamental`: fundamental matrices from matched points, in host memory.
#pragma once

#include <string>
#include <vector>

#include "cornea/catalog/settings.h"
#include "cornea/cli/common.h"
#include "cornea/core/context.h"

namespace cornea::cli {

// Synthetic pairs: hypotheses per second, one pair, many pairs in one call.
Json measure_fundamental(const Context& context, const Settings& settings, int repeat);
void print_fundamental(const Json& results, const std::string& device);

// Files of matches: `repeat` seeds each, with the matrix and the time of every seed.
Json measure_match_files(const Context& context, const std::vector<std::string>& files,
                         const Settings& settings, int repeat, bool quiet);
void print_match_files(const Json& results, const std::string& device);

}  // namespace cornea::cli
