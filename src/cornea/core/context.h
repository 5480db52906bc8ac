// SPDX-License-Identifier: Apache-2.0
// Where work runs: the CPU with a number of threads, or one CUDA device with one stream.
//
// A Context is a cheap handle; copies share the device, the stream, the memory pool, the counters
// and the CPU threads. Threads may share a context, but a detector, filter or matcher serves one
// thread at a time, so each thread needs its own. Stream rule: everything a function does on the
// device is ordered on the context's stream; a function that returns host data has waited for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cornea/core/export.h"
#include "cornea/core/memory.h"

namespace cornea {

class Context;
namespace core {
class ThreadPool;
Context with_own_stream(const Context& context);
ThreadPool& threads_of(const Context& context);
void refuse_allocation(const Context& context, std::uint64_t nth);
}  // namespace core

struct Transfers {
  std::uint64_t uploads = 0, upload_bytes = 0;      // host to device
  std::uint64_t downloads = 0, download_bytes = 0;  // device to host
};

struct DeviceInfo {
  int index = 0;
  std::string name = {};
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  std::size_t memory_bytes = 0, l2_bytes = 0;
};

// The CUDA devices that this build can use; empty without CUDA or without a GPU. If `why_none` is
// given it receives the reason why a device, or every device, is missing.
CORNEA_API std::vector<DeviceInfo> cuda_devices(std::string* why_none = nullptr);

class CORNEA_API Context {
 public:
  // threads = 0 means OMP_NUM_THREADS if it is set, otherwise the number of processors in the
  // process's CPU affinity mask. Idle threads sleep.
  static Context cpu(int threads = 0);
  // Throws device_unavailable if there is no such device; there is no silent fallback to the CPU.
  static Context cuda(int index = 0);
  // Uses the caller's stream (a cudaStream_t), which must outlive the context and all memory
  // allocated from it.
  static Context cuda_on_stream(int index, void* stream);
  // The first CUDA device, or the CPU if there is none.
  static Context best();
  // "auto", "cpu", "cuda" or "cuda:N".
  static Context from_name(const std::string& device, int threads = 0);

  bool is_cuda() const;
  int threads() const;              // for work on the host
  int cuda_index() const;           // -1 on the CPU
  void* stream() const;             // the cudaStream_t; null on the CPU
  const std::string& name() const;  // "cpu", "cuda:0"
  std::string description() const;  // "CPU, 2 threads", "NVIDIA H200 (cuda:0)"

  void synchronize() const;  // waits for all work queued on the stream

  // Allocates a block from the pool. An out_of_memory error reports the size and the purpose.
  Memory allocate(Place place, std::size_t bytes, const char* purpose) const;
  MemoryUse memory() const;
  Transfers transfers() const;

  // Copies rows of bytes between host and device, ordered on the stream and counted in transfers().
  // Copies from and to pinned memory are asynchronous; the caller keeps the host memory alive until
  // synchronize().
  void upload(void* device, std::size_t device_stride, const void* host, std::size_t host_stride,
              std::size_t row_bytes, std::size_t rows) const;
  void download(void* host, std::size_t host_stride, const void* device, std::size_t device_stride,
                std::size_t row_bytes, std::size_t rows) const;
  // Copies rows of bytes within the device, ordered on the stream.
  void copy_on_device(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                      std::size_t row_bytes, std::size_t rows) const;
  // Counts a result that a kernel wrote directly into pinned memory as a download.
  void count_download(std::size_t bytes) const;

  struct State;

 private:
  friend Context core::with_own_stream(const Context& context);
  friend core::ThreadPool& core::threads_of(const Context& context);
  friend void core::refuse_allocation(const Context& context, std::uint64_t nth);
  explicit Context(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace cornea
