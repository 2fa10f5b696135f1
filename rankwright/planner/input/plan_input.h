// From the plan that a request names to a TrainingConfig: a file of any format that is read, with
// overrides on top. Every call that takes a plan begins here. It reads no files but through the
// request's reader, and computes no cost.
#pragma once

#include <optional>
#include <string>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/plan/plan.h"
#include "rankwright/planner/input/outcome.h"
#include "rankwright/rules/rule.h"

namespace rankwright::planner {

/// A plan as a request names it.
struct PlanSource {
  SourceFile plan{};
  std::string model{};                           // instead of the plan's: a catalog name, or a file
  std::string cluster{};                         // instead of the plan's: "dgx-h100 x 8", or a file
  std::optional<i64> world{};                    // ranks, where a framework's file does not say
  const importer::PlanFormat* format = nullptr;  // nullptr: the format that claims the file
  std::optional<SourceFile> log{};               // of the run that calibrates the constants
  std::optional<SourceFile> ran{};               // the plan of that run; nothing: this one
  importer::FileReader files =
      importer::refuse_file;  // reads the models and clusters that are named as files

  /// Returns whether something replaces what the plan states.
  bool overrides() const { return !model.empty() || !cluster.empty() || world || log; }
};

struct PlanInput {
  importer::PlanFile file;
  std::optional<plan::TrainingConfig> config{};  // nothing where reading found an error
};

/// Reads the plan with everything that the source states about it.
PlanInput read_input(const PlanSource& source);

/// Reads the file alone.
importer::PlanFile read_plan_source(const SourceFile& file, const importer::PlanFormat* format,
                                    const importer::FileReader& files);

/// Applies the model, the cluster and the world of `source` to what the file states.
void override_input(const PlanSource& source, importer::PlanFile& file);

/// Returns what reading and linting for `target` found, each with its place, most severe first. A
/// framework's file is linted for that framework where no target is given.
Diagnostics all_findings(const PlanInput& input, rules::Target target);

/// A plan without violations, and what was found in it. It may still need more memory than
/// there is.
struct ValidPlan {
  PlanInput input;
  Diagnostics findings{};

  const std::string& name() const { return input.file.name; }
  const plan::TrainingConfig& config() const { return *input.config; }
};

/// Reads and lints a plan. Refuses one that cannot be read, or that has violations.
Outcome<ValidPlan> read_valid_plan(const PlanSource& source,
                                   rules::Target target = rules::Target::any);

/// Lints a plan that has been read, and refuses it under the same conditions.
Outcome<ValidPlan> require_valid(PlanInput input, rules::Target target = rules::Target::any);

/// Returns the framework that `word` names; of an empty word, Target::any.
Outcome<rules::Target> read_target(const std::string& word);

}  // namespace rankwright::planner
