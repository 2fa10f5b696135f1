#include "rankwright/cost/data_time.h"

#include <algorithm>

namespace rankwright::cost {
namespace {

/// Returns the time of a collective on dense weights or gradients over the ranks that shard them.
Seconds shard_time(const plan::TrainingConfig& config, const Links& links, plan::Op op,
                   Bytes size) {
  if (config.software.single_rail) return links.single_rail(op, size, mesh::GroupKind::shard);
  return links.time(op, size, mesh::GroupKind::shard);
}

/// Returns the time of one call that reduces gradients to the ranks that update them (X6). With
/// hybrid sharding, each shard is then reduced over its replicas.
Seconds scatter_time(const plan::TrainingConfig& config, const Links& links,
                     const plan::Share& share) {
  const plan::Plan& plan = config.plan;
  const i64 each = config.job.grad_bytes();
  const Bytes dense = bytes(share.dense, each), expert = bytes(share.expert, each);
  const bool whole = plan.zero == 0 || (plan.zero < 3 && config.software.all_reduces);
  const plan::Op op = whole ? plan::Op::all_reduce : plan::Op::reduce_scatter;
  return shard_time(config, links, op, dense) +
         links.time(plan::Op::all_reduce, dense / plan.shards(), mesh::GroupKind::replicate) +
         links.time(op, expert, mesh::GroupKind::edp);
}

/// Returns the time of one call that gathers weights, with `each` bytes per parameter.
Seconds gather_time(const plan::TrainingConfig& config, const Links& links,
                    const plan::Share& share, i64 each) {
  return shard_time(config, links, plan::Op::all_gather, bytes(share.dense, each)) +
         links.time(plan::Op::all_gather, bytes(share.expert, each), mesh::GroupKind::edp);
}

/// Returns the exposed time of traffic that overlaps computation: the part that is longer than the
/// computation, plus the slowdown that the overlapped part causes.
Seconds exposed_time(Seconds traffic, Seconds compute, const cluster::Calibration& c) {
  return std::max(Seconds{}, traffic - compute) +
         c[cluster::Constant::zero3_contention] * std::min(traffic, compute);
}

/// Returns the time to reduce gradients between pp ranks at the end of the step: of a stage that
/// two ranks hold, and of an embedding that the first and the last stage share.
Seconds cross_stage_time(const plan::TrainingConfig& config, const RankWork& on,
                         const Links& links) {
  const plan::Plan& plan = config.plan;
  const i64 each = config.job.grad_bytes();
  Seconds sum{};
  if (plan.mirrored())
    sum += links.time(plan::Op::all_reduce, bytes(on.share.total(), each), mesh::GroupKind::mirror);
  if (config.model.tied && plan.pp > 1 &&
      row(plan.schedule).stage_order == pipeline::StageOrder::loop)
    sum += links.time(plan::Op::all_reduce,
                      bytes(plan::count_embedding_share(config.model, plan.tp).dense, each) /
                          (plan.zero >= 2 ? plan.shards() : 1),
                      mesh::GroupKind::edges);
  return sum;
}

/// X6, ZeRO-0 to ZeRO-2: gradients overlap the backward and weights the forward. The rest is
/// exposed, and at least a fixed fraction.
DataTime data_time_up_to_zero2(const plan::TrainingConfig& config, const RankWork& on,
                               const Links& links, const cluster::Calibration& c) {
  const plan::Plan& plan = config.plan;
  const double m = double(config.microbatches());
  const Seconds scattered = scatter_time(config, links, on.share);
  const Seconds gathered =
      plan.zero == 0 ? Seconds{}
                     : gather_time(config, links, on.share, config.job.activation_bytes());
  // With v chunks, the gradients of all but one chunk are ready while the last pp microbatches run.
  const double v = double(plan.virtual_stages);
  const double window =
      c[cluster::Constant::dp_window] * (1 + (std::min(m, double(plan.pp)) - 1) * (v - 1) / v);
  const auto exposed = [&](bool overlap, Seconds time, Seconds compute) {
    return overlap ? std::max(c[cluster::Constant::dp_shown] * time, time - window * compute)
                   : time;
  };
  // ZeRO-2 does not keep full gradients, so every microbatch reduces its own. FSDP in a pipeline
  // reduces them once, after the last microbatch.
  const bool each = plan.zero == 2 && !(config.software.fsdp && plan.pp > 1);
  const double before_last = each ? m - 1 : 0;
  const Seconds early =
      plan.overlap.grad_reduce ? exposed_time(scattered, on.backward, c) : scattered;
  const Seconds shown = exposed(plan.overlap.grad_reduce, scattered, on.backward) +
                        exposed(plan.overlap.param_gather, gathered, on.forward) +
                        before_last * early;
  return {shown, std::max(Seconds{}, (1 + before_last) * scattered + gathered - shown)};
}

}  // namespace

ZeroWaits estimate_zero3_waits(const plan::TrainingConfig& config, const RankWork& on,
                               const Links& links, const cluster::Calibration& calibration) {
  const i64 units = std::max<i64>(1, on.layers);
  const plan::Share unit{.dense = on.share.dense / units, .expert = on.share.expert / units};
  const bool fp8 = config.software.gathers_fp8 && config.job.matmul != plan::Matmul::same;
  ZeroWaits waits;
  waits.gathered = gather_time(config, links, unit, fp8 ? 1 : config.job.activation_bytes());
  waits.scattered = scatter_time(config, links, unit);
  waits.all = units * (2 * waits.gathered + waits.scattered);
  waits.forward = exposed_time(units * waits.gathered, on.forward, calibration);
  waits.backward =
      exposed_time(units * (waits.gathered + waits.scattered), on.backward, calibration);
  return waits;
}

DataTime estimate_data_time(const plan::TrainingConfig& config, const RankWork& on,
                            const Links& links, const cluster::Calibration& calibration) {
  DataTime time;
  if (config.plan.zero < 3) {
    time = data_time_up_to_zero2(config, on, links, calibration);
  } else {
    // X7: every microbatch gathers weights during forward and again during backward, where it also
    // reduces gradients. The first gather and the last reduction have nothing to overlap with.
    const double m = double(config.microbatches());
    const ZeroWaits waits = estimate_zero3_waits(config, on, links, calibration);
    time.shown = m * (waits.forward + waits.backward) + waits.gathered + waits.scattered;
    time.hidden = std::max(Seconds{}, m * waits.all - time.shown);
  }
  time.shown += cross_stage_time(config, on, links);
  return time;
}

}  // namespace rankwright::cost
