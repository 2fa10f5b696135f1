// Calls of MPI in flight, and how to wait for them. Knows neither slabs nor groups.
#pragma once

#include <mpi.h>

namespace rankwright::runtime {

/// Until the request is complete. Looks often at first and seldom later: a rank that waits shares
/// its core with those that it waits for.
void wait_kindly(MPI_Request& request);

}  // namespace rankwright::runtime
