#include "rankwright/runtime/stage.h"

#include <torch/csrc/autograd/engine.h>

#include "rankwright/base/check.h"

namespace rankwright::runtime {
namespace {

/// Which tokens have their embedding row on this tp rank.
struct LocalWords {
  Tensor outside, index;
  LocalWords(const EmbeddingPiece& piece, const Tensor& tokens) {
    const i64 count = piece.words->shape[0];
    const Tensor local = tokens - count * piece.rank->tp_rank;
    outside = local.lt(0).logical_or_(local.ge(count));
    index = local.clamp(0, count - 1).reshape({-1});
  }
};

Tensor embed(const EmbeddingPiece& piece, const Tensor& tokens) {
  const Rank& rank = *piece.rank;
  const LocalWords words(piece, tokens);
  Tensor x =
      piece.words->weight.index_select(0, words.index).view({tokens.size(0), tokens.size(1), -1});
  if (rank.tp() > 1) x.masked_fill_(words.outside.unsqueeze(-1), 0);
  if (piece.positions == nullptr && rank.sequence_parallel)
    return scatter(rank, x, plan::TrafficKind::tp_embedding);
  if (rank.tp() > 1) reduce(rank, x, plan::TrafficKind::tp_embedding);
  if (piece.positions == nullptr) return x;
  // Learned positions need the whole sequence.
  x.add_(piece.positions->weight.narrow(0, 0, x.size(0)).unsqueeze(1));
  if (!rank.sequence_parallel) return x;
  return x.narrow(0, rank.local_sequence() * rank.tp_rank, rank.local_sequence()).clone();
}

void embed_backward(const EmbeddingPiece& piece, const Tensor& tokens, const Tensor& gradient) {
  const Rank& rank = *piece.rank;
  if (piece.frozen) return;
  const Tensor whole = rank.sequence_parallel
                           ? gather(rank, gradient, plan::TrafficKind::tp_embedding_grad)
                           : gradient;
  rank.weight_gradient([&piece, tokens, whole] {
    const LocalWords words(piece, tokens);
    Tensor& sum = piece.words->gradient;
    const Tensor rows = whole.reshape({-1, whole.size(-1)}).to(sum.scalar_type());
    if (piece.rank->tp() == 1) {
      sum.index_add_(0, words.index, rows);
    } else {
      const Tensor here = words.outside.logical_not().reshape({-1}).nonzero().squeeze(1);
      sum.index_add_(0, words.index.index_select(0, here), rows.index_select(0, here));
    }
    if (piece.positions != nullptr) {
      Tensor& positions = piece.positions->gradient;
      positions.narrow(0, 0, whole.size(0)).add_(whole.sum(1, false, positions.scalar_type()));
    }
  });
}

Tensor run(const LayerPiece& layer, const Tensor& x) {
  const Tensor attended = row_linear(
      attention(column_linear(normalize(x, layer.before_attention), layer.qkv), layer.heads),
      layer.out);
  const Tensor middle = x + attended;
  const Tensor up = column_linear(normalize(middle, layer.before_mlp), layer.up);
  return middle + row_linear(layer.gated ? swiglu(up) : torch::gelu(up), layer.down);
}

Tensor run(const HeadPiece& head, const Tensor& x, const Tokens& tokens) {
  return cross_entropy(column_linear(normalize(x, head.norm), head.head), tokens.targets,
                       head.loss);
}

Tensor run(const Piece& piece, const Tensor& x, const Tokens& tokens) {
  if (const auto* const layer = std::get_if<LayerPiece>(&piece.what)) return run(*layer, x);
  return run(std::get<HeadPiece>(piece.what), x, tokens);
}

/// Returns the input as a leaf, where the piece's autograd graph begins.
Tensor leaf(const Tensor& input) { return input.detach().requires_grad_(true); }

}  // namespace

i64 Unit::size() const {
  i64 n = 0;
  for (const Parameter* parameter : parameters) n += parameter->size();
  return n;
}

Tensor forward(const Piece& piece, const Tensor& input, const Tokens& tokens,
               SavedActivations& saved) {
  if (const auto* const embedding = std::get_if<EmbeddingPiece>(&piece.what)) {
    const torch::NoGradGuard no_graph;
    return embed(*embedding, tokens.inputs);
  }
  if (piece.recompute || piece.forward_only) {
    const torch::NoGradGuard no_graph;
    if (!piece.forward_only) saved.input = input;
    return run(piece, input, tokens);
  }
  saved.input = leaf(input);
  const Tensor output = run(piece, saved.input, tokens);
  // Keep the edge where the gradient enters, not the output itself.
  saved.output = torch::autograd::Edge(output.grad_fn(), output.output_nr());
  return output.detach();
}

Tensor backward(const Piece& piece, SavedActivations& saved, const Tensor& gradient,
                const Tokens& tokens) {
  if (piece.forward_only) return {};
  if (const auto* const embedding = std::get_if<EmbeddingPiece>(&piece.what)) {
    const torch::NoGradGuard no_graph;
    embed_backward(*embedding, tokens.inputs, gradient);
    return {};
  }
  if (!saved.output.is_valid()) {
    saved.input = leaf(saved.input);
    const Tensor output = run(piece, saved.input, tokens);
    saved.output = torch::autograd::Edge(output.grad_fn(), output.output_nr());
  }
  const Tensor entering = gradient.defined()
                              ? gradient
                              : torch::ones({}, torch::TensorOptions().dtype(torch::kFloat64));
  const SavedActivations done = std::exchange(saved, {});
  torch::autograd::Engine::get_default_engine().execute(
      {done.output}, {entering}, /*keep_graph=*/false, /*create_graph=*/false,
      /*accumulate_grad=*/true, {});
  // Deferred weight gradients may keep the input alive for long, but need not keep its gradient.
  return std::exchange(done.input.mutable_grad(), {});
}

}  // namespace rankwright::runtime
