// SPDX-License-Identifier: Apache-2.0
#include "cuda_calls.h"

#include "cornea/core/error.h"

namespace cornea::python {
namespace {

[[noreturn]] void refuse() {
  fail(ErrorCode::device_unavailable,
       "this build of Cornea has no CUDA and cannot take arrays on a GPU; copy them to the host");
}

}  // namespace

StreamHandle stream_handle(const Context&) { refuse(); }
void* stream_of(StreamHandle) { refuse(); }
void wait_for(const Context&, StreamHandle) { refuse(); }
void wait_for_device(const Context&) { refuse(); }
int device_of(const void*) { refuse(); }
Mark::Mark(const Context&) { refuse(); }
void Mark::make_wait(StreamHandle) const { refuse(); }
void Mark::wait() const {}

}  // namespace cornea::python
