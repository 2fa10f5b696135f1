// The time of one step, itemised so that the items add up: what the mean pp rank computes and waits
// for, then what the slowest stage, the bubble, data parallelism and the optimizer add. Closed
// forms, for a search that prices millions of plans; the play (program/play.h) of the same times
// is held against them. Formulas X1 to X8.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/cluster/calibration.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/cost/pipeline.h"
#include "rankwright/plan/plan.h"

namespace rankwright {

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
  bool computes;  // else it is waited for
  Origin origin;  // of what decides it most, on a device of a fitted generation
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

/// The setup has no misfit.
StepTime step_time(const Setup& setup, const Calibration& calibration);

/// What the play of the plan's Program takes for its cells. Sends that the software does not hide
/// are part of the cells.
struct CellTimes {
  std::vector<StageTimes> stages{};
  std::vector<StageTimes> compute{};  // of those, what the device itself computes; the rest waits
  Seconds hop{};                      // of a transfer, beside computation
};
CellTimes cell_times(const Setup& setup, const Calibration& calibration);

}  // namespace rankwright
