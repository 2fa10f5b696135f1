// Handles Ctrl-C during computations that can stop early: the first one is recorded, the second
// ends the program as usual.
#pragma once

#include <csignal>

namespace rankwright::cli {

/// Records SIGINT during its lifetime instead of ending the program.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool asked() const;

 private:
  struct sigaction before_ {};
};

}  // namespace rankwright::cli
