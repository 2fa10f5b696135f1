// What a search for a plan is asked: model, cluster and job, what the plan may be, and what else to
// find out. Values only; plan_options.h reads them from option texts, plan.h answers them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rankwright/import/syntax/file.h"
#include "rankwright/planner/input/outcome.h"
#include "rankwright/planner/plan/search_budget.h"
#include "rankwright/planner/plan/training.h"
#include "rankwright/search/problem.h"

namespace rankwright::planner {

/// Hosts of the cluster that cannot be used.
struct ExcludedHosts {
  i64 count = 0;
  std::vector<i64> hosts{};  // ascending; empty where only their number is known
};

/// Option texts by option name without dashes: {"global-batch", "256"}. A switch has "true".
using OptionTexts = std::map<std::string, std::string>;

struct PlanRequest {
  /// Model, cluster, job and software, and a plan to compare with.
  std::optional<SourceFile> plan_file{};
  std::string model{}, cluster{};  // a catalog name or a path; replace those of the plan file
  OptionTexts overrides{};         // of options that stand for a key of the plan file

  search::Limits limits{};
  std::optional<Bytes> max_memory{};        // per device; else all of it
  std::optional<search::Range> gpus{};      // one number is a range of one
  bool fit = false;                         // find the fewest GPUs on which something fits
  std::optional<ExcludedHosts> excluded{};  // use as many of the other hosts as is fastest
  TrainingAsk training{};

  /// The log of a run that calibrates the estimate, and the plan of that run. Without a plan, what
  /// the log itself states or the plan file's own plan is taken.
  std::optional<SourceFile> log{}, ran{};

  SearchBudget budget{};
  bool exhaustive = false;  // evaluate everything that fits, without lower bounds
  int threads = 0;          // 0: as many as there are; the answer is the same
  importer::FileReader files =
      importer::refuse_file;  // reads the files that arguments and other files name

  bool several_counts() const { return gpus && gpus->min != gpus->max; }
};

}  // namespace rankwright::planner
