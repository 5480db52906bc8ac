// Milliseconds by stage of a call: host time on the CPU, events on the stream on CUDA.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cornea/core/context.h"

namespace cornea {

struct StageTime {
  std::string stage;
  double milliseconds = 0;
};

class CudaEvents;

class StageClock {
 public:
  explicit StageClock(const Context& context);

  void start();                  // forgets the stages of the last call
  void mark(const char* stage);  // ends a stage that began at the last mark
  // Stages of one name count together. Waits for the stream on CUDA.
  std::vector<StageTime> read() const;

 private:
  void record();
  Context context_;
  std::vector<const char*> stages_;
  std::vector<std::chrono::steady_clock::time_point> times_;
  std::shared_ptr<CudaEvents> events_;
};

}  // namespace cornea
