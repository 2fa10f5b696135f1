#include "rankwright/plan/traffic.h"

#include <algorithm>
#include <limits>

#include "rankwright/plan/data_calls.h"
#include "rankwright/plan/kept_inputs.h"
#include "rankwright/plan/messages.h"

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
        sizes_(compute_messages(config)) {
    on_rank_.runs.clear();
    for (const RankContents& chunk : list_chunk_contents(config, pp_rank)) add_runs(chunk);
  }

  std::vector<Traffic> collect() {
    add_tensor_parallel();
    add_context_parallel();
    add_expert_parallel();
    add_pipeline_parallel();
    for_each_data_call(config_, make_data_shape(config_, config_.stages(), pp_rank_),
                       [&](K kind, Op op, mesh::GroupKind group, i64 calls, Bytes each) {
                         add(kind, op, group, calls, each);
                       });
    return std::move(rows_);
  }

 private:
  /// Adds the runs of layers of one chunk.
  void add_runs(const RankContents& chunk) {
    const auto add_run = [&](const model::LayerRun& run, i64 recomputed) {
      on_rank_.runs.push_back(run);
      again_.push_back(runs_backward(config_, run.layer) ? recomputed : 0);
    };
    i64 before = 0;
    for (const model::LayerRun& run : chunk.runs) {
      add_run(run, count_recomputed_layers(plan_, before, run.count));
      before += run.count;
    }
    // An MTP module contains a layer like the model's last.
    if (chunk.mtp > 0)
      add_run({chunk.mtp, config_.model.runs.back().layer},
              recomputes_everything(plan_) ? chunk.mtp : 0);
  }

  i64 group_size(mesh::GroupKind group) const {
    return make_group_shape(plan_.meshes(), group, plan_.shards()).size();
  }

  /// Adds calls of `each` bytes. There is one row per kind and message size, whatever layers the
  /// calls come from.
  void add(K kind, Op op, mesh::GroupKind group, i64 calls, Bytes each) {
    if (calls == 0 || each.value == 0 || group_size(group) == 1) return;
    for (std::size_t k = 0; k < rows_.size(); ++k)
      if (rows_[k].kind == kind && rows_[k].op == op && sizes_of_[k] == each) {
        rows_[k].calls += calls;
        rows_[k].total += calls * each;
        return;
      }
    rows_.push_back({kind, op, group, calls, calls * each});
    sizes_of_.push_back(each);
  }

  /// Returns the microbatches per stage of the rank.
  i64 microbatches() const { return config_.stage_microbatches(); }
  /// Returns how many layers of a run run backward.
  i64 backward_layers(const model::LayerRun& run) const {
    return runs_backward(config_, run.layer) ? run.count : 0;
  }
  /// Returns how many layers of `run`, an element of on_rank_, run forward a second time.
  i64 recomputed(const model::LayerRun& run) const {
    return again_[std::size_t(&run - on_rank_.runs.data())];
  }

  void add_block(const model::LayerRun& run, const BlockInputs& inputs, bool again);
  void add_tensor_parallel();
  void add_mtp();
  void add_context_parallel();
  void add_expert_parallel();
  void add_pipeline_parallel();

  const TrainingConfig& config_;
  const Plan& plan_;
  i64 pp_rank_;
  RankContents on_rank_;
  Messages sizes_;
  std::vector<i64> again_{};  // by run: number of layers that run forward a second time
  std::vector<Traffic> rows_{};
  std::vector<Bytes> sizes_of_{};  // by row: bytes per call
};

// T1, T2: with sequence parallelism a block all-gathers its input and reduce-scatters its output,
// otherwise it all-reduces its output. With `again`, backward gathers the input once more for the
// weight gradient, unless it was kept.
void TrafficCollector::add_block(const model::LayerRun& run, const BlockInputs& inputs,
                                 bool again) {
  const i64 m = microbatches();
  const i64 forward = m * (run.count + recomputed(run)), backward = m * backward_layers(run);
  const mesh::GroupKind tp = mesh::GroupKind::tp;
  if (!sequence_parallel(plan_)) {
    add(K::tp_all_reduce, Op::all_reduce, tp, forward, sizes_.hidden);
    for (const Bytes input : inputs.tensors)
      add(K::tp_all_reduce, Op::all_reduce, tp, backward, input);
    return;
  }
  for (const Bytes input : inputs.tensors) {
    add(K::tp_all_gather, Op::all_gather, tp, forward, input);
    add(K::tp_reduce_scatter, Op::reduce_scatter, tp, backward, input);
  }
  for (const Bytes input : inputs.of_matmuls())
    add(K::tp_all_gather, Op::all_gather, tp, again && gathers_again(config_) ? backward : 0,
        input);
  add(K::tp_reduce_scatter, Op::reduce_scatter, tp, forward, sizes_.hidden);
  add(K::tp_all_gather, Op::all_gather, tp, backward, sizes_.hidden);
}

