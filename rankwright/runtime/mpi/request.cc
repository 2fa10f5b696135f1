#include "rankwright/runtime/mpi/request.h"

#include <sched.h>

#include <chrono>
#include <thread>

namespace rankwright::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// Collectives of small tensors finish within this time; sleeping would cost more than it saves.
constexpr microseconds kAwake{200};
// Long enough to yield the core to others, short enough to keep a link busy between polls.
constexpr microseconds kNap{50};

}  // namespace

bool complete(std::span<MPI_Request> requests) {
  int all = 0;
  MPI_Testall(int(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE);
  return all != 0;
}

void wait_with_backoff(std::span<MPI_Request> requests) {
  const Clock::time_point begin = Clock::now();
  while (!complete(requests)) {
    if (Clock::now() - begin < kAwake)
      sched_yield();
    else
      std::this_thread::sleep_for(kNap);
  }
}

}  // namespace rankwright::runtime
