// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and similar signals as a flag that long work checks between its steps, so that it can end
// cleanly.
#pragma once

namespace cornea::cli {

// While an object exists, the first SIGINT, SIGTERM or SIGHUP is only recorded; the next one ends
// the program at once. Signals that were ignored before stay ignored (nohup).
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static bool raised();
  static int exit_code();  // 128 plus the signal number, as in shells: 130 after Ctrl-C
};

}  // namespace cornea::cli
