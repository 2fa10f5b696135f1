// A run as it was measured, against what was predicted of it: what every rank sent, what tensors
// took, how long steps were and how much of them was idle. Values in, values out; how they look is
// run_text.h and run_json.h. It knows no ranks that are processes: who ran hands the figures in.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/plan/traffic.h"
#include "rankwright/program/timeline.h"

namespace rankwright::planner {

/// One step, the same on every rank.
struct TrainedStep {
  i64 step = 1;  // from 1
  double loss = 0;
  double gradient_norm = 0;
  Seconds time{};  // of the rank that took longest
  double bubble = 0;
};

/// One kind of traffic that one rank sent in a step; of no calls where it only waited for others'.
struct Sent {
  plan::Traffic traffic{};
  int level = -1;    // the outermost level of the cluster that it crossed
  Seconds waited{};  // by the rank, for it
};

/// The same of all ranks together, and what was predicted.
struct SentRow {
  plan::TrafficKind kind{};
  mesh::GroupKind group{};
  int level = -1;
  i64 predicted_calls = 0, calls = 0;
  Bytes predicted{}, sent{};
  Seconds waited{};   // mean over the ranks that sent or waited
  i64 ranks_off = 0;  // ranks that sent something else than predicted

  bool equal() const { return ranks_off == 0; }
};

/// `by_rank` has one entry for each rank of the plan. In the order of TrafficKind. The config has
/// no violation.
std::vector<SentRow> sent_rows(const plan::TrainingConfig& config,
                               const std::vector<std::vector<Sent>>& by_rank);

/// The fullest rank of a pp rank.
struct RunMemory {
  i64 pp_rank = 0;
  Bytes predicted{};  // what tensors take, by the ledger
  Bytes peak{};
  i64 rank = 0;  // the first with that peak
};
std::vector<RunMemory> run_memory(const plan::TrainingConfig& config,
                                  const std::vector<Bytes>& peaks);

/// Of the ranks' time together from the beginning of a step to the end of its last action, what is
/// not spent in cells: as Timeline::idle_share. `busy` is over `ranks` ranks.
double idle_share(Seconds busy, Seconds end, i64 ranks);
Seconds busy_in(const std::vector<program::Event>& events);
Seconds end_of(const std::vector<program::Event>& events);

/// Times are predicted only where all figures of the cluster's links were measured, as a probe
/// writes them: a data sheet of another machine says nothing about this one.
bool is_measured(const cluster::Cluster& cluster);

struct RunPrediction {
  Seconds step{};
  double bubble = 0;
};
/// The program is the config's expansion. Nothing where the cluster is not measured.
std::optional<RunPrediction> predict_run(const plan::TrainingConfig& config,
                                         const program::Program& program);

struct RunSummary {
  i64 wanted = 0;        // steps
  bool stopped = false;  // somebody asked to end before
  i64 pp = 1, ranks = 1;
  i64 tokens = 0;  // a step
  std::vector<TrainedStep> steps{};
  std::vector<SentRow> sent{};
  std::vector<RunMemory> memory{};  // by pp rank
  std::optional<RunPrediction> predicted{};
  std::vector<std::string> level_names{};

  /// Medians of the steps after the first, which also sets things up; of the first where it is the
  /// only one.
  Seconds step_time() const;
  double bubble() const;
  double tokens_per_second() const;
  /// Counted calls and bytes are the predicted ones on every rank.
  bool bytes_equal() const;
  Bytes predicted_bytes() const;
  Bytes sent_bytes() const;
  /// Of the fullest rank, predicted and measured; they may be different ones.
  Bytes predicted_memory() const;
  const RunMemory& fullest() const;
  /// The first step whose loss is no number; 0: none.
  i64 broken() const;
};

}  // namespace rankwright::planner
