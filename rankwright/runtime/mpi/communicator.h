// Creates MPI communicators of a subset of the world's ranks: for groups over MPI, and for the
// bootstrap of another backend's communicators.
#pragma once

#include <mpi.h>

#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/base/result.h"

namespace rankwright::runtime {

/// Creates a communicator, which the caller frees. Requires: this rank is a member, and all members
/// (and only they) call it at the same time.
Result<MPI_Comm> mpi_communicator(const std::vector<i64>& members);

}  // namespace rankwright::runtime
