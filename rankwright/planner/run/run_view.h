// Compares a measured run with its prediction: the traffic of every rank, memory, step times and
// idle time. Values in, values out: the caller passes in the measurements, and run_text.h and
// run_json.h present the result.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/plan/traffic.h"
#include "rankwright/program/timeline.h"

namespace rankwright::planner {

/// One training step; equal on every rank.
struct TrainedStep {
  i64 step = 1;  // from 1
  double loss = 0;
  double gradient_norm = 0;
  Seconds time{};            // of the slowest rank
  double outside_cells = 0;  // share of the ranks' time outside cells
};

/// One kind of traffic that one rank sent in a step. Without calls, the rank only waited for
/// others.
struct Sent {
  plan::Traffic traffic{};
  int level = -1;    // outermost level of the cluster that it crossed
  Seconds waited{};  // time that the rank waited for it
};

/// One kind of traffic over all ranks, measured and predicted.
struct TrafficComparison {
  plan::TrafficKind kind{};
  mesh::GroupKind group{};
  int level = -1;
  i64 predicted_calls = 0, calls = 0;
  Bytes predicted{}, sent{};
  Seconds waited{};   // mean over the ranks that sent or waited
  i64 ranks_off = 0;  // ranks whose traffic differs from the prediction

  bool equal() const { return ranks_off == 0; }
};

/// Compares measured and predicted traffic. Returns the rows in the order of TrafficKind. Requires:
/// `by_rank` has one entry per rank of the plan, and the config has no constraint violations.
std::vector<TrafficComparison> compare_traffic(const plan::TrainingConfig& config,
                                               const std::vector<std::vector<Sent>>& by_rank);

/// The memory of the fullest rank among those of one pp rank.
struct RunMemory {
  i64 pp_rank = 0;
  Bytes predicted{};  // tensors, by the memory estimate
  Bytes peak{};
  i64 rank = 0;  // the first rank with that peak
};

/// Returns the memory per pp rank. `peaks` has the measured peak of each rank.
std::vector<RunMemory> compare_run_memory(const plan::TrainingConfig& config,
                                          const std::vector<Bytes>& peaks);

/// Returns the share of the ranks' total time, from the beginning of a step to the end of its last
/// action, that is not spent in cells; as Timeline::idle_share. `busy` is the sum over `ranks`
/// ranks.
double idle_share(Seconds busy, Seconds end, i64 ranks);

/// Returns the time spent in cells.
Seconds sum_cell_time(const std::vector<program::Event>& events);

/// Returns the end of the last event.
Seconds find_end(const std::vector<program::Event>& events);

/// Returns whether all figures of the cluster's links are measured, as a probe writes them. Times
/// are predicted only then: a data explain_view of another machine says nothing about this one.
bool is_measured(const cluster::Cluster& cluster);

/// The predicted time of a step and its share outside cells.
struct RunPrediction {
  Seconds step{};
  double outside_cells = 0;  // share of the ranks' time outside cells
};

/// Predicts the step; empty if the cluster is not measured. Requires: `program` is the config's
/// expansion.
std::optional<RunPrediction> predict_run(const plan::TrainingConfig& config,
                                         const program::Program& program);

/// The measurements of a whole run, and their predictions.
struct RunSummary {
  i64 wanted = 0;        // steps that were asked for
  bool stopped = false;  // the user ended the run early
  i64 pp = 1, ranks = 1;
  i64 tokens = 0;  // per step
  std::vector<TrainedStep> steps{};
  std::vector<TrafficComparison> sent{};
  std::vector<RunMemory> memory{};  // by pp rank
  std::optional<RunPrediction> predicted{};
  std::vector<std::string> level_names{};

  /// Return the median over all steps but the first, which includes setup. If there is only one
  /// step, it counts.
  Seconds step_time() const;
  double outside_cells() const;
  double tokens_per_second() const;
  /// Returns whether every rank made the predicted calls with the predicted bytes.
  bool bytes_equal() const;
  Bytes predicted_bytes() const;
  Bytes sent_bytes() const;
  /// Return the memory of the fullest rank, predicted and measured. The two ranks may differ.
  Bytes predicted_memory() const;
  const RunMemory& fullest() const;
  /// Returns the first step whose loss is not finite; 0 if there is none.
  i64 broken() const;
};

}  // namespace rankwright::planner
