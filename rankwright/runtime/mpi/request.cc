#include "rankwright/runtime/mpi/request.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace rankwright::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// Collectives of small tensors end within this time; sleeping would cost them more than it saves.
constexpr microseconds kAwake{200};
// Long enough to leave the core to others, short enough for a link not to run dry between looks.
constexpr microseconds kNap{50};

}  // namespace

void wait_kindly(MPI_Request& request) {
  const Clock::time_point begin = Clock::now();
  for (;;) {
    int complete = 0;
    MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
    if (complete) return;
    if (Clock::now() - begin < kAwake)
      sched_yield();
    else
      std::this_thread::sleep_for(kNap);
  }
}

}  // namespace rankwright::runtime
