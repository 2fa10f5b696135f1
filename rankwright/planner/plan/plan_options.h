// The options of a search for a plan, one row each: name, type, help. The command line has a flag
// per row and Python a keyword, so both take the same options, read by the same functions.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "rankwright/import/plan/draft.h"
#include "rankwright/planner/plan/plan_request.h"

namespace rankwright::planner {

struct PlanOption {
  std::string name{};   // "max-tp": the flag without its dashes
  std::string type{};   // "N"; of a switch, empty
  std::string help{};   // one line
  std::string group{};  // the heading that help lists it under
  bool takes_value = true;
};

/// All rows, in the order in which help lists them.
std::span<const PlanOption> plan_options();

/// Returns the request that these options make, with the first fault as a Refusal. Options with an
/// empty text count as not given. Files are named, not read: the caller sets the plan file and
/// how other files are read, and calls read_named_files() of source_files.h. Overrides of plan-file
/// keys are checked when they are applied, after the plan file was read.
Outcome<PlanRequest> read_plan_options(const OptionTexts& texts);

/// Writes what the overrides say of job, software and overlap over what `draft` says. Returns the
/// first fault.
std::optional<Refusal> apply_overrides(const OptionTexts& overrides, importer::Draft& draft);

}  // namespace rankwright::planner
