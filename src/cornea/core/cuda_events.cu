// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/cuda.h"
#include "cornea/core/cuda_events.h"

namespace cornea::core {

std::shared_ptr<CudaEvents> CudaEvents::make(const Context& context) {
  return std::shared_ptr<CudaEvents>(new CudaEvents(context));
}

CudaEvents::~CudaEvents() {
  for (void* event : events_) cudaEventDestroy(static_cast<cudaEvent_t>(event));
}

void CudaEvents::record(std::size_t i) {
  const DeviceGuard device(context_);
  while (events_.size() <= i) {
    cudaEvent_t event = nullptr;
    cuda_check(cudaEventCreate(&event), "making a CUDA event");
    events_.push_back(event);
  }
  cuda_check(cudaEventRecord(static_cast<cudaEvent_t>(events_[i]), cuda_stream(context_)),
             "recording a CUDA event");
}

double CudaEvents::milliseconds(std::size_t from, std::size_t to) const {
  float ms = 0;
  cuda_check(cudaEventSynchronize(static_cast<cudaEvent_t>(events_[to])), "waiting for an event");
  cuda_check(cudaEventElapsedTime(&ms, static_cast<cudaEvent_t>(events_[from]),
                                  static_cast<cudaEvent_t>(events_[to])),
             "reading CUDA events");
  return ms;
}

}  // namespace cornea::core
