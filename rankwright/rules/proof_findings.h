// The proof in words: which ranks wait for each other, at which cell, and what to move. For the
// program of a plan, and for a schedule that somebody wrote down as cells.
#pragma once

#include "rankwright/program/cells.h"
#include "rankwright/program/proof.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {

/// What the proof found. `written` gives the places of cells in their file, where there is one.
Diagnostics proof_findings(const program::Program& program, const program::Proof& proof,
                           const program::WrittenSchedule* written);

/// The proof of a plan without violations. Nothing where there is no pipeline, or one too long
/// to be proved here.
struct ProvedPlan {
  i64 actions = 0;
  Diagnostics findings{};
};
std::optional<ProvedPlan> prove_plan(const plan::TrainingConfig& config);

/// A schedule from a file: its cells, then, where they are complete, the proof.
struct CheckedSchedule {
  i64 pp = 0;
  i64 stages = 0;
  i64 microbatches = 0;
  i64 actions = 0;  // 0 where the cells are not complete
  Diagnostics findings{};
};
CheckedSchedule check_schedule(const program::WrittenSchedule& written);

/// RW042.: pages of the proof. Like those of reading they have no rule; their examples are cells.
std::span<const Page> proof_pages();

}  // namespace rankwright::rules
