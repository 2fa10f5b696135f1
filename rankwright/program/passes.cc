#include "rankwright/program/passes.h"

#include <limits>

#include "rankwright/plan/adapters.h"
#include "rankwright/plan/data_calls.h"
#include "rankwright/plan/kept_inputs.h"

namespace rankwright::program {
namespace {

using K = plan::TrafficKind;
using G = mesh::GroupKind;

}  // namespace

Passes::Passes(const plan::TrainingConfig& config)
    : config_(config),
      plan_(config.plan),
      sequence_(sequence_parallel(config.plan)),
      losses_(1 + count_mtp_until(config.stages(), std::numeric_limits<i64>::max())),
      sizes_(compute_messages(config)),
      calls_(config) {}

void Passes::forward(const Piece& piece) {
  calls_.layer = piece.layer;
  switch (piece.kind) {
    case Piece::Kind::embedding:
      embedding();
      break;
    case Piece::Kind::layer:
      layer(*piece.shape);
      break;
    case Piece::Kind::mtp:
      embedding();
      projection();
      layer(*piece.shape);
      break;
    case Piece::Kind::heads:
      // The losses of MTP modules come before the main loss, as in Megatron-LM.
      for (i64 i = 0; i < losses_; ++i) {
        calls_.layer = i + 1 < losses_ ? config_.model.layers() + i : -1;
        head();
      }
      break;
  }
  calls_.layer = -1;
}

void Passes::backward(const Piece& piece, Gradients g) {
  calls_.layer = piece.layer;
  if (piece.again && g.input && runs_backward(config_, *piece.shape)) {
    calls_.again = true;
    if (piece.kind == Piece::Kind::mtp) projection();
    layer(*piece.shape);
    calls_.again = false;
  }
  switch (piece.kind) {
    case Piece::Kind::embedding:
      embedding_back(g);
      break;
    case Piece::Kind::layer:
      layer_back(*piece.shape, g);
      if (g.weight) sum_weights(list_partial_weights(config_, *piece.shape));
      break;
    case Piece::Kind::mtp:
      layer_back(*piece.shape, g);
      projection_back(g);
      embedding_back(g);
      if (g.weight) sum_weights(list_partial_mtp_weights(config_));
      break;
    case Piece::Kind::heads:
      if (g.weight) sum_weights(list_partial_head_weights(config_));
      for (i64 i = losses_ - 1; i >= 0; --i) {
        calls_.layer = i + 1 < losses_ ? config_.model.layers() + i : -1;
        head_back(g);
      }
      break;
  }
  calls_.layer = -1;
}

void Passes::layer(const model::Layer& shape) {
  if (shape.attention.present()) attention(shape.attention);
  if (shape.ffn.sparse()) experts(shape.ffn);
  if (plan::has_dense_block(shape.ffn)) mlp();
}

void Passes::layer_back(const model::Layer& shape, Gradients g) {
  if (!runs_backward(config_, shape)) return;
  if (plan::has_dense_block(shape.ffn)) mlp_back(shape, g);
  if (shape.ffn.sparse()) experts_back(shape.ffn, g);
  if (shape.attention.present()) attention_back(shape, g);
}

void Passes::tp(K kind, plan::Op op, Bytes bytes, bool beside) {
  calls_.call(kind, op, G::tp, bytes, beside);
}

// T1, T2. Frameworks can split a block's collectives into pieces that overlap its matmuls only with
// sequence parallelism.
void Passes::gather(std::span<const Bytes> tensors) {
  if (!sequence_) return;
  for (const Bytes tensor : tensors)
    if (tensor.value > 0) tp(K::tp_all_gather, plan::Op::all_gather, tensor, plan_.overlap.tp);
}

void Passes::reduce(std::span<const Bytes> tensors) {
  for (const Bytes tensor : tensors) {
    if (tensor.value <= 0) continue;
    if (sequence_)
      tp(K::tp_reduce_scatter, plan::Op::reduce_scatter, tensor, plan_.overlap.tp);
    else
      tp(K::tp_all_reduce, plan::Op::all_reduce, tensor);
  }
}

void Passes::sum_weights(const std::vector<i64>& weights) {
  if (!reduces_weights_alone(config_) || !reduces_every_microbatch(config_)) return;
  for (const i64 elements : weights)
    tp(K::tp_norm_grads, plan::Op::all_reduce, bytes(elements, partial_gradient_bytes(config_)));
}

void Passes::open(const plan::BlockInputs& inputs) { gather(inputs.tensors); }

void Passes::close() { reduce({&sizes_.hidden, 1}); }

void Passes::open_back(const plan::BlockInputs& inputs, Gradients g, bool again) {
  if (g.input) gather({&sizes_.hidden, 1});  // the output gradient
  if (g.weight && again && gathers_again(config_)) gather(inputs.of_matmuls());
}

void Passes::close_back(const plan::BlockInputs& inputs, Gradients g) {
  if (g.input) reduce(inputs.tensors);
}

void Passes::mlp() {
  open(compute_block_inputs(config_));
  calls_.compute(Part::mlp);
  close();
}

void Passes::mlp_back(const model::Layer& shape, Gradients g) {
  const plan::BlockInputs inputs = compute_block_inputs(config_);
  open_back(inputs, g, reads_ffn_input_again(config_, shape));
  calls_.compute(Part::mlp);
  close_back(inputs, g);
}

void Passes::attention(const model::Attention& a) {
  open(compute_block_inputs(config_, a));
  cp_before(a);
  calls_.compute(Part::attention);
  cp_after(a);
  close();
}

void Passes::attention_back(const model::Layer& shape, Gradients g) {
  const model::Attention& a = shape.attention;
  const plan::BlockInputs inputs = compute_block_inputs(config_, a);
  open_back(inputs, g, reads_attention_input_again(config_, shape));
  if (g.input && recomputes_attention_core(config_)) {
    calls_.again = true;
    cp_before(a);
    calls_.compute(Part::attention);
    cp_after(a);
    calls_.again = false;
  }
  if (g.input) cp_before_back(a);
  calls_.compute(Part::attention);
  if (g.input) cp_after_back(a);
  close_back(inputs, g);
}

// T4: blocks of keys and values travel around the ring while attention works on the blocks that
// have arrived.
void Passes::ring(const plan::AttentionMessages& sizes, i64 times) {
  for (i64 i = 0; i < times * (plan_.cp - 1); ++i)
    calls_.call(K::cp_ring, plan::Op::send_recv, G::cp, sizes.key + sizes.value, true);
}

// T6: switches between sharding the sequence and sharding the heads.
void Passes::exchange(std::initializer_list<Bytes> tensors) {
  for (const Bytes tensor : tensors)
    calls_.call(K::cp_all_to_all, plan::Op::all_to_all, G::cp, tensor);
}

void Passes::cp_before(const model::Attention& a) {
  const plan::AttentionMessages sizes = compute_messages(config_, a);
  switch (plan_.cp_comm) {
    case plan::CpComm::p2p:
      return ring(sizes, 1);
    case plan::CpComm::all_gather:  // T5
      for (const Bytes tensor : {sizes.key, sizes.value})
        calls_.call(K::cp_all_gather, plan::Op::all_gather, G::cp, plan_.cp * tensor);
      return;
    case plan::CpComm::a2a:
      return exchange({sizes.query, sizes.key, sizes.value});
  }
}

void Passes::cp_after(const model::Attention& a) {
  if (plan_.cp_comm == plan::CpComm::a2a) exchange({compute_messages(config_, a).output});
}

void Passes::cp_before_back(const model::Attention& a) {
  const plan::AttentionMessages sizes = compute_messages(config_, a);
  switch (plan_.cp_comm) {
    case plan::CpComm::p2p:
      return ring(sizes, 2);  // keys and values again, then their gradients
    case plan::CpComm::all_gather:
      if (gathers_again(config_)) cp_before(a);
      return;
    case plan::CpComm::a2a:
      return exchange({sizes.output});
  }
}

void Passes::cp_after_back(const model::Attention& a) {
  const plan::AttentionMessages sizes = compute_messages(config_, a);
  switch (plan_.cp_comm) {
    case plan::CpComm::p2p:
      return;
    case plan::CpComm::all_gather:
      for (const Bytes tensor : {sizes.key, sizes.value})
        calls_.call(K::cp_reduce_scatter, plan::Op::reduce_scatter, G::cp, plan_.cp * tensor);
      return;
    case plan::CpComm::a2a:
      return exchange({sizes.query, sizes.key, sizes.value});
  }
}

// T7, T8.
void Passes::experts(const model::FeedForward& ffn) {
  const Bytes copies = compute_expert_message(config_, ffn);
  const Bytes inside = compute_etp_message(config_, ffn);
  calls_.compute(Part::router);
  if (const Bytes counts = compute_count_message(config_, ffn); counts.value > 0)
    calls_.call(K::ep_token_counts, plan::Op::all_to_all, G::ep, counts);
  calls_.call(K::ep_all_to_all, plan::Op::all_to_all, G::ep, copies);
  calls_.call(K::etp_all_gather, plan::Op::all_gather, G::etp, inside);
  calls_.compute(Part::experts);
  calls_.call(K::etp_reduce_scatter, plan::Op::reduce_scatter, G::etp, inside);
  calls_.call(K::ep_all_to_all, plan::Op::all_to_all, G::ep, copies);
}

void Passes::experts_back(const model::FeedForward& ffn, Gradients g) {
  const Bytes copies = compute_expert_message(config_, ffn);
  const Bytes inside = compute_etp_message(config_, ffn);
  if (g.input) {
    calls_.call(K::ep_all_to_all, plan::Op::all_to_all, G::ep, copies);
    calls_.call(K::etp_all_gather, plan::Op::all_gather, G::etp, inside);
  }
  calls_.compute(Part::experts);
  if (g.input) {
    calls_.call(K::etp_reduce_scatter, plan::Op::reduce_scatter, G::etp, inside);
    calls_.call(K::ep_all_to_all, plan::Op::all_to_all, G::ep, copies);
  }
  calls_.compute(Part::router);
}

void Passes::embedding() {
  calls_.compute(Part::embedding);
  // Learned position embeddings are added to the whole sequence. Every rank then has the sum after
  // an all-reduce and keeps its part without a further collective.
  const bool scatter = sequence_ && config_.model.positions == 0;
  tp(K::tp_embedding, scatter ? plan::Op::reduce_scatter : plan::Op::all_reduce, sizes_.hidden);
}

// Token ids have no gradient, so only the weight gradient is computed.
void Passes::embedding_back(Gradients g) {
  if (g.input && sequence_ && reads_embedding_gradient(config_))
    tp(K::tp_embedding_grad, plan::Op::all_gather, sizes_.hidden);
  if (g.weight && !skips_embedding(config_)) calls_.compute(Part::embedding);
}

void Passes::projection() {
  if (sequence_) tp(K::tp_all_gather, plan::Op::all_gather, 2 * sizes_.hidden);
  calls_.compute(Part::projection);
  tp(K::tp_all_gather, plan::Op::all_gather, sizes_.hidden);
}

void Passes::projection_back(Gradients g) {
  if (g.input && sequence_) tp(K::tp_all_gather, plan::Op::all_gather, sizes_.hidden);
  if (g.input) tp(K::tp_reduce_scatter, plan::Op::reduce_scatter, sizes_.hidden);
  if (g.weight && sequence_) tp(K::tp_all_gather, plan::Op::all_gather, 2 * sizes_.hidden);
  calls_.compute(Part::projection);
  if (!g.input) return;
  if (sequence_)
    tp(K::tp_reduce_scatter, plan::Op::reduce_scatter, 2 * sizes_.hidden);
  else
    tp(K::tp_all_reduce, plan::Op::all_reduce, 2 * sizes_.hidden);
}

void Passes::head() {
  if (sequence_) tp(K::tp_head_gather, plan::Op::all_gather, sizes_.hidden);
  calls_.compute(Part::head);
  // T3: maximum, target logit, sum of exponentials.
  const i64 chunks = count_loss_chunks(config_.software.loss);
  for (i64 i = 0; i < 3 * chunks; ++i)
    tp(K::tp_cross_entropy, plan::Op::all_reduce, sizes_.scores / chunks);
}

void Passes::head_back(Gradients g) {
  if (g.weight && sequence_ && reads_head_input_again(config_) && !config_.software.eager_ops)
    tp(K::tp_head_gather, plan::Op::all_gather, sizes_.hidden);
  calls_.compute(Part::head);
  if (g.input)
    tp(K::tp_head_reduce, sequence_ ? plan::Op::reduce_scatter : plan::Op::all_reduce,
       sizes_.hidden);
}

}  // namespace rankwright::program
