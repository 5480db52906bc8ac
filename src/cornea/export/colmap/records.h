// SPDX-License-Identifier: Apache-2.0
// What Cornea records about its own work in a COLMAP database, so that a later run notices if a
// photograph or the options have changed since the features were extracted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cornea::colmap {

using Id = std::int64_t;

// The state of a file when it was read.
struct FileStamp {
  std::int64_t bytes = 0;
  std::int64_t modified = 0;  // nanoseconds since 1970
  std::uint64_t hash = 0;     // XXH64 of its bytes
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

struct ImageRecord {
  Id image = 0;
  std::string name = {};    // of the image; a row of another name is another image
  std::string folder = {};  // absolute path of the folder that had the file
  FileStamp file = {};
  std::optional<FileStamp> mask = {};
  std::string options = {};   // of the extraction: "contrast=0.02 root=yes"
  std::int64_t features = 0;  // number of features
  friend bool operator==(const ImageRecord&, const ImageRecord&) = default;
};

}  // namespace cornea::colmap
