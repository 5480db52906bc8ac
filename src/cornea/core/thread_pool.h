// The threads of a context.
//
// OpenMP's threads spin for milliseconds after every loop, and a library cannot tell them not to:
// on a machine that has other work, a call of many short loops then takes ten times as long. These
// give way to others while they look for the next loop, and sleep after three milliseconds.
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

// Threads that this process may use: OMP_NUM_THREADS where it is set, otherwise the processors that
// its affinity leaves it.
int available_threads();

class ThreadPool {
 public:
  // `threads` counts the caller of run(); the others start with the first loop that needs them.
  explicit ThreadPool(int threads) : threads_(threads) {}
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Calls piece(0) .. piece(count - 1), each once, on the calling thread and on those that are
  // free, and returns when all have ended. No piece may throw. Several threads may call it at a
  // time, and a piece may call it itself.
  void run(int count, const std::function<void(int)>& piece);

 private:
  // Room for one call of run() at a time. It belongs to the pool, so that a helper that comes late
  // or leaves last touches memory that is still there.
  struct alignas(64) Loop {
    // Places for further helpers in the lower half, helpers at work in the upper half. The two are
    // one number, so that to join is to exchange it and needs no lock.
    std::atomic<std::uint32_t> state = 0;
    const std::function<void(int)>* piece = nullptr;
    int count = 0;
    alignas(64) std::atomic<int> next = 0;  // piece to be taken
  };

  void start();
  void help();
  bool help_once();
  static bool join(Loop& loop);
  static void work(Loop& loop);

  // Loops at a time that find helpers. More of them have no thread to spare.
  static constexpr int kLoops = 32;

  const int threads_;
  std::once_flag started_;
  std::vector<std::thread> helpers_;
  std::array<Loop, kLoops> loops_;
  std::atomic<std::uint32_t> taken_ = 0;             // bit i: loops_[i] has a caller
  alignas(64) std::atomic<std::uint32_t> open_ = 0;  // bit i: loops_[i] may take helpers
  std::atomic<int> changes_ = 0;                     // a loop was opened, or the end has come
  std::atomic<bool> stopping_ = false;
};

}  // namespace cornea::core
