// SPDX-License-Identifier: Apache-2.0
// Internal to io: a hash of a file's bytes, used to check whether the file has changed.
//
// XXH64 (Yann Collet, 2012; github.com/Cyan4973/xxHash, doc/xxhash_spec.md) with seed 0: 64 bits, a
// few bytes per cycle. Two different photographs collide with a probability of 2^-64. The hash is
// not cryptographic: somebody who looks for two files with the same hash can find them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace cornea::io {

std::uint64_t content_hash(std::span<const std::uint8_t> bytes);
std::uint64_t hash_of_text(std::string_view text);

// The same hash, for bytes that arrive in several parts.
class ContentHash {
 public:
  ContentHash();
  void add(std::span<const std::uint8_t> bytes);
  std::uint64_t value() const;  // of all bytes added so far

 private:
  void add_stripe(const std::uint8_t* from);

  static constexpr std::size_t kStripe = 32;
  std::array<std::uint64_t, 4> sums_;
  std::array<std::uint8_t, kStripe> rest_{};  // the bytes of an incomplete stripe
  std::uint64_t count_ = 0;
};

// The hash of a whole file of any size. An error names the file.
std::uint64_t content_hash_of_file(const std::filesystem::path& file);

}  // namespace cornea::io
