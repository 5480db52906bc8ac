// SPDX-License-Identifier: Apache-2.0
// Inside of io: a number for the bytes of a file, to tell whether it is still the same.
//
// XXH64 (Yann Collet, 2012; github.com/Cyan4973/xxHash, doc/xxhash_spec.md) with seed 0: 64 bits, a
// few bytes per cycle. Two different photographs have the same one with a chance of 2^-64. It is no
// protection against somebody who looks for two such files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace cornea::io {

std::uint64_t content_hash(std::span<const std::uint8_t> bytes);

// The same of bytes that come one after another.
class ContentHash {
 public:
  ContentHash();
  void add(std::span<const std::uint8_t> bytes);
  std::uint64_t value() const;  // of all that was added

 private:
  void add_stripe(const std::uint8_t* from);

  static constexpr std::size_t kStripe = 32;
  std::array<std::uint64_t, 4> sums_;
  std::array<std::uint8_t, kStripe> rest_{};  // of a stripe that is not yet whole
  std::uint64_t count_ = 0;
};

// Of a whole file of any size; an error names it.
std::uint64_t content_hash_of_file(const std::filesystem::path& file);

}  // namespace cornea::io
