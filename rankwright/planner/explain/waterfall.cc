#include "rankwright/planner/explain/waterfall.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/pipeline/bubble.h"
#include "rankwright/cost/rates.h"
#include "rankwright/planner/explain/explain_view.h"

namespace rankwright {
namespace {

using Communication = std::vector<CommunicationRow>;

/// "15,360 calls, 2.06 TB a rank, on nvlink": of the pp rank that has most.
std::string traffic(const Communication& rows, Item item) {
  i64 calls = 0;
  Bytes sent{};
  const CommunicationRow* farthest = nullptr;
  for (const CommunicationRow& c : rows) {
    if (!waits_for(item, c.priced.traffic.group)) continue;
    calls += c.priced.traffic.calls;
    sent += c.priced.traffic.total;
    if (farthest == nullptr || c.priced.level > farthest->priced.level) farthest = &c;
  }
  if (farthest == nullptr) return {};
  return fmt::format("{}, {} a rank, on {}", plural(calls, "call", "calls"), show(sent),
                     farthest->level);
}

std::string data_remark(const Communication& rows, const StepTime& step) {
  const std::string calls = traffic(rows, Item::dp);
  if (step.hidden_dp <= Seconds{}) return "nothing hides it; " + calls;
  return fmt::format("exposed of {}; {}", show(step[Item::dp] + step.hidden_dp), calls);
}

/// B1 and B2 as slots, the others as a share.
std::string bubble_remark(const TrainingConfig& config) {
  const Plan& p = config.plan;
  const i64 m = config.microbatches();
  const std::string who =
      fmt::format("{}, {}", name(p.schedule), plural(m, "microbatch", "microbatches"));
  switch (p.schedule) {
    case Schedule::gpipe:
    case Schedule::one_f_one_b:
    case Schedule::interleaved:
    case Schedule::looped_bfs:
      return fmt::format("{}: {} of {} slots idle", who, count(p.pp - 1),
                         count(p.virtual_stages * m + p.pp - 1));
    default:
      return fmt::format("{}: {} where stages are alike", who,
                         percent(bubble_fraction(p.schedule, p.pp, p.virtual_stages, m)));
  }
}

std::string recompute_remark(const Plan& plan) {
  if (plan.recompute == Recompute::selective) return "selective: a part of every layer";
  if (plan.recompute_layers == 0) return "full: every layer";
  return fmt::format("full: {} a pp rank", plural(plan.recompute_layers, "layer", "layers"));
}

/// "at most 741 of 989 TFLOP/s".
std::string rate_remark(FlopsPerSecond rate, FlopsPerSecond max) {
  return fmt::format("at {} in large shapes, {} of peak", show(rate), percent(rate / max));
}

std::string compute_remark(const TrainingConfig& config, Item item) {
  const Rates reached = rates(config, calibration(config));
  const Device& device = config.cluster.device;
  switch (item) {
    case Item::matmul:
      return rate_remark(reached.layers, layer_peak(config));
    case Item::attention:
      if (config.software.attention == AttentionKernel::unfused)
        return "unfused: scores are written";
      return rate_remark(reached.attention, peak(device, Dtype::bf16));
    case Item::elementwise:
      return fmt::format("{}, at {}", row(item).meaning, show(reached.memory));
    case Item::recompute:
      return recompute_remark(config.plan);
    default:
      return std::string(row(item).meaning);
  }
}

std::string remark(const TrainingConfig& config, const Communication& rows, const StepTime& step,
                   Item item) {
  const Calibration& c = calibration(config);
  switch (item) {
    case Item::tp:
    case Item::cp:
    case Item::ep:
    case Item::sends:
      return traffic(rows, item);
    case Item::imbalance:
      return fmt::format("pp rank {} is the slowest: see --stages", step.slowest);
    case Item::bubble:
      return bubble_remark(config);
    case Item::untuned:
      return fmt::format("{} that vendors gain by tuning a recipe",
                         percent(c[Constant::untuned] - 1));
    case Item::dp:
      return data_remark(rows, step);
    case Item::jitter:
      return fmt::format("{} for each doubling of the nodes", percent(c[Constant::jitter] / 100));
    default:
      return compute_remark(config, item);
  }
}

/// What nothing of this device's generation was fitted on is assumed. Of a machine that was probed
/// matmuls and calls are measured; what memory-bound work moves is counted, on a measured
/// bandwidth.
Origin origin_of(const TrainingConfig& config, const ItemRow& of) {
  if (config.cluster.device.cpu())
    return of.item == Item::casts ? Origin::assumed : Origin::measured;
  if (of.computes && !fitted_generation(config.cluster.device)) return Origin::assumed;
  return of.origin;
}

/// Which collectives the item waits for, and the outermost level that any of them crosses.
void name_links(const TrainingConfig& config, const Communication& rows, Waterfall::Bar& bar) {
  int outermost = -1;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const PricedTraffic& priced = rows[k].priced;
    if (!waits_for(bar.item, priced.traffic.group)) continue;
    bar.collectives.push_back(k);
    outermost = std::max(outermost, priced.level);
  }
  if (outermost >= 0) bar.level = config.cluster.levels[std::size_t(outermost)].name;
}

}  // namespace

Waterfall make_waterfall(const TrainingConfig& config,
                         const std::vector<CommunicationRow>& communication,
                         const Estimate& estimate) {
  const StepTime& step = estimate.step;
  Waterfall fall{.total = step.total(), .band = estimate.step_band};
  for (const ItemRow& of : items()) {
    const Seconds time = step[of.item];
    if (time <= Seconds{}) continue;
    Waterfall::Bar bar{.item = of.item,
                       .name = std::string(of.name),
                       .time = time,
                       .share = time / fall.total,
                       .computes = of.computes,
                       .origin = origin_of(config, of),
                       .remark = remark(config, communication, step, of.item)};
    name_links(config, communication, bar);
    fall.bars.push_back(std::move(bar));
  }
  return fall;
}

}  // namespace rankwright
