// SPDX-License-Identifier: Apache-2.0
// Opens a page of results in the user's browser.
#pragma once

#include <filesystem>

namespace cornea::cli {

// Passes the page to the program that opens files on this system (xdg-open, wslview, or open on
// macOS) and does not wait for the browser. If there is none, the error says what to do.
void open_in_browser(const std::filesystem::path& page);

}  // namespace cornea::cli
