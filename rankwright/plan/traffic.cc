#include "rankwright/plan/traffic.h"

#include <algorithm>
#include <limits>

#include "rankwright/plan/messages.h"
#include "rankwright/plan/shares.h"

namespace rankwright::plan {
namespace {

using K = TrafficKind;

constexpr i64 kLast = std::numeric_limits<i64>::max();

/// Collects the rows of one pp rank; shared intermediate results are computed once.
class TrafficCollector {
 public:
  TrafficCollector(const TrainingConfig& config, i64 pp_rank)
      : config_(config),
        plan_(config.plan),
        pp_rank_(pp_rank),
        on_rank_(contents(config, pp_rank)),
        share_(count_rank_share(config, on_rank_)),
        sizes_(compute_messages(config)) {
    // An MTP module contains a layer like the model's last.
    if (on_rank_.mtp > 0) on_rank_.runs.push_back({on_rank_.mtp, config.model.runs.back().layer});
    i64 before = 0;
    for (const model::LayerRun& run : on_rank_.runs) {
      again_.push_back(count_recomputed_layers(plan_, before, run.count));
      before += run.count;
    }
  }

  std::vector<Traffic> collect() {
    add_tensor_parallel();
    add_context_parallel();
    add_expert_parallel();
    add_pipeline_parallel();
    add_data_parallel();
    add_mirror();
    const mesh::GroupKind all = plan_.zero >= 1 ? mesh::GroupKind::world : mesh::GroupKind::model;
    add(K::gradient_norm, Op::all_reduce, all, 1, bytes(1, config_.job.scalar_bytes()));
    return std::move(rows_);
  }

 private:
  i64 group_size(mesh::GroupKind group) const {
    return make_group_shape(plan_.meshes(), group, plan_.shards()).size();
  }

  /// Adds calls of `each` bytes.
  void add(K kind, Op op, mesh::GroupKind group, i64 calls, Bytes each) {
    add_total(kind, op, group, calls, calls * each);
  }

  /// Adds calls of `total` bytes together. There is one row per kind, whatever layers the calls
  /// come from.
  void add_total(K kind, Op op, mesh::GroupKind group, i64 calls, Bytes total) {
    if (calls == 0 || total.value == 0 || group_size(group) == 1) return;
    for (Traffic& row : rows_)
      if (row.kind == kind) {
        row.calls += calls;
        row.total += total;
        return;
      }
    rows_.push_back({kind, op, group, calls, total});
  }

  /// Returns the microbatches per stage of the rank.
  i64 microbatches() const { return config_.stage_microbatches(); }
  Bytes gradients(i64 parameters) const { return bytes(parameters, config_.job.grad_bytes()); }
  /// Returns the buckets of a chunk; a weight that is set apart is a bucket of its own.
  i64 buckets(const Holding& chunk, i64 Share::*kind) const {
    const i64 apart = kind == &Share::dense ? chunk.apart : 0;
    return (apart > 0 ? 1 : 0) + ceil_div(chunk.share.*kind - apart, count_bucket_elements(plan_));
  }

  /// Returns how many layers of `run`, an element of on_rank_, run forward a second time.
  i64 recomputed(const model::LayerRun& run) const {
    return again_[std::size_t(&run - on_rank_.runs.data())];
  }

  void add_tensor_parallel();
  void add_mtp();
  void add_context_parallel();
  void add_expert_parallel();
  void add_pipeline_parallel();
  bool holds_vocabulary(const RankContents& on_rank) const;
  void add_data_parallel();
  struct Pieces {  // elements and the number of calls that they are divided into
    i64 elements = 0;
    i64 calls = 0;
  };
  Pieces pieces(i64 Share::*kind) const;
  void add_reduction(Pieces pieces, mesh::GroupKind group, K all_reduce, K scatter, K gather);
  void add_mirror();

