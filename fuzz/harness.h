// SPDX-License-Identifier: Apache-2.0
// Shared by all harnesses. A harness passes arbitrary bytes to a parser and checks its contract:
// the parser returns a result or throws a cornea::Error, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "cornea/core/error.h"

namespace cornea::fuzz {

using Bytes = std::span<const std::uint8_t>;

// Aborts if a condition is violated; libFuzzer then keeps the input.
inline void must(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

// Returns whether f() completed. It may throw an Error; any other exception aborts, and so does an
// Error with a code that blames Cornea or the caller, because no file may cause it.
template <class F>
bool succeeds(F&& f) {
  try {
    f();
    return true;
  } catch (const Error& error) {
    must(error.code() != ErrorCode::internal && error.code() != ErrorCode::invalid_argument,
         text("a file is the cause of: ", error.what()).c_str());
    return false;
  }
}

// A file in memory, for parsers that take a path.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("cornea", 0)) {
    must(descriptor_ >= 0, "a file in memory can be made");
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void replace(Bytes bytes) {
    const bool replaced =
        ftruncate(descriptor_, 0) == 0 &&
        pwrite(descriptor_, bytes.data(), bytes.size(), 0) == ssize_t(bytes.size());
    must(replaced, "a file in memory can be written");
  }
  std::filesystem::path path() const { return text("/proc/self/fd/", descriptor_); }

 private:
  int descriptor_;
};

inline Bytes as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace cornea::fuzz
