#include "rankwright/plan/traffic.h"

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/plan/shares.h"

namespace rankwright {
namespace {

using K = TrafficKind;

constexpr TrafficKindRow kKinds[] = {
    {K::tp_all_gather, "TP all-gather", "per layer", true, true,
     "inside every layer: a slow link stalls every matmul"},
    {K::tp_reduce_scatter, "TP reduce-scatter", "per layer", true, true,
     "inside every layer: a slow link stalls every matmul"},
    {K::tp_all_reduce, "TP all-reduce", "per layer", true, true,
     "inside every layer: a slow link stalls every matmul"},
    {K::tp_embedding, "TP embedding", "per microbatch", true, true, "first stage only"},
    {K::tp_embedding_grad, "TP embedding grad", "per microbatch", true, true, "first stage only"},
    {K::tp_head_gather, "TP head all-gather", "per microbatch", true, true,
     "last stage only: adds to its imbalance"},
    {K::tp_head_reduce, "TP head grad", "per microbatch", true, true,
     "last stage only: adds to its imbalance"},
    {K::tp_cross_entropy, "TP cross-entropy", "per microbatch", true, true,
     "small messages: latency of the link"},
    {K::tp_norm_grads, "TP norm gradients", "per step", false, false, "small; forgotten in sums"},
    {K::cp_ring, "CP ring send/recv", "per layer", true, true,
     "hidden behind attention only while blocks are long"},
    {K::cp_all_gather, "CP all-gather", "per layer", true, true,
     "keys and values before attention"},
    {K::cp_reduce_scatter, "CP reduce-scatter", "per layer", true, true,
     "gradients of keys and values"},
    {K::cp_all_to_all, "CP all-to-all", "per layer", true, true,
     "heads for sequence and back, around attention"},
    {K::ep_all_to_all, "EP all-to-all", "per MoE layer", true, true,
     "waits for the most loaded expert"},
    {K::etp_all_gather, "ETP all-gather", "per MoE layer", true, true, "inside every expert layer"},
    {K::etp_reduce_scatter, "ETP reduce-scatter", "per MoE layer", true, true,
     "inside every expert layer"},
    {K::pp_forward, "PP send/recv forward", "per stage boundary", true, false,
     "idle time at fill and drain, and when stages are uneven"},
    {K::pp_backward, "PP send/recv backward", "per stage boundary", true, false,
     "idle time at fill and drain, and when stages are uneven"},
    {K::tied_embedding_grad, "tied embedding grad", "per step", true, false,
     "first and last stage wait for each other"},
    {K::dp_all_reduce, "DP all-reduce", "per backward bucket", false, false,
     "exposed when the last buckets outlast backward"},
    {K::dp_reduce_scatter, "DP reduce-scatter", "per backward bucket", false, false,
     "exposed when the last buckets outlast backward"},
    {K::dp_all_gather, "FSDP/ZeRO all-gather", "per wrapped unit", false, false,
     "exposed when a gather outlasts the layer before it"},
    {K::replica_all_reduce, "replica all-reduce", "per backward bucket", false, false,
     "hybrid sharding: shards agree across replicas"},
    {K::expert_dp_all_reduce, "expert DP all-reduce", "per backward bucket", false, false,
     "experts have fewer replicas and more bytes"},
    {K::expert_dp_reduce_scatter, "expert DP reduce-scatter", "per backward bucket", false, false,
     "experts have fewer replicas and more bytes"},
    {K::expert_dp_all_gather, "expert FSDP/ZeRO all-gather", "per wrapped unit", false, false,
     "experts have fewer replicas and more bytes"},
    {K::gradient_norm, "gradient norm", "per step", true, false,
     "one number, but everybody waits for the slowest"},
};

/// Collects rows for one pp rank; what several formulas need is computed once.
class Collector {
 public:
  Collector(const Setup& setup, i64 pp_rank)
      : setup_(setup),
        plan_(setup.plan),
        pp_rank_(pp_rank),
        share_(rank_share(setup, pp_rank)),
        on_rank_(contents(setup, pp_rank)) {
    // An MTP module has a layer like the last one in it, and a loss of its own.
    if (on_rank_.mtp > 0) on_rank_.runs.push_back({on_rank_.mtp, setup.model.runs.back().layer});
  }

