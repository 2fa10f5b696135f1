#include "cli/run/probe_flags.h"

namespace rankwright::cli {

void ProbeFlags::add_to(Options& options) {
  options.add_switch("--quick", quick,
                     "take seconds instead of a minute, with less precise results");
  const Option here =
      options.add_switch("--local", local, "start the ranks with mpirun on this machine");
  constexpr i64 kMaxRanks = 1024;
  options.add("-n,--ranks", ranks, "number of ranks to start; default: number of cores")
      .type_name("RANKS")
      .range(i64{1}, kMaxRanks)
      .needs(here);
  add_ranks_per_core(options, ranks_per_core);
  options.add("--backend", backend, "communication backend (default: mpi)");
}

}  // namespace rankwright::cli
