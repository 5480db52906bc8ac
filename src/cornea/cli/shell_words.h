// SPDX-License-Identifier: Apache-2.0
// A command line that can be repeated in a shell.
#pragma once

#include <string>
#include <vector>

namespace cornea::cli {

// Quotes the words for a shell. Bytes that a page cannot show are written as escapes of bash and
// zsh.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace cornea::cli
