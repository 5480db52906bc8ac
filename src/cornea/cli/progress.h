// A progress bar on standard error, where that is a terminal, as wide as this allows.
#pragma once

#include <chrono>
#include <string>

namespace cornea::cli {

class Progress {
 public:
  // Nothing is shown for fewer than two steps, when quiet, or when standard error is no terminal.
  Progress(std::string what, int total, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance();
  void clear();  // takes the bar off the line, so that something else can be printed

 private:
  void show();
  std::string line(std::string rest, int room) const;  // in at most so many columns
  std::string what_;
  int total_, done_ = 0;
  bool visible_;
  std::chrono::steady_clock::time_point begin_, shown_;
};

}  // namespace cornea::cli
