// Where the results of a pair go if the user does not say.
#pragma once

#include <string>

namespace cornea::cli {

// The folder pair-A-B in the current one, after the names of the photographs. It may hold an
// earlier result of the same two; that of others with the same names is wrong usage, since it would
// be overwritten.
std::string default_pair_folder(const std::string& first, const std::string& second);

}  // namespace cornea::cli
