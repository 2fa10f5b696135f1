// A Plan is a layout: degrees and their order, placement, stage split, schedule, micro-batch, ZeRO
// stage, recompute. It holds no results and no hardware. A TrainingConfig is a Plan with its Model,
// Cluster and Job: the unit that is checked, explained, evaluated and exported.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/integer.h"
#include "rankwright/cluster/calibration.h"
#include "rankwright/cluster/cluster.h"
#include "rankwright/mesh/mesh.h"
#include "rankwright/mesh/placement.h"
#include "rankwright/model/model.h"
#include "rankwright/pipeline/schedule.h"
#include "rankwright/plan/job.h"
#include "rankwright/plan/software.h"
#include "rankwright/plan/stages.h"

namespace rankwright::plan {

struct RunCalibration;

/// The part of the forward pass that activation recomputation runs again in backward.
enum class Recompute : unsigned char { none, selective, full };
std::span<const std::string_view> recompute_names();
std::string_view name(Recompute);

/// The parts of a layer that selective recompute runs again, under Megatron-LM's names.
struct RecomputeModules {
  bool core_attn = true;        // the attention core
  bool layernorm = false;       // the norms before attention and feed-forward
  bool mla_up_proj = false;     // latent attention: the projections up from the compressed states
  bool mlp = false;             // the feed-forward of layers without experts
  bool moe_act = false;         // the activation function inside the experts
  bool moe = false;             // the whole MoE layer, with dispatch and combine
  bool shared_experts = false;  // the experts of a MoE layer that every token visits

  friend bool operator==(const RecomputeModules&, const RecomputeModules&) = default;
};
/// A field of RecomputeModules with its name.
struct RecomputeModuleRow {
  std::string_view name;
  bool RecomputeModules::*field;
};
std::span<const RecomputeModuleRow> recompute_modules();
/// Returns the names of the modules: "moe_act, layernorm".
std::string show(const RecomputeModules& modules, std::string_view separator);

/// How context-parallel ranks exchange keys and values.
enum class CpComm : unsigned char { p2p, all_gather, a2a };
std::span<const std::string_view> cp_comm_names();
std::string_view name(CpComm);

/// How tokens reach their experts on other ranks: `alltoall` sends one copy per expert, `deepep`
/// and `hybridep` send one copy per node, which distributes it to the token's experts there.
/// HybridEP also permutes the tokens as it sends them, and the host does not wait for their counts.
/// `uccl` is DeepEP through threads of the host, for NICs that a GPU cannot drive (AWS EFA).
enum class Dispatcher : unsigned char { alltoall, deepep, hybridep, uccl };
std::span<const std::string_view> dispatcher_names();
std::string_view name(Dispatcher);

/// Which communication the framework overlaps with computation.
struct Overlap {
  bool grad_reduce = true;
  bool param_gather = true;
  bool tp = false;
  bool pp = false;  // sends and receives
  bool ep = false;  // dispatch and combine, with the computation of another microbatch
  /// With `ep`: weight gradients are computed after the gradients of inputs have been sent, so that
  /// they overlap dispatch and combine too (Megatron-LM's delay_wgrad_compute).
  bool wgrad = false;

  friend bool operator==(const Overlap&, const Overlap&) = default;
};

/// Which of the offloaded states are on NVMe drives instead of in host memory (ZeRO-Infinity).
enum class NvmeStates : unsigned char { none, optimizer, parameters, all };
std::span<const std::string_view> nvme_states_names();
std::string_view name(NvmeStates);

/// The states and activations that are kept in host memory or on NVMe drives instead of on the
/// device.
struct Offload {
  double optimizer = 0;      // fraction of the optimizer states, whose update the host computes
  bool parameters = false;   // shards of the parameters (ZeRO-3)
  bool activations = false;  // inputs of recomputed layers
  NvmeStates nvme = NvmeStates::none;
  std::string nvme_path{};  // directory on the drives; empty: not stated

  bool nvme_optimizer() const {
    return optimizer > 0 && (nvme == NvmeStates::optimizer || nvme == NvmeStates::all);
  }
  bool nvme_parameters() const {
    return parameters && (nvme == NvmeStates::parameters || nvme == NvmeStates::all);
  }
  bool any() const { return optimizer > 0 || parameters || activations; }
  /// Returns whether all model states are offloaded, as FSDP does.
  bool states() const { return parameters && optimizer >= 1; }
  friend bool operator==(const Offload&, const Offload&) = default;
};
/// Returns what is offloaded: "optimizer, parameters", "half of the optimizer", or "nothing".
/// States on drives say so: "optimizer on NVMe".
std::string show(const Offload& offload);

/// A layout of one training job.
struct Plan {
  i64 tp = 1, cp = 1, dp = 1, pp = 1;
  i64 ep = 1;
  i64 etp = 1;  // tensor degree inside an expert; frameworks default to tp
  mesh::Order order = mesh::kDefaultOrder;
  int zero = 0;  // 0: replicated; 1: optimizer states sharded; 2: gradients too; 3: parameters too
  i64 shard_size = 0;   // ranks that share one copy of the sharded states; 0 = all of dp x cp
  i64 bucket_size = 0;  // elements per gradient bucket; 0 = Megatron-LM's default (T9)
  bool sequence_parallel = false;
  CpComm cp_comm = CpComm::p2p;
  Dispatcher dispatcher = Dispatcher::alltoall;
  i64 micro_batch = 1;
  i64 virtual_stages = 1;    // chunks per pp rank
  i64 microbatch_group = 0;  // interleaved: consecutive microbatches per chunk; 0 = pp
  pipeline::Schedule schedule = pipeline::Schedule::one_f_one_b;
  Stages stages{};  // empty: even split
  Recompute recompute = Recompute::none;
  RecomputeModules modules{};  // selective recompute: what is recomputed
  i64 recompute_layers = 0;    // full recompute: recomputed layers per stage; 0 = all, MTP too
  Overlap overlap{};
  Offload offload{};
  mesh::Placement placement{};

