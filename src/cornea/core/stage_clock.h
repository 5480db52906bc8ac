// SPDX-License-Identifier: Apache-2.0
// Milliseconds per stage of a call: host time on the CPU, events on the stream on CUDA.
#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/stage_time.h"

namespace cornea::core {

// A stage's share of an interval of time, in any unit.
struct StageShare {
  const char* stage;
  double share;
};

class CudaEvents;

class StageClock {
 public:
  explicit StageClock(const Context& context);

  // Clears the stages of the previous call. mark() does nothing unless `on` is true.
  void start(bool on = true);
  bool is_on() const { return on_; }
  void mark(const char* stage);  // ends the stage that began at the previous mark
  // On the host: ends several stages that ran concurrently since the previous mark.
  void mark(std::initializer_list<StageShare> shares);
  // Adds up stages of the same name. Waits for the stream on CUDA.
  std::vector<StageTime> read() const;

 private:
  void record();
  Context context_;
  bool on_ = false;
  std::vector<const char*> stages_;
  std::vector<std::chrono::steady_clock::time_point> times_;
  std::shared_ptr<CudaEvents> events_;
};

}  // namespace cornea::core
