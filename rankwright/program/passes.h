// Passes: the forward and the backward of one piece of a stage (the embedding, a layer, an MTP
// module, the heads), as Megatron-LM issues them. What stands around the pieces, ZeRO's gathers and
// reductions, is body.cc.
#pragma once

#include "rankwright/plan/messages.h"
#include "rankwright/program/calls.h"

namespace rankwright::program {

/// What runs in one go inside a stage.
struct Piece {
  enum class Kind : unsigned char { embedding, layer, mtp, heads };
  Kind kind;
  i64 layer = -1;  // of a layer; of an MTP module counted on behind the last layer
  const model::Layer* shape = nullptr;  // of a layer and an MTP module
  bool again = false;                   // runs forward a second time before its backward
};

/// What a backward computes: B both, I and W one of them.
struct Gradients {
  bool input = true;
  bool weight = true;
};

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
  void attention_back(const model::Attention&, Gradients);
  void experts(const model::FeedForward&);
  void experts_back(const model::FeedForward&, Gradients);
  void mlp();
  void mlp_back(Gradients);
  void head();
  void head_back(Gradients);

  // Around a block, tensor parallelism: its input whole, its output reduced.
  void open();
  void close();
  void open_back(Gradients);
  void close_back(Gradients);

  // Around attention, context parallelism.
  void cp_before(const model::Attention&);
  void cp_after(const model::Attention&);
  void cp_before_back(const model::Attention&);
  void cp_after_back(const model::Attention&);
  void ring(const plan::AttentionMessages&, i64 times);
  void exchange(std::initializer_list<Bytes> tensors);

  void tp(plan::TrafficKind kind, plan::Op op, Bytes bytes, bool beside = false);

  const plan::TrainingConfig& config_;
  const plan::Plan& plan_;
  bool sequence_;  // sequence parallelism
  i64 losses_;     // heads: the model's own and one for each MTP module
  plan::Messages sizes_;
  Calls calls_;
};

}  // namespace rankwright::program
