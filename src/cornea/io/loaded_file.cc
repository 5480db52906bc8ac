// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/loaded_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "cornea/core/error.h"

namespace cornea::io {
namespace {

namespace fs = std::filesystem;

std::uint64_t size_of_file(const fs::path& file) {
  std::error_code failed;
  const fs::file_status status = fs::status(file, failed);
  if (!fs::exists(status)) {
    const bool missing = status.type() == fs::file_type::not_found;
    fail(ErrorCode::io, file.string(), ": ",
         missing ? "there is no such file" : "cannot be reached (" + failed.message() + ")",
         "; check the path");
  }
  if (fs::is_directory(status)) {
    fail(ErrorCode::io, file.string(), ": is a folder; name an image file in it");
  }
  if (!fs::is_regular_file(status)) {
    fail(ErrorCode::io, file.string(), ": is not a regular file; save the image to one first");
  }
  const std::uint64_t bytes = fs::file_size(file, failed);
  if (failed) fail(ErrorCode::io, file.string(), ": cannot be read (", failed.message(), ")");
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;
  if (bytes > kMostBytes) {
    fail(ErrorCode::io, file.string(), ": has ", bytes,
         " bytes, but image files may have at most 4 GiB; split the image into tiles");
  }
  return bytes;
}

}  // namespace

LoadedFile::LoadedFile(const fs::path& path) : memory_(Memory::host(size_of_file(path))) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    fail(ErrorCode::io, path.string(), ": cannot be opened (", std::strerror(errno),
         "); check its permissions");
  }
  if (std::fread(memory_.data(), 1, memory_.bytes(), file.get()) != memory_.bytes()) {
    fail(ErrorCode::io, path.string(), ": cannot be read to its end (",
         std::ferror(file.get()) ? std::strerror(errno) : "it was truncated while being read",
         "); try again");
  }
}

}  // namespace cornea::io
