// Data calls: the synchronization of gradients and parameters in one step, over data-parallel ranks
// and at the end of the step (formulas T9 and T11 to T14). The parameters of a pp rank are divided
// into calls once, in DataShape; the calls of each ZeRO stage follow from it without allocation,
// because a search needs them for every plan that it evaluates.
#pragma once

#include <algorithm>
#include <vector>

#include "rankwright/plan/adapters.h"
#include "rankwright/plan/frozen.h"
#include "rankwright/plan/shares.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::plan {

/// A number of calls on equally many parameters each.
struct CallPiece {
  i64 elements = 0;
  i64 calls = 0;
};

/// How the parameters of one pp rank are divided into calls. Every chunk has its own: one call per
/// unit with ZeRO-3, otherwise one per bucket (T9).
struct DataShape {
  /// Buckets of dense parameters, with ZeRO-0 and with ZeRO-1 and 2. From ZeRO-1 on, a vocabulary
  /// weight with copies on other pp ranks is a bucket of its own.
  std::vector<CallPiece> dense[2]{};
  std::vector<CallPiece> expert{};
  std::vector<CallPiece> dense_units{}, expert_units{};
  /// If some weights are frozen: the units that only forward passes gather, which are not in the
  /// lists above, and what has gradients, under LoRA the adapters. Otherwise empty.
  std::vector<CallPiece> dense_forward{}, expert_forward{};
  std::vector<CallPiece> dense_trained{}, expert_trained{};
  Share share{};
  std::vector<CallPiece> partial{};  // by weight, where reduces_weights_alone()
  bool copies = false;               // several pp ranks hold the vocabulary weight
  bool vocabulary = false;           // this pp rank holds it
};

/// Returns the shape of a pp rank with these stages, which are the config's.
DataShape make_data_shape(const TrainingConfig& config, const Stages& stages, i64 pp_rank);

/// Returns the bytes of the all-reduce between the pp ranks that hold copies of the vocabulary
/// weight: its full gradient while ranks keep full gradients, otherwise a shard; 0 without copies.
Bytes count_tied_gradient_bytes(const TrainingConfig& config, const DataShape& shape);

/// Returns whether the weights that a backward pass has gathered are kept: FSDP in a pipeline frees
/// them after forward passes only. The first pass of a step and each pass after a forward pass
/// gather them, whatever the schedule.
bool keeps_gathered_weights(const TrainingConfig& config);

/// Returns the bytes per element of a partial gradient that is reduced alone: gradients that are
/// not reduced with every microbatch are accumulated first.
i64 partial_gradient_bytes(const TrainingConfig& config);

/// Returns how often a step gathers a weight over the data-parallel ranks (T11). With ZeRO-3, each
/// of its stage_microbatches() gathers a weight once that only forward passes read.
i64 count_weight_gathers(const TrainingConfig& config);

