// The command line of `rankwright probe`.
#pragma once

#include <string>

#include "cli/options.h"
#include "cli/run/run_flags.h"
#include "rankwright/base/integer.h"

namespace rankwright::cli {

/// The flags of `rankwright probe`.
struct ProbeFlags {
  bool quick = false;
  bool local = false;
  i64 ranks = 0;                          // of --local; 0: one per core of this machine
  i64 ranks_per_core = kMaxRanksPerCore;  // maximum of --local
  std::string backend = "mpi";

  void add_to(Options& options);
};

}  // namespace rankwright::cli
