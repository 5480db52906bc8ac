// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/context.h"

#include <charconv>

#include "cornea/core/build.h"
#include "cornea/core/context_state.h"
#include "cornea/core/error.h"

namespace cornea {
namespace {

int chosen(int threads) { return threads == 0 ? core::available_threads() : threads; }

void check_threads(int threads) {
  require(threads >= 0 && threads <= core::kMostThreads, "the number of threads is from 1 to ",
          core::kMostThreads, ", or 0 for all, not ", threads);
}

std::shared_ptr<Context::State> make_cuda_state(int index, int threads, void* stream,
                                                bool use_callers_stream) {
  auto state = std::make_shared<Context::State>(chosen(threads));
  if constexpr (kHasCuda) {
    state->cuda = core::CudaSide::open(index, stream, use_callers_stream);
  } else {
    fail(ErrorCode::device_unavailable,
         "CUDA was asked for, but this build has no CUDA support; use the CPU or build with the "
         "CUDA toolkit");
  }
  state->name = text("cuda:", index);
  state->pool = std::make_shared<core::MemoryPool>(state->cuda, state->ledger);
  return state;
}

}  // namespace

std::vector<DeviceInfo> cuda_devices(std::string* why_none) {
  if constexpr (kHasCuda) {
    return core::list_cuda_devices(why_none);
  } else {
    if (why_none) *why_none = "this build has no CUDA";
    return {};
  }
}

Context Context::cpu(int threads) {
  check_threads(threads);
  auto state = std::make_shared<State>(chosen(threads));
  state->name = "cpu";
  state->pool = std::make_shared<core::MemoryPool>(nullptr, state->ledger);
  return Context(std::move(state));
}

Context Context::cuda(int index) { return Context(make_cuda_state(index, 0, nullptr, false)); }

Context Context::cuda_on_stream(int index, void* stream) {
  return Context(make_cuda_state(index, 0, stream, true));
}

Context Context::best() { return from_name("auto"); }

Context Context::from_name(const std::string& device, int threads) {
  check_threads(threads);
  auto on_device = [&](int index) {
    return Context(make_cuda_state(index, threads, nullptr, false));
  };
  if (device == "cpu") return cpu(threads);
  if (device == "auto") {
    const auto devices = cuda_devices();
    return devices.empty() ? cpu(threads) : on_device(devices.front().index);
  }
  if (device == "cuda") return on_device(0);
  if (device.starts_with("cuda:")) {
    int index = -1;
    const char* first = device.data() + 5;
    const char* last = device.data() + device.size();
    const auto [end, error] = std::from_chars(first, last, index);
    if (error == std::errc() && end == last && index >= 0) return on_device(index);
  }
  fail(ErrorCode::invalid_argument, "no device is called '", device,
       "'; use auto, cpu, cuda or cuda:N");
}

bool Context::is_cuda() const { return state_->cuda != nullptr; }
int Context::threads() const { return state_->threads->threads(); }
int Context::cuda_index() const { return is_cuda() ? state_->cuda->index : -1; }
void* Context::stream() const { return is_cuda() ? state_->cuda->stream : nullptr; }
const std::string& Context::name() const { return state_->name; }

std::string Context::description() const {
  if (is_cuda()) return text(state_->cuda->device_name, " (", state_->name, ")");
  return text("CPU, ", threads(), threads() == 1 ? " thread" : " threads");
}

Memory Context::allocate(Place place, std::size_t bytes, const char* purpose) const {
  return state_->pool->allocate(place, bytes, purpose);
}

MemoryUse Context::memory() const {
  const std::lock_guard lock(state_->ledger->mutex);
  return state_->ledger->memory;
}
Transfers Context::transfers() const {
  const std::lock_guard lock(state_->ledger->mutex);
  return state_->ledger->transfers;
}

void Context::synchronize() const {
  if constexpr (kHasCuda) {
    if (is_cuda()) state_->cuda->synchronize();
  }
}

void Context::upload(void* device, std::size_t device_stride, const void* host,
                     std::size_t host_stride, std::size_t row_bytes, std::size_t rows) const {
  require(is_cuda(), "an upload was asked of a CPU context; use Context::cuda()");
  if constexpr (kHasCuda) {
    state_->cuda->copy(device, device_stride, host, host_stride, row_bytes, rows);
    const std::lock_guard lock(state_->ledger->mutex);
    state_->ledger->transfers.uploads += 1;
    state_->ledger->transfers.upload_bytes += row_bytes * rows;
  }
}

void Context::download(void* host, std::size_t host_stride, const void* device,
                       std::size_t device_stride, std::size_t row_bytes, std::size_t rows) const {
  require(is_cuda(), "a download was asked of a CPU context; use Context::cuda()");
  if constexpr (kHasCuda) {
    state_->cuda->copy(host, host_stride, device, device_stride, row_bytes, rows);
    count_download(row_bytes * rows);
  }
}

void Context::copy_on_device(void* to, std::size_t to_stride, const void* from,
                             std::size_t from_stride, std::size_t row_bytes,
                             std::size_t rows) const {
  require(is_cuda(), "a copy on the device was asked of a CPU context; use Context::cuda()");
  if constexpr (kHasCuda) {
    state_->cuda->copy(to, to_stride, from, from_stride, row_bytes, rows);
  }
}

void Context::count_download(std::size_t bytes) const {
  const std::lock_guard lock(state_->ledger->mutex);
  state_->ledger->transfers.downloads += 1;
  state_->ledger->transfers.download_bytes += bytes;
}

namespace core {

Context with_own_stream(const Context& context) {
  const Context::State& state = *context.state_;
  std::shared_ptr<CudaSide> side;
  if constexpr (kHasCuda) side = CudaSide::beside(state.cuda);
  return Context(std::make_shared<Context::State>(state, std::move(side)));
}

ThreadPool& threads_of(const Context& context) { return *context.state_->threads; }

}  // namespace core

}  // namespace cornea
