#include "rankwright/planner/explain/waterfall.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/item_traffic.h"
#include "rankwright/cost/rates.h"
#include "rankwright/pipeline/bubble.h"
#include "rankwright/planner/explain/explain_view.h"

namespace rankwright::planner {
namespace {

using Communication = std::vector<CommunicationRow>;

using ItemTraffic = std::array<cost::ItemTraffic, cost::kItems>;

/// Returns "15,360 calls, 2.06 TB per rank, on nvlink", for the pp rank on which they take longest.
std::string describe_traffic(const plan::TrainingConfig& config, const cost::ItemTraffic& sum) {
  if (sum.level < 0) return {};
  return fmt::format("{}, {} per rank, on {}", plural(sum.calls, "call", "calls"), show(sum.bytes),
                     config.cluster.levels[std::size_t(sum.level)].name);
}

std::string comm_remark(const plan::TrainingConfig& config, const ItemTraffic& traffic,
                        const cost::StepTime& step, cost::Item item) {
  constexpr double kClose = 1.05;  // times the mean; a rank that takes longer is named
  const cost::ItemTraffic& longest = traffic[std::size_t(item)];
  const cost::CommTime time = step.comm(item);
  // The item is the mean over the pp ranks; the communication table lists the longest.
  std::string calls;
  if (longest.total > kClose * (time.exposed + time.overlapped))
    calls = fmt::format("mean of the PP ranks, {} on PP rank {}: ", show(longest.total),
                        longest.pp_rank);
  calls += describe_traffic(config, longest);
  if (time.overlapped <= 1e-9 * time.exposed) return "none overlapped; " + calls;
  return fmt::format("{} more overlapped; {}", show(time.overlapped), calls);
}

/// Returns the ideal bubble, that of equal stages; the bar itself shows the bubble of this step.
std::string bubble_remark(const plan::TrainingConfig& config) {
  const plan::Plan& p = config.plan;
  const i64 m = config.microbatches();
  return fmt::format("{}, {}: ideal bubble {}", name(p.schedule),
                     plural(m, "micro-batch", "micro-batches"),
                     percent(pipeline::bubble_fraction(p.schedule, p.pp, p.virtual_stages, m)));
}

std::string recompute_remark(const plan::Plan& plan) {
  if (plan.recompute == plan::Recompute::selective) return "selective: a part of every layer";
  if (plan.recompute_layers == 0) return "full: every layer";
  return fmt::format("full: {} per stage", plural(plan.recompute_layers, "layer", "layers"));
}

/// Returns "at 741 TFLOP/s in large shapes, 74.9 % of peak".
std::string rate_remark(FlopsPerSecond rate, FlopsPerSecond max) {
  return fmt::format("at {} in large shapes, {} of peak", show(rate), percent(rate / max));
}

std::string compute_remark(const plan::TrainingConfig& config, cost::Item item) {
  const cost::Rates reached = cost::compute_rates(config, select_calibration(config));
  const cluster::Device& device = config.cluster.device;
  switch (item) {
    case cost::Item::matmul:
      return rate_remark(reached.layers, cost::find_layer_peak(config));
    case cost::Item::attention:
      if (config.software.attention == plan::AttentionKernel::unfused)
        return "unfused: scores are written";
      return rate_remark(reached.attention, cost::peak(device, plan::Dtype::bf16));
    case cost::Item::elementwise:
      return fmt::format("{}, at {}", row(item).meaning, show(reached.memory));
    case cost::Item::recompute:
      return recompute_remark(config.plan);
    default:
      return std::string(row(item).meaning);
  }
}

std::string make_remark(const plan::TrainingConfig& config, const ItemTraffic& traffic,
                        const cost::StepTime& step, cost::Item item) {
  const cluster::Calibration& c = select_calibration(config);
  switch (item) {
    case cost::Item::tp:
    case cost::Item::cp:
    case cost::Item::ep:
    case cost::Item::sends:
    case cost::Item::dp:
      return comm_remark(config, traffic, step, item);
    case cost::Item::imbalance:
      return fmt::format("PP rank {} is the slowest: see --stages", step.slowest);
    case cost::Item::bubble:
      return bubble_remark(config);
    case cost::Item::untuned:
      return fmt::format("untuned-recipe overhead ({})",
                         percent(c[cluster::Constant::untuned] - 1));
    case cost::Item::jitter:
      return fmt::format("{} per doubling of the nodes",
                         percent(c[cluster::Constant::jitter] / 100));
    default:
      return compute_remark(config, item);
  }
}

/// Returns where the item's figure comes from. It is assumed if the constants were not fitted on
/// this device's generation. On a probed machine, matmuls and calls are measured, and memory-bound
/// work is counted bytes at a measured bandwidth.
cluster::Origin origin_of(const plan::TrainingConfig& config, const cost::ItemRow& of) {
  if (config.cluster.device.cpu())
    return of.item == cost::Item::casts ? cluster::Origin::assumed : cluster::Origin::measured;
  if (of.computes && !cost::fitted_generation(config.cluster.device))
    return cluster::Origin::assumed;
  return of.origin;
}

/// Sets the collectives that the item waits for and the level on which they take most of their
/// time.
void name_links(const plan::TrainingConfig& config, const Communication& rows,
                const ItemTraffic& traffic, Waterfall::Bar& bar) {
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (cost::find_item(rows[k].evaluated.traffic.kind) == bar.item) bar.collectives.push_back(k);
  const int level = traffic[std::size_t(bar.item)].level;
  if (level >= 0) bar.level = config.cluster.levels[std::size_t(level)].name;
}

}  // namespace

Waterfall make_waterfall(const plan::TrainingConfig& config,
                         const std::vector<CommunicationRow>& communication,
                         const cost::Estimate& estimate) {
  const cost::StepTime& step = estimate.step;
  const ItemTraffic traffic = cost::sum_traffic_by_item(config);
  Waterfall waterfall{.total = step.total(), .band = estimate.step_band};
  for (const cost::ItemRow& of : cost::items()) {
    const Seconds time = step[of.item];
    if (time <= Seconds{}) continue;
    Waterfall::Bar bar{.item = of.item,
                       .name = std::string(of.name),
                       .time = time,
                       .share = time / waterfall.total,
                       .computes = of.computes,
                       .origin = origin_of(config, of),
                       .remark = make_remark(config, traffic, step, of.item)};
    name_links(config, communication, traffic, bar);
    waterfall.bars.push_back(std::move(bar));
  }
  return waterfall;
}

}  // namespace rankwright::planner
