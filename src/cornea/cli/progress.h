// A progress bar on standard error, where that is a terminal, as wide as this allows. A single step
// shows the seconds that it has taken, from the first on.
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
  // What comes after this bar, in seconds, where a step of this one takes so many.
  using Later = std::function<double(double seconds_per_step)>;
  // Nothing is shown when quiet, or when standard error is no terminal. The time left is that of
  // this bar and what comes `later`.
  Progress(std::string what, int total, bool quiet, Later later = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance();
  void clear();   // takes the bar off the line, so that something else can be printed
  void finish();  // for good

 private:
  void tick();  // shows the seconds of long steps, until the end
  void show();
  bool single() const { return total_ <= 1; }
  std::string line(std::string rest, int room) const;  // in at most so many columns
  std::string what_;
  int total_, done_ = 0;
  bool visible_;
  const Later later_;
  std::chrono::steady_clock::time_point begin_, shown_;
  std::mutex mutex_;  // of all that is shown
  std::condition_variable ended_;
  bool finished_ = false;
  std::thread ticker_;
};

}  // namespace cornea::cli
