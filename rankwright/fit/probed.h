// ProbeFigures are the measurements of `rankwright probe` as data, and this file derives a cluster
// from them: devices as fast as the ranks computed, links fitted to the times of their calls.
// runtime/probe/probe.h does the measuring.
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

/// Which ranks form a group; all such groups call at the same time.
enum class ProbeGroup : unsigned char {
  host,   // all ranks of one host
  world,  // all ranks
  rails,  // one rank per host: the groups share the hosts' links
};
std::string_view name(ProbeGroup);  // "inside a host", ...

/// A measured matmul. The time is the median over repeats of the slowest rank, with all ranks
/// active.
struct ProbedMatmul {
  std::string number{};  // "fp32"
  i64 rows = 0, inner = 0, columns = 0;
  Seconds time{};

  FlopsPerSecond rate() const {
    return Flops{2.0 * double(rows) * double(inner) * double(columns)} / time;
  }
};

/// A measured streaming kernel.
struct ProbedStream {
  std::string name{};  // "copy"
  Bytes moved{};       // bytes read plus bytes written
  Seconds time{};

  BytesPerSecond rate() const { return moved / time; }
};

/// Measured calls of one collective on one kind of group.
struct ProbedCalls {
  ProbeGroup group{};
  plan::Op op{};
  std::vector<MeasuredCall> calls{};
};

/// All measurements of one probe.
struct ProbeFigures {
  std::vector<std::string> hosts{};   // host names, in the order of their first rank
  std::vector<i64> host_ranks{};      // ranks per host
  std::string processor{}, vendor{};  // from /proc/cpuinfo
  Bytes memory{};                     // per host
  std::vector<ProbedMatmul> matmuls{};
  std::vector<ProbedStream> streams{};
  Seconds launch{};  // time of an operation on almost no data
  std::vector<ProbedCalls> calls{};
};

/// Returns RW0705 if hosts have different numbers of ranks, because all domains of a cluster are
/// equal.
std::optional<Diagnostic> check_equal_hosts(const ProbeFigures& probe);

/// Derives a cluster from the measurements. Requires: check_equal_hosts() returns nothing.
cluster::Cluster make_probed_cluster(const ProbeFigures& probe);

/// Returns the predicted time of the call on the probed cluster.
Seconds modelled(const cluster::Cluster& cluster, const ProbedCalls& calls, Bytes size);

/// Returns the catalog-style name of a processor, such as "cpu-xeon-platinum-8259cl", or "cpu" if
/// it has no name.
std::string make_cpu_name(std::string_view processor);

}  // namespace rankwright::fit
