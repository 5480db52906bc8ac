// SPDX-License-Identifier: Apache-2.0
// The default folder for the results of a pair.
#pragma once

#include <string>

namespace cornea::cli {

// The folder pair-A-B in the current one, after the names of the photographs. It may hold an
// earlier result of the same two; if it holds one of other photographs with the same names, that is
// wrong usage, because it would be overwritten.
std::string default_pair_folder(const std::string& first, const std::string& second);

}  // namespace cornea::cli