  std::vector<Traffic> rows() {
    tensor();
    context();
    expert();
    pipeline();
    data();
    const GroupKind all = plan_.zero >= 1 ? GroupKind::world : GroupKind::model;
    add(K::gradient_norm, Op::all_reduce, all, 1, bytes(1, 4));
    return std::move(rows_);
  }

 private:
  i64 group_size(GroupKind group) const {
    return group_shape(plan_.meshes(), group, plan_.shards()).size();
  }

  /// `each` bytes a call.
  void add(K kind, Op op, GroupKind group, i64 calls, Bytes each) {
    add_total(kind, op, group, calls, calls * each);
  }

  void add_total(K kind, Op op, GroupKind group, i64 calls, Bytes total) {
    if (calls > 0 && group_size(group) > 1) rows_.push_back({kind, op, group, calls, total});
  }

  i64 microbatches() const { return setup_.microbatches(); }
  i64 tokens() const {  // of one microbatch on one rank, before sequence parallelism
    return plan_.micro_batch * setup_.job.sequence / plan_.cp;
  }
  bool sequence_parallel() const { return plan_.sequence_parallel && plan_.tp > 1; }
  /// `width` numbers for every token of a microbatch, in the activations' format.
  Bytes activations(i64 width) const {
    return double(tokens()) * bytes(width, setup_.job.activation_bytes());
  }
  Bytes gradients(i64 parameters) const { return bytes(parameters, setup_.job.grad_bytes()); }

  /// How many layers of `run` run forward a second time: full recompute takes the first
  /// `recompute_layers` of the rank, or all.
  i64 recomputed(const LayerRun& run) const {
    if (plan_.recompute != Recompute::full) return 0;
    if (plan_.recompute_layers == 0) return run.count;
    i64 before = 0;
    for (const LayerRun& earlier : on_rank_.runs) {
      if (&earlier == &run) break;
      before += earlier.count;
    }
    return std::clamp(plan_.recompute_layers - before, i64{0}, run.count);
  }

  void tensor();
  void context();
  void expert();
  void pipeline();
  void data();
  void reduce(i64 parameters, i64 units, GroupKind group, K all_reduce, K scatter, K gather);

