// Model states: the bytes of parameters, gradients and optimizer states that one rank holds on its
// device after ZeRO and offload, and what offload moves to its host (formulas M1 to M3, M30,
// M31 and M39); with bf16, fp32 gradients and Adam, 18 bytes per parameter before ZeRO. Activations
// and buffers are not included.
#pragma once

#include "rankwright/base/units.h"
#include "rankwright/plan/plan.h"
#include "rankwright/plan/shares.h"

namespace rankwright::cost {

/// Bytes per parameter that is trained, and per frozen weight, wherever they are kept.
struct StateBytes {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;  // moments and master copy
  double frozen = 0;     // under LoRA, of a frozen matrix of a layer
};
StateBytes count_state_bytes(const plan::TrainingConfig& config);

/// The fraction of each of these that stays on the device.
struct KeptOnDevice {
  double weights = 1, gradients = 1, optimizer = 1;
};
KeptOnDevice find_kept_on_device(const plan::TrainingConfig& config);
/// As above with another ZeRO stage, for a search.
KeptOnDevice find_kept_on_device(const plan::TrainingConfig& config, int zero);

/// Which of the states that left the device are on NVMe drives. DeepSpeed swaps the shards of
/// ZeRO-3; with another stage they stay in host memory.
struct KeptOnNvme {
  bool optimizer = false, parameters = false;
};
KeptOnNvme find_kept_on_nvme(const plan::TrainingConfig& config);

/// The parameters of a rank, before ZeRO.
struct StateCounts {
  plan::Share share{};    // all parameters of the model
  plan::Share trained{};  // what has gradients; under LoRA the adapters
  i64 vocabulary = 0;     // the part of `share` in embedding and output head
  i64 trained_vocabulary = 0;
  i64 largest_unit = 0;      // parameters that ZeRO-3 gathers together
  i64 largest_adapters = 0;  // of one layer, likewise
};

/// The model states of one rank.
struct States {
  Bytes parameters{};
  Bytes gradients{};
  Bytes optimizer{};
  Bytes gathered{};         // ZeRO-3: the largest unit, twice (the one in use and the next; M3)
  Bytes host{};             // in host memory, with fp32 gradients for the host's optimizer (M31)
  Bytes nvme{};             // on NVMe drives; `host` then has the buffers (M39)
  Bytes nvme_parameters{};  // the part of `nvme` that every microbatch reads

  /// Returns what is on the device.
  Bytes total() const { return parameters + gradients + optimizer + gathered; }
};

/// Computes the states of a rank of `pp_rank`, or of a rank with the given contents.
States compute_states(const plan::TrainingConfig& config, i64 pp_rank);
States compute_states(const plan::TrainingConfig& config, const plan::RankContents& on_rank);
States compute_states(const plan::TrainingConfig& config, const StateCounts& counts);

/// Return the parameters in the matrices of embedding and output head on a rank, and those that are
/// trained.
i64 count_vocabulary(const plan::TrainingConfig& config, bool embeds, bool loss);
i64 count_trained_vocabulary(const plan::TrainingConfig& config, bool embeds, bool loss);

/// Returns whether a rank stores only its shard of the weights: from ZeRO-3 on. FSDP stores fp32
/// shards from ZeRO-2 on, even if the gathered weights are kept.
bool shards_weights(const plan::TrainingConfig& config);

/// Returns the bytes of `share` with `each` bytes per parameter. If `sharded`, dense parameters are
/// divided over the shard group and experts over the expert-data-parallel ranks.
Bytes held(const plan::Plan& plan, const plan::Share& share, double each, bool sharded);

}  // namespace rankwright::cost
