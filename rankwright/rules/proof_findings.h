// Turns the deadlock proof of a pipeline (program/proof.h) into diagnostics: which ranks wait for
// each other, at which cell, and what to move. Covers the program of a plan and a schedule written
// as cells in a file.
#pragma once

#include "rankwright/program/cells.h"
#include "rankwright/program/proof.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {

/// Returns a diagnostic for each problem that `proof` lists. `written` locates cells in their file;
/// it is null for the program of a plan.
Diagnostics proof_findings(const program::Program& program, const program::Proof& proof,
                           const program::WrittenSchedule* written);

/// The proof of a plan's pipeline: the number of actions proved and what was found.
struct ProvedPlan {
  i64 actions = 0;
  Diagnostics findings{};
};
/// Proves the pipeline of a plan free of deadlocks. Returns nothing if there is no pipeline, or if
/// it is too long to be proved here. Requires: no violations.
std::optional<ProvedPlan> prove_plan(const plan::TrainingConfig& config);

/// A checked schedule file: its shape and its findings.
struct CheckedSchedule {
  i64 pp = 0;
  i64 stages = 0;
  i64 microbatches = 0;
  i64 actions = 0;  // 0 if the cells are incomplete
  Diagnostics findings{};
};
/// Checks the cells of a schedule file and, if they are complete, proves it free of deadlocks.
CheckedSchedule check_schedule(const program::WrittenSchedule& written);

/// Returns the pages of RW0421 to RW0427. These codes have no rule; their examples are cells, not
/// plans.
std::span<const Page> proof_pages();

}  // namespace rankwright::rules
