#include "cli/probe_flags.h"

namespace rankwright::cli {

void ProbeFlags::add_to(Options& options) {
  CLI::App& app = options.app();
  app.add_flag("--quick", quick, "seconds and not a minute, with coarser figures");
  CLI::Option* const here =
      app.add_flag("--local", local, "start the ranks with mpirun on this machine");
  constexpr i64 kMostRanks = 1024;
  app.add_option("-n,--ranks", ranks, "how many of them; default: as many as it has cores")
      ->type_name("RANKS")
      ->check(CLI::Range(i64{1}, kMostRanks))
      ->needs(here);
  app.add_option("--backend", backend, "what carries the calls (default: mpi)");
}

}  // namespace rankwright::cli
