// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "cornea/core/context_state.h"
#include "cornea/core/cuda.h"

namespace cornea::core {
namespace {

cudaStream_t stream_of(const CudaSide& side) { return static_cast<cudaStream_t>(side.stream); }
cudaMemPool_t pool_of(const CudaSide& side) { return static_cast<cudaMemPool_t>(side.pool); }

__global__ void probe_kernel() {}

// Why this device cannot be used, or nothing if it can.
std::string why_not(int index, const cudaDeviceProp& properties) {
  const DeviceGuard device(index, std::nothrow);
  cudaFuncAttributes attributes;
  cudaError_t status = device.status();
  if (status == cudaSuccess) status = cudaFuncGetAttributes(&attributes, probe_kernel);
  cudaGetLastError();
  if (status == cudaSuccess) return {};
  if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction) {
    return std::string("this build has no code for ") + properties.name;
  }
  // Such as a GPU whose memory other processes use up.
  return std::string(properties.name) + ": " + cudaGetErrorString(status);
}

}  // namespace

std::vector<DeviceInfo> list_cuda_devices(std::string* why_none) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    cudaGetLastError();
    if (why_none) {
      *why_none = status == cudaSuccess ? "no CUDA device is present" : cudaGetErrorString(status);
    }
    return {};
  }
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp p;
    cuda_check(cudaGetDeviceProperties(&p, i), "reading the CUDA device's properties");
    if (const std::string why = why_not(i, p); !why.empty()) {
      if (why_none) *why_none = why;
      continue;
    }
    devices.push_back({i, p.name, p.major, p.minor, p.multiProcessorCount, p.totalGlobalMem,
                       static_cast<std::size_t>(p.l2CacheSize)});
  }
  return devices;
}

std::shared_ptr<CudaSide> CudaSide::open(int index, void* callers_stream, bool use_callers_stream) {
  std::string why;
  const std::vector<DeviceInfo> devices = list_cuda_devices(&why);
  if (devices.empty()) {
    fail(ErrorCode::device_unavailable, "CUDA was asked for, and there is none here (", why,
         "); use the CPU");
  }
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const DeviceInfo& d) { return d.index == index; });
  if (found == devices.end()) {
    std::string usable;
    for (const DeviceInfo& d : devices)
      usable += text(usable.empty() ? "" : ", ", "cuda:", d.index);
    fail(ErrorCode::device_unavailable, "cuda:", index,
         " was asked for, and this build cannot use it or there is none; it can use ", usable);
  }
  auto side = std::make_shared<CudaSide>();
  side->index = index;
  side->device_name = found->name;
  side->owns_stream = !use_callers_stream;
  const DeviceGuard device(index);
  if (use_callers_stream) {
    side->stream = callers_stream;
  } else {
    cudaStream_t stream = nullptr;
    cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a CUDA stream");
    side->stream = stream;
  }
  cudaMemPoolProps props;
  std::memset(&props, 0, sizeof props);
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id = index;
  cudaMemPool_t pool = nullptr;
  cuda_check(cudaMemPoolCreate(&pool, &props), "making a CUDA memory pool");
  side->pool = pool;
  // The pool keeps freed blocks, so that the next frame of the same size reuses them at no cost.
  std::uint64_t keep = UINT64_MAX;
  cuda_check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep),
             "setting up the CUDA memory pool");
  return side;
}

std::shared_ptr<CudaSide> CudaSide::beside(const std::shared_ptr<const CudaSide>& other) {
  const DeviceGuard device(other->index);
  auto side = std::make_shared<CudaSide>();
  side->index = other->index;
  side->device_name = other->device_name;
  side->pool = other->pool;
  side->pools_of = other;
  cudaStream_t stream = nullptr;
  cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a CUDA stream");
  side->stream = stream;
  return side;
}

CudaSide::~CudaSide() {
  const DeviceGuard device(index, std::nothrow);
  cudaStreamSynchronize(stream_of(*this));
  if (pool && !pools_of) cudaMemPoolDestroy(pool_of(*this));
  if (owns_stream && stream) cudaStreamDestroy(stream_of(*this));
}

void* CudaSide::allocate(Place place, std::size_t bytes) {
  const DeviceGuard device(index);
  void* data = nullptr;
  const cudaError_t status =
      place == Place::pinned
          ? cudaHostAlloc(&data, bytes, cudaHostAllocPortable | cudaHostAllocMapped)
          : cudaMallocFromPoolAsync(&data, bytes, pool_of(*this), stream_of(*this));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  cuda_check(status, "allocating CUDA memory");
  return data;
}

void CudaSide::release(Place place, void* data) noexcept {
  const DeviceGuard device(index, std::nothrow);
  if (place == Place::pinned) {
    cudaStreamSynchronize(stream_of(*this));  // a copy may still be in flight
    cudaFreeHost(data);
  } else {
    cudaFreeAsync(data, stream_of(*this));
  }
}

std::size_t CudaSide::free_bytes() const {
  const DeviceGuard device(index);
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  return free;
}

void CudaSide::synchronize() const {
  const DeviceGuard device(index);
  cuda_check(cudaStreamSynchronize(stream_of(*this)), "waiting for the CUDA stream");
}

void CudaSide::copy(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                    std::size_t row_bytes, std::size_t rows) const {
  if (row_bytes == 0 || rows == 0) return;
  const DeviceGuard device(index);
  if (rows == 1 || (to_stride == row_bytes && from_stride == row_bytes)) {
    cuda_check(cudaMemcpyAsync(to, from, row_bytes * rows, cudaMemcpyDefault, stream_of(*this)),
               "copying memory");
  } else {
    cuda_check(cudaMemcpy2DAsync(to, to_stride, from, from_stride, row_bytes, rows,
                                 cudaMemcpyDefault, stream_of(*this)),
               "copying memory");
  }
}

}  // namespace cornea::core
