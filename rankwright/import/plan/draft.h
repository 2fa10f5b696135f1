// A Draft is what a plan file says and no more: every value may be absent. resolve() fills what is
// left open with defaults, writes each down as an Assumption, and gives the TrainingConfig that
// everything else works on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankwright/plan/plan.h"

namespace rankwright::importer {

// Limits of what a file may state. They are far beyond what is built, and keep every count inside
// 64 bits: the largest is that of a context ring, 3 x microbatches x layers x cp < 2^(2 + 28 + 16 +
// 16).
inline constexpr i64 kMaxDegree = cluster::kMaxDevices;
inline constexpr i64 kMaxContext = i64{1} << 16;  // cp ranks
inline constexpr i64 kMaxSequence = i64{1} << 30;
inline constexpr i64 kMaxMicroBatch = i64{1} << 20;
inline constexpr i64 kMaxChunks = 4096;
inline constexpr i64 kMaxBucket = i64{1} << 40;  // elements

struct NodeShape {
  i64 nodes = 1;
  i64 gpus = 1;  // a node
};

struct Draft {
  std::optional<i64> world;
  std::optional<NodeShape> shape;
  std::optional<i64> tp, cp, dp, pp, ep, etp;
  std::optional<mesh::Order> order;
  std::optional<int> zero;
  std::optional<i64> shard_size, bucket_size;
  std::optional<i64> replicas;  // copies of what is sharded: frameworks that state no shard_size do
  std::optional<bool> sequence_parallel;
  std::optional<plan::CpComm> cp_comm;
  std::optional<i64> micro_batch, virtual_stages, microbatch_group;
  std::optional<pipeline::Schedule> schedule;
  std::optional<plan::Stages> stages;            // from the layout grammar
  std::optional<std::vector<i64>> stage_layers;  // from a list of counts
  std::optional<plan::Recompute> recompute;
  std::optional<i64> recompute_layers;
  std::optional<bool> overlap_grad, overlap_param, overlap_tp, overlap_pp;
  std::optional<mesh::Placement::Kind> placement;
  std::optional<std::vector<i64>> rank_devices;  // device of each rank
  std::optional<std::vector<i64>> host_order;    // hosts in the order of the ranks
  std::optional<model::Model> model;
  std::optional<cluster::Cluster> cluster;
  std::optional<i64> global_batch, sequence;
  std::optional<i64> accumulation;  // microbatches a data rank: frameworks that state no batch do
  std::optional<plan::Dtype> param_dtype, grad_dtype;
  std::optional<plan::Matmul> matmul;
  std::optional<plan::Optimizer> optimizer;
  std::optional<plan::Software> framework;
  std::optional<plan::AttentionKernel> attention;
  std::optional<plan::Launch> launch;
  std::optional<plan::Loss> loss;
  std::optional<bool> tuned;
};

/// The model whose layers stand in where a file names none.
inline constexpr std::string_view kReferenceModel = "llama-3.1-70b";
inline constexpr std::string_view kReferenceSystem = "dgx-h100";

/// Never fails: what does not go together is found by the rules, with the place of each value.
plan::TrainingConfig resolve(const Draft& draft);

}  // namespace rankwright::importer
