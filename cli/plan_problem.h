// From the command line of `plan` to a Problem: file and flags together, defaults for what both
// leave open, the cluster as large as it has to be.
#pragma once

#include <optional>
#include <tl/expected.hpp>

#include "cli/plan_flags.h"
#include "cli/verb.h"
#include "rankwright/report/plan_view.h"

namespace rankwright::cli {

struct Task {
  Problem problem;
  std::optional<OwnPlan> own{};  // of a file that has one
};

/// Or the exit code, with the fault printed.
tl::expected<Task, int> read_task(const SearchFlags& flags, const Wishes& wishes, const Io& io);

/// What a setup is for, with its plan left open: of that only what the file states about overlap.
Problem open_problem(Setup setup, const Draft& stated, const Limits& limits);

/// The same system with at least so many devices; nothing where the cluster is no catalog system,
/// or that is too many.
std::optional<Cluster> grown(const Cluster& cluster, i64 devices);

/// Says what is wrong with the command line. Returns the exit code.
int complain(const UsageFault& fault, const Io& io);

}  // namespace rankwright::cli
