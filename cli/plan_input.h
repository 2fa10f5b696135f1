// A plan as it is given to every verb that takes one: a file or -, of any format that is read, with
// --model, --cluster and --world on top.
#pragma once

#include <optional>
#include <string>

#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/import/plan_file.h"
#include "rankwright/plan/plan.h"
#include "rankwright/rules/rule.h"

namespace rankwright::cli {

struct PlanFlags {
  std::string plan;
  std::string model{};
  std::string cluster{};
  std::optional<i64> world{};
  const PlanFormat* format = nullptr;  // nothing: the one that claims the file
  std::string calibrate{};             // the log of a run that moves the constants
  std::string ran{};                   // the plan of that run; nothing: this one

  void add_to(Options& options);
  void add_calibration_to(Options& options);

  /// Something stands in for what the plan says.
  bool overrides() const {
    return !model.empty() || !cluster.empty() || world || !calibrate.empty();
  }
};

struct PlanInput {
  PlanFile file;
  std::optional<Setup> setup{};  // nothing where reading found an error
};

PlanInput read_input(const PlanFlags& flags, const Io& io);

/// The text of a file, of standard input where the argument is -, or of what a caller in the same
/// process means by this name.
Result<std::string> read_argument(const std::string& argument, const Io& io);

/// The file alone, or standard input.
PlanFile read_plan_argument(const std::string& argument, const Io& io,
                            const PlanFormat* format = nullptr);
/// What --model and --cluster say, over what the file says.
void override_input(const PlanFlags& flags, PlanFile& file);

/// What reading and linting for `target` found, each with its place, most severe first. A
/// framework's file is linted for that framework where no other is asked for.
Diagnostics all_findings(const PlanInput& input, Target target);

}  // namespace rankwright::cli
