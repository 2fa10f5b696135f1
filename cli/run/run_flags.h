// The command line of `rankwright run`: flags, and what can be said of them before anything runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/options.h"
#include "cli/plan_input.h"

namespace rankwright::cli {

/// Local ranks per core that are started unless the user asks for more. Each is a process with one
/// thread and its own copy of the engine.
inline constexpr i64 kMaxRanksPerCore = 16;

struct RunFlags {
  PlanFlags plan{};
  std::string data{};  // nothing: made-up tokens
  i64 steps = 100;
  bool local = false;
  i64 ranks_per_core = kMaxRanksPerCore;  // at most, of --local
  std::uint64_t seed = 1;
  double learning_rate = 3e-4;
  double clip = 1;
  std::string backend = "mpi";
  std::string trace{};
  std::string csv{};

  void add_to(Options& options);
};

/// As a launcher of MPI processes says in the environment; nothing where none did.
struct Launched {
  std::optional<i64> ranks{};  // launchers may leave it to MPI
};
std::optional<Launched> launched();

/// A run of so many ranks cannot be started like this; the exit code, with the fault printed.
/// Nothing where it can: by a launcher with as many ranks, locally, or alone.
std::optional<int> refuse_start(const plan::TrainingConfig& config, const RunFlags& flags,
                                const std::optional<Launched>& by, const Io& io);

/// Adds --ranks-per-core, the limit of refuse_crowd.
void add_ranks_per_core(Options& options, i64& ranks_per_core);

/// Refuses more local ranks than `ranks_per_core` on each of `cores`: prints both numbers and the
/// flag that allows it, and returns the exit code. Nothing where they are few enough.
std::optional<int> refuse_crowd(std::string_view verb, i64 ranks, i64 cores, i64 ranks_per_core,
                                const Io& io);

/// The cores that this process may use.
i64 usable_cores();

/// "8 ranks (tp 2 x pp 2 x dp 2)".
std::string ranks_text(const plan::TrainingConfig& config);

}  // namespace rankwright::cli
