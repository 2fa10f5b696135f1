// ProbeFigures are what `rankwright probe` measured of a machine, as data, and the cluster that
// follows from it: devices as fast as the ranks computed, links that give the times of their calls.
// Who measures is runtime/probe/probe.h; nothing here runs anything.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/fit/measured_series.h"
#include "rankwright/mesh/placement.h"

namespace rankwright::fit {

/// Which ranks call together; all such groups at the same time.
enum class ProbeGroup : unsigned char {
  host,   // the ranks of a host
  world,  // all ranks
  rails,  // one rank of every host: the groups share the hosts' links
};
std::string_view name(ProbeGroup);  // "inside a host", ...

/// Median over repeats of the slowest rank, while all ranks do the same.
struct ProbedMatmul {
  std::string number{};  // "fp32"
  i64 rows = 0, inner = 0, columns = 0;
  Seconds time{};

  FlopsPerSecond rate() const {
    return Flops{2.0 * double(rows) * double(inner) * double(columns)} / time;
  }
};

struct ProbedStream {
  std::string name{};  // "copy"
  Bytes moved{};       // read and written
  Seconds time{};

  BytesPerSecond rate() const { return moved / time; }
};

struct ProbedCalls {
  ProbeGroup group{};
  plan::Op op{};
  std::vector<MeasuredCall> calls{};
};

struct ProbeFigures {
  std::vector<std::string> hosts{};   // names, in the order of their first rank
  std::vector<i64> host_ranks{};      // of each: ranks
  std::string processor{}, vendor{};  // as /proc/cpuinfo says
  Bytes memory{};                     // of a host
  std::vector<ProbedMatmul> matmuls{};
  std::vector<ProbedStream> streams{};
  Seconds launch{};  // of an operation on next to nothing
  std::vector<ProbedCalls> calls{};
};

/// RW0705 where hosts have unequal numbers of ranks: a cluster's domains are alike.
std::optional<Diagnostic> unequal_hosts(const ProbeFigures& probe);

/// Of hosts that are alike.
cluster::Cluster probed_cluster(const ProbeFigures& probe);

/// What the model says that the call takes on the probed cluster.
Seconds modelled(const cluster::Cluster& cluster, const ProbedCalls& calls, Bytes size);

/// "cpu-xeon-platinum-8259cl", or "cpu" where the processor has no name.
std::string cpu_name(std::string_view processor);

}  // namespace rankwright::fit
