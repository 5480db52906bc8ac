// SPDX-License-Identifier: Apache-2.0
// Text in a page.
#pragma once

#include <string>
#include <string_view>

namespace cornea::report {

// Escaped for HTML, in an element or in a quoted attribute. Bytes that are not UTF-8 become U+FFFD.
std::string html_escaped(std::string_view text);
// Whether it is UTF-8 without control characters, so that a page shows it unchanged.
bool is_printable(std::string_view text);

}  // namespace cornea::report
