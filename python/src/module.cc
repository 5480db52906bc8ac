// SPDX-License-Identifier: Apache-2.0
// The compiled part of the package cornea. Its functions take plain values, arrays and options as
// text; the Python files beside it add names, defaults and types.
#include <new>
#include <tuple>

#include "binding.h"
#include "cuda_arrays.h"
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include "cornea/core/build.h"
#include "cornea/core/error.h"
#include "cornea/match/match_kernels.h"

namespace cornea::python {
namespace {

using namespace nb::literals;

// Owned by the module, which is never unloaded.
PyObject* device_error = nullptr;

PyObject* exception_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unsupported:
      return PyExc_ValueError;
    case ErrorCode::io:
      return PyExc_OSError;
    case ErrorCode::out_of_memory:
      return PyExc_MemoryError;
    case ErrorCode::device_unavailable:
    case ErrorCode::cuda:
      return device_error;
    case ErrorCode::internal:
      return PyExc_RuntimeError;
  }
  return PyExc_RuntimeError;
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    PyErr_SetString(exception_for(error.code()), error.what());
  }
}

// Contexts are created once per device and number of threads. A forked process creates its own,
// because the threads of its parent do not exist in it. Contexts are never destroyed, because CUDA
// may be unloaded before them at exit.
Context shared_context(const std::string& device, int threads) {
  using Key = std::tuple<pid_t, std::string, int>;
  static auto& contexts = *new std::map<Key, Context>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const Key key(getpid(), device, threads);
  const auto found = contexts.find(key);
  if (found != contexts.end()) return found->second;
  return contexts.emplace(key, Context::from_name(device, threads)).first->second;
}

Context context_on_stream(const std::string& device, StreamHandle stream) {
  const Context named = shared_context(device, 0);
  require(named.is_cuda(), "a stream belongs to a CUDA device, and the work is to run on ",
          named.name());
  return Context::cuda_on_stream(named.cuda_index(), stream_of(stream));
}

nb::dict device_dict(const DeviceInfo& d) {
  nb::dict dict;
  dict["device"] = text("cuda:", d.index);
  dict["name"] = d.name;
  dict["compute_capability"] = text(d.major, ".", d.minor);
  dict["multiprocessors"] = d.multiprocessors;
  dict["memory_bytes"] = d.memory_bytes;
  dict["l2_bytes"] = d.l2_bytes;
  return dict;
}

nb::dict info() {
  std::string why_no_cuda;
  const std::vector<DeviceInfo> devices = cuda_devices(&why_no_cuda);
  nb::list list;
  for (const DeviceInfo& device : devices) list.append(device_dict(device));
  nb::dict dict;
  dict["version"] = kVersion;
  dict["compiler"] = kCompiler;
  dict["build_type"] = kBuildType;
  dict["cuda"] = kHasCuda ? nb::object(nb::str(kCudaVersion)) : nb::none();
  dict["cuda_architectures"] = kHasCuda ? nb::object(nb::str(kCudaArchitectures)) : nb::none();
  dict["tiff"] = kHasTiff;
  dict["webp"] = kHasWebp;
  dict["sqlite"] = kHasSqlite;
  dict["scenes"] = kHasScene;
  dict["pages"] = kHasPages;
  dict["cpu_threads"] = shared_context("cpu", 0).threads();
  dict["match_kernels"] = match::match_kernels();
  dict["devices"] = list;
  dict["why_no_cuda"] = devices.empty() ? nb::object(nb::cast(why_no_cuda)) : nb::none();
  return dict;
}

nb::dict transfers_of(const Context& context) {
  const Transfers t = context.transfers();
  nb::dict dict;
  dict["uploads"] = t.uploads;
  dict["upload_bytes"] = t.upload_bytes;
  dict["downloads"] = t.downloads;
  dict["download_bytes"] = t.download_bytes;
  return dict;
}

}  // namespace

std::vector<GivenImage> images_of(const Context& context, const nb::list& list) {
  std::vector<GivenImage> images;
  std::size_t index = 0;
  for (nb::handle item : list) {
    images.push_back(image_of(context, item, text("image ", index++).c_str()));
  }
  return images;
}

nb::dict stages_of(const std::vector<StageTime>& stages) {
  nb::dict dict;
  for (const StageTime& stage : stages) dict[nb::cast(stage.stage)] = stage.milliseconds;
  return dict;
}

void bind_contexts(nb::module_& m) {
  nb::class_<Context>(m, "Context")
      .def_prop_ro("name", [](const Context& c) { return c.name(); })
      .def_prop_ro("description", &Context::description)
      .def_prop_ro("is_cuda", &Context::is_cuda)
      .def_prop_ro("threads", &Context::threads)
      .def("synchronize", &Context::synchronize, nb::call_guard<nb::gil_scoped_release>())
      .def("transfers", &transfers_of)
      .def("memory_bytes", [](const Context& c) { return c.memory().bytes; });
  m.def("shared_context", &shared_context, "device"_a, "threads"_a);
  m.def("context_on_stream", &context_on_stream, "device"_a, "stream"_a);
  m.def("info", &info);
}

}  // namespace cornea::python

NB_MODULE(_cornea, m) {
  using namespace cornea::python;
  device_error = PyErr_NewExceptionWithDoc(
      "cornea.DeviceError", "CUDA was asked for and is not there, or reported a failure.",
      PyExc_RuntimeError, nullptr);
  if (!device_error) throw nb::python_error();
  m.attr("DeviceError") = nb::borrow(device_error);
  nb::register_exception_translator(&translate);
  bind_contexts(m);
  bind_device_array(m);
  bind_tables(m);
  bind_files(m);
  bind_detectors(m);
  bind_filters(m);
  bind_matching(m);
  bind_geometry(m);
  bind_linalg(m);
  bind_pictures(m);
  bind_pair(m);
  bind_scene(m);
  bind_colmap(m);
}
