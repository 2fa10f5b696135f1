// One row per kind of traffic: its label, how often it occurs, and who waits for it.
#include "rankwright/base/check.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::plan {
namespace {

using K = TrafficKind;

constexpr TrafficKindRow kKinds[] = {
    {K::tp_all_gather, "TP all-gather", "per layer", true, true,
     "inside every layer: a slow link stalls every matmul"},
    {K::tp_reduce_scatter, "TP reduce-scatter", "per layer", true, true,
     "inside every layer: a slow link stalls every matmul"},
    {K::tp_all_reduce, "TP all-reduce", "per layer", true, true,
     "inside every layer: a slow link stalls every matmul"},
    {K::tp_embedding, "TP embedding", "per micro-batch", true, true, "first stage only"},
    {K::tp_embedding_grad, "TP embedding grad", "per micro-batch", true, true, "first stage only"},
    {K::tp_head_gather, "TP head all-gather", "per micro-batch", true, true,
     "last stage only: adds to its imbalance"},
    {K::tp_head_reduce, "TP head grad", "per micro-batch", true, true,
     "last stage only: adds to its imbalance"},
    {K::tp_cross_entropy, "TP cross-entropy", "per micro-batch", true, true,
     "small messages: latency of the link"},
    {K::tp_norm_grads, "TP norm gradients", "per step", false, false, "small; forgotten in sums"},
    {K::cp_ring, "CP ring send/recv", "per layer", true, true,
     "hidden behind attention only while blocks are long"},
    {K::cp_all_gather, "CP all-gather", "per layer", true, true,
     "keys and values before attention"},
    {K::cp_reduce_scatter, "CP reduce-scatter", "per layer", true, true,
     "gradients of keys and values"},
    {K::cp_all_to_all, "CP all-to-all", "per layer", true, true,
     "heads for sequence and back, around attention"},
    {K::ep_token_counts, "EP token counts", "per MoE layer", true, true,
     "small messages: latency of the link"},
    {K::ep_all_to_all, "EP all-to-all", "per MoE layer", true, true,
     "waits for the most loaded expert"},
    {K::etp_all_gather, "ETP all-gather", "per MoE layer", true, true, "inside every expert layer"},
    {K::etp_reduce_scatter, "ETP reduce-scatter", "per MoE layer", true, true,
     "inside every expert layer"},
    {K::pp_forward, "PP send/recv forward", "per stage boundary", true, false,
     "idle time at fill and drain, and when stages are uneven"},
    {K::pp_backward, "PP send/recv backward", "per stage boundary", true, false,
     "idle time at fill and drain, and when stages are uneven"},
    {K::tied_embedding_grad, "tied embedding grad", "per step", true, false,
     "first and last stage wait for each other"},
    {K::dp_all_reduce, "DP all-reduce", "per backward bucket", false, false,
     "exposed when the last buckets outlast backward"},
    {K::dp_reduce_scatter, "DP reduce-scatter", "per backward bucket", false, false,
     "exposed when the last buckets outlast backward"},
    {K::dp_all_gather, "FSDP/ZeRO all-gather", "per wrapped unit", false, false,
     "exposed when a gather outlasts the layer before it"},
    {K::replica_all_reduce, "replica all-reduce", "per backward bucket", false, false,
     "hybrid sharding: shards agree across replicas"},
    {K::expert_dp_all_reduce, "expert DP all-reduce", "per backward bucket", false, false,
     "experts have fewer replicas and more bytes"},
    {K::expert_dp_reduce_scatter, "expert DP reduce-scatter", "per backward bucket", false, false,
     "experts have fewer replicas and more bytes"},
    {K::expert_dp_all_gather, "expert FSDP/ZeRO all-gather", "per wrapped unit", false, false,
     "experts have fewer replicas and more bytes"},
    {K::mirror_grad, "DualPipe mirror gradients", "per step", true, false,
     "two ranks hold each stage: at the end of the step they wait for each other"},
    {K::gradient_norm, "gradient norm", "per step", true, false,
     "one number, but everybody waits for the slowest"},
};

}  // namespace

std::string_view name(Op op) {
  constexpr std::string_view kNames[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all",
                                         "send/recv"};
  return kNames[std::size_t(op)];
}

std::span<const TrafficKindRow> list_traffic_kinds() { return kKinds; }

const TrafficKindRow& row(TrafficKind kind) {
  const TrafficKindRow& found = kKinds[std::size_t(kind)];
  RW_CHECK(found.kind == kind);
  return found;
}

}  // namespace rankwright::plan
