#include "rankwright/cost/data_time.h"

#include <algorithm>

namespace rankwright::cost {
namespace {

/// Dense weights or gradients over the ranks that shard them.
Seconds sharded(const plan::TrainingConfig& config, const Links& links, plan::Op op, Bytes size) {
  if (config.software.single_rail) return links.single_rail(op, size, mesh::GroupKind::shard);
  return links.time(op, size, mesh::GroupKind::shard);
}

/// X6: gradients to the ranks that update them, one call. Under hybrid sharding each shard is then
/// added up over its copies.
Seconds scatter(const plan::TrainingConfig& config, const Links& links, const plan::Share& share) {
  const plan::Plan& plan = config.plan;
  const i64 each = config.job.grad_bytes();
  const Bytes dense = bytes(share.dense, each), expert = bytes(share.expert, each);
  const bool whole = plan.zero == 0 || (plan.zero < 3 && config.software.all_reduces);
  const plan::Op op = whole ? plan::Op::all_reduce : plan::Op::reduce_scatter;
  return sharded(config, links, op, dense) +
         links.time(plan::Op::all_reduce, dense / plan.shards(), mesh::GroupKind::replicate) +
         links.time(op, expert, mesh::GroupKind::edp);
}

/// Weights to the ranks that compute with them, one call.
Seconds gather(const plan::TrainingConfig& config, const Links& links, const plan::Share& share,
               i64 each) {
  return sharded(config, links, plan::Op::all_gather, bytes(share.dense, each)) +
         links.time(plan::Op::all_gather, bytes(share.expert, each), mesh::GroupKind::edp);
}

/// Traffic beside computation: what is longer shows, what is not slows it.
Seconds beside(Seconds traffic, Seconds compute, const cluster::Calibration& c) {
  return std::max(Seconds{}, traffic - compute) +
         c[cluster::Constant::zero3_contention] * std::min(traffic, compute);
}

/// Gradients that two pp ranks add up when all else is done: of a stage that both hold, and of an
/// embedding that the first and the last read.
Seconds between_stages(const plan::TrainingConfig& config, const RankWork& on, const Links& links) {
  const plan::Plan& plan = config.plan;
  const i64 each = config.job.grad_bytes();
  Seconds sum{};
  if (plan.mirrored())
    sum += links.time(plan::Op::all_reduce, bytes(on.share.total(), each), mesh::GroupKind::mirror);
  if (config.model.tied && plan.pp > 1 &&
      row(plan.schedule).stage_order == pipeline::StageOrder::loop)
    sum += links.time(plan::Op::all_reduce,
                      bytes(plan::embedding_share(config.model, plan.tp).dense, each) /
                          (plan.zero >= 2 ? plan.shards() : 1),
                      mesh::GroupKind::edges);
  return sum;
}

/// X6: gradients travel beside backward, weights beside forward: what that does not hide shows, and
/// at least a part.
DataTime up_to_zero2(const plan::TrainingConfig& config, const RankWork& on, const Links& links,
                     const cluster::Calibration& c) {
  const plan::Plan& plan = config.plan;
  const double m = double(config.microbatches());
  const Seconds scattered = scatter(config, links, on.share);
  const Seconds gathered =
      plan.zero == 0 ? Seconds{} : gather(config, links, on.share, config.job.activation_bytes());
  // With v chunks the gradients of all but one are ready while the last pp microbatches still run.
  const double v = double(plan.virtual_stages);
  const double window =
      c[cluster::Constant::dp_window] * (1 + (std::min(m, double(plan.pp)) - 1) * (v - 1) / v);
  const auto left = [&](bool overlap, Seconds time, Seconds compute) {
    return overlap ? std::max(c[cluster::Constant::dp_shown] * time, time - window * compute)
                   : time;
  };
  // ZeRO-2 keeps no whole gradients, so every microbatch scatters its own; FSDP under a pipeline
  // lets them wait for the last.
  const bool each = plan.zero == 2 && !(config.software.fsdp && plan.pp > 1);
  const double before_last = each ? m - 1 : 0;
  const Seconds early = plan.overlap.grad_reduce ? beside(scattered, on.backward, c) : scattered;
  const Seconds shown = left(plan.overlap.grad_reduce, scattered, on.backward) +
                        left(plan.overlap.param_gather, gathered, on.forward) + before_last * early;
  return {shown, std::max(Seconds{}, (1 + before_last) * scattered + gathered - shown)};
}

}  // namespace

ZeroWaits zero3_waits(const plan::TrainingConfig& config, const RankWork& on, const Links& links,
                      const cluster::Calibration& calibration) {
  const i64 units = std::max<i64>(1, on.layers);
  const plan::Share unit{.dense = on.share.dense / units, .expert = on.share.expert / units};
  const bool fp8 = config.software.gathers_fp8 && config.job.matmul != plan::Matmul::same;
  ZeroWaits waits;
  waits.gathered = gather(config, links, unit, fp8 ? 1 : config.job.activation_bytes());
  waits.scattered = scatter(config, links, unit);
  waits.all = units * (2 * waits.gathered + waits.scattered);
  waits.forward = beside(units * waits.gathered, on.forward, calibration);
  waits.backward = beside(units * (waits.gathered + waits.scattered), on.backward, calibration);
  return waits;
}

DataTime data_time(const plan::TrainingConfig& config, const RankWork& on, const Links& links,
                   const cluster::Calibration& calibration) {
  DataTime time;
  if (config.plan.zero < 3) {
    time = up_to_zero2(config, on, links, calibration);
  } else {
    // X7: every microbatch gathers weights beside forward, and again beside backward, where it also
    // scatters gradients; the first gather and the last scatter have nothing beside them.
    const double m = double(config.microbatches());
    const ZeroWaits waits = zero3_waits(config, on, links, calibration);
    time.shown = m * (waits.forward + waits.backward) + waits.gathered + waits.scattered;
    time.hidden = std::max(Seconds{}, m * waits.all - time.shown);
  }
  time.shown += between_stages(config, on, links);
  return time;
}

}  // namespace rankwright::cost
