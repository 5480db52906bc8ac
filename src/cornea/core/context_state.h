// SPDX-License-Identifier: Apache-2.0
// Internals of Context.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cornea/core/context.h"
#include "cornea/core/thread_pool.h"

namespace cornea {
namespace core {

// The CUDA state of a context: device, stream, stream-ordered memory pool. Defined in context.cu;
// builds without CUDA never create one.
struct CudaSide {
  int index = 0;
  void* stream = nullptr;
  bool owns_stream = true;
  void* pool = nullptr;                      // cudaMemPool_t
  std::shared_ptr<const CudaSide> pools_of;  // owner of the pool; null: this object
  std::string device_name;

  static std::shared_ptr<CudaSide> open(int index, void* callers_stream, bool use_callers_stream);
  // A new stream on the same device, with the same pool.
  static std::shared_ptr<CudaSide> beside(const std::shared_ptr<const CudaSide>& other);
  ~CudaSide();

  void* allocate(Place place, std::size_t bytes);  // null if there is not enough memory
  void release(Place place, void* data) noexcept;
  std::size_t free_bytes() const;
  void synchronize() const;
  void copy(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
            std::size_t row_bytes, std::size_t rows) const;
};

std::vector<DeviceInfo> list_cuda_devices(std::string* why_none);

// The counters of a context, shared by all of its threads and streams.
struct Ledger {
  std::mutex mutex;
  MemoryUse memory;
  Transfers transfers;
  // Fault injection: allocations until one fails, that one included; 0: off.
  std::uint64_t refuse_at = 0;
};

class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  MemoryPool(std::shared_ptr<CudaSide> cuda, std::shared_ptr<Ledger> ledger)
      : cuda_(std::move(cuda)), ledger_(std::move(ledger)) {}
  Memory allocate(Place place, std::size_t bytes, const char* purpose);
  void release(Memory& memory) noexcept;

 private:
  void* take(Place place, std::size_t bytes, const char* purpose);
  bool refuses_this_one();

  std::shared_ptr<CudaSide> cuda_;
  std::shared_ptr<Ledger> ledger_;
};

// A context with the same device, pool, counters and threads and a stream of its own, for
// algorithms that capture graphs: work that other threads queue on the original stream must not end
// up in the capture. The new stream does not wait for the original one: the caller orders them.
Context with_own_stream(const Context& context);

ThreadPool& threads_of(const Context& context);

// For tests: makes the nth allocation from the context's pool from now on fail once, as if memory
// had run out. 0 turns this off.
void refuse_allocation(const Context& context, std::uint64_t nth);

}  // namespace core

struct Context::State {
  std::string name;
  std::shared_ptr<core::ThreadPool> threads;
  std::shared_ptr<core::CudaSide> cuda;  // null on the CPU
  std::shared_ptr<core::Ledger> ledger = std::make_shared<core::Ledger>();
  std::shared_ptr<core::MemoryPool> pool;

  explicit State(int thread_count) : threads(std::make_shared<core::ThreadPool>(thread_count)) {}
  State(const State& other, std::shared_ptr<core::CudaSide> side)
      : name(other.name),
        threads(other.threads),
        cuda(std::move(side)),
        ledger(other.ledger),
        pool(std::make_shared<core::MemoryPool>(cuda, ledger)) {}
};

}  // namespace cornea
