// SPDX-License-Identifier: Apache-2.0
#include "cornea/cli/interrupt.h"

#include <atomic>
#include <csignal>
#include <initializer_list>

namespace cornea::cli {
namespace {

constexpr auto kSignals = {SIGINT, SIGTERM, SIGHUP};
std::atomic<int> raised_signal = 0;
// a signal handler may only use lock-free atomics
static_assert(std::atomic<int>::is_always_lock_free);

void set(int signal, void (*handler)(int), int flags) {
  struct sigaction before = {}, now = {};
  if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) return;
  now.sa_handler = handler;
  now.sa_flags = flags;
  sigemptyset(&now.sa_mask);
  ::sigaction(signal, &now, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  for (const int signal : kSignals) {
    set(
        signal, [](int which) { raised_signal = which; }, SA_RESETHAND | SA_RESTART);
  }
}

Interrupt::~Interrupt() {
  for (const int signal : kSignals) set(signal, SIG_DFL, 0);
}

bool Interrupt::raised() { return raised_signal != 0; }
int Interrupt::exit_code() { return 128 + raised_signal; }

}  // namespace cornea::cli
