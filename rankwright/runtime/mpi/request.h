// Calls of MPI in flight, and how to wait for them. Knows neither slabs nor groups.
#pragma once

#include <mpi.h>

#include <span>

namespace rankwright::runtime {

/// Until all requests are complete. Looks often at first and seldom later: a rank that waits shares
/// its core with those that it waits for.
void wait_kindly(std::span<MPI_Request> requests);
bool complete(std::span<MPI_Request> requests);

}  // namespace rankwright::runtime
