// SPDX-License-Identifier: Apache-2.0
#include "cornea/core/thread_pool.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <new>
#include <system_error>

#ifdef __linux__
#include <sched.h>
#endif

namespace cornea::core {
namespace {

// How long a thread spins before it sleeps: longer than most gaps between the loops of one
// algorithm, also if a GPU works in between (with 0.2 ms the 15 helpers of a machine were woken
// twice per batch of 1,000 pairs, which cost 4% of its time). After kAlert the thread yields to
// others while it waits, so that a busy machine loses almost nothing.
constexpr std::chrono::microseconds kAlert{10}, kPatience{3000};

// The upper and the lower half of Loop::state.
constexpr std::uint32_t kHelper = 1u << 16, kPlaces = kHelper - 1;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns true as soon as the condition holds, false after kPatience.
template <class Condition>
bool spin_until(const Condition& condition) {
  constexpr int kLooks = 16;  // between two readings of the clock
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
  // The default cpu_set_t has room for 1024 processors; larger machines reject it.
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, int(std::thread::hardware_concurrency()));
}

}  // namespace

int available_threads() {
  // A list ("4,2") is meant for nested loops; only its first number is used.
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
    // No more threads can be created: those that exist do the work.
  } catch (const std::bad_alloc&) {  // likewise
  }
}

void ThreadPool::work(Loop& loop) {
  for (int i = loop.next++; i < loop.count; i = loop.next++) (*loop.piece)(i);
}

// Reserves a helper's place in the loop; false if none is free.
bool ThreadPool::join(Loop& loop) {
  std::uint32_t state = loop.state;
  while ((state & kPlaces) != 0) {
    if (loop.state.compare_exchange_weak(state, state - 1 + kHelper)) return true;
  }
  return false;
}

// Returns true if it helped with a loop.
bool ThreadPool::help_once() {
  for (std::uint32_t open = open_; open != 0; open &= open - 1) {
    Loop& loop = loops_[std::countr_zero(open)];
    if (!join(loop)) continue;
    work(loop);
    if ((loop.state -= kHelper) < kHelper) loop.state.notify_one();
    return true;
  }
  return false;
}

void ThreadPool::help() {
  while (!stopping_) {
    const int seen = changes_;
    if (!spin_until([this] { return help_once() || stopping_; })) changes_.wait(seen);
  }
}

void ThreadPool::run(int count, const std::function<void(int)>& piece) {
  const int helpers = std::min(threads_, count) - 1;
  std::uint32_t taken = taken_;
  while (helpers > 0 && ~taken != 0 && !taken_.compare_exchange_weak(taken, taken | (taken + 1))) {
  }
  if (helpers < 1 || ~taken == 0) {
    for (int i = 0; i < count; ++i) piece(i);
    return;
  }
  std::call_once(started_, [this] { start(); });
  const std::uint32_t bit = ~taken & (taken + 1);  // the lowest free bit
  Loop& loop = loops_[std::countr_zero(bit)];
  loop.piece = &piece;
  loop.count = count;
  loop.next = 0;
  loop.state = std::uint32_t(helpers);
  open_ |= bit;
  ++changes_;
  helpers == 1 ? changes_.notify_one() : changes_.notify_all();
  work(loop);
  open_ &= ~bit;
  // No further helper may join; helpers that are working finish their pieces.
  loop.state &= ~kPlaces;
  spin_until([&] { return loop.state == 0; });
  for (std::uint32_t at_work = loop.state; at_work != 0; at_work = loop.state) {
    loop.state.wait(at_work);
  }
  taken_ &= ~bit;
}

}  // namespace cornea::core
