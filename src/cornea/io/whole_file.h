// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace cornea::io {

// Writes under another name in the same folder first and then puts the file in place. Where the
// name is a link the file that it points to is replaced, not the link; an existing file's
// permissions stay. The other name, .cornea-RANDOM.part, is no other process's; what a killed one
// has left under such a name is removed by the next that writes there once it is a day old.
// Devices, pipes and what lies under /dev or /proc are written to as they are. An error names the
// file.
void write_whole_file(const std::filesystem::path& file, std::span<const std::uint8_t> bytes);

}  // namespace cornea::io
