// Messages: the bytes per call of each kind of traffic of a microbatch, in Traffic's definition of
// bytes. traffic.h has the number of calls, program/ their order.
#pragma once

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

/// Returns the bytes of the token copies that a rank dispatches to experts (T7).
Bytes compute_expert_message(const TrainingConfig& config, const model::FeedForward& ffn);

/// Returns the bytes sent between two stages in each direction. The outputs of the `mtp` MTP
/// modules so far are sent along to the loss (T10).
Bytes compute_boundary_message(const TrainingConfig& config, i64 mtp);

/// Returns the number of MTP modules in stages 0 to `stage`, inclusive.
i64 count_mtp_until(const Stages& stages, i64 stage);

/// Returns whether sequence parallelism is in effect: it does nothing with a single tp rank.
bool sequence_parallel(const Plan& plan);

}  // namespace rankwright::plan
