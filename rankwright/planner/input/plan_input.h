// Reads the plan that a request names as a TrainingConfig: a file of any known format, with
// overrides applied. Every call that takes a plan begins here. Files are read only through the
// request's reader, and no cost is computed.
#pragma once

#include <optional>
#include <string>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/plan/plan.h"
#include "rankwright/planner/input/key_options.h"
#include "rankwright/planner/input/outcome.h"
#include "rankwright/rules/rule.h"

namespace rankwright::planner {

/// A plan as a request names it.
struct PlanSource {
  SourceFile plan{};
  std::string model{};                           // replaces the plan's: a catalog name, or a file
  std::string cluster{};                         // replaces the plan's: "dgx-h100 x 8", or a file
  std::optional<i64> world{};                    // ranks, if a framework's file does not state them
  OptionTexts job{};                             // texts of key_options() that replace the plan's
  const importer::PlanFormat* format = nullptr;  // null: the format that recognizes the file
  std::optional<SourceFile> log{};               // log of the run that calibrates the constants
  std::optional<SourceFile> ran{};               // the plan of that run; empty: this plan
  importer::FileReader files =
      importer::refuse_file;         // reads models and clusters that are named as files
  importer::ShellInput variables{};  // of a launch script

  /// Returns whether an option replaces something that the plan states.
  bool overrides() const {
    return !model.empty() || !cluster.empty() || world || !job.empty() || log;
  }
};

/// A plan as it was read.
struct PlanInput {
  importer::PlanFile file;
  std::optional<plan::TrainingConfig> config{};  // empty if reading found an error
};

/// Reads the plan and applies everything that the source states about it.
PlanInput read_input(const PlanSource& source);

/// Reads the file without overrides.
importer::PlanFile read_plan_source(const SourceFile& file, const importer::PlanFormat* format,
                                    const importer::FileReader& files,
                                    const importer::ShellInput& variables = {});

/// Applies the model, the cluster, the world size, the job and the software of `source` to the
/// content of the file.
void override_input(const PlanSource& source, importer::PlanFile& file);

/// Returns the target of a plan: the stated one, else the framework whose file it is, else that of
/// the key software.target.
rules::Target choose_target(std::optional<rules::Target> stated, const importer::PlanFile& file);

/// Returns the findings of reading and of linting for choose_target(), each with its position, most
/// severe first.
Diagnostics list_findings(const PlanInput& input, std::optional<rules::Target> target = {});

/// A plan without constraint violations, and its findings. It may still need more memory than there
/// is.
struct ValidPlan {
  PlanInput input;
  Diagnostics findings{};

  const std::string& name() const { return input.file.name; }
  const plan::TrainingConfig& config() const { return *input.config; }
};

/// Reads and lints a plan. Refuses a plan that cannot be read or that has constraint violations.
Outcome<ValidPlan> read_valid_plan(const PlanSource& source,
                                   std::optional<rules::Target> target = {});

/// Lints a plan that has been read. Refuses it under the same conditions.
Outcome<ValidPlan> require_valid(PlanInput input, std::optional<rules::Target> target = {});

/// Returns the target that `word` names, "any" included; nothing if it is empty.
Outcome<std::optional<rules::Target>> read_target(const std::string& word);

}  // namespace rankwright::planner
