// Messages: the bytes per call of each kind of traffic of a microbatch, in Traffic's definition of
// bytes. traffic.h has the number of calls, program/ their order.
#pragma once

#include <array>
#include <span>

#include "rankwright/base/units.h"
#include "rankwright/plan/plan.h"

namespace rankwright::plan {

/// Message sizes of one microbatch on one rank.
struct Messages {
  Bytes hidden{};  // hidden states of the tokens of a cp rank: A in the formulas
  Bytes kept{};    // the part of them that a tp rank keeps between blocks: 1/tp under SP
  Bytes scores{};  // one number per token, fp32 or wider
};
/// Returns the message sizes of one microbatch on one rank.
Messages compute_messages(const TrainingConfig& config);

/// Inputs and output of attention on one tp rank, for the tokens of a cp rank.
struct AttentionMessages {
  Bytes query{}, key{}, value{}, output{};
};
/// Returns the sizes of the inputs and of the output of attention.
AttentionMessages compute_messages(const TrainingConfig& config, const model::Attention& attention);

/// The inputs of a block (attention or feed-forward) that tensor parallelism gathers before its
/// column-parallel matmuls and whose gradients it reduces after them. Latent attention gathers the
/// compressed queries and keys and the rotary part of the keys instead of hidden states (T1).
/// Unused elements are 0.
struct BlockInputs {
  std::array<Bytes, 3> tensors{};

  /// Returns those that a matmul reads, which backward gathers again for the weight gradient; the
  /// last one, the rotary part, is only added.
  std::span<const Bytes> of_matmuls() const { return {tensors.data(), 2}; }
};
/// Return the inputs of an attention block, and of a feed-forward block.
BlockInputs compute_block_inputs(const TrainingConfig& config, const model::Attention& attention);
BlockInputs compute_block_inputs(const TrainingConfig& config);

/// Returns whether a layer has a feed-forward block over tp: a dense one, or a shared expert.
bool has_dense_block(const model::FeedForward& ffn);

/// Returns whether selective recomputation runs the attention core, and the exchange of keys and
/// values around it, a second time.
bool recomputes_attention_core(const TrainingConfig& config);

/// Returns the bytes of the token copies that a rank dispatches to experts (T7).
Bytes compute_expert_message(const TrainingConfig& config, const model::FeedForward& ffn);

/// Returns the bytes that the ranks of an expert gather and reduce (T8): the copies that they have
/// received. DTensor without ep gathers tokens before it makes copies, and reduces their sums.
Bytes compute_etp_message(const TrainingConfig& config, const model::FeedForward& ffn);

/// Returns the bytes of the token counts that ep ranks exchange before a dispatch, 8 per expert; 0
/// if they are not exchanged in a call of their own (T7).
Bytes compute_count_message(const TrainingConfig& config, const model::FeedForward& ffn);

/// Returns the bytes sent between two stages in each direction. The outputs of the `mtp` MTP
/// modules so far are sent along to the loss (T10).
Bytes compute_boundary_message(const TrainingConfig& config, i64 mtp);

/// Returns the number of MTP modules in stages 0 to `stage`, inclusive.
i64 count_mtp_until(const Stages& stages, i64 stage);

/// Returns whether sequence parallelism is in effect: it does nothing with a single tp rank.
bool sequence_parallel(const Plan& plan);

}  // namespace rankwright::plan
