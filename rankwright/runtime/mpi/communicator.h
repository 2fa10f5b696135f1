// MPI communicators of some ranks of the world: for the groups that MPI carries, and for the ranks
// that agree on another backend's.
#pragma once

#include <mpi.h>

#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/base/result.h"

namespace rankwright::runtime {

/// The members call it at the same time, this rank among them; nobody else needs to. Whoever calls
/// frees it.
Result<MPI_Comm> mpi_communicator(const std::vector<i64>& members);

}  // namespace rankwright::runtime
