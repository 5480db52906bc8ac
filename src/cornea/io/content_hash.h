// Inside of io: a number for the bytes of a file, to tell whether it is still the same.
//
// XXH64 (Yann Collet, 2012; github.com/Cyan4973/xxHash, doc/xxhash_spec.md) with seed 0: 64 bits, a
// few bytes per cycle. Two different photographs have the same one with a chance of 2^-64. It is no
// protection against somebody who looks for two such files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace cornea::io {

std::uint64_t content_hash(std::span<const std::uint8_t> bytes);

// Of a whole file; an error names it.
std::uint64_t content_hash_of_file(const std::filesystem::path& file);

}  // namespace cornea::io
