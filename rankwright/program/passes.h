// Passes: the forward and the backward of one piece of a stage (the embedding, a layer, an MTP
// module, the heads), as Megatron-LM issues them. What stands around the pieces, ZeRO's gathers and
// reductions, is body.cc.
#pragma once

#include "rankwright/plan/messages.h"
#include "rankwright/program/calls.h"

namespace rankwright {

/// What runs in one go inside a stage.
struct Piece {
  enum class Kind : unsigned char { embedding, layer, mtp, heads };
  Kind kind;
  i64 layer = -1;                // of a layer; of an MTP module counted on behind the last layer
  const Layer* shape = nullptr;  // of a layer and an MTP module
  bool again = false;            // runs forward a second time before its backward
};

/// What a backward computes: B both, I and W one of them.
struct Gradients {
  bool input = true;
  bool weight = true;
};

class Passes {
 public:
  explicit Passes(const TrainingConfig& config);

  void forward(const Piece& piece);
  void backward(const Piece& piece, Gradients gradients);

  Calls& calls() { return calls_; }

 private:
  void embedding();
  void embedding_back(Gradients);
  void projection();
  void projection_back(Gradients);
  void layer(const Layer&);
  void layer_back(const Layer&, Gradients);
  void attention(const Attention&);
  void attention_back(const Attention&, Gradients);
  void experts(const FeedForward&);
  void experts_back(const FeedForward&, Gradients);
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
  void cp_before(const Attention&);
  void cp_after(const Attention&);
  void cp_before_back(const Attention&);
  void cp_after_back(const Attention&);
  void ring(const AttentionMessages&, i64 times);
  void exchange(std::initializer_list<Bytes> tensors);

  void tp(TrafficKind kind, Op op, Bytes bytes, bool beside = false);

  const TrainingConfig& config_;
  const Plan& plan_;
  bool sequence_;  // sequence parallelism
  i64 losses_;     // heads: the model's own and one for each MTP module
  Messages sizes_;
  Calls calls_;
};

}  // namespace rankwright
