// SPDX-License-Identifier: Apache-2.0
// Internal to io: a whole image file in memory.
#pragma once

#include <filesystem>

#include "cornea/core/memory.h"
#include "cornea/io/decoded.h"

namespace cornea::io {

class LoadedFile {
 public:
  // Throws an Error that names the file.
  explicit LoadedFile(const std::filesystem::path& path);
  Bytes bytes() const {
    return {static_cast<const std::uint8_t*>(memory_.data()), memory_.bytes()};
  }

 private:
  Memory memory_;
};

}  // namespace cornea::io