  const TrainingConfig& config_;
  const Plan& plan_;
  i64 pp_rank_;
  RankContents on_rank_;
  Share share_;
  Messages sizes_;
  std::vector<i64> again_{};  // by run: number of layers that run forward a second time
  std::vector<Traffic> rows_{};
};

// T1, T2: a layer has an attention block and a feed-forward block. With sequence parallelism a
// block all-gathers its input and reduce-scatters its output, otherwise it all-reduces its output.
// Backward gathers the input again for the weight gradient. Routed experts communicate over ep and
// etp instead.
void TrafficCollector::add_tensor_parallel() {
  i64 blocks = 0;
  i64 again = 0;
  for (const model::LayerRun& run : on_rank_.runs) {
    const bool mlp = !run.layer.ffn.sparse() || run.layer.ffn.shared_width > 0;
    blocks += run.count * (mlp ? 2 : 1);
    again += recomputed(run) * (mlp ? 2 : 1);
  }
  const i64 m = microbatches();
  // The loss comes after all MTP modules, and their outputs go through the head like the model's
  // own.
  const i64 losses = on_rank_.loss ? m * (1 + count_mtp_until(config_.stages(), kLast)) : 0;
  const i64 embeddings = m * ((on_rank_.embedding ? 1 : 0) + on_rank_.mtp);
  const Bytes each = sizes_.hidden;
  const mesh::GroupKind tp = mesh::GroupKind::tp;
  if (sequence_parallel(plan_)) {
    add(K::tp_all_gather, Op::all_gather, tp, m * (3 * blocks + again), each);
    add(K::tp_reduce_scatter, Op::reduce_scatter, tp, m * (2 * blocks + again), each);
    // Learned positions are added to whole sequences: the sum is split locally, without a
    // collective.
    const Op sum = config_.model.positions > 0 ? Op::all_reduce : Op::reduce_scatter;
    add(K::tp_embedding, sum, tp, embeddings, each);
    add(K::tp_embedding_grad, Op::all_gather, tp, embeddings, each);
    add(K::tp_head_gather, Op::all_gather, tp, 2 * losses, each);
    add(K::tp_head_reduce, Op::reduce_scatter, tp, losses, each);
  } else {
    add(K::tp_all_reduce, Op::all_reduce, tp, m * (2 * blocks + again), each);
    add(K::tp_embedding, Op::all_reduce, tp, embeddings, each);
    add(K::tp_head_reduce, Op::all_reduce, tp, losses, each);
  }
  add(K::tp_norm_grads, Op::all_reduce, tp, 1, gradients(count_partial_gradients(plan_, share_)));
  add_mtp();
  // T3: maximum, target logit and sum of exponentials, each one number per token.
  add(K::tp_cross_entropy, Op::all_reduce, tp, 3 * losses, sizes_.scores);
}

// T2: the 2h -> h projection before an MTP module's layer, which joins embedding and hidden state.
// Its output is gathered; backward scatters that gather, then gathers and scatters the projection's
// input.
void TrafficCollector::add_mtp() {
  if (on_rank_.mtp == 0) return;
  const i64 m = microbatches();
  const i64 modules = m * on_rank_.mtp;
  const i64 again = m * recomputed(on_rank_.runs.back());
  const Bytes each = sizes_.hidden;
  const mesh::GroupKind tp = mesh::GroupKind::tp;
  add(K::tp_all_gather, Op::all_gather, tp, modules + again, each);
  add(K::tp_reduce_scatter, Op::reduce_scatter, tp, modules, each);
  if (sequence_parallel(plan_)) {
    add(K::tp_all_gather, Op::all_gather, tp, 2 * modules + again, 2 * each);
    add(K::tp_all_gather, Op::all_gather, tp, modules, each);
    add(K::tp_reduce_scatter, Op::reduce_scatter, tp, modules, 2 * each);
  } else {
    add(K::tp_all_reduce, Op::all_reduce, tp, modules, 2 * each);
  }
}

// T4 ring, T5 all-gather, T6 all-to-all: keys and values (and queries and outputs) of one layer.
// Selective recompute runs attention again, too.
void TrafficCollector::add_context_parallel() {
  if (plan_.cp == 1) return;
  const i64 m = microbatches();
  const mesh::GroupKind cp = mesh::GroupKind::cp;
  for (const model::LayerRun& run : on_rank_.runs) {
    const AttentionMessages sizes = compute_messages(config_, run.layer.attention);
    const i64 again = plan_.recompute == Recompute::selective ? run.count : recomputed(run);
    const i64 forward = m * (run.count + again);
    const i64 backward = m * run.count;
    const Bytes block = sizes.key + sizes.value;
    switch (plan_.cp_comm) {
      case CpComm::p2p:
        add(K::cp_ring, Op::send_recv, cp, (plan_.cp - 1) * (forward + 2 * backward), block);
        break;
      case CpComm::all_gather:
        add(K::cp_all_gather, Op::all_gather, cp, forward + backward, plan_.cp * block);
        add(K::cp_reduce_scatter, Op::reduce_scatter, cp, backward, plan_.cp * block);
        break;
      case CpComm::a2a: {
        const Bytes all = sizes.query + block + sizes.output;
        add_total(K::cp_all_to_all, Op::all_to_all, cp, 4 * (forward + backward),
                  (forward + backward) * all);
        break;
      }
    }
  }
}

// T7: the token copies are dispatched and combined, forward and backward. T8: inside an expert that
// is split over etp, its tokens are gathered and the outputs reduce-scattered.
void TrafficCollector::add_expert_parallel() {
  const i64 m = microbatches();
  for (const model::LayerRun& run : on_rank_.runs) {
    const model::FeedForward& ffn = run.layer.ffn;
    if (!ffn.sparse()) continue;
    const i64 passes = m * (2 * run.count + recomputed(run));
    const Bytes each = compute_expert_message(config_, ffn);
    add(K::ep_all_to_all, Op::all_to_all, mesh::GroupKind::ep, 2 * passes, each);
    add(K::etp_all_gather, Op::all_gather, mesh::GroupKind::etp, passes, plan_.etp * each);
    add(K::etp_reduce_scatter, Op::reduce_scatter, mesh::GroupKind::etp, passes, plan_.etp * each);
  }
}

// T10: hidden states go to the next stage, their gradients to the previous one; a stage whose
// neighbor is on the same rank sends nothing. With sequence parallelism each tp rank sends its own
// part. The outputs of MTP modules are sent along to the loss.
void TrafficCollector::add_pipeline_parallel() {
  if (plan_.pp == 1) return;
  const Stages stages = config_.stages();
  const pipeline::PipelineShape shape = make_pipeline_shape(config_);
  const i64 last = shape.stages() - 1;
  const i64 m = microbatches();
  for (const i64 s : list_stages(plan_, pp_rank_)) {
    const i64 microbatch = pipeline::find_microbatches(shape, pp_rank_, s)
                               .first;  // any microbatch that passes this stage on this rank
    if (s < last && pipeline::find_pp_rank(shape, s + 1, microbatch) != pp_rank_)
      add(K::pp_forward, Op::send_recv, mesh::GroupKind::pp, m,
          compute_boundary_message(config_, count_mtp_until(stages, s)));
    if (s > 0 && pipeline::find_pp_rank(shape, s - 1, microbatch) != pp_rank_)
      add(K::pp_backward, Op::send_recv, mesh::GroupKind::pp, m,
          compute_boundary_message(config_, count_mtp_until(stages, s - 1)));
  }
  // The full gradient while ranks keep full gradients, otherwise the shard.
  if (holds_vocabulary(on_rank_) && has_vocabulary_copies(config_))
    add(K::tied_embedding_grad, Op::all_reduce, mesh::GroupKind::edges, 1,
        gradients(count_vocabulary_weight(config_.model, plan_.tp).dense) /
            (plan_.zero >= 2 ? plan_.shards() : 1));
}

/// Returns whether the rank holds the vocabulary weight, as the embedding or as a tied head.
bool TrafficCollector::holds_vocabulary(const RankContents& on_rank) const {
  return on_rank.embeds() || (config_.model.tied && on_rank.loss);
}

/// Returns what is reduced or gathered. Every chunk has its own calls: one per unit with ZeRO-3,
/// otherwise one per bucket (T9).
TrafficCollector::Pieces TrafficCollector::pieces(i64 Share::*kind) const {
  Pieces all;
  const auto add = [&](i64 elements, i64 calls) {
    all.elements += elements;
    all.calls += calls;
  };
  if (plan_.zero >= 3) {
    for (const RankContents& chunk : list_chunk_contents(config_, pp_rank_))
      for (const Unit& unit : list_units(config_, chunk))
        if (unit.share.*kind > 0) add(unit.count * unit.share.*kind, unit.count);
  } else {
    for (const Holding& chunk : list_chunk_holdings(config_, pp_rank_))
      add(chunk.share.*kind, buckets(chunk, kind));
  }
  return all;
}

// T11 ZeRO-0 to 3; T12 hybrid sharding; T13 experts over their own data ranks.
void TrafficCollector::add_data_parallel() {
  const bool hybrid = plan_.zero >= 1 && plan_.shards() < plan_.data_ranks();
  const Pieces dense = pieces(&Share::dense);
  add_reduction(dense, hybrid ? mesh::GroupKind::shard : mesh::GroupKind::dp_cp, K::dp_all_reduce,
                K::dp_reduce_scatter, K::dp_all_gather);
  if (hybrid) {
    const i64 times = plan_.zero >= 2 ? microbatches() : 1;
    add_total(K::replica_all_reduce, Op::all_reduce, mesh::GroupKind::replicate,
              times * dense.calls, times * gradients(dense.elements) / plan_.shards());
  }
  add_reduction(pieces(&Share::expert), mesh::GroupKind::edp, K::expert_dp_all_reduce,
                K::expert_dp_reduce_scatter, K::expert_dp_all_gather);
}

void TrafficCollector::add_reduction(Pieces pieces, mesh::GroupKind group, K all_reduce, K scatter,
                                     K gather) {
  const Bytes grads = gradients(pieces.elements);
  const Bytes weights = bytes(pieces.elements, config_.job.param_bytes());
  const i64 calls = pieces.calls;
  const i64 m = microbatches();
  switch (plan_.zero) {
    case 0:
      add_total(all_reduce, Op::all_reduce, group, calls, grads);
      break;
    case 1:
      add_total(scatter, Op::reduce_scatter, group, calls, grads);
      add_total(gather, Op::all_gather, group, calls, weights);
      break;
    case 2:
      // Only a shard of the gradients is kept, so every microbatch is reduced.
      add_total(scatter, Op::reduce_scatter, group, m * calls, m * grads);
      add_total(gather, Op::all_gather, group, calls, weights);
      break;
    default:
      // Gathered for forward, freed, and gathered again for backward.
      add_total(gather, Op::all_gather, group, 2 * m * calls, 2 * m * weights);
      add_total(scatter, Op::reduce_scatter, group, m * calls, m * grads);
  }
}

// T14: after the data-parallel reduction, the two ranks that hold the same stages sum up their
// gradients: whole buckets, or their shards with ZeRO.
void TrafficCollector::add_mirror() {
  if (!plan_.mirrored()) return;
  const bool sharded = plan_.zero >= 1;
  const Bytes dense = gradients(share_.dense) / (sharded ? plan_.shards() : 1);
  const Bytes expert = gradients(share_.expert) / (sharded ? plan_.expert_dp() : 1);
  i64 calls = 0;
  for (const Holding& chunk : list_chunk_holdings(config_, pp_rank_))
    calls += buckets(chunk, &Share::dense) + buckets(chunk, &Share::expert);
  add_total(K::mirror_grad, Op::all_reduce, mesh::GroupKind::mirror, calls, dense + expert);
}

}  // namespace

std::vector<Traffic> list_traffic(const TrainingConfig& config, i64 pp_rank) {
  return TrafficCollector(config, pp_rank).collect();
}

i64 count_bucket_elements(const Plan& plan) {
  constexpr i64 kMillion = 1'000'000;
  if (plan.bucket_size > 0) return plan.bucket_size;
  return std::max(40 * kMillion, kMillion * plan.data_ranks());
}

}  // namespace rankwright::plan
