// The command line of `rankwright run`: its flags, and the checks that need no runtime.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/options.h"
#include "cli/plan_input.h"

namespace rankwright::cli {

/// The default maximum of local ranks per core. Each rank is a process with one thread and its own
/// copy of the engine.
inline constexpr i64 kMaxRanksPerCore = 16;

/// The flags of `rankwright run`.
struct RunFlags {
  PlanFlags plan{};
  std::string data{};  // empty: synthetic tokens
  i64 steps = 100;
  bool local = false;
  i64 ranks_per_core = kMaxRanksPerCore;  // maximum of --local
  std::uint64_t seed = 1;
  double learning_rate = 3e-4;
  double clip = 1;
  std::string backend = "mpi";
  std::string trace{};
  std::string csv{};

  void add_to(Options& options);
};

/// The MPI launcher's settings in the environment.
struct Launched {
  std::optional<i64> ranks{};  // some launchers leave it to MPI
};
/// Returns the launcher's settings; nothing if no launcher started this process.
std::optional<Launched> find_launcher();

/// Returns nothing if the run can start: by a launcher with the plan's number of ranks, with
/// --local, or as a single rank. Otherwise prints the error and returns the exit code.
std::optional<int> refuse_start(const plan::TrainingConfig& config, const RunFlags& flags,
                                const std::optional<Launched>& by, const Io& io);

/// Adds --ranks-per-core, the limit of refuse_crowd().
void add_ranks_per_core(Options& options, i64& ranks_per_core);

/// Refuses more than `ranks_per_core` local ranks on each of `cores`: prints both numbers and the
/// flag that allows it, and returns the exit code. Returns nothing if the ranks are few enough.
std::optional<int> refuse_crowd(std::string_view verb, i64 ranks, i64 cores, i64 ranks_per_core,
                                const Io& io);

/// Returns the number of cores that this process may use.
i64 usable_cores();

/// Returns a text such as "8 ranks (tp 2 x pp 2 x dp 2)".
std::string ranks_text(const plan::TrainingConfig& config);

}  // namespace rankwright::cli