  const Setup& setup_;
  const Plan& plan_;
  i64 pp_rank_;
  Share share_;
  RankContents on_rank_;
  std::vector<Traffic> rows_{};
};

// T1, T2: a layer has a block for attention and one for the feed-forward; a block gathers its input
// and scatters its output (sequence parallelism), or all-reduces its output. Backward gathers the
// input again for the weight gradient. Routed experts communicate over ep and etp instead.
void Collector::tensor() {
  i64 blocks = 0;
  i64 again = 0;
  for (const LayerRun& run : on_rank_.runs) {
    const bool mlp = !run.layer.ffn.sparse() || run.layer.ffn.shared_width > 0;
    blocks += run.count * (mlp ? 2 : 1);
    again += recomputed(run) * (mlp ? 2 : 1);
  }
  const i64 m = microbatches();
  const i64 losses = on_rank_.loss ? m * (1 + on_rank_.mtp) : 0;
  const i64 embeddings = on_rank_.embedding ? m : 0;
  const Bytes each = activations(setup_.model.hidden);
  const GroupKind tp = GroupKind::tp;
  if (sequence_parallel()) {
    add(K::tp_all_gather, Op::all_gather, tp, m * (3 * blocks + again), each);
    add(K::tp_reduce_scatter, Op::reduce_scatter, tp, m * (2 * blocks + again), each);
    add(K::tp_embedding, Op::reduce_scatter, tp, embeddings, each);
    add(K::tp_embedding_grad, Op::all_gather, tp, embeddings, each);
    add(K::tp_head_gather, Op::all_gather, tp, 2 * losses, each);
    add(K::tp_head_reduce, Op::reduce_scatter, tp, losses, each);
    add(K::tp_norm_grads, Op::all_reduce, tp, 1, gradients(share_.sequence_shared));
  } else {
    add(K::tp_all_reduce, Op::all_reduce, tp, m * (2 * blocks + again), each);
    add(K::tp_embedding, Op::all_reduce, tp, embeddings, each);
    add(K::tp_head_reduce, Op::all_reduce, tp, losses, each);
  }
  // T3: maximum, target logit and sum of exponentials, fp32, one number a token each.
  add(K::tp_cross_entropy, Op::all_reduce, tp, 3 * losses, bytes(tokens(), 4));
}

// T4 ring, T5 gather, T6 all-to-all: keys and values (and queries and outputs) of one layer.
// Attention runs again under selective recompute too.
void Collector::context() {
  if (plan_.cp == 1) return;
  const i64 m = microbatches();
  const GroupKind cp = GroupKind::cp;
  for (const LayerRun& run : on_rank_.runs) {
    const Attention& a = run.layer.attention;
    const bool latent = a.kind == Attention::Kind::latent;
    const i64 query = a.query_width() / plan_.tp;
    const i64 output = a.value_width() / plan_.tp;
    const i64 key = latent ? query : ceil_div(a.kv_heads, plan_.tp) * a.head_dim;
    const i64 value = latent ? output : key;
    const i64 again = plan_.recompute == Recompute::selective ? run.count : recomputed(run);
    const i64 forward = m * (run.count + again);
    const i64 backward = m * run.count;
    const Bytes block = activations(key + value);
    switch (plan_.cp_comm) {
      case CpComm::p2p:
        add(K::cp_ring, Op::send_recv, cp, (plan_.cp - 1) * (forward + 2 * backward), block);
        break;
      case CpComm::all_gather:
        add(K::cp_all_gather, Op::all_gather, cp, forward + backward, plan_.cp * block);
        add(K::cp_reduce_scatter, Op::reduce_scatter, cp, backward, plan_.cp * block);
        break;
      case CpComm::a2a: {
        const Bytes all = activations(query + key + value + output);
        add_total(K::cp_all_to_all, Op::all_to_all, cp, 4 * (forward + backward),
                  (forward + backward) * all);
        break;
      }
    }
  }
}

// T7: every token's copies go out and come back, forward and backward. T8: inside an expert that is
// itself split, its tokens are gathered and the outputs scattered.
void Collector::expert() {
  const i64 m = microbatches();
  const i64 split = sequence_parallel() ? plan_.tp : 1;
  for (const LayerRun& run : on_rank_.runs) {
    const FeedForward& ffn = run.layer.ffn;
    if (!ffn.sparse()) continue;
    const i64 passes = m * (2 * run.count + recomputed(run));
    const Bytes each = ffn.active * activations(setup_.model.hidden) / split;
    add(K::ep_all_to_all, Op::all_to_all, GroupKind::ep, 2 * passes, each);
    add(K::etp_all_gather, Op::all_gather, GroupKind::etp, passes, plan_.etp * each);
    add(K::etp_reduce_scatter, Op::reduce_scatter, GroupKind::etp, passes, plan_.etp * each);
  }
}

// T10: hidden states to the next stage, their gradients to the one before; a stage whose neighbour
// is on the same rank sends nothing. Under sequence parallelism each tp rank sends its own part.
void Collector::pipeline() {
  if (plan_.pp == 1) return;
  const i64 last = plan_.pp * plan_.virtual_stages - 1;
  i64 forward = 0;
  i64 backward = 0;
  for (const i64 s : stages_of(plan_, pp_rank_)) {
    if (s < last && pp_rank_of_stage(plan_, s + 1) != pp_rank_) ++forward;
    if (s > 0 && pp_rank_of_stage(plan_, s - 1) != pp_rank_) ++backward;
  }
  const Bytes each = activations(setup_.model.hidden) / (sequence_parallel() ? plan_.tp : 1);
  add(K::pp_forward, Op::send_recv, GroupKind::pp, microbatches() * forward, each);
  add(K::pp_backward, Op::send_recv, GroupKind::pp, microbatches() * backward, each);
  if (setup_.model.tied && (on_rank_.embedding || on_rank_.loss) &&
      on_rank_.embedding != on_rank_.loss)
    add(K::tied_embedding_grad, Op::all_reduce, GroupKind::edges, 1,
        gradients(vocabulary_share(setup_.model, plan_.tp) * setup_.model.hidden));
}

// T9 buckets; T11 ZeRO-0 to 3; T12 hybrid sharding; T13 experts over their own data ranks.
void Collector::data() {
  const i64 units =
      on_rank_.layers + on_rank_.mtp + (on_rank_.embedding ? 1 : 0) + (on_rank_.loss ? 1 : 0);
  const bool hybrid = plan_.zero >= 1 && plan_.shards() < plan_.data_ranks();
  reduce(share_.dense, units, hybrid ? GroupKind::shard : GroupKind::dp_cp, K::dp_all_reduce,
         K::dp_reduce_scatter, K::dp_all_gather);
  if (hybrid) {
    const i64 shard = ceil_div(share_.dense, plan_.shards());
    const i64 times = plan_.zero >= 2 ? microbatches() : 1;
    const i64 calls = plan_.zero >= 3 ? units : ceil_div(share_.dense, bucket_elements(plan_));
    add_total(K::replica_all_reduce, Op::all_reduce, GroupKind::replicate, times * calls,
              times * gradients(shard));
  }
  i64 sparse = 0;
  for (const LayerRun& run : on_rank_.runs) sparse += run.layer.ffn.sparse() ? run.count : 0;
  if (share_.expert > 0)
    reduce(share_.expert, sparse, GroupKind::edp, K::expert_dp_all_reduce,
           K::expert_dp_reduce_scatter, K::expert_dp_all_gather);
}

void Collector::reduce(i64 parameters, i64 units, GroupKind group, K all_reduce, K scatter,
                       K gather) {
  const Bytes grads = gradients(parameters);
  const Bytes weights = bytes(parameters, setup_.job.param_bytes());
  const i64 buckets = ceil_div(parameters, bucket_elements(plan_));
  const i64 m = microbatches();
  switch (plan_.zero) {
    case 0:
      add_total(all_reduce, Op::all_reduce, group, buckets, grads);
      break;
    case 1:
      add_total(scatter, Op::reduce_scatter, group, buckets, grads);
      add_total(gather, Op::all_gather, group, buckets, weights);
      break;
    case 2:
      // Only a shard of the gradients is kept, so every microbatch is reduced.
      add_total(scatter, Op::reduce_scatter, group, m * buckets, m * grads);
      add_total(gather, Op::all_gather, group, buckets, weights);
      break;
    default:
      // Gathered for forward, dropped, gathered again for backward.
      add_total(gather, Op::all_gather, group, 2 * m * units, 2 * m * weights);
      add_total(scatter, Op::reduce_scatter, group, m * units, m * grads);
  }
}

}  // namespace

std::string_view name(Op op) {
  constexpr std::string_view kNames[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all",
                                         "send/recv"};
  return kNames[std::size_t(op)];
}

std::span<const TrafficKindRow> traffic_kinds() { return kKinds; }

const TrafficKindRow& row(TrafficKind kind) {
  const TrafficKindRow& found = kKinds[std::size_t(kind)];
  RW_CHECK(found.kind == kind);
  return found;
}

std::vector<Traffic> traffic(const Setup& setup, i64 pp_rank) {
  return Collector(setup, pp_rank).rows();
}

i64 bucket_elements(const Plan& plan) {
  constexpr i64 kMillion = 1'000'000;
  return std::max(40 * kMillion, kMillion * plan.data_ranks());
}

}  // namespace rankwright
