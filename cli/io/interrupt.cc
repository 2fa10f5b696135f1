#include "cli/io/interrupt.h"

#include <atomic>

namespace rankwright::cli {
namespace {

// Lock-free, so that a signal handler may write it.
std::atomic<bool> noted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void note(int) { noted = true; }

}  // namespace

Interrupt::Interrupt() {
  noted = false;
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second one ends the program
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before_);
}

Interrupt::~Interrupt() { sigaction(SIGINT, &before_, nullptr); }

bool Interrupt::asked() const { return noted.load(); }

}  // namespace rankwright::cli
