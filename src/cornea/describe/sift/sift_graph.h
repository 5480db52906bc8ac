// SPDX-License-Identifier: Apache-2.0
// For .cu files of SIFT: RAII wrappers of streams, events and graphs.
#pragma once

#include <array>
#include <utility>

#include "cornea/core/cuda.h"

namespace cornea::sift {

constexpr int kSlots = 2;  // result buffers: the host reads one while the next images are processed
constexpr int kSides = 4;  // streams besides the main one

// Streams and events, destroyed by the destructor.
struct Streams {
  cudaStream_t side[kSides] = {};
  cudaEvent_t called = nullptr, fork = nullptr, cleared = nullptr, gathered = nullptr,
              listed = nullptr, join[kSides] = {}, first_done[kSlots] = {}, done[kSlots] = {};
  explicit Streams(int device) : device(device) {
    const core::DeviceGuard guard(device);
    auto event = [](cudaEvent_t& e) {
      core::cuda_check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "making a CUDA event");
    };
    event(called);
    event(fork);
    event(cleared);
    event(gathered);
    event(listed);
    for (cudaEvent_t& e : join) event(e);
    for (cudaEvent_t& e : done) event(e);
    for (cudaEvent_t& e : first_done) event(e);
    for (cudaStream_t& s : side) {
      core::cuda_check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking),
                       "making a CUDA stream");
    }
  }
  ~Streams() {
    const core::DeviceGuard guard(device, std::nothrow);
    for (cudaStream_t s : side) cudaStreamDestroy(s);
    for (cudaEvent_t e : join) cudaEventDestroy(e);
    for (cudaEvent_t e : done) cudaEventDestroy(e);
    for (cudaEvent_t e : first_done) cudaEventDestroy(e);
    for (cudaEvent_t e : {called, fork, cleared, gathered, listed}) cudaEventDestroy(e);
  }
  Streams(const Streams&) = delete;
  int device;
};

// The steps for images of one size, captured as one graph.
struct Graph {
  std::array<int, 6> key{};
  // Captured after the steps have run once, so that nothing is allocated during the capture.
  int runs = 0;
  cudaGraphExec_t exec = nullptr;
  Graph() = default;
  Graph(Graph&& other) noexcept
      : key(other.key), runs(other.runs), exec(std::exchange(other.exec, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(exec, other.exec);
    key = other.key, runs = other.runs;
    return *this;
  }
  ~Graph() {
    if (exec) cudaGraphExecDestroy(exec);
  }
};

}  // namespace cornea::sift
