// A page of results, shown in the user's browser.
#pragma once

#include <filesystem>

namespace cornea::cli {

// Hands the page to the program that opens files on this system (xdg-open, wslview, or open on
// macOS) and does not wait for the browser. An error says what to do where there is none.
void open_in_browser(const std::filesystem::path& page);

}  // namespace cornea::cli
