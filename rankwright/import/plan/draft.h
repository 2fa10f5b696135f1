// A Draft holds what a plan file states: every value may be absent. resolve() fills in defaults,
// records each as an Assumption, and returns the TrainingConfig that everything else works on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/rules/target.h"

namespace rankwright::importer {

// Limits of the values that a file may state. They are far beyond real systems and keep every count
// within 64 bits: the largest is that of a context-parallel ring, 3 x microbatches x layers x cp <
// 2^(2 + 28 + 16 + 16).
inline constexpr i64 kMaxDegree = cluster::kMaxDevices;
inline constexpr i64 kMaxContext = i64{1} << 16;  // cp ranks
inline constexpr i64 kMaxSequence = i64{1} << 30;
inline constexpr i64 kMaxMicroBatch = i64{1} << 20;
inline constexpr i64 kMaxChunks = 4096;
inline constexpr i64 kMaxBucket = i64{1} << 40;  // elements
inline constexpr i64 kMaxLoraRank = i64{1} << 16;

/// The model and the system that are assumed if a file names none.
inline constexpr std::string_view kReferenceModel = "llama-3.1-70b";
inline constexpr std::string_view kReferenceSystem = "dgx-h100";

/// Nodes and GPUs per node, from the `node_shape` key.
struct NodeShape {
  i64 nodes = 1;
  i64 gpus = 1;  // per node
};

/// The values that a plan file states.
struct Draft {
  std::optional<i64> world;
  std::optional<NodeShape> shape;
  std::optional<i64> node_gpus;  // per node, where the number of nodes is not known
  std::optional<i64> tp, cp, dp, pp, ep, etp;
  std::optional<mesh::Order> order;
  std::optional<int> zero;
  std::optional<i64> shard_size, bucket_size;
  std::optional<i64>
      replicas;  // copies of the sharded state, for frameworks that do not state a shard size
  std::optional<bool> sequence_parallel;
  std::optional<plan::CpComm> cp_comm;
  std::optional<i64> micro_batch, virtual_stages, microbatch_group;
  std::optional<pipeline::Schedule> schedule;
  std::optional<plan::Stages> stages;            // from the layout grammar
  std::optional<std::vector<i64>> stage_layers;  // from a list of counts
  std::optional<plan::Recompute> recompute;
  std::optional<i64> recompute_layers;
  std::optional<plan::RecomputeModules> recompute_modules;
  std::optional<bool> overlap_grad, overlap_param, overlap_tp, overlap_pp, overlap_ep,
      overlap_wgrad;
  std::optional<plan::Dispatcher> dispatcher;
  std::optional<mesh::Placement::Kind> placement;
  std::optional<std::vector<i64>> rank_devices;  // device of each rank
  std::optional<std::vector<i64>> host_order;    // hosts in rank order
  std::optional<model::Model> model;
  std::optional<cluster::Cluster> cluster;
  std::optional<i64> global_batch, sequence, doc_length, loss_tokens, images, image_tokens;
  std::optional<plan::Method> method;
  std::optional<bool> ref_model;
  std::optional<i64>
      accumulation;  // microbatches per data rank, for frameworks that do not state a global batch
  std::optional<plan::Dtype> param_dtype, grad_dtype;
  std::optional<plan::Matmul> matmul;
  std::optional<bool> fp8_swiglu_input;
  std::optional<plan::Optimizer> optimizer;
  std::optional<plan::Dtype> moment_dtype, master_dtype;
  std::optional<i64> lora_rank;
  std::optional<plan::LoraModules> lora_modules;
  std::optional<plan::BaseDtype> base_dtype;
  std::optional<model::FrozenParts> frozen;
  std::optional<double> expert_imbalance, expert_capacity;
  std::optional<rules::Target> target;
  std::optional<plan::Software> framework;
  std::optional<std::string_view> release;  // of the framework, one of plan::release_names()
  std::optional<plan::AttentionKernel> attention;
  std::optional<plan::Launch> launch;
  std::optional<plan::ExpertKernel> expert_kernel;
  std::optional<bool> fused_permute;
  std::optional<bool> compile;
  std::optional<bool> sync_each_batch;
  std::optional<plan::Loss> loss;
  std::optional<bool> tuned;
  std::optional<double> offload_optimizer;  // fraction
  std::optional<bool> offload_parameters, offload_activations;
  std::optional<plan::NvmeStates> offload_nvme;
  std::optional<std::string> nvme_path;
  std::string reference_model{kReferenceModel};  // the placeholder if no model is stated
};

/// Explain an assumed sequence length, and an assumed global batch of sequences of `tokens` tokens.
std::string explain_sequence(const model::Model& model);
std::string explain_batch(i64 sequences, i64 tokens);

/// Returns the complete config. Never fails: contradictory values are reported by the rules, with
/// their locations.
plan::TrainingConfig resolve(const Draft& draft);

}  // namespace rankwright::importer
