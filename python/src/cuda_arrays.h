// Arrays on a CUDA device, in and out, ordered by streams: an array that comes in says what its
// maker's stream still does to it (DLPack, __cuda_array_interface__), and one that goes out makes
// its taker's stream wait for ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "arrays.h"
#include "cuda_calls.h"

#include "cornea/core/memory.h"

namespace cornea::python {

// Whether an object says that its memory is a CUDA device's.
bool lies_on_cuda(nb::handle object);
// Its array; the context's stream waits for what made it.
AnyArray cuda_array_of(const Context& context, nb::handle object, const char* what);

// Memory of the context's device that Python holds. It goes back to the pool once the streams that
// it was handed to have done what is queued on them now; where they are not known, once the device
// has.
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
  // All that fills it is queued: from here on it may be handed on. What `source` holds is read
  // until then.
  void finish(nb::object source = {});

  // A capsule for a taker that works on `stream` (DLPack's numbers; -1: that asks for no order).
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
  bool unknown_takers_ = false;  // __cuda_array_interface__ does not say on which stream they work
};

void bind_device_array(nb::module_& m);

}  // namespace cornea::python
