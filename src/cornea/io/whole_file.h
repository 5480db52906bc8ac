// SPDX-License-Identifier: Apache-2.0
// Writes files that appear complete or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace cornea::io {

// Writes a temporary file in the same folder and renames it. If the name is a symbolic link, the
// file that it points to is replaced, not the link; an existing file keeps its permissions. The
// temporary name, .cornea-RANDOM.part, is unique to the process. A temporary file that a killed
// process left behind is removed by the next process that writes to the folder, once it is a day
// old. Devices, pipes and paths under /dev or /proc are written to directly. An error names the
// file.
void write_whole_file(const std::filesystem::path& file, std::span<const std::uint8_t> bytes);

}  // namespace cornea::io
