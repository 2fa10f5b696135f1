// Preloaded into ranks that have a CPU quota: who yields sleeps. Open MPI polls while it waits and
// offers its core between polls (mpi_yield_when_idle), which still uses CPU time up: a rank would
// wait away the quota that it is to compute with, and stand still when its message comes.
#include <time.h>

extern "C" int sched_yield() noexcept {
  constexpr long kNap = 100'000;  // ns: above the kernel's timer slack of 50 us, far below a period
  const timespec nap{0, kNap};
  nanosleep(&nap, nullptr);
  return 0;
}
