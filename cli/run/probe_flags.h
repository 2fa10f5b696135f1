// The command line of `rankwright probe`.
#pragma once

#include <string>

#include "cli/options.h"
#include "cli/run/run_flags.h"
#include "rankwright/base/integer.h"

namespace rankwright::cli {

struct ProbeFlags {
  bool quick = false;
  bool local = false;
  i64 ranks = 0;                          // of --local; 0: as many as this machine has cores
  i64 ranks_per_core = kMaxRanksPerCore;  // at most, of --local
  std::string backend = "mpi";

  void add_to(Options& options);
};

}  // namespace rankwright::cli
