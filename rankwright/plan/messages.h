// Messages: the bytes of one call of each kind of traffic that a microbatch causes, counted as
// Traffic counts them. How often they are called is traffic.h, in which order program/.
#pragma once

#include "rankwright/base/units.h"
#include "rankwright/plan/plan.h"

namespace rankwright::plan {

/// Of one microbatch on one rank.
struct Messages {
  Bytes hidden{};  // hidden states of the tokens that a cp rank has: A in the formulas
  Bytes kept{};    // what a tp rank keeps of them between blocks: its part under SP
  Bytes scores{};  // one number a token, fp32 or wider
};
Messages messages(const TrainingConfig& config);

/// What attention of one tp rank reads and writes, of the tokens that a cp rank has.
struct AttentionMessages {
  Bytes query{}, key{}, value{}, output{};
};
AttentionMessages messages(const TrainingConfig& config, const model::Attention& attention);

/// The copies of a rank's tokens that go to their experts (T7).
Bytes expert_message(const TrainingConfig& config, const model::FeedForward& ffn);

/// What crosses from a stage to the next, each way, behind `mtp` MTP modules: their outputs travel
/// along to the loss (T10).
Bytes boundary_message(const TrainingConfig& config, i64 mtp);

/// MTP modules up to and with `stage`.
i64 mtp_until(const Stages& stages, i64 stage);

/// Sequence parallelism is nothing on one tp rank.
bool sequence_parallel(const Plan& plan);

}  // namespace rankwright::plan
