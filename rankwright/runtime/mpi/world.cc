#include "rankwright/runtime/world.h"

#include <fmt/format.h>
#include <mpi.h>

#include <cstdlib>
#include <numeric>

#include "rankwright/base/check.h"
#include "rankwright/runtime/members.h"
#include "rankwright/runtime/mpi/request.h"
#include "rankwright/runtime/transports.h"

namespace rankwright::runtime {

struct World::Parts {
  MPI_Comm comm = MPI_COMM_NULL;  // separate from the groups', so that calls cannot match theirs
  int rank = 0, size = 1, host_rank = 0;
  std::string host{};
};

namespace {

/// An environment variable to set.
struct Preference {
  const char* name;
  const char* value;
};

// With rings, a slow link between hosts carries one copy of a tensor, however many ranks a host
// has. By default Open MPI uses recursive halving and doubling, in which all ranks of a host cross
// the link at once, and for nonblocking calls trees, which send whole tensors, and chains of short
// segments. Variables that the user has set are kept; other MPI implementations ignore them.
constexpr Preference kPreferences[] = {
    {"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
    {"OMPI_MCA_coll_tuned_allreduce_algorithm", "ring"},
    {"OMPI_MCA_coll_tuned_allgatherv_algorithm", "ring"},
    {"OMPI_MCA_coll_tuned_reduce_scatter_algorithm", "ring"},
    {"OMPI_MCA_coll_libnbc_iallreduce_algorithm", "ring"},
    {"OMPI_MCA_coll_libnbc_ireduce_algorithm", "binomial"},
};

void prefer_algorithms() {
  for (const Preference& each : kPreferences) setenv(each.name, each.value, /*overwrite=*/0);
}

}  // namespace

World::World() : parts_(std::make_unique<Parts>()) {}

Result<std::unique_ptr<World>> World::start() {
  int started = 0;
  MPI_Initialized(&started);
  RW_CHECK(!started);
  prefer_algorithms();
  // Any thread may call, one at a time: autograd decides which thread runs a backward function.
  int threads = MPI_THREAD_SINGLE;
  const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads);
  if (code != MPI_SUCCESS)
    return fail(running_fault("RW0701", fmt::format("MPI_Init_thread returned {}", code)));
  std::unique_ptr<World> world(new World);
  Parts& parts = *world->parts_;
  MPI_Comm_dup(MPI_COMM_WORLD, &parts.comm);
  MPI_Comm_rank(parts.comm, &parts.rank);
  MPI_Comm_size(parts.comm, &parts.size);
  if (threads < MPI_THREAD_SERIALIZED)
    return fail(running_fault("RW0701", "this MPI was built without support for threads"));

  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(parts.comm, MPI_COMM_TYPE_SHARED, parts.rank, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &parts.host_rank);
  MPI_Comm_free(&host);
  char name[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(name, &length);
  parts.host.assign(name, std::size_t(length));
  return world;
}

World::~World() {
  MPI_Comm_free(&parts_->comm);
  MPI_Finalize();
}

i64 World::rank() const { return parts_->rank; }
i64 World::size() const { return parts_->size; }
i64 World::host_rank() const { return parts_->host_rank; }
std::string World::host() const { return parts_->host; }

Result<Group> World::group(const plan::TrainingConfig& config, mesh::GroupKind kind,
                           const Backend& backend, Counters* counters) const {
  if (config.plan.ranks() != size())
    return fail(running_fault(
        "RW0702",
        fmt::format("the plan has {} ranks, but {} were started", config.plan.ranks(), size()),
        fmt::format("mpirun -n {}", config.plan.ranks())));
  const std::vector<i64> ranks = members(config.plan, kind, rank());
  if (ranks.size() == 1) return Group();
  const Result<std::shared_ptr<Transport>> transport = backend.join(ranks);
  if (!transport) return fail(transport.error());
  return Group(*transport, kind, find_level_across(config, ranks), counters);
}

void World::sum(std::vector<double>& values) const {
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, values.data(), int(values.size()), MPI_DOUBLE, MPI_SUM, parts_->comm,
                 &request);
  wait_with_backoff({&request, 1});
}

void World::max(std::vector<double>& values) const {
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, values.data(), int(values.size()), MPI_DOUBLE, MPI_MAX, parts_->comm,
                 &request);
  wait_with_backoff({&request, 1});
}

std::vector<double> World::gather(const std::vector<double>& values) const {
  MPI_Request request;
  const int mine = int(values.size());
  std::vector<int> counts(std::size_t(parts_->size), 0);
  MPI_Igather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, parts_->comm, &request);
  wait_with_backoff({&request, 1});

  std::vector<int> firsts(counts.size(), 0);
  std::exclusive_scan(counts.begin(), counts.end(), firsts.begin(), 0);
  std::vector<double> all(std::size_t(firsts.back() + counts.back()));
  MPI_Igatherv(values.data(), mine, MPI_DOUBLE, all.data(), counts.data(), firsts.data(),
               MPI_DOUBLE, 0, parts_->comm, &request);
  wait_with_backoff({&request, 1});
  return all;
}

void World::broadcast(std::string& text) const {
  MPI_Request request;
  i64 length = i64(text.size());
  MPI_Ibcast(&length, 1, MPI_INT64_T, 0, parts_->comm, &request);
  wait_with_backoff({&request, 1});
  RW_CHECK(length <= kMaxSlab);
  text.resize(std::size_t(length));
  MPI_Ibcast(text.data(), int(length), MPI_CHAR, 0, parts_->comm, &request);
  wait_with_backoff({&request, 1});
}

void World::barrier() const {
  MPI_Request request;
  MPI_Ibarrier(parts_->comm, &request);
  wait_with_backoff({&request, 1});
}

void World::abort(int code) const {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

}  // namespace rankwright::runtime
