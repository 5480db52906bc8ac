// For studies and tests: the CPU's ways to multiply, one by one. A Matcher takes the fastest.
#pragma once

#include <string>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/match/match.h"

namespace cornea::match {

// Those that this machine can run, the fastest first; the last one runs everywhere.
std::vector<std::string> match_kernels();

// A matcher with one of them; empty: the first. An unknown name is an error that lists the known.
Matcher matcher_with_kernel(const Context& context, const MatchOptions& options,
                            const std::string& kernel);

}  // namespace cornea::match
