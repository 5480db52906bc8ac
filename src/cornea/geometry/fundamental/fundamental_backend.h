// What the two devices implement.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "cornea/geometry/fundamental/fundamental.h"
#include "cornea/geometry/fundamental/plane_steps.h"

namespace cornea::geometry {

// Of a batch, that a thread of the host copies or checks at a time.
inline constexpr int kPairsAPiece = 16;

class FundamentalBackend {
 public:
  virtual ~FundamentalBackend() = default;
  // Every pair has enough points, and all coordinates are finite. Results come with as many
  // inliers, at 0, as a pair has correspondences. `meanwhile`, if any, is called once, on CUDA
  // while the device works.
  virtual void estimate(std::span<const std::span<const Correspondence>> pairs,
                        std::span<const std::uint64_t> keys, std::span<FundamentalResult> out,
                        const std::function<void()>& meanwhile) = 0;
};

// The result of an outcome whose inliers are known, in pixels.
void write_outcome(const Outcome& outcome, const Normalisation& normalisation,
                   FundamentalResult& out);

std::unique_ptr<FundamentalBackend> make_host_fundamental(const Context& context,
                                                          const FundamentalOptions& options);
std::unique_ptr<FundamentalBackend> make_device_fundamental(const Context& context,
                                                            const FundamentalOptions& options);

}  // namespace cornea::geometry
