// Traffic: what each rank of a pp rank communicates per step, in closed form. `calls` are per rank
// and step. Bytes are the full logical tensor of a call, the size of nccl-tests (for send/recv the
// message, for all-to-all one rank's buffer). The expanded Program and the counters of a run add up
// to the same rows; cost/ has the times. Formulas T1 to T14.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "rankwright/base/units.h"
#include "rankwright/mesh/group.h"
#include "rankwright/plan/plan.h"

namespace rankwright::plan {

/// A collective, or a pair of send and receive.
enum class Op : unsigned char { all_reduce, all_gather, reduce_scatter, all_to_all, send_recv };
std::string_view name(Op);

/// The kinds of traffic.
enum class TrafficKind : unsigned char {
  tp_all_gather,
  tp_reduce_scatter,
  tp_all_reduce,
  tp_embedding,
  tp_embedding_grad,
  tp_head_gather,
  tp_head_reduce,
  tp_cross_entropy,
  tp_norm_grads,
  cp_ring,
  cp_all_gather,
  cp_reduce_scatter,
  cp_all_to_all,
  ep_token_counts,
  ep_all_to_all,
  etp_all_gather,
  etp_reduce_scatter,
  pp_forward,
  pp_backward,
  tied_embedding_grad,
  dp_all_reduce,
  dp_reduce_scatter,
  dp_all_gather,
  replica_all_reduce,
  expert_dp_all_reduce,
  expert_dp_reduce_scatter,
  expert_dp_all_gather,
  mirror_grad,
  gradient_norm,
};

/// Properties of one kind of traffic.
struct TrafficKindRow {
  TrafficKind kind;
  std::string_view label;      // "TP all-gather"
  std::string_view frequency;  // "per layer"
  bool critical;               // on the critical path: the next operation waits for it
  bool wants_fastest;          // should stay on the innermost level
  std::string_view risk;       // consequence of a slow link
};
std::span<const TrafficKindRow> list_traffic_kinds();
const TrafficKindRow& row(TrafficKind);

/// All calls of one kind that a rank makes per step.
struct Traffic {
  TrafficKind kind;
  Op op;
  mesh::GroupKind group;
  i64 calls = 0;
  Bytes total{};  // over all calls; exact up to 2^53

  Bytes bytes() const { return total / calls; }  // mean bytes per call

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// Returns what every rank of `pp_rank` sends per step, one row per kind, without rows that have no
/// calls or whose group is a single rank. Requires: the config has no violation.
std::vector<Traffic> list_traffic(const TrainingConfig& config, i64 pp_rank);

/// Returns the same calls with one row per kind and message size. A time is a sum over these rows,
/// because it is not proportional to the size.
std::vector<Traffic> list_calls(const TrainingConfig& config, i64 pp_rank);

/// Returns whether gradients are reduced with every microbatch instead of once per step. From
/// ZeRO-2 on only a shard of them is kept; FSDP in a pipeline keeps them whole until the last
/// microbatch.
bool reduces_every_microbatch(const TrainingConfig& config);

/// Returns the collective that reduces gradients over the data-parallel ranks.
Op find_gradient_op(const TrainingConfig& config);

/// Returns the bytes per parameter of a gather over the data-parallel ranks.
double count_gathered_bytes(const TrainingConfig& config);

/// Returns the elements per gradient bucket: as stated, or Megatron-LM's default, max(40M, 1M x dp
/// x cp) (T9).
i64 count_bucket_elements(const Plan& plan);

}  // namespace rankwright::plan
