// SPDX-License-Identifier: Apache-2.0
// Events on a context's stream, created once and reused. Internals of StageClock; defined in
// cuda_events.cu.
#pragma once

#include <memory>
#include <vector>

#include "cornea/core/context.h"

namespace cornea::core {

class CudaEvents {
 public:
  static std::shared_ptr<CudaEvents> make(const Context& context);
  ~CudaEvents();

  void record(std::size_t i);
  double milliseconds(std::size_t from, std::size_t to) const;

 private:
  explicit CudaEvents(const Context& context) : context_(context) {}
  Context context_;
  std::vector<void*> events_;  // cudaEvent_t
};

}  // namespace cornea::core