/// Calls visit(kind, op, group, calls, bytes per call) for all data calls of the pp rank in one
/// step, in the order of Megatron-LM's finalize_model_grads after the data-parallel ones. Groups
/// may be of one rank.
template <class Visit>
void for_each_data_call(const TrainingConfig& config, const DataShape& shape, Visit visit) {
  using K = TrafficKind;
  using G = mesh::GroupKind;
  const Plan& plan = config.plan;
  const bool hybrid = plan.zero >= 1 && plan.shards() < plan.data_ranks();
  const i64 m = config.stage_microbatches();
  const i64 reductions = reduces_every_microbatch(config) ? m : 1;
  const i64 gathers = count_weight_gathers(config);
  const Op op = find_gradient_op(config);
  const auto gradients = [&](i64 elements) { return bytes(elements, config.job.grad_bytes()); };

  // T11 and T12, hybrid sharding; T13, experts over their own data ranks.
  // Not everything that is gathered is reduced.
  const bool apart = plan.zero >= 3 && has_frozen_weights(config);
  const auto reduce_and_gather = [&](const std::vector<CallPiece>& pieces, G group, K all_reduce,
                                     K scatter, K gather) {
    for (const CallPiece& piece : pieces) {
      if (!apart)
        visit(op == Op::all_reduce ? all_reduce : scatter, op, group, reductions * piece.calls,
              gradients(piece.elements));
      if (gathers > 0)
        visit(gather, Op::all_gather, group, gathers * piece.calls,
              bytes(piece.elements, count_gathered_bytes(config)));
    }
  };
  if (apart) {
    for (const CallPiece& piece : shape.dense_trained) {
      visit(K::dp_reduce_scatter, op, hybrid ? G::shard : G::dp_cp, reductions * piece.calls,
            gradients(piece.elements));
      if (gathers_adapters(config))
        visit(K::dp_all_gather, Op::all_gather, hybrid ? G::shard : G::dp_cp, gathers * piece.calls,
              bytes(piece.elements, adapter_bytes(config.job)));
    }
    for (const CallPiece& piece : shape.expert_trained) {
      visit(K::expert_dp_reduce_scatter, op, G::edp, reductions * piece.calls,
            gradients(piece.elements));
      if (gathers_adapters(config))
        visit(K::expert_dp_all_gather, Op::all_gather, G::edp, gathers * piece.calls,
              bytes(piece.elements, adapter_bytes(config.job)));
    }
    const double each = count_gathered_bytes(config);
    for (const CallPiece& piece : shape.dense_forward)
      visit(K::dp_all_gather, Op::all_gather, hybrid ? G::shard : G::dp_cp, m * piece.calls,
            bytes(piece.elements, each));
    for (const CallPiece& piece : shape.expert_forward)
      visit(K::expert_dp_all_gather, Op::all_gather, G::edp, m * piece.calls,
            bytes(piece.elements, each));
  }
  const std::vector<CallPiece>& dense =
      plan.zero >= 3 ? shape.dense_units : shape.dense[plan.zero >= 1 ? 1 : 0];
  reduce_and_gather(dense, hybrid ? G::shard : G::dp_cp, K::dp_all_reduce, K::dp_reduce_scatter,
                    K::dp_all_gather);
  if (hybrid)
    for (const CallPiece& piece : apart ? shape.dense_trained : dense)
      visit(K::replica_all_reduce, Op::all_reduce, G::replicate, reductions * piece.calls,
            gradients(piece.elements) / plan.shards());
  reduce_and_gather(plan.zero >= 3 ? shape.expert_units : shape.expert, G::edp,
                    K::expert_dp_all_reduce, K::expert_dp_reduce_scatter, K::expert_dp_all_gather);

  if (reduces_weights_alone(config))
    for (const CallPiece& weight : shape.partial)
      visit(K::tp_norm_grads, Op::all_reduce, G::tp, reductions * weight.calls,
            bytes(weight.elements, partial_gradient_bytes(config)));
  else if (const i64 partial = count_partial_gradients(plan, shape.share); partial > 0)
    visit(K::tp_norm_grads, Op::all_reduce, G::tp, i64{1}, gradients(partial));
  if (const Bytes tied = count_tied_gradient_bytes(config, shape);
      shape.vocabulary && tied.value > 0)
    visit(K::tied_embedding_grad, Op::all_reduce, G::edges, i64{1}, tied);
  if (plan.mirrored()) {
    // T14: the two ranks that hold the same stages sum up whole buckets, or their shards with ZeRO.
    const bool sharded = plan.zero >= 1;
    for (const CallPiece& piece : shape.dense[sharded ? 1 : 0])
      visit(K::mirror_grad, Op::all_reduce, G::mirror, piece.calls,
            gradients(piece.elements) / (sharded ? plan.shards() : 1));
    for (const CallPiece& piece : shape.expert)
      visit(K::mirror_grad, Op::all_reduce, G::mirror, piece.calls,
            gradients(piece.elements) / (sharded ? plan.expert_dp() : 1));
  }
  visit(K::gradient_norm, Op::all_reduce, plan.zero >= 1 ? G::world : G::model, i64{1},
        bytes(1, config.job.scalar_bytes()));
}

}  // namespace rankwright::plan
