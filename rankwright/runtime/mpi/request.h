// Waits for MPI requests. Knows neither slabs nor groups.
#pragma once

#include <mpi.h>

#include <span>

namespace rankwright::runtime {

/// Waits until all requests are complete. Polls often at first and seldom deferred, because a
/// waiting rank may share its core with the ranks that it waits for.
void wait_with_backoff(std::span<MPI_Request> requests);
/// Tests whether all requests are complete, and progresses them.
bool complete(std::span<MPI_Request> requests);

}  // namespace rankwright::runtime
