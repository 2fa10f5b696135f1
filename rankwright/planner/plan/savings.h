// Settings that make a job fit if no layout does. They change the training, not only its layout.
// Each has the fastest plan that it allows; the cheapest comes first.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/search/answer.h"

namespace rankwright::planner {

/// A setting that saves memory.
struct SavingRow {
  std::string_view name;   // "8-bit Adam"
  std::string_view flags;  // what to type: "--optimizer adam-8bit"
  void (*apply)(search::Problem&);
  /// Returns whether the setting changes the job.
  bool (*changes)(const plan::TrainingConfig&);
  bool offload = false;   // only moves states off the device; the training stays the same
  bool adapters = false;  // trains adapters in place of all parameters
  // Whether a framework has the setting; DeepSpeed, with a script of the user's, has all.
  bool megatron = false, torchtitan = false, accelerate = true;
};
std::span<const SavingRow> saving_rows();

/// A setting with which the job fits, and its fastest plan.
struct Saving {
  const SavingRow* row = nullptr;
  search::EvaluatedPlan plan;
  std::optional<rules::Target> other{};  // the framework to ask for, if it is not the problem's

  /// Returns what to type: "--for accelerate --lora 16".
  std::string flags() const;
};

/// Returns the settings with which a plan fits, the fastest first; adapters, which train another
/// model, come last. The problems are one job for several frameworks: each setting is tried for the
/// first that has it. `find` finds the fastest plan of a problem.
std::vector<Saving> find_savings(
    std::span<const search::Problem> problems,
    const std::function<std::optional<search::EvaluatedPlan>(const search::Problem&)>& find);

/// Returns whether a setting changes the problem and its framework has it.
bool applies(const SavingRow& row, const search::Problem& problem);

/// Returns the problem with a setting applied.
search::Problem apply_saving(const search::Problem& problem, const SavingRow& row);

}  // namespace rankwright::planner
