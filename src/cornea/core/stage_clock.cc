// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/stage_clock.h"

#include <algorithm>

#include "cornea/core/build.h"
#include "cornea/core/cuda_events.h"

namespace cornea::core {

StageClock::StageClock(const Context& context) : context_(context) {
  if constexpr (kHasCuda) {
    if (context.is_cuda()) events_ = CudaEvents::make(context);
  }
}

void StageClock::record() {
  if constexpr (kHasCuda) {
    if (events_) return events_->record(stages_.size());
  }
  times_.push_back(std::chrono::steady_clock::now());
}

void StageClock::start(bool on) {
  on_ = on;
  stages_.clear();
  times_.clear();
  if (on) record();
}

void StageClock::mark(const char* stage) {
  if (!on_) return;
  stages_.push_back(stage);
  record();
}

void StageClock::mark(std::initializer_list<StageShare> shares) {
  if (!on_) return;
  double total = 0, so_far = 0;
  for (const StageShare& share : shares) total += share.share;
  const auto begin = times_.back();
  const auto length = std::chrono::steady_clock::now() - begin;
  for (const StageShare& share : shares) {
    so_far += share.share;
    stages_.push_back(share.stage);
    const double part = total > 0 ? so_far / total : 1;
    times_.push_back(begin + std::chrono::duration_cast<std::chrono::nanoseconds>(length * part));
  }
}

std::vector<StageTime> StageClock::read() const {
  std::vector<StageTime> result;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    double ms = 0;
    if (events_) {
      if constexpr (kHasCuda) ms = events_->milliseconds(i, i + 1);
    } else {
      ms = std::chrono::duration<double, std::milli>(times_[i + 1] - times_[i]).count();
    }
    const auto known = std::find_if(result.begin(), result.end(), [&](const StageTime& stage) {
      return stage.stage == stages_[i];
    });
    if (known == result.end()) {
      result.push_back({stages_[i], ms});
    } else {
      known->milliseconds += ms;
    }
  }
  return result;
}

}  // namespace cornea::core
