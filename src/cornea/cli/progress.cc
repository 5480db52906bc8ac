#include "cornea/cli/progress.h"

#include <cstdint>
#include <cstdio>

#include <unistd.h>

namespace cornea::cli {

using Clock = std::chrono::steady_clock;

Progress::Progress(std::string what, int total, bool quiet)
    : what_(std::move(what)),
      total_(total),
      visible_(!quiet && total > 1 && isatty(STDERR_FILENO)),
      begin_(Clock::now()) {
  show();
}

Progress::~Progress() { clear(); }

void Progress::advance() {
  ++done_;
  if (Clock::now() - shown_ > std::chrono::milliseconds(100) || done_ == total_) show();
}

void Progress::clear() {
  if (visible_) std::fputs("\r\033[K", stderr);
}

void Progress::show() {
  shown_ = Clock::now();
  if (!visible_) return;
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(std::int64_t{kWidth} * done_ / total_);
  std::string bar;
  for (int i = 0; i < kWidth; ++i) bar += i < filled ? "█" : "░";
  const double seconds = std::chrono::duration<double>(shown_ - begin_).count();
  std::fprintf(stderr, "\r\033[K%s %s %d/%d", what_.c_str(), bar.c_str(), done_, total_);
  if (done_ > 0 && done_ < total_) {
    std::fprintf(stderr, "  %.1f/s, %.0f s left", done_ / seconds,
                 seconds / done_ * (total_ - done_));
  }
  std::fflush(stderr);
}

}  // namespace cornea::cli
