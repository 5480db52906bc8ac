// SPDX-License-Identifier: Apache-2.0
// For studies and tests: the CPU's dot-product kernels, selectable by name. A Matcher uses the
// fastest.
#pragma once

#include <string>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/match/match.h"

namespace cornea::match {

// The kernels that this machine can run, the fastest first; the last one runs everywhere.
std::vector<std::string> match_kernels();

// A matcher with the named kernel; empty: the fastest. On a CPU an unknown name is an error that
// lists the known ones; CUDA has one kernel.
Matcher matcher_with_kernel(const Context& context, const MatchOptions& options,
                            const std::string& kernel);

}  // namespace cornea::match
