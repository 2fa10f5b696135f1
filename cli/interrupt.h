// Ctrl-C while something runs that can stop early: the first one is noted, the second ends the
// program as usual. A caller in the same process has signals of its own, and says when to stop.
#pragma once

#include <atomic>
#include <csignal>

#include "cli/verb.h"

namespace rankwright::cli {

/// While it lives SIGINT is noted instead of ending the program.
class Interrupt {
 public:
  explicit Interrupt(const Io& io);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool asked() const;

 private:
  const std::atomic<bool>* by_caller_;
  struct sigaction before_ {};
};

}  // namespace rankwright::cli
