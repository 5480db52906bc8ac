// SPDX-License-Identifier: Apache-2.0
// The interface that both backends implement: many pairs of one problem (ransac/search.h) in one
// call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "cornea/core/context.h"
#include "cornea/core/features.h"
#include "cornea/geometry/points.h"

namespace cornea::geometry {

// Pairs of a batch that one CPU thread copies or checks at a time.
inline constexpr int kPairsPerPiece = 16;

// One pair: its correspondences, the random key of its samples, and where its results go. Every
// pair has enough points, and all coordinates are finite.
struct RansacPair {
  std::span<const Correspondence> matches;
  std::uint64_t key;
  // The normalisation to apply; if both scales are 0, it is computed from the points.
  Normalisation given;
  std::uint8_t* inliers;  // one per correspondence
};

template <class Outcome>
struct RansacOutcome {
  Outcome outcome{};
  Normalisation normalisation{};
};

template <class Problem>
class Ransac {
 public:
  using Outcomes = std::span<RansacOutcome<typename Problem::Outcome>>;
  virtual ~Ransac() = default;
  // `meanwhile`, if not empty, is called once; on CUDA, while the device works.
  virtual void run(std::span<const RansacPair> pairs, Outcomes out,
                   const std::function<void()>& meanwhile) = 0;
};

template <class Problem>
std::unique_ptr<Ransac<Problem>> make_host_ransac(const Context& context, const Problem& problem);
// Only in builds with CUDA.
template <class Problem>
std::unique_ptr<Ransac<Problem>> make_device_ransac(const Context& context, const Problem& problem);

}  // namespace cornea::geometry
