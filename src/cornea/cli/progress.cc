// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/progress.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

namespace cornea::cli {

using Clock = std::chrono::steady_clock;

namespace {

// Columns of the terminal, less one, because some terminals wrap when the last column is written.
int columns() {
  winsize size = {};
  constexpr int kUsual = 80;
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return (known ? size.ws_col : kUsual) - 1;
}

// Seconds up to a quarter of an hour, then minutes, then hours.
std::string duration(double seconds) {
  char words[32];
  if (seconds < 900) {
    std::snprintf(words, sizeof words, "%.0f s", seconds);
  } else if (seconds < 4 * 3600) {
    std::snprintf(words, sizeof words, "%.0f min", seconds / 60);
  } else {
    std::snprintf(words, sizeof words, "%.1f h", seconds / 3600);
  }
  return words;
}

}  // namespace

Progress::Progress(std::string what, int total, bool quiet, Later later)
    : what_(std::move(what)),
      total_(total),
      visible_(!quiet && isatty(STDERR_FILENO)),
      later_(std::move(later)),
      begin_(Clock::now()) {
  if (!visible_) return;
  if (!single()) show();
  ticker_ = std::thread([this] { tick(); });
}

Progress::~Progress() { finish(); }

void Progress::finish() {
  if (!ticker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  ended_.notify_one();
  ticker_.join();
  clear();
  visible_ = false;
}

void Progress::tick() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::seconds(1), [this] { return finished_; })) show();
}

void Progress::advance() {
  const std::lock_guard lock(mutex_);
  ++done_;
  if (single() || !visible_) return;
  if (Clock::now() - shown_ > std::chrono::milliseconds(100) || done_ == total_) show();
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  if (visible_) std::fputs("\r\033[K", stderr);
}

void Progress::show() {
  shown_ = Clock::now();
  const double seconds = std::chrono::duration<double>(shown_ - begin_).count();
  char rest[64] = "";
  if (single()) {
    std::snprintf(rest, sizeof rest, "  %.0f s", seconds);
  } else if (done_ > 0 && done_ < total_) {
    const double step = seconds / done_;
    const double left = step * (total_ - done_) + (later_ ? later_(step) : 0);
    std::snprintf(rest, sizeof rest, "  %.1f/s, %s left", 1 / step, duration(left).c_str());
  }
  std::fputs(("\r\033[K" + line(rest, columns())).c_str(), stderr);
  std::fflush(stderr);
}

// If the line is too narrow, the time left is dropped first, then the bar.
std::string Progress::line(std::string rest, int room) const {
  if (single()) return (what_ + rest).substr(0, std::size_t(std::max(room, 0)));
  constexpr int kMost = 30, kLeast = 5;
  const std::string count = std::to_string(done_) + "/" + std::to_string(total_);
  const int words = int(what_.size() + count.size()) + 1;
  int width = room - words - 1 - int(rest.size());
  if (width < kLeast) {
    rest.clear();
    width = room - words - 1;
  }
  if (width < kLeast) return (what_ + " " + count).substr(0, std::size_t(std::max(room, 0)));
  width = std::min(width, kMost);
  const int filled = static_cast<int>(std::int64_t{width} * done_ / total_);
  std::string bar;
  for (int i = 0; i < width; ++i) bar += i < filled ? "█" : "░";
  return what_ + " " + bar + " " + count + rest;
}

}  // namespace cornea::cli
