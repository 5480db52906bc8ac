// SPDX-License-Identifier: Apache-2.0
// Arrays on a CUDA device, imported and exported with stream ordering (DLPack,
// __cuda_array_interface__): for an imported array our stream waits for its producer's stream; for
// an exported array its consumer's stream waits for ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arrays.h"
#include "cuda_calls.h"

#include "cornea/core/memory.h"

namespace cornea::python {

// The array of an object whose memory is on a CUDA device; the context's stream waits for the
// producer. Nothing if it is elsewhere, according to the object.
std::optional<AnyArray> cuda_array_of(const Context& context, nb::handle object, const char* what);

// Memory of the context's device that Python owns. It returns to the pool when the streams to which
// it was exported have finished their queued work; if these are unknown, when the whole device has.
class DeviceArray {
 public:
  DeviceArray(const Context& context, Memory memory, std::vector<std::size_t> shape,
              nb::dlpack::dtype dtype);
  ~DeviceArray();
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  void* data() const { return memory_.data(); }
  const std::vector<std::size_t>& shape() const { return shape_; }
  int device() const { return context_.cuda_index(); }
  std::string typestr() const;
  // Marks the array as filled: all work that fills it has been queued, and it may be exported.
  // `source` is kept alive until that work is done.
  void finish(nb::object source = {});

  // A capsule for a consumer that works on `stream` (DLPack's numbers; -1: no synchronisation).
  nb::object dlpack(nb::handle self, nb::handle stream, nb::handle max_version);
  nb::dict cuda_array_interface();
  nb::object numpy() const;  // a copy on the host

 private:
  Context context_;
  Memory memory_;
  std::vector<std::size_t> shape_;
  nb::dlpack::dtype dtype_;
  Mark ready_;
  nb::object source_;
  std::vector<StreamHandle> takers_;
  bool unknown_takers_ = false;  // consumers of __cuda_array_interface__ do not name their stream
};

void bind_device_array(nb::module_& m);

}  // namespace cornea::python
