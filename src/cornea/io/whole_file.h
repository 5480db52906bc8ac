// SPDX-License-Identifier: Apache-2.0
// Writes files that appear complete or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace cornea::io {

// Writes a temporary file in the same folder and renames it. If the name is a symbolic link, the
// file that it points to is replaced, not the link; an existing file keeps its permissions. A
// temporary file that a killed process left behind is removed by the next process that writes to
// the folder, once it is a day old. Devices, pipes and paths under /dev or /proc are written to
// directly. An error names the file, and says so if the disk is full.
void write_whole_file(const std::filesystem::path& file, std::span<const std::uint8_t> bytes);

// The path after following symbolic links, even if no file is there yet.
std::filesystem::path link_target(const std::filesystem::path& file);

// A name for a temporary file in the folder of `file`, .cornea-RANDOM.part, that no other process
// uses.
std::filesystem::path part_beside(const std::filesystem::path& file);
// Removes temporary files that killed processes left in the folder of `file`: those that are older
// than a day and that no process holds. Each folder is searched once per process.
void remove_leftovers_beside(const std::filesystem::path& file);

// Whether this error number of the system says that a disk, or a user's share of it, is full.
bool is_disk_full(int system_error);

}  // namespace cornea::io
