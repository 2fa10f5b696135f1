#include "rankwright/planner/run/run_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "rankwright/base/check.h"
#include "rankwright/cost/durations.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/cost/traffic_cost.h"

namespace rankwright::planner {
namespace {

i64 find_pp_rank(const plan::TrainingConfig& config, std::size_t rank) {
  return config.plan.meshes().dense.coordinate(i64(rank), mesh::Axis::pp);
}

/// The predicted and the measured traffic of one kind on one rank.
struct Pair {
  const cost::TrafficCost* predicted = nullptr;
  const Sent* sent = nullptr;

  bool equal() const {
    return predicted != nullptr && sent != nullptr && predicted->traffic == sent->traffic &&
           predicted->level == sent->level;
  }
};

void add(const Pair& pair, TrafficComparison& row) {
  if (pair.sent != nullptr) {
    row.group = pair.sent->traffic.group;
    row.level = pair.sent->level;
    row.calls += pair.sent->traffic.calls;
    row.sent += pair.sent->traffic.total;
  }
  if (pair.predicted != nullptr) {  // a row is named after the prediction
    row.group = pair.predicted->traffic.group;
    row.level = pair.predicted->level;
    row.predicted_calls += pair.predicted->traffic.calls;
    row.predicted += pair.predicted->traffic.total;
  }
  if (!pair.equal()) ++row.ranks_off;
}

template <class T>
T median(std::vector<T> values) {
  if (values.empty()) return T{};
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Returns the median over the steps after the first, or over all if there is only one.
template <class T>
T median_of(const std::vector<TrainedStep>& steps, T TrainedStep::*figure) {
  std::vector<T> values;
  for (std::size_t i = steps.size() > 1 ? 1 : 0; i < steps.size(); ++i)
    values.push_back(steps[i].*figure);
  return median(std::move(values));
}

}  // namespace

std::vector<TrafficComparison> compare_traffic(const plan::TrainingConfig& config,
                                               const std::vector<std::vector<Sent>>& by_rank) {
  RW_CHECK(i64(by_rank.size()) == config.plan.ranks());
  std::vector<std::vector<cost::TrafficCost>> predicted;  // by pp rank
  for (i64 r = 0; r < config.plan.pp; ++r) predicted.push_back(cost::estimate_traffic(config, r));
  std::map<plan::TrafficKind, TrafficComparison> rows;
  std::map<plan::TrafficKind, i64> waiters;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    std::map<plan::TrafficKind, Pair> pairs;
    for (const cost::TrafficCost& one : predicted[std::size_t(find_pp_rank(config, rank))])
      pairs[one.traffic.kind].predicted = &one;
    for (const Sent& one : by_rank[rank]) {
      rows[one.traffic.kind].kind = one.traffic.kind;
      rows[one.traffic.kind].waited += one.waited;
      ++waiters[one.traffic.kind];
      if (one.traffic.calls > 0) pairs[one.traffic.kind].sent = &one;
    }
    for (const auto& [kind, pair] : pairs) {
      rows[kind].kind = kind;
      add(pair, rows[kind]);
    }
  }
  std::vector<TrafficComparison> all;
  for (auto& [kind, row] : rows) {
    row.waited = row.waited / std::max<i64>(waiters[kind], 1);
    all.push_back(row);
  }
  return all;
}

std::vector<RunMemory> compare_run_memory(const plan::TrainingConfig& config,
                                          const std::vector<Bytes>& peaks) {
  std::vector<RunMemory> all;
  for (const cost::MemoryEstimate& memory :
       cost::estimate_memory_per_pp_rank(config, select_calibration(config)))
    all.push_back({.pp_rank = memory.pp_rank, .predicted = memory.allocated(), .rank = -1});
  for (std::size_t rank = 0; rank < peaks.size(); ++rank) {
    RunMemory& of = all[std::size_t(find_pp_rank(config, rank))];
    if (of.rank >= 0 && peaks[rank] <= of.peak) continue;
    of.peak = peaks[rank];
    of.rank = i64(rank);
  }
  return all;
}

double idle_share(Seconds busy, Seconds end, i64 ranks) {
  return end.value > 0 ? 1 - busy / (end * double(ranks)) : 0;
}

Seconds sum_cell_time(const std::vector<program::Event>& events) {
  Seconds busy{};
  for (const program::Event& e : events)
    if (is_cell(e.action.kind)) busy += e.end - e.start;
  return busy;
}

Seconds find_end(const std::vector<program::Event>& events) {
  Seconds end{};
  for (const program::Event& e : events) end = std::max(end, e.end);
  return end;
}

bool is_measured(const cluster::Cluster& cluster) {
  return std::all_of(cluster.levels.begin(), cluster.levels.end(), [](const cluster::Level& level) {
    return level.origin == cluster::Origin::measured;
  });
}

std::optional<RunPrediction> predict_run(const plan::TrainingConfig& config,
                                         const program::Program& program) {
  if (!is_measured(config.cluster)) return std::nullopt;
  const cluster::Calibration& constants = select_calibration(config);
  const program::Timeline timeline =
      simulate(program, cost::compute_durations(config, program, constants));
  return RunPrediction{.step = cost::estimate_by_simulation(config, constants).time(),
                       .outside_cells = timeline.idle_share()};
}

Seconds RunSummary::step_time() const { return median_of(steps, &TrainedStep::time); }

double RunSummary::outside_cells() const { return median_of(steps, &TrainedStep::outside_cells); }

double RunSummary::tokens_per_second() const {
  const Seconds time = step_time();
  return time.value > 0 ? double(tokens) / time.value : 0;
}

bool RunSummary::bytes_equal() const {
  return std::all_of(sent.begin(), sent.end(),
                     [](const TrafficComparison& row) { return row.equal(); });
}

Bytes RunSummary::predicted_bytes() const {
  Bytes sum{};
  for (const TrafficComparison& row : sent) sum += row.predicted;
  return sum;
}

Bytes RunSummary::sent_bytes() const {
  Bytes sum{};
  for (const TrafficComparison& row : sent) sum += row.sent;
  return sum;
}

Bytes RunSummary::predicted_memory() const {
  Bytes max{};
  for (const RunMemory& one : memory) max = std::max(max, one.predicted);
  return max;
}

const RunMemory& RunSummary::fullest() const {
  RW_CHECK(!memory.empty());
  return *std::max_element(memory.begin(), memory.end(),
                           [](const RunMemory& a, const RunMemory& b) { return a.peak < b.peak; });
}

i64 RunSummary::broken() const {
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [](const TrainedStep& one) { return !std::isfinite(one.loss); });
  return found == steps.end() ? 0 : found->step;
}

}  // namespace rankwright::planner
