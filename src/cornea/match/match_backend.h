// SPDX-License-Identifier: Apache-2.0
// The interface that a device implements for Matcher.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cornea/core/stage_clock.h"
#include "cornea/match/match.h"
#include "cornea/match/tile_kernel.h"

namespace cornea::match {

class MatchBackend {
 public:
  virtual ~MatchBackend() = default;
  virtual const char* kernel() const = 0;
  // One result per pair. The pairs have been checked and may be empty on either side.
  virtual void match(std::span<const MatchPair> pairs, std::span<std::vector<Match>> out,
                     core::StageClock& clock) = 0;
  virtual void nearest(std::span<const MatchPair> pairs, std::span<std::vector<Nearest>> out,
                       core::StageClock& clock) = 0;
};

std::unique_ptr<MatchBackend> make_host_matcher(const Context& context, const MatchOptions& options,
                                                const TileKernel& kernel);
std::unique_ptr<MatchBackend> make_device_matcher(const Context& context,
                                                  const MatchOptions& options);

}  // namespace cornea::match
