#include "rankwright/cost/data_time.h"

#include <algorithm>

namespace rankwright::cost {
namespace {

/// The synchronization of one step on one pp rank: calls times the time of each (Links::cost).
struct Sync {
  Seconds reduced{};   // gradients over the data-parallel ranks
  Seconds gathered{};  // parameters over the data-parallel ranks
  Seconds last{};      // after the last microbatch, over other groups
  i64 reductions = 0, gathers = 0;

  Seconds total() const { return reduced + gathered + last; }
};

Sync estimate_sync(const plan::TrainingConfig& config, const plan::DataShape& shape,
                   const Links& links) {
  using K = plan::TrafficKind;
  Sync sync;
  const auto add = [&](K kind, plan::Op op, mesh::GroupKind group, i64 calls, Bytes each) {
    const Seconds time = double(calls) * links.time(kind, op, each, group);
    if (time.value <= 0) return;
    switch (kind) {
      case K::dp_all_gather:
      case K::expert_dp_all_gather:
        sync.gathered += time;
        sync.gathers += calls;
        break;
      case K::dp_all_reduce:
      case K::dp_reduce_scatter:
      case K::expert_dp_all_reduce:
      case K::expert_dp_reduce_scatter:
        sync.reductions += calls;
        [[fallthrough]];
      case K::replica_all_reduce:
        sync.reduced += time;
        break;
      default:
        sync.last += time;
    }
  };
  for_each_data_call(config, shape, add);
  // A rank without a copy of the vocabulary weight waits for those that reduce its gradient.
  if (shape.copies && !shape.vocabulary)
    add(K::tied_embedding_grad, plan::Op::all_reduce, mesh::GroupKind::edges, 1,
        count_tied_gradient_bytes(config, shape));
  return sync;
}

/// Returns the exposed time of traffic that overlaps computation: the part that is longer than the
/// computation, plus the slowdown that the overlapped part causes.
Seconds exposed_time(Seconds traffic, Seconds compute, const cluster::Calibration& c) {
  return std::max(Seconds{}, traffic - compute) +
         c[cluster::Constant::zero3_contention] * std::min(traffic, compute);
}

/// X6, ZeRO-0 to ZeRO-2: gradients overlap the backward and weights the forward. The rest is
/// exposed, and at least a fixed fraction.
Seconds exposed_up_to_zero2(const plan::TrainingConfig& config, const RankWork& on,
                            const Sync& sync, const cluster::Calibration& c) {
  const plan::Plan& plan = config.plan;
  const double m = double(config.microbatches());
  const double reductions = reduces_every_microbatch(config) ? m : 1;
  const Seconds reduced = sync.reduced / reductions;
  // With v chunks, the gradients of all but one chunk are ready while the last pp microbatches run.
  const double v = double(plan.virtual_stages);
  const double window =
      c[cluster::Constant::dp_window] * (1 + (std::min(m, double(plan.pp)) - 1) * (v - 1) / v);
  const auto exposed = [&](bool overlap, Seconds time, Seconds compute) {
    return overlap ? std::max(c[cluster::Constant::dp_shown] * time, time - window * compute)
                   : time;
  };
  const Seconds early = plan.overlap.grad_reduce ? exposed_time(reduced, on.backward, c) : reduced;
  return exposed(plan.overlap.grad_reduce, reduced, on.backward) +
         exposed(plan.overlap.param_gather, sync.gathered, on.forward) + (reductions - 1) * early;
}

/// Returns the communication of one microbatch under ZeRO-3, from that of a step.
ZeroWaits find_zero3_waits(const plan::TrainingConfig& config, const RankWork& on, const Sync& sync,
                           const cluster::Calibration& c) {
  const double m = double(config.microbatches());
  const bool every = reduces_every_microbatch(config);
  const Seconds reduced = every ? sync.reduced / m : Seconds{};
  const double gathers =
      double(count_weight_gathers(config)) * m / double(config.stage_microbatches());
  const Seconds gathered = sync.gathered / gathers;
  const bool kept = keeps_gathered_weights(config);  // the first backward gathers, no other
  const auto mean = [](Seconds sum, i64 calls) {
    return calls > 0 ? sum / double(calls) : Seconds{};
  };
  return {.forward = exposed_time(gathered, on.forward, c),
          .backward = exposed_time((kept ? Seconds{} : gathered) + reduced, on.backward, c),
          .gathered = mean(sync.gathered, sync.gathers) +
                      (kept ? exposed_time(gathered, on.backward, c) : Seconds{}),
          // After the last microbatch nothing is left to overlap with.
          .scattered = every ? mean(sync.reduced, sync.reductions) : sync.reduced};
}

/// Returns the reduction and the gather of a pp rank with these parameters, all in one call.
MinSync sync_once(const plan::TrainingConfig& config, const plan::Share& share,
                  const Links& links) {
  plan::DataShape shape;
  // A call without bytes would take time, too.
  if (share.dense > 0) shape.dense[0] = shape.dense[1] = shape.dense_units = {{share.dense, 1}};
  if (share.expert > 0) shape.expert = shape.expert_units = {{share.expert, 1}};
  const Sync sync = estimate_sync(config, shape, links);
  const double reductions =
      reduces_every_microbatch(config) ? double(config.stage_microbatches()) : 1;
  const double gathers = std::max(1.0, double(count_weight_gathers(config)));
  return {sync.reduced / reductions, sync.gathered / gathers};
}

}  // namespace

MinSync min_sync(const plan::TrainingConfig& config, const plan::Share& min, const plan::Share& all,
                 const Links& links) {
  MinSync sum;
  if (has_frozen_weights(config)) return sum;
  // The time per byte of a call falls with its size, and no call has more than all parameters.
  const auto add = [&](const plan::Share& whole, i64 part) {
    if (part <= 0) return;
    const MinSync once = sync_once(config, whole, links);
    const double share = double(part) / double(whole.total());
    sum.reduced += share * once.reduced;
    sum.gathered += share * once.gathered;
  };
  add({.dense = all.dense}, min.dense);
  add({.expert = all.expert}, min.expert);
  return sum;
}

MinDataTime min_data_time(const plan::TrainingConfig& config, const MinSync& sync,
                          const cluster::Calibration& c) {
  const double contention = c[cluster::Constant::zero3_contention];
  const double m = double(config.microbatches());
  const bool every = reduces_every_microbatch(config);
  MinDataTime min{.not_slowed = std::max(0.0, 1 - contention)};
  if (config.plan.zero < 3) {
    const plan::Overlap& overlap = config.plan.overlap;
    const double early = every ? m - 1 : 0;  // reductions before the last microbatch
    const Seconds gathered = config.plan.zero > 0 ? sync.gathered : Seconds{};
    (overlap.grad_reduce ? min.windowed : min.always) += sync.reduced;
    (overlap.param_gather ? min.windowed : min.always) += gathered;
    min.always += early * (overlap.grad_reduce ? contention : 1) * sync.reduced;
    if (overlap.grad_reduce) min.spread = early * sync.reduced;
    min.shown = c[cluster::Constant::dp_shown];
    min.window = c[cluster::Constant::dp_window] * std::min(m, double(config.plan.pp)) / m;
    return min;
  }
  const bool kept = keeps_gathered_weights(config);
  const Seconds passes =
      (kept ? m : 2 * m) * sync.gathered + (every ? m * sync.reduced : Seconds{});
  min.spread = passes;
  min.always = contention * (passes + (kept ? sync.gathered : Seconds{}));
  if (!every) min.always += sync.reduced;
  return min;
}

Seconds MinDataTime::exposed(Seconds pipeline) const {
  return always + std::max(shown * windowed, windowed - window * pipeline) +
         not_slowed * std::max(Seconds{}, spread - pipeline);
}

ZeroWaits estimate_zero3_waits(const plan::TrainingConfig& config, const RankWork& on,
                               const plan::DataShape& shape, const Links& links,
                               const cluster::Calibration& calibration) {
  return find_zero3_waits(config, on, estimate_sync(config, shape, links), calibration);
}

CommTime estimate_data_time(const plan::TrainingConfig& config, const RankWork& on,
                            const plan::DataShape& shape, const Links& links,
                            const cluster::Calibration& calibration) {
  const Sync sync = estimate_sync(config, shape, links);
  Seconds exposed{};
  if (config.plan.zero < 3) {
    exposed = exposed_up_to_zero2(config, on, sync, calibration);
  } else {
    // X7: every microbatch gathers weights during forward and again during backward, where it also
    // reduces gradients. The first gather and the last reduction have nothing to overlap with.
    const double m = double(config.microbatches());
    const ZeroWaits waits = find_zero3_waits(config, on, sync, calibration);
    exposed = m * (waits.forward + waits.backward) + waits.gathered + waits.scattered;
  }
  exposed = std::min(exposed, sync.reduced + sync.gathered) + sync.last;
  return {exposed, sync.total() - exposed};
}

}  // namespace rankwright::cost
