// Adapters: the pairs of low-rank matrices that LoRA trains in place of the frozen weights. A
// linear layer from `in` to `out` elements gets one of in x rank and one of rank x out. Formula S5.
#pragma once

#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/plan/shares.h"

namespace rankwright::plan {

/// A linear layer that has an adapter, and how often a layer of the model has one on a rank.
struct AdaptedLinear {
  i64 in = 0, out = 0;               // of the whole matrix
  i64 count = 1;                     // experts on a rank; otherwise 1
  bool expert = false;               // split over etp and ep, not over tp
  bool saves_input = true;           // false: an earlier one of the list reads the same input
  bool of_attention_output = false;  // o_proj
  bool splits_input = false;         // tp splits `in` (o_proj, down_proj), otherwise `out`
};

/// Returns the bytes per element of an adapter: fp32, or fp64 with fp64 parameters.
i64 adapter_bytes(const Job& job);

/// Returns the linear layers of a layer that the job adapts; none without LoRA or in a layer that
/// is frozen as a whole. For latent attention, q_proj, k_proj and v_proj are the projections up
/// from the compressed states.
std::vector<AdaptedLinear> list_adapted(const TrainingConfig& config, const model::Layer& layer);

/// Returns the parameters of a layer's adapters on one rank. Both matrices are split over tp. The
/// runtime splits one of them, and each tp rank holds the whole of the other, whose gradients are
/// partial: so adapters add no collectives inside a pass (S5).
Share count_adapter_share(const TrainingConfig& config, const model::Layer& layer);

/// Returns the parameters of the adapters on a rank with these contents. MTP modules have those of
/// the last layer.
Share count_adapter_share(const TrainingConfig& config, const RankContents& on_rank);

/// Return the parameters that one rank trains: of a layer, of an MTP module, and of a rank with
/// these contents. All of them, those of the parts that are not frozen, or its adapters.
Share count_trained_share(const TrainingConfig& config, const model::Layer& layer);
Share count_trained_mtp_share(const TrainingConfig& config);
Share count_trained_share(const TrainingConfig& config, const RankContents& on_rank);

/// Returns whether ZeRO-3 gathers adapters with every pass, in calls of their own. Only the runtime
/// does; other estimates neglect these calls.
bool gathers_adapters(const TrainingConfig& config);

/// Return whether weight gradients read tensors that tp gathers: the input of an attention block or
/// of a feed-forward block, the gradient of the embedding's output, and the input of the head. In
/// the runtime they do not if nothing that reads them is trained; other estimates count these calls
/// under LoRA, too. Frozen parts have no weight gradients anywhere.
bool reads_attention_input_again(const TrainingConfig& config, const model::Layer& layer);
bool reads_ffn_input_again(const TrainingConfig& config, const model::Layer& layer);
bool reads_embedding_gradient(const TrainingConfig& config);
bool reads_head_input_again(const TrainingConfig& config);

}  // namespace rankwright::plan
