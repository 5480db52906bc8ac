// SPDX-License-Identifier: Apache-2.0
// A progress bar on standard error, if that is a terminal, as wide as the terminal allows. A single
// step shows its elapsed seconds from the first second on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace cornea::cli {

class Progress {
 public:
  // The estimated seconds of the work after this bar, given the seconds per step of this one.
  using Later = std::function<double(double seconds_per_step)>;
  // Shows nothing if quiet, or if standard error is not a terminal. The time left includes the work
  // that comes `later`.
  Progress(std::string what, int total, bool quiet, Later later = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance();
  void clear();   // removes the bar from the line, so that something else can be printed
  void finish();  // removes it for good

 private:
  void tick();  // updates the seconds of long steps, until the end
  void show();
  bool single() const { return total_ <= 1; }
  std::string line(std::string rest, int room) const;  // in at most this many columns
  std::string what_;
  int total_, done_ = 0;
  bool visible_;
  const Later later_;
  std::chrono::steady_clock::time_point begin_, shown_;
  std::mutex mutex_;  // guards all that is shown
  std::condition_variable ended_;
  bool finished_ = false;
  std::thread ticker_;
};

}  // namespace cornea::cli
