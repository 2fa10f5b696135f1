// The command line of `rankwright run`: flags, and what can be said of them before anything runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/options.h"
#include "cli/plan_input.h"

namespace rankwright::cli {

struct RunFlags {
  PlanFlags plan{};
  std::string data{};  // nothing: made-up tokens
  i64 steps = 100;
  bool local = false;
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
std::optional<int> refuse_start(const Setup& setup, const RunFlags& flags,
                                const std::optional<Launched>& by, const Io& io);

/// "8 ranks (tp 2 x pp 2 x dp 2)".
std::string ranks_text(const Setup& setup);

}  // namespace rankwright::cli
