// A command line to be repeated.
#pragma once

#include <string>
#include <vector>

namespace cornea::cli {

// The words as a shell reads them back. Bytes that no page can show are written by their numbers,
// in bash's and zsh's way.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace cornea::cli
