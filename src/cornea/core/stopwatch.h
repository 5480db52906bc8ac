// SPDX-License-Identifier: Apache-2.0
// Wall-clock time since construction or the last restart.
#pragma once

#include <chrono>

namespace cornea::core {

class Stopwatch {
 public:
  void start() { begin_ = Clock::now(); }
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace cornea::core
