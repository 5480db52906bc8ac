// The few calls of the CUDA runtime that arrays on a device need: streams that wait for one
// another. In builds without CUDA each of them is an error.
#pragma once

#include <cstdint>
#include <memory>

#include "cornea/core/context.h"

namespace cornea::python {

// A cudaStream_t as Python has it. As in DLPack, 1 is the legacy default stream and 2 the default
// stream of the thread; 0 is taken for 1.
using StreamHandle = std::intptr_t;

StreamHandle stream_handle(const Context& context);
// The cudaStream_t of a handle.
void* stream_of(StreamHandle handle);

// The context's stream waits for all that is queued on the other one now.
void wait_for(const Context& context, StreamHandle other);

// The calling thread waits for all that is queued on the context's device, on whatever stream.
void wait_for_device(const Context& context);

// The device whose memory this is.
int device_of(const void* memory);

// A mark on the context's stream: what was queued before it.
class Mark {
 public:
  Mark() = default;
  explicit Mark(const Context& context);
  void make_wait(StreamHandle stream) const;  // that stream waits for the mark
  void wait() const;                          // the calling thread does
 private:
  std::shared_ptr<void> event_;
  int device_ = 0;
};

}  // namespace cornea::python
