// The time of one step, itemised so that the items add up: what the mean pp rank computes and waits
// for, then what the slowest stage, the bubble, data parallelism and the optimizer add. Closed
// forms, for a search that prices millions of plans; the simulate (program/simulate.h) of the same
// times is held against them. Formulas X1 to X8.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/cluster/calibration.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/cost/data_time.h"
#include "rankwright/cost/layer_prices.h"
#include "rankwright/pipeline/pipeline_time.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cost {

/// In the order of the waterfall.
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
  jitter,
};
inline constexpr std::size_t kItems = std::size_t(Item::jitter) + 1;

struct ItemRow {
  Item item;
  std::string_view name;
  bool computes;           // else it is waited for
  cluster::Origin origin;  // of what decides it most, on a device of a fitted generation
  std::string_view meaning;
};
std::span<const ItemRow> items();
const ItemRow& row(Item);

struct StepTime {
  std::array<Seconds, kItems> items{};
  Seconds hidden_dp{};  // data-parallel traffic that runs beside computation
  i64 slowest = 0;      // pp rank that sets the pace

  Seconds operator[](Item item) const { return items[std::size_t(item)]; }
  Seconds& operator[](Item item) { return items[std::size_t(item)]; }
  Seconds total() const;
  /// Of the items that compute.
  Seconds compute() const;
};

/// The config has no violation.
StepTime step_time(const plan::TrainingConfig& config, const cluster::Calibration& calibration);

// The same in three parts, for a search: plans that differ in ZeRO alone share the first two, and
// plans that differ in stages the first (layer_prices.h). After each part is known what the step
// takes at least, whatever the parts that follow.

/// The stages of a plan, before a schedule puts them into a pipeline.
struct StagePrices {
  StepTime step{};                             // up to the bubble
  std::vector<pipeline::StageTimes> stages{};  // with the sends that show; empty without a pipeline
  Seconds hop{};                               // of a send, beside computation
  Seconds busiest{};    // all that the slowest pp rank does, microbatches and sends
  RankWork heaviest{};  // the pp rank that holds most
};
StagePrices stage_prices(const plan::TrainingConfig& config,
                         const cluster::Calibration& calibration, const LayerPrices& prices);

/// No step takes less, whatever its stages, schedule and ZeRO.
Seconds min_time(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                 const LayerPrices& prices);
/// And so much more for every chunk of a pp rank beyond the first.
Seconds min_time_per_extra_chunk(const plan::TrainingConfig& config,
                                 const cluster::Calibration& calibration,
                                 const LayerPrices& prices);

/// When the last cell ends: at least (PT8), and in closed form (pipeline.h). 0 without a pipeline.
Seconds min_end(const plan::TrainingConfig& config, const StagePrices& staged);
Seconds pipeline_end(const plan::TrainingConfig& config, const StagePrices& staged);

/// The same by simulate: its cost grows with microbatches (program/simulate.h).
Seconds simulated_end(const plan::TrainingConfig& config, const StagePrices& staged);

/// The whole step of a pipeline that ends then, by closed form or by simulate.
StepTime step_time(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                   const Links& links, const LayerPrices& prices, const StagePrices& staged,
                   Seconds end);

/// What a step takes longer whose pipeline ends so much later: untuned, and with jitter.
Seconds apply_overheads(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                        Seconds time);

/// What the simulate of the plan's Program takes for its cells. Sends that the software does not
/// hide are part of the cells.
struct CellTimes {
  std::vector<pipeline::StageTimes> stages{};
  std::vector<pipeline::StageTimes>
      compute{};  // of those, what the device itself computes; the rest waits
  Seconds hop{};  // of a transfer, beside computation
};
CellTimes cell_times(const plan::TrainingConfig& config, const cluster::Calibration& calibration);

}  // namespace rankwright::cost
