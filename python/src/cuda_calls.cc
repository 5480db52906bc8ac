// SPDX-License-Identifier: Apache-2.0
#include "cuda_calls.h"

#include <cuda_runtime.h>

#include "cornea/core/cuda.h"

namespace cornea::python {
namespace {

using core::cuda_check;
using core::DeviceGuard;

std::shared_ptr<void> new_event() {
  cudaEvent_t event = nullptr;
  cuda_check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
  return {event, [](void* e) { cudaEventDestroy(static_cast<cudaEvent_t>(e)); }};
}

cudaEvent_t event_of(const std::shared_ptr<void>& event) {
  return static_cast<cudaEvent_t>(event.get());
}

}  // namespace

StreamHandle stream_handle(const Context& context) {
  const auto handle = reinterpret_cast<StreamHandle>(context.stream());
  return handle == 0 ? 1 : handle;
}

void* stream_of(StreamHandle handle) {
  if (handle == 0 || handle == 1) return cudaStreamLegacy;
  if (handle == 2) return cudaStreamPerThread;
  return reinterpret_cast<void*>(handle);
}

void wait_for(const Context& context, StreamHandle other) {
  if (other == stream_handle(context)) return;
  const DeviceGuard guard(context);
  const std::shared_ptr<void> event = new_event();
  cuda_check(cudaEventRecord(event_of(event), static_cast<cudaStream_t>(stream_of(other))),
             "marking the stream of an array");
  cuda_check(cudaStreamWaitEvent(core::cuda_stream(context), event_of(event), 0),
             "waiting for the stream of an array");
}

void wait_for_device(const Context& context) {
  const DeviceGuard guard(context);
  cuda_check(cudaDeviceSynchronize(), "waiting for the device");
}

int device_of(const void* memory) {
  cudaPointerAttributes attributes{};
  cuda_check(cudaPointerGetAttributes(&attributes, memory), "finding the device of an array");
  return attributes.device;
}

Mark::Mark(const Context& context) : device_(context.cuda_index()) {
  const DeviceGuard guard(context);
  event_ = new_event();
  cuda_check(cudaEventRecord(event_of(event_), core::cuda_stream(context)), "marking the stream");
}

void Mark::make_wait(StreamHandle stream) const {
  const DeviceGuard guard(device_);
  cuda_check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream_of(stream)), event_of(event_), 0),
             "making a stream wait for an array");
}

void Mark::wait() const {
  if (event_) cuda_check(cudaEventSynchronize(event_of(event_)), "waiting for an array");
}

}  // namespace cornea::python
