// SPDX-License-Identifier: Apache-2.0
#include "cornea/match/places.h"

#include <bit>

#include "cornea/core/error.h"

namespace cornea {
namespace match {
namespace {

// Equal for equal floats: 0 and -0 are the same coordinate.
std::uint64_t bits_of(float x, float y) {
  return std::uint64_t{std::bit_cast<std::uint32_t>(x + 0.0f)} << 32 |
         std::bit_cast<std::uint32_t>(y + 0.0f);
}

// Multiplicative hashing with odd constants, of which the upper bits are used (Knuth, vol. 3, 6.4).
std::uint64_t hash_of(const Correspondence& m) {
  const std::uint64_t first = bits_of(m.x1, m.y1) * 0x9E3779B97F4A7C15u;
  const std::uint64_t second = bits_of(m.x2, m.y2) * 0xC2B2AE3D27D4EB4Fu;
  return (first ^ std::rotl(second, 29)) * 0xD6E8FEB86659FD93u;
}

bool same_places(const Correspondence& a, const Correspondence& b) {
  return bits_of(a.x1, a.y1) == bits_of(b.x1, b.y1) && bits_of(a.x2, a.y2) == bits_of(b.x2, b.y2);
}

}  // namespace

void PlaceFinder::clear(std::size_t count) {
  // At most a quarter full, so that most lookups need one probe.
  const int bits = int(std::bit_width(4 * count + 1));
  shift_ = 64 - bits;
  table_.assign(std::size_t{1} << bits, 0);
}

inline std::uint32_t PlaceFinder::first_equal(std::span<const Correspondence> matches,
                                              std::uint32_t number) {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = hash_of(matches[number]) >> shift_;; at = (at + 1) & mask) {
    const std::uint32_t entry = table_[at];
    if (entry == 0) {
      table_[at] = number + 1;
      return number;
    }
    if (same_places(matches[entry - 1], matches[number])) return entry - 1;
  }
}

bool PlaceFinder::repeats(std::span<const Correspondence> matches) {
  clear(matches.size());
  for (std::uint32_t i = 0; i < matches.size(); ++i) {
    if (first_equal(matches, i) != i) return true;
  }
  return false;
}

Places PlaceFinder::places(std::span<const Correspondence> matches) {
  clear(matches.size());
  Places result;
  result.of.resize(matches.size());
  for (std::uint32_t i = 0; i < matches.size(); ++i) {
    const std::uint32_t first = first_equal(matches, i);
    if (first == i) {
      result.of[i] = std::uint32_t(result.distinct.size());
      result.distinct.push_back(matches[i]);
    } else {
      result.of[i] = result.of[first];
    }
  }
  return result;
}

void keep_one_per_place(std::vector<Match>& matches, std::span<const Correspondence> places) {
  PlaceFinder finder;
  if (!finder.repeats(places)) return;
  const Places found = finder.places(places);
  constexpr std::uint32_t kNone = ~0u;
  std::vector<std::uint32_t> nearest(found.distinct.size(), kNone);
  for (std::uint32_t i = 0; i < matches.size(); ++i) {
    std::uint32_t& best = nearest[found.of[i]];
    if (best == kNone || matches[i].distance < matches[best].distance) best = i;
  }
  std::size_t kept = 0;
  for (std::uint32_t i = 0; i < matches.size(); ++i) {
    if (nearest[found.of[i]] == i) matches[kept++] = matches[i];
  }
  matches.resize(kept);
}

}  // namespace match

std::vector<Match> one_per_place(std::vector<Match> matches, std::span<const Keypoint> a,
                                 std::span<const Keypoint> b) {
  std::vector<Correspondence> places;
  places.reserve(matches.size());
  for (const Match& m : matches) {
    require(m.a >= 0 && std::size_t(m.a) < a.size() && m.b >= 0 && std::size_t(m.b) < b.size(),
            "a match refers to points ", m.a, " and ", m.b, ", but there are ", a.size(), " and ",
            b.size());
    const Keypoint &p = a[std::size_t(m.a)], &q = b[std::size_t(m.b)];
    places.push_back({p.x, p.y, q.x, q.y});
  }
  match::keep_one_per_place(matches, places);
  return matches;
}

}  // namespace cornea
