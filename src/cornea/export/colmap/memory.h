// What Cornea remembers of its own work in a COLMAP database, so that a later run notices when a
// photograph or the options are not those of the features that are there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cornea::colmap {

using Id = std::int64_t;

// A file as it was when it was read.
struct FileStamp {
  std::int64_t bytes = 0;
  std::int64_t modified = 0;  // nanoseconds since 1970
  std::uint64_t hash = 0;     // XXH64 of its bytes
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

struct ImageRecord {
  Id image = 0;
  std::string name = {};    // the image's; another one in the database is another image
  std::string folder = {};  // absolute, in which the file of that name was
  FileStamp file = {};
  std::optional<FileStamp> mask = {};
  std::string options = {};   // of the extraction: "contrast=0.02 root=yes"
  std::int64_t features = 0;  // how many it gave
  friend bool operator==(const ImageRecord&, const ImageRecord&) = default;
};

}  // namespace cornea::colmap
