// SPDX-License-Identifier: Apache-2.0
// Loads cuSOLVER through dlopen().
#include "study/svd_peers.h"
#include <cuda_runtime.h>
#include <cusolverDn.h>
#include <dlfcn.h>

#include "cornea/core/cuda.h"
#include "cornea/core/error.h"

namespace cornea::study {
namespace {

using core::cuda_check;

struct Functions {
  decltype(&cusolverDnCreate) create;
  decltype(&cusolverDnDestroy) destroy;
  decltype(&cusolverDnSetStream) set_stream;
  decltype(&cusolverDnCreateGesvdjInfo) create_info;
  decltype(&cusolverDnDestroyGesvdjInfo) destroy_info;
  decltype(&cusolverDnXgesvdjSetSortEig) sort;
  decltype(&cusolverDnSgesvdjBatched_bufferSize) buffer_size;
  decltype(&cusolverDnSgesvdjBatched) run;
};

void* open_library(std::string& why) {
  const std::string name = text("libcusolver.so.", CUSOLVER_VER_MAJOR);
  for (const std::string& file : {name, std::string(CORNEA_CUSOLVER_FOLDER) + "/" + name}) {
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  const char* reason = dlerror();
  why = reason ? reason : name + " was not found";
  return nullptr;
}

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

void check(cusolverStatus_t status) {
  if (status != CUSOLVER_STATUS_SUCCESS) fail(ErrorCode::cuda, "cuSOLVER: status ", int(status));
}

class Loaded : public CuSolverSvd {
 public:
  Loaded(const Context& cuda, const Functions& functions) : context_(cuda), f_(functions) {
    const core::DeviceGuard guard(context_);
    check(f_.create(&handle_));
    check(f_.set_stream(handle_, core::cuda_stream(context_)));
    check(f_.create_info(&info_));
    check(f_.sort(info_, 1));
  }
  ~Loaded() override {
    if (info_) f_.destroy_info(info_);
    if (handle_) f_.destroy(handle_);
  }

  void compute(int n, int count, std::span<const float> a, std::span<float> u, std::span<float> s,
               std::span<float> v) override {
    const core::DeviceGuard guard(context_);
    const std::size_t bytes = a.size_bytes();
    reserve(a_, bytes), reserve(u_, bytes), reserve(v_, bytes);
    reserve(s_, s.size_bytes()), reserve(states_, count * sizeof(int));
    auto floats = [](const Memory& m) { return static_cast<float*>(m.data()); };
    int size = 0;
    check(f_.buffer_size(handle_, CUSOLVER_EIG_MODE_VECTOR, n, n, floats(a_), n, floats(s_),
                         floats(u_), n, floats(v_), n, &size, info_, count));
    reserve(work_, size * sizeof(float));
    context_.upload(a_.data(), bytes, a.data(), bytes, bytes, 1);
    check(f_.run(handle_, CUSOLVER_EIG_MODE_VECTOR, n, n, floats(a_), n, floats(s_), floats(u_), n,
                 floats(v_), n, floats(work_), size, static_cast<int*>(states_.data()), info_,
                 count));
    context_.download(u.data(), bytes, u_.data(), bytes, bytes, 1);
    context_.download(v.data(), bytes, v_.data(), bytes, bytes, 1);
    context_.download(s.data(), s.size_bytes(), s_.data(), s.size_bytes(), s.size_bytes(), 1);
    context_.synchronize();
  }

 private:
  // Kept from call to call, so that allocations are not timed.
  void reserve(Memory& memory, std::size_t bytes) {
    if (memory.bytes() < bytes) {
      context_.synchronize();
      memory = context_.allocate(Place::device, bytes, "study: cuSOLVER");
    }
  }

  Context context_;
  Functions f_;
  cusolverDnHandle_t handle_ = nullptr;
  gesvdjInfo_t info_ = nullptr;
  Memory a_, u_, s_, v_, work_, states_;
};

}  // namespace

std::unique_ptr<CuSolverSvd> CuSolverSvd::load(const Context& cuda, std::string& why) {
  void* library = open_library(why);
  if (!library) return nullptr;
  Functions f;
  const bool all = find(library, "cusolverDnCreate", f.create) &&
                   find(library, "cusolverDnDestroy", f.destroy) &&
                   find(library, "cusolverDnSetStream", f.set_stream) &&
                   find(library, "cusolverDnCreateGesvdjInfo", f.create_info) &&
                   find(library, "cusolverDnDestroyGesvdjInfo", f.destroy_info) &&
                   find(library, "cusolverDnXgesvdjSetSortEig", f.sort) &&
                   find(library, "cusolverDnSgesvdjBatched_bufferSize", f.buffer_size) &&
                   find(library, "cusolverDnSgesvdjBatched", f.run);
  if (!all) {
    why = "cuSOLVER lacks gesvdjBatched";
    return nullptr;
  }
  return std::make_unique<Loaded>(cuda, f);
}

}  // namespace cornea::study