// T1, T2: a layer has an attention block and a feed-forward block. Routed experts communicate over
// ep and etp instead.
void TrafficCollector::add_tensor_parallel() {
  for (const model::LayerRun& run : on_rank_.runs) {
    if (run.layer.attention.present())
      add_block(run, compute_block_inputs(config_, run.layer.attention),
                reads_attention_input_again(config_, run.layer));
    if (has_dense_block(run.layer.ffn))
      add_block(run, compute_block_inputs(config_), reads_ffn_input_again(config_, run.layer));
  }
  const i64 m = microbatches();
  // The loss comes after all MTP modules, and their outputs go through the head like the model's
  // own.
  const i64 losses = on_rank_.loss ? m * (1 + count_mtp_until(config_.stages(), kLast)) : 0;
  const i64 embeddings = m * ((on_rank_.embedding ? 1 : 0) + on_rank_.mtp);
  const Bytes each = sizes_.hidden;
  const mesh::GroupKind tp = mesh::GroupKind::tp;
  if (sequence_parallel(plan_)) {
    // Learned positions are added to whole sequences: the sum is split locally, without a
    // collective.
    const Op sum = config_.model.positions > 0 ? Op::all_reduce : Op::reduce_scatter;
    add(K::tp_embedding, sum, tp, embeddings, each);
    const bool twice = reads_head_input_again(config_) && !config_.software.eager_ops;
    add(K::tp_embedding_grad, Op::all_gather, tp,
        reads_embedding_gradient(config_) ? embeddings : 0, each);
    add(K::tp_head_gather, Op::all_gather, tp, twice ? 2 * losses : losses, each);
    add(K::tp_head_reduce, Op::reduce_scatter, tp, losses, each);
  } else {
    add(K::tp_embedding, Op::all_reduce, tp, embeddings, each);
    add(K::tp_head_reduce, Op::all_reduce, tp, losses, each);
  }
  add_mtp();
  // T3: maximum, target logit and sum of exponentials, each one number per token.
  const i64 chunks = count_loss_chunks(config_.software.loss);
  add(K::tp_cross_entropy, Op::all_reduce, tp, 3 * chunks * losses, sizes_.scores / chunks);
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
    const i64 again = recomputes_attention_core(config_) ? backward_layers(run) : recomputed(run);
    const i64 forward = m * (run.count + again);
    const i64 backward = m * backward_layers(run);
    const Bytes block = sizes.key + sizes.value;
    switch (plan_.cp_comm) {
      case CpComm::p2p:
        add(K::cp_ring, Op::send_recv, cp, (plan_.cp - 1) * (forward + 2 * backward), block);
        break;
      case CpComm::all_gather: {
        const i64 gathers = forward + (gathers_again(config_) ? backward : 0);
        for (const Bytes tensor : {sizes.key, sizes.value}) {
          add(K::cp_all_gather, Op::all_gather, cp, gathers, plan_.cp * tensor);
          add(K::cp_reduce_scatter, Op::reduce_scatter, cp, backward, plan_.cp * tensor);
        }
        break;
      }
      case CpComm::a2a: {
        for (const Bytes tensor : {sizes.query, sizes.key, sizes.value, sizes.output})
          add(K::cp_all_to_all, Op::all_to_all, cp, forward + backward, tensor);
        break;
      }
    }
  }
}

// T7: the token copies are dispatched and combined, forward and backward; DTensor exchanges their
// number per expert before the dispatch. T8: inside an expert that
// is split over etp, its tokens are gathered and the outputs reduce-scattered.
void TrafficCollector::add_expert_parallel() {
  const i64 m = microbatches();
  for (const model::LayerRun& run : on_rank_.runs) {
    const model::FeedForward& ffn = run.layer.ffn;
    if (!ffn.sparse()) continue;
    const i64 passes = m * (run.count + backward_layers(run) + recomputed(run));
    const Bytes each = compute_expert_message(config_, ffn);
    add(K::ep_token_counts, Op::all_to_all, mesh::GroupKind::ep, m * (run.count + recomputed(run)),
        compute_count_message(config_, ffn));
    add(K::ep_all_to_all, Op::all_to_all, mesh::GroupKind::ep, 2 * passes, each);
    const Bytes inside = compute_etp_message(config_, ffn);
    add(K::etp_all_gather, Op::all_gather, mesh::GroupKind::etp, passes, inside);
    add(K::etp_reduce_scatter, Op::reduce_scatter, mesh::GroupKind::etp, passes, inside);
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
}

}  // namespace

std::vector<Traffic> list_calls(const TrainingConfig& config, i64 pp_rank) {
  return TrafficCollector(config, pp_rank).collect();
}

std::vector<Traffic> list_traffic(const TrainingConfig& config, i64 pp_rank) {
  std::vector<Traffic> rows;
  for (const Traffic& calls : list_calls(config, pp_rank)) {
    const auto same = std::find_if(rows.begin(), rows.end(),
                                   [&](const Traffic& row) { return row.kind == calls.kind; });
    if (same == rows.end()) {
      rows.push_back(calls);
      continue;
    }
    same->calls += calls.calls;
    same->total += calls.total;
  }
  return rows;
}

bool reduces_every_microbatch(const TrainingConfig& config) {
  const bool once = config.software.fsdp && config.plan.pp > 1;
  return config.plan.zero >= 2 && !once;
}

Op find_gradient_op(const TrainingConfig& config) {
  const int zero = config.plan.zero;
  return zero == 0 || (zero < 3 && config.software.all_reduces) ? Op::all_reduce
                                                                : Op::reduce_scatter;
}

double count_gathered_bytes(const TrainingConfig& config) {
  if (config.job.frozen())
    return config.plan.zero >= 3  // fp32 weights are cast before they are gathered
               ? std::min(config.job.base_bytes(), double(config.job.param_bytes()))
               : double(adapter_bytes(config.job));
  const bool fp8 =
      config.plan.zero >= 3 && config.software.gathers_fp8 && config.job.matmul != Matmul::same;
  return fp8 ? 1 : double(config.job.param_bytes());
}

i64 count_bucket_elements(const Plan& plan) {
  constexpr i64 kMillion = 1'000'000;
  if (plan.bucket_size > 0) return plan.bucket_size;
  return std::max(40 * kMillion, kMillion * plan.data_ranks());
}

}  // namespace rankwright::plan
