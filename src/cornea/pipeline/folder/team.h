// SPDX-License-Identifier: Apache-2.0
// Internal to pipeline: worker threads besides the caller's.
#pragma once

#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace cornea::folder {

// Threads that are stopped by `stop` and joined in the destructor.
class Team {
 public:
  explicit Team(std::function<void()> stop) : stop_(std::move(stop)) {}
  ~Team() {
    stop_();
    wait();
  }
  template <class F>
  void start(F&& f) {
    threads_.emplace_back(std::forward<F>(f));
  }
  void wait() {
    for (std::thread& t : threads_) {
      if (t.joinable()) t.join();
    }
  }

 private:
  std::function<void()> stop_;
  std::vector<std::thread> threads_;
};

}  // namespace cornea::folder
