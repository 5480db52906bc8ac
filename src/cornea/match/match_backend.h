// What a device gives to Matcher.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cornea/match/match.h"

namespace cornea {

class MatchBackend {
 public:
  virtual ~MatchBackend() = default;
  virtual const char* kernel() const = 0;
  // One result a pair; the pairs are checked, and may be empty on either side.
  virtual void match(std::span<const MatchPair> pairs, std::span<std::vector<Match>> out,
                     StageClock* clock) = 0;
  virtual void nearest(std::span<const MatchPair> pairs, std::span<std::vector<Nearest>> out,
                       StageClock* clock) = 0;
};

std::unique_ptr<MatchBackend> make_host_matcher(const Context& context,
                                                const MatchOptions& options);
std::unique_ptr<MatchBackend> make_device_matcher(const Context& context,
                                                  const MatchOptions& options);

}  // namespace cornea
