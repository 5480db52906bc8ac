// SPDX-License-Identifier: Apache-2.0
#include "cuda_arrays.h"

#include <algorithm>

#include <nanobind/stl/string.h>

#include "cornea/core/error.h"

namespace cornea::python {
namespace {

using namespace nb::literals;

constexpr int kCuda = nb::device::cuda::value, kManaged = nb::device::cuda_managed::value;

nb::dlpack::dtype dtype_of(const std::string& typestr, const char* what) {
  // "<f4", "|u1": byte order, kind, number of bytes.
  using Code = nb::dlpack::dtype_code;
  require(typestr.size() >= 3 && typestr[0] != '>', what, " has elements of '", typestr,
          "', which cannot be read");
  const char kind = typestr[1];
  const Code code = kind == 'u'   ? Code::UInt
                    : kind == 'i' ? Code::Int
                    : kind == 'b' ? Code::Bool
                    : kind == 'c' ? Code::Complex
                                  : Code::Float;
  return {std::uint8_t(code), std::uint8_t(8 * std::stoi(typestr.substr(2))), 1};
}

AnyArray interface_array(const Context& context, nb::handle object, const char* what) {
  const auto fields = nb::cast<nb::dict>(object.attr("__cuda_array_interface__"));
  const auto typestr = nb::cast<std::string>(fields["typestr"]);
  const nb::dlpack::dtype dtype = dtype_of(typestr, what);
  std::vector<std::size_t> shape;
  for (nb::handle side : fields["shape"]) shape.push_back(nb::cast<std::size_t>(side));
  std::vector<std::int64_t> strides;
  if (fields.contains("strides") && !nb::object(fields["strides"]).is_none()) {
    const int bytes = dtype.bits / 8;
    for (nb::handle stride : fields["strides"]) {
      const auto given = nb::cast<std::int64_t>(stride);
      require(given % bytes == 0, what,
              " has strides that are not whole elements; make it contiguous");
      strides.push_back(given / bytes);
    }
  }
  const nb::object data = fields["data"];
  void* memory = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data[0]));
  require(memory != nullptr || std::count(shape.begin(), shape.end(), 0u) > 0, what,
          " has a shape but no memory (its data pointer is null)");
  if (fields.contains("stream") && !nb::object(fields["stream"]).is_none()) {
    wait_for(context, nb::cast<StreamHandle>(fields["stream"]));
  }
  const int device = memory ? device_of(memory) : context.cuda_index();
  return AnyArray(memory, shape.size(), shape.data(), object,
                  strides.empty() ? nullptr : strides.data(), dtype, kCuda, device);
}

// DLPack's C exchange API (DLPack 1.3), of which only the last function is called here.
struct ExchangeApi {
  std::uint32_t major, minor;
  const void* previous;
  void (*unused[4])();  // convert arrays
  int (*current_stream)(int device_type, std::int32_t device, void** stream);
};

// The stream on which the array's library queues its work at present; nothing if the library does
// not say it through the C exchange API.
std::optional<StreamHandle> current_stream_of(nb::handle object, int type, int device) {
  const nb::object capsule = nb::getattr(object.type(), "__dlpack_c_exchange_api__", nb::handle());
  constexpr const char* kName = "dlpack_exchange_api";
  if (!capsule.is_valid() || !PyCapsule_IsValid(capsule.ptr(), kName)) return std::nullopt;
  const auto* api = static_cast<const ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), kName));
  void* stream = nullptr;
  if (api->major != 1 || !api->current_stream) return std::nullopt;
  if (api->current_stream(type, device, &stream) != 0) throw nb::python_error();
  return reinterpret_cast<StreamHandle>(stream);
}

AnyArray dlpack_array(const Context& context, nb::handle object, int type, int device,
                      const char* what) {
  require(device == context.cuda_index(), what, " lies on cuda:", device,
          " and the work is to run on ", context.name(), "; they must be one device");
  const auto capsule_for = [&](StreamHandle consumer) {
    return nb::cast<AnyArray>(object.attr("__dlpack__")("stream"_a = consumer));
  };
  // torch takes 15 us longer if it makes our stream wait than if we do it.
  if (const auto producer = current_stream_of(object, type, device)) {
    AnyArray array = capsule_for(-1);
    wait_for(context, *producer);
    return array;
  }
  // torch does not know the per-thread default stream; the legacy default stream is ordered before
  // it.
  constexpr StreamHandle kDefault = 1, kOfThread = 2;
  const StreamHandle own = stream_handle(context), asked = own == kOfThread ? kDefault : own;
  AnyArray array = capsule_for(asked);
  if (asked != own) wait_for(context, asked);
  return array;
}

bool is_cuda(int type) { return type == kCuda || type == kManaged; }

}  // namespace

