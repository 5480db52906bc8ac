// SPDX-License-Identifier: Apache-2.0
#include "cornea/io/content_hash.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "cornea/core/error.h"
#include "cornea/io/decoded.h"

namespace cornea::io {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F,
                        kPrime3 = 0x165667B19E3779F9, kPrime4 = 0x85EBCA77C2B2AE63,
                        kPrime5 = 0x27D4EB2F165667C5;

template <class T>
T load(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint64_t round(std::uint64_t sum, std::uint64_t lane) {
  return std::rotl(sum + lane * kPrime2, 31) * kPrime1;
}

std::uint64_t merge(std::uint64_t hash, std::uint64_t sum) {
  return (hash ^ round(0, sum)) * kPrime1 + kPrime4;
}

}  // namespace

ContentHash::ContentHash() : sums_{kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1} {}

void ContentHash::add_stripe(const std::uint8_t* from) {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    sums_[i] = round(sums_[i], load<std::uint64_t>(from + 8 * i));
  }
}

void ContentHash::add(std::span<const std::uint8_t> bytes) {
  const std::size_t held = count_ % kStripe;
  count_ += bytes.size();
  if (held > 0) {
    const std::size_t more = std::min(kStripe - held, bytes.size());
    std::copy_n(bytes.begin(), more, rest_.begin() + std::ptrdiff_t(held));
    if (held + more < kStripe) return;
    add_stripe(rest_.data());
    bytes = bytes.subspan(more);
  }
  for (; bytes.size() >= kStripe; bytes = bytes.subspan(kStripe)) add_stripe(bytes.data());
  std::copy(bytes.begin(), bytes.end(), rest_.begin());
}

std::uint64_t ContentHash::value() const {
  std::uint64_t hash = kPrime5;
  if (count_ >= kStripe) {
    hash = std::rotl(sums_[0], 1) + std::rotl(sums_[1], 7) + std::rotl(sums_[2], 12) +
           std::rotl(sums_[3], 18);
    for (const std::uint64_t sum : sums_) hash = merge(hash, sum);
  }
  hash += count_;
  const std::uint8_t* at = rest_.data();
  std::size_t left = count_ % kStripe;
  for (; left >= 8; left -= 8, at += 8) {
    hash = std::rotl(hash ^ round(0, load<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  if (left >= 4) {
    hash = std::rotl(hash ^ load<std::uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
    left -= 4, at += 4;
  }
  for (; left > 0; --left, ++at) hash = std::rotl(hash ^ *at * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

std::uint64_t content_hash(std::span<const std::uint8_t> bytes) {
  ContentHash hash;
  hash.add(bytes);
  return hash.value();
}

std::uint64_t hash_of_text(std::string_view text) {
  return content_hash({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

std::uint64_t content_hash_of_file(const std::filesystem::path& file) {
  const File in(std::fopen(file.c_str(), "rb"));
  std::vector<std::uint8_t> bytes(std::size_t{1} << 20);
  ContentHash hash;
  std::size_t count = 0;
  errno = 0;
  while (in && (count = std::fread(bytes.data(), 1, bytes.size(), in.get())) > 0) {
    hash.add(std::span(bytes).first(count));
  }
  if (!in || std::ferror(in.get())) {
    fail(ErrorCode::io, file.string(), ": cannot be read (", std::strerror(errno),
         "); check the path and its permissions");
  }
  return hash.value();
}

}  // namespace cornea::io
