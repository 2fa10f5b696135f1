#include "cli/interrupt.h"

#include "cli/call.h"

namespace rankwright::cli {
namespace {

// A handler has no other way to say anything; lock-free, so that it may be written there.
std::atomic<bool> noted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void note(int) { noted = true; }

}  // namespace

Interrupt::Interrupt(const Io& io) : by_caller_(io.call == nullptr ? nullptr : &io.call->stop) {
  if (by_caller_ != nullptr) return;
  noted = false;
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second one ends the program
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before_);
}

Interrupt::~Interrupt() {
  if (by_caller_ == nullptr) sigaction(SIGINT, &before_, nullptr);
}

bool Interrupt::asked() const { return (by_caller_ == nullptr ? noted : *by_caller_).load(); }

}  // namespace rankwright::cli
