#include "cornea/core/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <system_error>

#ifdef __linux__
#include <sched.h>
#endif

namespace cornea::core {
namespace {

// How long a thread looks for the next loop before it sleeps: longer than most gaps between the
// loops of one algorithm. After the first part of it the thread gives way to others that want to
// run, so that a busy machine loses next to nothing.
constexpr std::chrono::microseconds kAlert{10}, kPatience{200};

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// True as soon as the condition holds, false when patience has ended.
template <class Condition>
bool spin_until(const Condition& condition) {
  constexpr int kLooks = 16;  // between two looks at the clock
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    for (int i = 0; i < kLooks; ++i) {
      if (condition()) return true;
      relax();
    }
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited > kPatience) return condition();
    if (waited > kAlert) std::this_thread::yield();
  }
}

int processors() {
#ifdef __linux__
  // The usual set has room for 1024 processors; larger machines refuse it.
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, int(std::thread::hardware_concurrency()));
}

}  // namespace

int available_threads() {
  // A list ("4,2") is for nested loops: its first number counts here.
  if (const char* set = std::getenv("OMP_NUM_THREADS")) {
    char* end = nullptr;
    const long threads = std::strtol(set, &end, 10);
    if (end != set && threads >= 1) return int(std::min<long>(threads, kMostThreads));
  }
  return std::min(processors(), kMostThreads);
}

ThreadPool::~ThreadPool() {
  stopping_ = true;
  ++changes_;
  changes_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void ThreadPool::start() {
  try {
    while (int(helpers_.size()) < threads_ - 1) helpers_.emplace_back([this] { help(); });
  } catch (const std::system_error&) {
    // The system has no more threads: those that there are do the work.
  }
}

void ThreadPool::work(Loop& loop) {
  for (int i = loop.next++; i < loop.count; i = loop.next++) (*loop.piece)(i);
}

// False at the pool's end. Holds the lock where it returns true.
bool ThreadPool::wait_for_loop(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    const int seen = changes_;
    // Sleepers wake side by side: none waits for the mutex while it sleeps.
    if (!spin_until([&] { return open_count_ > 0 || stopping_; })) changes_.wait(seen);
    if (stopping_) return false;
    lock.lock();
    if (!open_.empty()) return true;
    lock.unlock();
  }
}

void ThreadPool::help() {
  std::unique_lock lock(mutex_, std::defer_lock);
  while (wait_for_loop(lock)) {
    Loop& loop = *open_.front();
    ++loop.helpers;
    if (--loop.places == 0) {
      open_.erase(open_.begin());
      --open_count_;
    }
    lock.unlock();
    work(loop);
    lock.lock();
    // The loop ends with its last helper: nothing of it may be touched after this.
    if (--loop.helpers == 0) left_.notify_all();
    lock.unlock();
  }
}

void ThreadPool::run(int count, const std::function<void(int)>& piece) {
  const int helpers = std::min(threads_, count) - 1;
  if (helpers < 1) {
    for (int i = 0; i < count; ++i) piece(i);
    return;
  }
  Loop loop{&piece, count, helpers};
  {
    const std::lock_guard lock(mutex_);
    if (helpers_.empty()) start();
    open_.push_back(&loop);
    ++open_count_;
  }
  ++changes_;
  helpers == 1 ? changes_.notify_one() : changes_.notify_all();
  work(loop);
  std::unique_lock lock(mutex_);
  if (std::erase(open_, &loop) > 0) --open_count_;
  lock.unlock();
  spin_until([&] { return loop.helpers == 0; });
  lock.lock();
  left_.wait(lock, [&] { return loop.helpers == 0; });
}

}  // namespace cornea::core
