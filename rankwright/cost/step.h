// The time of one training step as items that add up: computation and exposed communication of the
// mean pp rank, then the additions by the slowest stage, the bubble, data parallelism and the
// optimizer (formulas X1 to X8). Closed forms, for a search that evaluates millions of plans; tests
// compare them with the simulation (program/simulate.h).
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/cluster/calibration.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/cost/data_time.h"
#include "rankwright/cost/layer_costs.h"
#include "rankwright/pipeline/pipeline_time.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cost {

/// One item of a step, in the order of the waterfall.
enum class Item : unsigned char {
  matmul,
  attention,
  elementwise,
  casts,
  permute,
  vocabulary,
  recompute,
  launch,
  tp,
  cp,
  ep,
  sends,
  imbalance,
  bubble,
  untuned,
  dp,
  optimizer,
  reference,
  offload,
  jitter,
};
inline constexpr std::size_t kItems = std::size_t(Item::jitter) + 1;

/// The description of an item.
struct ItemRow {
  Item item;
  std::string_view name;
  bool computes;           // computation; false: waiting
  cluster::Origin origin;  // of its most important constant, on a device of a fitted generation
  std::string_view meaning;
};
std::span<const ItemRow> items();
const ItemRow& row(Item);

/// Returns the item that contains the time of a kind of traffic.
Item find_item(plan::TrafficKind kind);

/// The time of one step by item.
struct StepTime {
  std::array<Seconds, kItems> items{};
  /// Communication that runs beside computation, by its item; not part of the total. With the item
  /// itself it is the calls times the time of each call, on the mean pp rank; for dp, on
  /// `heaviest`.
  std::array<Seconds, kItems> overlapped{};
  i64 slowest = 0;   // the busiest pp rank
  i64 heaviest = 0;  // the pp rank with the most parameters, whose data parallelism is counted

  Seconds operator[](Item item) const { return items[std::size_t(item)]; }
  /// Returns the exposed and overlapped time of an item of communication.
  CommTime comm(Item item) const { return {(*this)[item], overlapped[std::size_t(item)]}; }
  Seconds& operator[](Item item) { return items[std::size_t(item)]; }
  Seconds total() const;
  /// Returns the sum of the items that compute.
  Seconds compute() const;
  /// Returns what a step does once beside its pipeline: optimizer, offload and reference model.
  Seconds beside_pipeline() const {
    return (*this)[Item::optimizer] + (*this)[Item::offload] + (*this)[Item::reference];
  }
};

/// X8: an untuned recipe lengthens the pipeline by a factor, and jitter the whole step by a
/// fraction.
struct Overheads {
  double untuned = 1, jitter = 0;

  /// Returns the time of a pipeline as part of a step.
  Seconds lengthen(Seconds pipeline) const { return untuned * (1 + jitter) * pipeline; }
};
Overheads find_overheads(const plan::TrainingConfig& config,
                         const cluster::Calibration& calibration);

/// Estimates the step time. Requires: the config has no constraint violation.
StepTime estimate_step_time(const plan::TrainingConfig& config,
                            const cluster::Calibration& calibration);

// The estimate in three parts, for a search: plans that differ only in stages share the first
// (layer_prices.h), and plans that differ only in ZeRO share the first two. Each part yields a
// lower bound on the step time that holds for all choices in the following parts.

/// The stages of a plan, before a schedule arranges them in a pipeline.
struct StageCosts {
  StepTime step{};                             // the items before the bubble
  std::vector<pipeline::StageTimes> stages{};  // with exposed sends; empty without a pipeline
  Seconds hop{};                               // overlapped part of a send
  Seconds busiest{};    // total work of the slowest pp rank, including exposed sends
  Seconds forward{};    // of one microbatch on the pp rank where it takes longest
  RankWork heaviest{};  // the pp rank with the most parameters
};

/// Sums the layers of a plan into stages.
StageCosts estimate_stage_costs(const plan::TrainingConfig& config,
                                const cluster::Calibration& calibration, const LayerCosts& prices);

/// Returns a lower bound on the step time over all stages, schedules and ZeRO stages.
Seconds min_time(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                 const LayerCosts& prices);
/// Returns the minimum extra time per additional chunk (virtual stage) of a pp rank.
Seconds min_time_per_extra_chunk(const plan::TrainingConfig& config,
                                 const cluster::Calibration& calibration, const LayerCosts& prices);

/// Returns a lower bound on the time of a step whose pipeline takes at least `pipeline`, overheads
/// included, and whose data traffic has the bound `data` (X19).
Seconds min_time_with_data(const Overheads& overheads, Seconds pipeline, const MinDataTime& data);

/// Returns a lower bound on the end of the last cell (PT8); 0 without a pipeline.
Seconds min_end(const plan::TrainingConfig& config, const StageCosts& staged);
/// Estimates the end of the last cell in closed form (pipeline.h); 0 without a pipeline.
Seconds estimate_pipeline_end(const plan::TrainingConfig& config, const StageCosts& staged);
/// Simulates the pipeline and returns the end of the last cell; 0 without a pipeline. The run time
/// grows with the number of microbatches (program/simulate.h).
Seconds simulate_pipeline_end(const plan::TrainingConfig& config, const StageCosts& staged);

/// Returns the parameters of the heaviest pp rank, divided into calls. They do not depend on the
/// ZeRO stage.
plan::DataShape make_heaviest_shape(const plan::TrainingConfig& config, const StageCosts& staged);

/// Estimates the whole step. `data` is make_heaviest_shape(); `end` is the end of the last cell,
/// from estimate_pipeline_end or simulate_pipeline_end.
StepTime estimate_step_time(const plan::TrainingConfig& config,
                            const cluster::Calibration& calibration, const Links& links,
                            const LayerCosts& prices, const StageCosts& staged,
                            const plan::DataShape& data, Seconds end);

/// The durations of a plan's cells for simulating its Program. Exposed sends are part of the cells.
struct CellTimes {
  std::vector<pipeline::StageTimes> stages{};
  std::vector<pipeline::StageTimes> compute{};  // the part of those that computes; the rest waits
  std::vector<pipeline::StageTimes> sends{};    // the exposed sends in them
  Seconds hop{};                                // overlapped part of a transfer
};

/// Computes the durations of a plan's cells.
CellTimes estimate_cell_times(const plan::TrainingConfig& config,
                              const cluster::Calibration& calibration);

}  // namespace rankwright::cost
