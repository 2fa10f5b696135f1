// RW07..: errors while a plan runs. These codes have pages but no rule: the runtime reports them,
// if it is built.
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace running_impl {
namespace {

constexpr Page kPages[] = {
    {"RW0701", Severity::error, "MPI does not start",
     "The processes of a run find each other through MPI, and it could not be started in this one, "
     "or cannot be called from more than one thread.",
     "Start the ranks with the mpirun of the MPI that the program is linked with; `ldd` shows "
     "which.",
     "", ""},
    {"RW0702", Severity::error, "another number of ranks was started than the plan has",
     "A plan has tp x cp x dp x pp ranks, and each of them is one process.",
     "Start as many ranks as the plan has with mpirun -n, or leave that to `rankwright run "
     "--local`.",
     "", ""},
    {"RW0703", Severity::error, "ranks cannot be joined to a group",
     "Every group of the plan becomes a communicator, and the backend refused to make one: often "
     "for lack of memory or of communicators, or because a rank is gone.",
     "See what the backend says, and whether all ranks still run.", "", ""},
    {"RW0704", Severity::error, "the backend cannot be used here",
     "It was left out when the program was built, because its headers or library were missing, or "
     "this machine lacks what it runs on.",
     "Take the backend mpi, or install what is missing and build again.", "", ""},
    {"RW0705", Severity::error, "hosts with unequal numbers of ranks are no cluster",
     "The domains of a cluster are alike: a host that holds more ranks than another cannot be "
     "written down, and what was measured on it would not hold for the others.",
     "Start as many ranks on every host, for instance with mpirun --map-by ppr:N:node.", "", ""},
    {"RW0706", Severity::error, "the data cannot be trained on",
     "It cannot be read, is not a regular file, is shorter than one sequence and its target, ends "
     "within a token, or has a token outside the model's vocabulary. A token is one byte, or two "
     "little-endian ones where the vocabulary has more than 256 words.",
     "Give --data another file, or leave it out: tokens are then made up.", "", ""},
};

}  // namespace
}  // namespace running_impl

std::span<const Page> running_pages() { return running_impl::kPages; }

}  // namespace rankwright::rules
