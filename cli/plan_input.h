// A plan as it is given to every verb that takes one: a file or -, of any format that is read, with
// --model, --cluster and --world on top. Here it is read into a request; what it means is
// planner/input/plan_input.h.
#pragma once

#include <optional>
#include <string>

#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::cli {

struct PlanFlags {
  std::string plan;
  std::string model{};
  std::string cluster{};
  std::optional<i64> world{};
  const importer::PlanFormat* format = nullptr;  // nothing: the one that claims the file
  std::string calibrate{};                       // the log of a run that moves the constants
  std::string ran{};                             // the plan of that run; nothing: this one

  void add_to(Options& options);
  void add_calibration_to(Options& options);

  /// Reads the files that the flags name.
  planner::PlanSource source(const Io& io) const;
};

/// Reads the text of a file, or of standard input where the argument is -.
Result<std::string> read_argument(const std::string& argument, const Io& io);

/// Reads an argument into a file of a request; a fault is part of it.
planner::SourceFile read_source(const std::string& argument, const Io& io);

/// Reads the plan that the flags name, with everything that they state about it.
planner::PlanInput read_input(const PlanFlags& flags, const Io& io);

}  // namespace rankwright::cli
