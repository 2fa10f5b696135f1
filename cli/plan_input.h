// The plan argument that verbs share: a file or -, in any supported format, with --model, --cluster
// and --world on top. Reads the files into a request; planner/input/plan_input.h interprets it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::cli {

/// The plan argument and its flags.
struct PlanFlags {
  std::string plan;
  std::string model{};
  std::string cluster{};
  std::optional<i64> world{};
  std::vector<std::string> variables{};          // "NNODES=16": variables that a script leaves open
  const importer::PlanFormat* format = nullptr;  // null: detected from the file
  std::string calibrate{};                       // log of a run to calibrate with
  std::string ran{};                             // plan of that run; empty: this plan
  planner::OptionTexts job{};                    // texts of planner::key_options()

  void add_to(Options& options);
  /// Adds the flags of `plan` that state the job and the software.
  void add_job_to(Options& options);
  void add_calibration_to(Options& options);

  /// Returns the variables of scripts: those of --set, and the environment.
  Result<importer::ShellInput> read_variables() const;

  /// Reads the files that the flags name.
  planner::PlanSource source(const Io& io) const;
};

/// Reads the text of a file, or standard input if the argument is -.
Result<std::string> read_argument(const std::string& argument, const Io& io);

/// Reads an argument into a file of a request. A read error is stored in the result.
planner::SourceFile read_source(const std::string& argument, const Io& io);

/// Reads the plan that the flags name, with everything that they specify about it.
planner::PlanInput read_input(const PlanFlags& flags, const Io& io);

}  // namespace rankwright::cli