  i64 ranks() const { return tp * cp * dp * pp; }
  i64 data_ranks() const { return dp * cp; }  // ranks over which dense gradients are reduced
  i64 shards() const { return shard_size == 0 ? data_ranks() : shard_size; }
  i64 expert_dp() const { return ranks() / (etp * ep * pp); }
  /// Returns whether every stage is held twice, by pp ranks r and pp - 1 - r (DualPipe).
  bool mirrored() const {
    return pp > 1 && row(schedule).stage_order == pipeline::StageOrder::mirror;
  }
  mesh::MeshPair meshes() const;

  friend bool operator==(const Plan&, const Plan&) = default;
};

/// A default that was filled in because the input did not state the value.
struct Assumption {
  std::string key;    // "parallelism.order"
  std::string value;  // as it would be typed
  std::string why;
};

/// A plan with the model, cluster and job that it is for.
struct TrainingConfig {
  model::Model model;
  cluster::Cluster cluster;
  Job job;
  Plan plan;
  Software software{};
  std::string_view target{};     // what the plan is for, a name of rules/rule.h; empty: not stated
  i64 world = 1;                 // world size; must equal the product of the degrees
  bool reference_model = false;  // no model was given: `model` is a placeholder for per-layer costs
  std::vector<Assumption> assumed{};
  std::shared_ptr<const RunCalibration> calibrated{};  // null: the catalog's constants apply

  bool left_open(std::string_view key) const;

  i64 microbatches() const { return job.global_batch / (plan.micro_batch * plan.dp); }
  /// Returns the microbatches that a pp rank runs through each of its stages: half if another rank
  /// holds the stage too.
  i64 stage_microbatches() const { return plan.mirrored() ? microbatches() / 2 : microbatches(); }
  /// Returns the stages as stated, or the even split.
  Stages stages() const;
};

/// Returns the sequence length to assume if none is stated: 8,192 tokens, or what the model was
/// made for if that is less; 4,096 if it is not known.
i64 assume_sequence(const model::Model& model);

/// Returns the global batch to assume if none is stated: at least 4 Mi tokens, the same for every
/// rank; beyond 4 Mi tokens of one sequence per rank, the same for every 8 ranks. It depends on the
/// sequence and the world size alone, unless the plan's dp x micro_batch does not divide it: then
/// it is rounded up. Returns nothing if it exceeds 64 bits.
std::optional<i64> assume_global_batch(const TrainingConfig& config);

/// Returns the constants for estimating this config: the shipped ones, those for a probed machine,
/// or those calibrated with a measured run.
const cluster::Calibration& select_calibration(const TrainingConfig& config);

/// Returns the shape of the pipeline. Requires: micro_batch x dp divides the global batch.
pipeline::PipelineShape make_pipeline_shape(const TrainingConfig& config);

/// The contents of one pp rank: the layers of its stages in order, with equal neighbors merged into
/// runs, and the embedding, MTP modules and loss.
struct RankContents {
  std::vector<model::LayerRun> runs{};  // without MTP
  i64 layers = 0;
  i64 mtp = 0;
  bool embedding = false;
  bool loss = false;

  /// Returns whether the rank holds an embedding: an MTP module embeds the next tokens, so it keeps
  /// a copy if the embedding itself is on another rank.
  bool embeds() const { return embedding || mtp > 0; }
};
/// Returns the contents of one pp rank.
RankContents contents(const TrainingConfig& config, i64 pp_rank);

/// Returns the contents of all pp ranks; cheaper than contents() per rank, which visits all stages
/// each time.
std::vector<RankContents> list_rank_contents(const TrainingConfig& config);

/// Return the contents per chunk of a pp rank, and per stage of the whole pipeline.
std::vector<RankContents> list_chunk_contents(const TrainingConfig& config, i64 pp_rank);
std::vector<RankContents> list_chunk_contents(const TrainingConfig& config, const Stages& stages,
                                              i64 pp_rank);
std::vector<RankContents> list_stage_contents(const TrainingConfig& config);

/// Returns how many of `count` layers that follow `before` other layers of their stage run forward
/// a second time under full recompute: the first `recompute_layers` of each stage.
i64 count_recomputed_layers(const Plan& plan, i64 before, i64 count);

/// Returns whether full recompute includes everything: MTP modules and the encoder, too.
/// Megatron-LM recomputes neither if it counts layers.
bool recomputes_everything(const Plan& plan);

/// Returns the stages of a pp rank in ascending order, which is the order of its chunks. The two
/// ranks of a mirrored pair hold the same two stages in the same order, so everything counted along
/// them (gradient buckets) is equal on both.
std::vector<i64> list_stages(const Plan& plan, i64 pp_rank);

}  // namespace rankwright::plan
