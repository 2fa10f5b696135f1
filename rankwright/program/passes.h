// Passes: the forward and backward of one piece of a stage (embedding, layer, MTP module or heads),
// as Megatron-LM issues them. ZeRO's gathers and reductions around the pieces are in body.cc.
#pragma once

#include "rankwright/plan/messages.h"
#include "rankwright/program/calls.h"

namespace rankwright::program {

/// A part of a stage whose forward runs without interruption.
struct Piece {
  enum class Kind : unsigned char { embedding, layer, mtp, heads };
  Kind kind;
  i64 layer = -1;                       // layer index; MTP modules are numbered after the layers
  const model::Layer* shape = nullptr;  // only for layers and MTP modules
  bool again = false;                   // its forward is recomputed before its backward
};

/// The gradients that a backward cell computes: both in B, one in I or W.
struct Gradients {
  bool input = true;
  bool weight = true;
};

/// Appends the steps of forward and backward passes to calls().
class Passes {
 public:
  explicit Passes(const plan::TrainingConfig& config);

  void forward(const Piece& piece);
  void backward(const Piece& piece, Gradients gradients);

  Calls& calls() { return calls_; }

 private:
  void embedding();
  void embedding_back(Gradients);
  void projection();
  void projection_back(Gradients);
  void layer(const model::Layer&);
  void layer_back(const model::Layer&, Gradients);
  void attention(const model::Attention&);
  void attention_back(const model::Layer&, Gradients);
  void experts(const model::FeedForward&);
  void experts_back(const model::FeedForward&, Gradients);
  void mlp();
  void mlp_back(const model::Layer&, Gradients);
  void head();
  void head_back(Gradients);

  // Tensor-parallel collectives around a block: gather its input, reduce its output.
  void open(const plan::BlockInputs&);
  void close();
  void open_back(const plan::BlockInputs&, Gradients, bool again);
  void close_back(const plan::BlockInputs&, Gradients);
  void gather(std::span<const Bytes> tensors);
  void reduce(std::span<const Bytes> tensors);
  /// T2: sums the gradient of each weight that every tp rank holds, if each has its own call with
  /// every microbatch.
  void sum_weights(const std::vector<i64>& weights);

  // Context-parallel collectives around attention.
  void cp_before(const model::Attention&);
  void cp_after(const model::Attention&);
  void cp_before_back(const model::Attention&);
  void cp_after_back(const model::Attention&);
  void ring(const plan::AttentionMessages&, i64 times);
  void exchange(std::initializer_list<Bytes> tensors);

  void tp(plan::TrafficKind kind, plan::Op op, Bytes bytes, bool beside = false);

  const plan::TrainingConfig& config_;
  const plan::Plan& plan_;
  bool sequence_;  // sequence parallelism is on
  i64 losses_;     // output heads: the model's own and one per MTP module
  plan::Messages sizes_;
  Calls calls_;
};

}  // namespace rankwright::program
