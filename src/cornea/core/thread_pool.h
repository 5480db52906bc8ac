// The threads of a context.
//
// OpenMP's threads spin for milliseconds after every loop, and a library cannot tell them not to:
// on a machine that has other work, a call of many short loops then takes ten times as long. These
// look for the next loop for a fifth of a millisecond, giving way to others, and then sleep.
#pragma once

#include <atomic>
#include <condition_variable>
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
  // One call of run().
  struct Loop {
    const std::function<void(int)>* piece;
    int count;
    int places;                    // for further helpers
    std::atomic<int> next = 0;     // piece to be taken
    std::atomic<int> helpers = 0;  // at work
  };

  void start();
  void help();
  static void work(Loop& loop);
  bool wait_for_loop(std::unique_lock<std::mutex>& lock);

  const int threads_;
  std::atomic<int> changes_ = 0;  // a loop was opened, or the end has come
  std::atomic<bool> stopping_ = false;
  std::atomic<int> open_count_ = 0;  // of open_, to be looked at without the mutex
  std::mutex mutex_;                 // of what follows
  std::condition_variable left_;     // a helper, its loop
  std::vector<Loop*> open_;          // loops that take helpers, the oldest first
  std::vector<std::thread> helpers_;
};

}  // namespace cornea::core
