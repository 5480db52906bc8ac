// The page of a folder on the disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cornea/cli/common.h"
#include "cornea/report/folder_page.h"

namespace cornea::cli {

// Writes the page into a folder, which is made: first the files that it reads, then report.html, so
// that a page on the disk has what it needs. Such files of an earlier page that are not among these
// are deleted. Returns the paths, report.html first.
std::vector<std::filesystem::path> write_folder_page(const std::filesystem::path& folder,
                                                     const FolderPage& page);

// What a page says of its folder, for a summary: "images", "features", "pairs", "verified",
// "components" (their sizes), "unconnected" (names), "unseen" (photographs that cannot be shown)
// and "warnings" (sentences).
Json folder_page_json(const FolderPage& page);
// The same for a person: a line or two, and the warnings.
std::string folder_page_words(const FolderPage& page);

}  // namespace cornea::cli
