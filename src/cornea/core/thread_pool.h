// SPDX-License-Identifier: Apache-2.0
// The threads of a context.
//
// OpenMP's threads spin for milliseconds after every loop, and a library cannot turn that off: on a
// busy machine a call with many short loops then takes ten times as long. These threads yield while
// they wait for the next loop and sleep after three milliseconds.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cornea::core {

inline constexpr int kMostThreads = 1024;

// The number of threads that this process may use: OMP_NUM_THREADS if it is set, otherwise the
// number of processors in its CPU affinity mask.
int available_threads();

class ThreadPool {
 public:
  // `threads` includes the caller of run(); the helper threads are started by the first loop that
  // needs them.
  explicit ThreadPool(int threads) : threads_(threads) {}
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Calls piece(0) .. piece(count - 1) once each, on the calling thread and on idle helpers, and
  // returns when all have finished. No piece may throw. Several threads may call run()
  // concurrently, and a piece may call it itself (nested loops).
  void run(int count, const std::function<void(int)>& piece);

 private:
  // The state of one call of run(). It belongs to the pool, so that a helper that arrives late or
  // leaves last still accesses valid memory.
  struct alignas(64) Loop {
    // Places for further helpers in the lower half, number of active helpers in the upper half.
    // Both are in one word, so that joining is one compare-and-exchange and needs no lock.
    std::atomic<std::uint32_t> state = 0;
    const std::function<void(int)>* piece = nullptr;
    int count = 0;
    alignas(64) std::atomic<int> next = 0;  // index of the next piece
  };

  void start();
  void help();
  bool help_once();
  static bool join(Loop& loop);
  static void work(Loop& loop);

  // The largest number of concurrent loops that can have helpers. Further loops run on their caller
  // alone.
  static constexpr int kLoops = 32;

  const int threads_;
  std::once_flag started_;
  std::vector<std::thread> helpers_;
  std::array<Loop, kLoops> loops_;
  std::atomic<std::uint32_t> taken_ = 0;             // bit i: loops_[i] is in use
  alignas(64) std::atomic<std::uint32_t> open_ = 0;  // bit i: loops_[i] accepts helpers
  std::atomic<int> changes_ = 0;  // incremented when a loop opens and when the pool stops
  std::atomic<bool> stopping_ = false;
};

}  // namespace cornea::core
