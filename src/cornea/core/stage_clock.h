// Milliseconds by stage of a call: host time on the CPU, events on the stream on CUDA.
#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/stage_time.h"

namespace cornea::core {

// A stage's share of a stretch of time, in any unit.
struct StageShare {
  const char* stage;
  double share;
};

class CudaEvents;

class StageClock {
 public:
  explicit StageClock(const Context& context);

  // Forgets the stages of the last call. Unless it is on, marks do nothing.
  void start(bool on = true);
  bool is_on() const { return on_; }
  void mark(const char* stage);  // ends a stage that began at the last mark
  // On the host: ends several stages that ran side by side since the last mark.
  void mark(std::initializer_list<StageShare> shares);
  // Stages of one name count together. Waits for the stream on CUDA.
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
