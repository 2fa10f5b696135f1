// Gathers the results of all ranks on rank 0 when a run ends: counters, memory peaks and times,
// sent as numbers outside the plan's groups.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/planner/run/run_view.h"
#include "rankwright/report/timeline/trace.h"
#include "rankwright/runtime/trainer.h"

namespace rankwright::cli {

/// The counters and peaks of all ranks.
struct Gathered {
  std::vector<std::vector<planner::Sent>> sent{};  // by rank, of the last step
  std::vector<Bytes> peaks{};                      // by rank
};

/// Gathers counters and peaks. Collective; empty on ranks other than 0.
Gathered gather(const runtime::World& world, const runtime::Trainer& trainer);

/// Gathers the events of the last step, by pp rank, from the first rank of each. Collective; empty
/// on ranks other than 0.
report::Events gather_events(const runtime::World& world, const runtime::Trainer& trainer,
                             const plan::TrainingConfig& config);

/// Gathers one text per rank, by rank. Collective; empty on ranks other than 0.
std::vector<std::string> gather_texts(const runtime::World& world, std::string_view text);

/// Returns what this rank did in the last step, by start time.
std::vector<program::Event> list_events(const runtime::Trainer& trainer);

}  // namespace rankwright::cli
