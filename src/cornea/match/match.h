// SPDX-License-Identifier: Apache-2.0
// Exact (brute-force) descriptor matching: for every descriptor of A the nearest and the second
// nearest of B in the L2 norm.
//
//   d2(a, b) = sum_k (a_k - b_k)^2 = |a|^2 + |b|^2 - 2 a.b        128 bytes per descriptor
//
// All of it is integer arithmetic (d2 is at most 128 * 255^2 < 2^23), so that no distance is
// rounded and both devices give the same bytes. Neighbours are ordered by (d2, index): ties go to
// the lower index.
//
// A match (a, b) is kept if
//   1. ratio:    distance of the nearest < ratio times that of the second (Lowe 2004);
//   2. mutual:   a is also the nearest of A to b;
//   3. distance: it is at most max_distance.
//
// Cost: 128 |A| |B| multiply-adds with the machine's 8-bit dot products (tensor cores on CUDA), in
// one pass for both directions; memory is linear in the number of points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/export.h"
#include "cornea/core/features.h"
#include "cornea/core/stage_time.h"

namespace cornea {

class Matcher;
struct MatchOptions;
namespace match {
Matcher matcher_with_kernel(const Context&, const MatchOptions&, const std::string&);
}

struct CORNEA_API MatchOptions {
  float ratio = 0.8f;      // above 0; 1 or more: no ratio test
  bool mutual = true;      // keep only mutual nearest neighbours
  float max_distance = 0;  // largest distance of a match; 0: no limit

  void validate() const;
};

// Densely packed descriptors, Features::kLength bytes each, in host or device memory.
struct CORNEA_API DescriptorView {
  const std::uint8_t* data = nullptr;
  int count = 0;
  Place place = Place::host;

  DescriptorView() = default;
  DescriptorView(const std::uint8_t* data, int count, Place place = Place::host)
      : data(data), count(count), place(place) {}
  DescriptorView(const Features& features);  // throws if there are points without descriptors
  bool on_device() const { return place == Place::device; }
};

struct MatchPair {
  DescriptorView a = {}, b = {};
};

// The two nearest descriptors of B, with squared distances. If B is too small for one of them, its
// index is -1 and its distance kNoNeighbour.
inline constexpr std::int32_t kNoNeighbour = INT32_MAX;
struct Nearest {
  std::int32_t index = -1, d2 = kNoNeighbour;
  std::int32_t second = -1, second_d2 = kNoNeighbour;
  friend bool operator==(const Nearest&, const Nearest&) = default;
};

struct MatchReport {
  int pairs = 0;
  std::uint64_t distances = 0;  // number of distances that were computed
  std::size_t matches = 0;      // over all pairs
  double milliseconds = 0;      // the whole call, wall-clock time
  // The kernel that computed the dot products: "ummla", "avx512-vnni", "tensor cores".
  std::string kernel = {};
  std::vector<StageTime> stages = {};  // empty unless time_stages(true)
};

// A Matcher is constructed once and then applied to any number of pairs. It allocates no device or
// pinned memory after the first pair of a size.
//
// On a CPU context descriptors lie in host memory. On a CUDA context they lie in host memory and
// are uploaded, each set once per group of pairs, or on the device; all sets of a call lie in the
// same kind of memory.
class CORNEA_API Matcher {
 public:
  explicit Matcher(const Context& context, const MatchOptions& options = {});
  ~Matcher();
  Matcher(Matcher&&) noexcept;

  // The matches in the order of A.
  std::vector<Match> match(DescriptorView a, DescriptorView b);
  // Matches many pairs of any sizes in one call: on CUDA in few launches, with millions of points
  // at a time.
  std::vector<std::vector<Match>> match_batch(std::span<const MatchPair> pairs);
  // The neighbours themselves, one entry per descriptor of A, without any test.
  std::vector<Nearest> nearest(DescriptorView a, DescriptorView b);

  // The report of the last call. Timing stages costs a little on CUDA, so it is off by default.
  void time_stages(bool on);
  const MatchReport& report() const;
  const Context& context() const;
  const MatchOptions& options() const;

 private:
  friend Matcher match::matcher_with_kernel(const Context&, const MatchOptions&,
                                            const std::string&);
  struct Inside;
  explicit Matcher(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

// Removes duplicate matches between the same two positions, which occur for points with several
// orientations: of the matches whose points have equal coordinates in both images the one with the
// smallest distance is kept; ties keep the first. The order is preserved. `a` and `b` are the
// points that were matched.
CORNEA_API std::vector<Match> one_per_place(std::vector<Match> matches, std::span<const Keypoint> a,
                                            std::span<const Keypoint> b);

}  // namespace cornea
