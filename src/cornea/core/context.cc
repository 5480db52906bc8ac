#include "cornea/core/context.h"

#include <charconv>
#include <thread>

#include "cornea/core/build.h"
#include "cornea/core/context_state.h"
#include "cornea/core/error.h"

namespace cornea {
namespace {

int machine_threads() {
  const unsigned n = std::thread::hardware_concurrency();
  return n == 0 ? 1 : static_cast<int>(n);
}

void check_threads(int threads) {
  constexpr int kMostThreads = 1024;
  require(threads >= 0 && threads <= kMostThreads, "the number of threads is from 1 to ",
          kMostThreads, ", or 0 for all, not ", threads);
}

std::shared_ptr<Context::State> make_cuda_state(int index, void* stream, bool use_callers_stream) {
  auto state = std::make_shared<Context::State>();
  if constexpr (kHasCuda) {
    state->cuda = CudaSide::open(index, stream, use_callers_stream);
  } else {
    fail(
        ErrorCode::device_unavailable,
        "CUDA was asked for, and this build has none; use the CPU (--device cpu) or build with the "
        "CUDA toolkit");
  }
  state->threads = machine_threads();
  state->name = text("cuda:", index);
  state->pool = std::make_shared<MemoryPool>(state->cuda);
  return state;
}

}  // namespace

std::vector<DeviceInfo> cuda_devices(std::string* why_none) {
  if constexpr (kHasCuda) {
    return list_cuda_devices(why_none);
  } else {
    if (why_none) *why_none = "this build has no CUDA";
    return {};
  }
}

Context Context::cpu(int threads) {
  check_threads(threads);
  auto state = std::make_shared<State>();
  state->threads = threads == 0 ? machine_threads() : threads;
  state->name = "cpu";
  state->pool = std::make_shared<MemoryPool>(nullptr);
  return Context(std::move(state));
}

Context Context::cuda(int index) { return Context(make_cuda_state(index, nullptr, false)); }

Context Context::cuda_on_stream(int index, void* stream) {
  return Context(make_cuda_state(index, stream, true));
}

Context Context::best() {
  const auto devices = cuda_devices();
  return devices.empty() ? cpu() : cuda(devices.front().index);
}

Context Context::from_name(const std::string& device, int threads) {
  check_threads(threads);
  auto with_threads = [&](Context context) {
    if (threads > 0) context.state_->threads = threads;
    return context;
  };
  if (device == "cpu") return cpu(threads);
  if (device == "auto") return with_threads(best());
  if (device == "cuda") return with_threads(cuda(0));
  if (device.starts_with("cuda:")) {
    int index = -1;
    const char* first = device.data() + 5;
    const char* last = device.data() + device.size();
    const auto [end, error] = std::from_chars(first, last, index);
    if (error == std::errc() && end == last && index >= 0) return with_threads(cuda(index));
  }
  fail(ErrorCode::invalid_argument, "no device is called '", device,
       "'; use auto, cpu, cuda or cuda:N");
}

bool Context::is_cuda() const { return state_->cuda != nullptr; }
int Context::threads() const { return state_->threads; }
int Context::cuda_index() const { return is_cuda() ? state_->cuda->index : -1; }
void* Context::stream() const { return is_cuda() ? state_->cuda->stream : nullptr; }
const std::string& Context::name() const { return state_->name; }

std::string Context::description() const {
  if (is_cuda()) return text(state_->cuda->device_name, " (", state_->name, ")");
  return text("CPU, ", state_->threads, state_->threads == 1 ? " thread" : " threads");
}

Memory Context::allocate(Place place, std::size_t bytes, const char* purpose) const {
  return state_->pool->allocate(place, bytes, purpose);
}

MemoryUse Context::memory() const { return state_->pool->use(); }
const Transfers& Context::transfers() const { return state_->transfers; }

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
    state_->transfers.uploads += 1;
    state_->transfers.upload_bytes += row_bytes * rows;
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
  state_->transfers.downloads += 1;
  state_->transfers.download_bytes += bytes;
}

}  // namespace cornea