std::optional<AnyArray> cuda_array_of(const Context& context, nb::handle object, const char* what) {
  const auto require_cuda = [&] {
    require(context.is_cuda(), what, " lies on a CUDA device and the work is to run on ",
            context.name(), "; give device='cuda', or copy it to the host");
  };
  if (nb::hasattr(object, "__dlpack_device__")) {
    const nb::object place = object.attr("__dlpack_device__")();
    const int type = nb::cast<int>(place[0]), device = nb::cast<int>(place[1]);
    if (!is_cuda(type)) return std::nullopt;
    require_cuda();
    return dlpack_array(context, object, type, device, what);
  }
  if (!nb::hasattr(object, "__cuda_array_interface__")) return std::nullopt;
  require_cuda();
  return interface_array(context, object, what);
}

DeviceArray::DeviceArray(const Context& context, Memory memory, std::vector<std::size_t> shape,
                         nb::dlpack::dtype dtype)
    : context_(context), memory_(std::move(memory)), shape_(std::move(shape)), dtype_(dtype) {}

DeviceArray::~DeviceArray() {
  try {
    if (source_.is_valid()) ready_.wait();
    if (unknown_takers_) wait_for_device(context_);
    for (const StreamHandle taker : takers_) wait_for(context_, taker);
  } catch (const std::exception&) {
    // A stream that was destroyed has no work left.
  }
}

std::string DeviceArray::typestr() const {
  using Code = nb::dlpack::dtype_code;
  const char kind = dtype_.code == int(Code::Float) ? 'f'
                    : dtype_.code == int(Code::Int) ? 'i'
                                                    : 'u';
  return text(dtype_.bits == 8 ? "|" : "<", kind, dtype_.bits / 8);
}

void DeviceArray::finish(nb::object source) {
  ready_ = Mark(context_);
  source_ = std::move(source);
}

nb::object DeviceArray::dlpack(nb::handle self, nb::handle stream, nb::handle max_version) {
  const StreamHandle taker = stream.is_none() ? 1 : nb::cast<StreamHandle>(stream);
  require(taker >= -1 && taker != 0, "stream=", taker,
          " is not a CUDA stream; 1 is the default stream, 2 that of the thread");
  if (taker != -1) {
    ready_.make_wait(taker);
    if (std::find(takers_.begin(), takers_.end(), taker) == takers_.end()) takers_.push_back(taker);
  }
  // An array of the Python array API, so that it becomes an object that exports itself in the
  // requested DLPack version.
  const nb::ndarray<nb::array_api> array(data(), shape_.size(), shape_.data(), self, nullptr,
                                         dtype_, kCuda, device());
  const nb::object exported = nb::cast(array);
  if (max_version.is_none()) return exported.attr("__dlpack__")();
  return exported.attr("__dlpack__")("max_version"_a = max_version);
}

nb::dict DeviceArray::cuda_array_interface() {
  nb::list shape;
  for (const std::size_t side : shape_) shape.append(side);
  nb::dict fields;
  fields["shape"] = nb::tuple(shape);
  fields["typestr"] = typestr();
  fields["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(data()), false);
  fields["strides"] = nb::none();
  fields["version"] = 3;
  unknown_takers_ = true;
  fields["stream"] = stream_handle(context_);
  return fields;
}

nb::object DeviceArray::numpy() const {
  std::size_t bytes = dtype_.bits / 8;
  for (const std::size_t side : shape_) bytes *= side;
  std::vector<std::uint8_t> host(bytes);
  {
    nb::gil_scoped_release release;
    if (bytes > 0) context_.download(host.data(), bytes, data(), bytes, bytes, 1);
    context_.synchronize();
  }
  auto* kept = new std::vector<std::uint8_t>(std::move(host));
  nb::capsule owner(kept,
                    [](void* p) noexcept { delete static_cast<std::vector<std::uint8_t>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy>(kept->data(), shape_.size(), shape_.data(), owner, nullptr,
                                         dtype_, nb::device::cpu::value, 0));
}

void bind_device_array(nb::module_& m) {
  nb::class_<DeviceArray>(
      m, "DeviceArray",
      "An array in the memory of a CUDA device. torch.from_dlpack, cupy.asarray and "
      "their like take it without a copy; numpy() copies it to the host.")
      .def(
          "__dlpack__",
          [](nb::handle_t<DeviceArray> self, nb::handle stream, nb::handle max_version, nb::handle,
             nb::handle) { return nb::cast<DeviceArray&>(self).dlpack(self, stream, max_version); },
          nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(),
          "dl_device"_a = nb::none(), "copy"_a = nb::none())
      .def("__dlpack_device__",
           [](const DeviceArray& self) { return nb::make_tuple(kCuda, self.device()); })
      .def_prop_ro("__cuda_array_interface__", &DeviceArray::cuda_array_interface)
      .def_prop_ro("shape",
                   [](const DeviceArray& self) {
                     nb::list sides;
                     for (const std::size_t side : self.shape()) sides.append(side);
                     return nb::tuple(sides);
                   })
      .def_prop_ro("dtype", [](const DeviceArray& self) { return self.typestr(); })
      .def_prop_ro("device", [](const DeviceArray& self) { return text("cuda:", self.device()); })
      .def("numpy", &DeviceArray::numpy, "A copy in host memory.")
      .def("__len__",
           [](const DeviceArray& self) { return self.shape().empty() ? 0 : self.shape()[0]; });
}

}  // namespace cornea::python
