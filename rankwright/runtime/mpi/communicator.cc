#include "rankwright/runtime/mpi/communicator.h"

#include <fmt/format.h>

#include <string>

#include "rankwright/runtime/transports.h"

namespace rankwright::runtime {
namespace {

std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return std::string(text, std::size_t(length));
}

}  // namespace

Result<MPI_Comm> mpi_communicator(const std::vector<i64>& members) {
  const std::vector<int> ranks(members.begin(), members.end());
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  // MPI errors are fatal by default; here they can be reported instead.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int code = MPI_Group_incl(world, int(ranks.size()), ranks.data(), &group);
  if (code == MPI_SUCCESS) {
    code = MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
    MPI_Group_free(&group);
  }
  MPI_Group_free(&world);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  if (code == MPI_SUCCESS && comm != MPI_COMM_NULL) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    return comm;
  }
  return fail(running_fault("RW0703", fmt::format("{} ranks, the first of them {}: {}",
                                                  ranks.size(), ranks.front(), error_text(code))));
}

}  // namespace rankwright::runtime
