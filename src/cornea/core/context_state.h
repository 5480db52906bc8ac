// Inside of Context; not installed for users.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cornea/core/context.h"

namespace cornea {

// The CUDA side of a context: device, stream, stream-ordered pool. Defined in context.cu; builds
// without CUDA never make one.
struct CudaSide {
  int index = 0;
  void* stream = nullptr;
  bool owns_stream = true;
  void* pool = nullptr;  // cudaMemPool_t
  std::string device_name;

  static std::shared_ptr<CudaSide> open(int index, void* callers_stream, bool use_callers_stream);
  ~CudaSide();

  void* allocate(Place place, std::size_t bytes);  // null when there is not enough
  void release(Place place, void* data) noexcept;
  std::size_t free_bytes() const;
  void synchronize() const;
  void copy(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
            std::size_t row_bytes, std::size_t rows) const;
};

std::vector<DeviceInfo> list_cuda_devices(std::string* why_none);

class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  explicit MemoryPool(std::shared_ptr<CudaSide> cuda) : cuda_(std::move(cuda)) {}
  Memory allocate(Place place, std::size_t bytes, const char* purpose);
  void release(Memory& memory) noexcept;
  const MemoryUse& use() const { return use_; }

 private:
  std::shared_ptr<CudaSide> cuda_;
  MemoryUse use_;
};

struct Context::State {
  int threads = 1;
  std::string name;
  std::shared_ptr<CudaSide> cuda;  // null on the CPU
  std::shared_ptr<MemoryPool> pool;
  Transfers transfers;
};

}  // namespace cornea
