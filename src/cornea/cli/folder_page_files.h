// SPDX-License-Identifier: Apache-2.0
// Writes the page of a folder to disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cornea/cli/common.h"
#include "cornea/report/folder_page.h"

namespace cornea::cli {

// Writes the page into a folder, which is created: first the files that it reads, then report.html,
// so that a page on disk is always complete. Such files of an earlier page that are no longer
// needed are deleted. Returns the paths, report.html first.
std::vector<std::filesystem::path> write_folder_page(const std::filesystem::path& folder,
                                                     const FolderPage& page);

// The contents of a page as a summary: "images", "features", "pairs", "verified", "components"
// (their sizes), "unconnected" (names), "unseen" (photographs that cannot be shown) and "warnings"
// (sentences).
Json folder_page_json(const FolderPage& page);
// The same as text: a line or two, and the warnings.
std::string folder_page_words(const FolderPage& page);

}  // namespace cornea::cli
