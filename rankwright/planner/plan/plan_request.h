// The input of a plan search: model, cluster and job, the limits of the plan, and what else to find
// out. Values only; plan_options.h reads them from option texts, and plan.h answers them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/import/syntax/file.h"
#include "rankwright/planner/input/key_options.h"
#include "rankwright/planner/input/outcome.h"
#include "rankwright/planner/plan/objective.h"
#include "rankwright/planner/plan/search_budget.h"
#include "rankwright/planner/plan/training.h"
#include "rankwright/search/problem.h"

namespace rankwright::planner {

/// Hosts of the cluster that cannot be used.
struct ExcludedHosts {
  i64 count = 0;
  std::vector<i64> hosts{};  // ascending; empty if only their number is known
};

/// The memory of a device that a plan may take: a size, or a share of the device.
struct MemoryLimit {
  Bytes size{};
  double share = 0;  // used if there is no size

  Bytes of(Bytes device) const { return size > Bytes{} ? size : share * device; }
};

/// A request for a plan.
struct PlanRequest {
  /// States model, cluster, job and software, and optionally a plan to compare with.
  std::optional<SourceFile> plan_file{};
  /// Only plans that it runs without a warning; any: every plan. Nothing: choose_search_target().
  std::optional<rules::Target> target{};
  std::string model{}, cluster{};  // a catalog name or a path; replace those of the plan file
  OptionTexts overrides{};         // texts of options that replace a plan-file key

  search::Limits limits{};
  std::optional<MemoryLimit> max_memory{};  // per device; empty: all of it
  std::optional<i64> nodes{};               // of the cluster's system; sets `gpus`
  std::optional<i64> gpus_per_node{};       // with `nodes`; empty: all of a node
  std::optional<search::Range> gpus{};      // a single count is a range of one
  Objective objective = Objective::time;
  bool allow_offload = false;               // if nothing fits, with states on the host
  bool fit = false;                         // find the smallest GPU count that fits with margin
  std::optional<ExcludedHosts> excluded{};  // use as many of the other hosts as is fastest
  TrainingRequest training{};

  /// The log of a run that calibrates the estimate, and the plan of that run. Without a plan, the
  /// one that the log states is used, or the plan file's own.
  std::optional<SourceFile> log{}, ran{};

  i64 top = 0;             // plans to list besides the answer; 0: none
  bool trade_offs = true;  // also find what headroom and fewer GPUs cost
  SearchBudget budget{};
  bool exhaustive = false;  // evaluate every plan that fits, without lower bounds
  int threads = 0;          // 0: all hardware threads; the answer does not depend on it
  importer::FileReader files =
      importer::refuse_file;  // reads the files that arguments and other files name

  bool several_counts() const { return gpus && gpus->min != gpus->max; }
};

}  // namespace rankwright::planner
