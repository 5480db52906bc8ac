// SPDX-License-Identifier: Apache-2.0
// Numbers and tables as a terminal shows them.
#pragma once

#include <string>
#include <vector>

namespace cornea::cli {

// "1.23 ms", with three significant digits.
std::string milliseconds_text(double ms);

// Columns are as wide as their widest cell; the first is left-aligned, the others right-aligned.
std::string table_text(const std::vector<std::vector<std::string>>& rows);

}  // namespace cornea::cli
