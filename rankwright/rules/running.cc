// RW07..: errors while a plan runs. These codes have pages but no rule: the runtime reports them,
// if it is built.
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace running_impl {
namespace {

constexpr Page kPages[] = {
    {"RW0701", Severity::error, "MPI does not start",
     "The ranks connect through MPI. It could not be started, or does not support calls from "
     "several threads.",
     "Start the ranks with the mpirun of the MPI library that the program is linked with. `ldd` "
     "shows which one that is.",
     "", ""},
    {"RW0702", Severity::error, "the number of started ranks differs from the plan",
     "A plan has TP x CP x DP x PP ranks, one process each.",
     "Start as many ranks as the plan has: mpirun -n N, or `rankwright run plan.yaml --local`.", "",
     ""},
    {"RW0703", Severity::error, "cannot create a communicator",
     "Each group of the plan needs a communicator, and the backend could not create one. Usual "
     "causes: out of memory, too many communicators, or a rank that has died.",
     "Read the backend's message, and check that all ranks still run.", "", ""},
    {"RW0704", Severity::error, "the backend is not available",
     "The program was built without this backend because its headers or library were missing, or "
     "this machine lacks the hardware.",
     "Use --backend mpi, or install the missing library and build again.", "", ""},
    {"RW0705", Severity::error, "hosts have different numbers of ranks",
     "All hosts of a cluster file have the same number of devices. Measurements with unequal hosts "
     "do not hold for the others.",
     "Start the same number of ranks on every host: mpirun --map-by ppr:N:node.", "", ""},
    {"RW0706", Severity::error, "unusable training data",
     "The file cannot be read, is not a regular file, is shorter than one sequence plus one token, "
     "ends inside a token, or has a token outside the model's vocabulary. Tokens are one byte, or "
     "two little-endian bytes if the vocabulary exceeds 256.",
     "Pass another file with --data, or leave --data out to train on synthetic tokens.", "", ""},
};

}  // namespace
}  // namespace running_impl

std::span<const Page> running_pages() { return running_impl::kPages; }

}  // namespace rankwright::rules
