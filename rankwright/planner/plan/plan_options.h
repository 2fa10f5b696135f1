// The options of a plan search, one row each: name, type, help. The command line has a flag per row
// and Python a keyword, so that both accept the same options through the same functions.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "rankwright/import/plan/draft.h"
#include "rankwright/planner/plan/plan_request.h"

namespace rankwright::planner {

/// One option of a plan search.
struct PlanOption {
  std::string name{};   // "max-tp": the flag without its dashes
  std::string type{};   // "N"; empty for a switch
  std::string help{};   // one line
  std::string group{};  // heading in the help text
  bool takes_value = true;
};

/// Returns all options, in the order of the help text.
std::span<const PlanOption> plan_options();

/// Returns the request that the options describe, or the first error as a Refusal. An option with
/// an empty text counts as not given. Files are named, not read: the caller sets the plan file and
/// the file reader, and calls read_named_files() of source_files.h. Overrides of plan-file keys are
/// checked when they are applied, after the plan file is read.
Outcome<PlanRequest> read_plan_options(const OptionTexts& texts);

/// Applies the overrides of job, software and overlap to `draft`. Returns the first error.
std::optional<Refusal> apply_overrides(const OptionTexts& overrides, importer::Draft& draft);

}  // namespace rankwright::planner
