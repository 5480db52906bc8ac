// Ctrl-C and the like as a question that long work asks between its steps, so that it ends in
// order.
#pragma once

namespace cornea::cli {

// While it lives the first SIGINT, SIGTERM or SIGHUP is remembered and nothing else; the next one
// ends the program at once. Signals that were ignored stay so (nohup).
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  static bool raised();
  static int exit_code();  // 130 after Ctrl-C, as shells have it: 128 and the signal
};

}  // namespace cornea::cli
