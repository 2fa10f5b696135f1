// What rank 0 learns from all ranks when a run ends: counters, peaks and times, sent as numbers
// outside of the plan's groups.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/planner/run/run_view.h"
#include "rankwright/report/timeline/trace.h"
#include "rankwright/runtime/trainer.h"

namespace rankwright::cli {

struct Gathered {
  std::vector<std::vector<planner::Sent>> sent{};  // by rank, of the last step
  std::vector<Bytes> peaks{};                      // by rank
};

/// Collective; only rank 0's is filled.
Gathered gather(const runtime::World& world, const runtime::Trainer& trainer);

/// Of the last step, by pp rank: those of its first rank. Collective; only rank 0's is filled.
report::Events gather_events(const runtime::World& world, const runtime::Trainer& trainer,
                             const plan::TrainingConfig& config);

/// A text of each rank, by rank. Collective; empty on other ranks than rank 0.
std::vector<std::string> gather_texts(const runtime::World& world, std::string_view text);

/// What this rank did in the last step.
std::vector<program::Event> events_of(const runtime::Trainer& trainer);

}  // namespace rankwright::cli
