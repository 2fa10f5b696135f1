// A Plan is a layout: degrees and their order, placement, stage split, schedule, microbatch, ZeRO
// stage, recompute. It holds no results and no hardware. A TrainingConfig is a Plan with the Model,
// Cluster and Job that it is for: what is checked, explained, priced and exported.
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

enum class Recompute : unsigned char { none, selective, full };
std::span<const std::string_view> recompute_names();
std::string_view name(Recompute);

enum class CpComm : unsigned char { p2p, all_gather, a2a };
std::span<const std::string_view> cp_comm_names();
std::string_view name(CpComm);

/// What the framework hides behind computation.
struct Overlap {
  bool grad_reduce = true;
  bool param_gather = true;
  bool tp = false;
  bool pp = false;  // sends and receives

  friend bool operator==(const Overlap&, const Overlap&) = default;
};

struct Plan {
  i64 tp = 1, cp = 1, dp = 1, pp = 1;
  i64 ep = 1;
  i64 etp = 1;  // tensor degree inside an expert; frameworks default to tp
  mesh::Order order = mesh::kDefaultOrder;
  int zero = 0;         // 0: replicas; 1: optimizer sharded; 2: gradients too; 3: parameters too
  i64 shard_size = 0;   // ranks that a ZeRO shard is spread over; 0 = all of dp x cp
  i64 bucket_size = 0;  // elements of a gradient bucket; 0 = Megatron-LM's default (T9)
  bool sequence_parallel = false;
  CpComm cp_comm = CpComm::p2p;
  i64 micro_batch = 1;
  i64 virtual_stages = 1;    // chunks a pp rank
  i64 microbatch_group = 0;  // interleaved: microbatches that run through a chunk in a row; 0 = pp
  pipeline::Schedule schedule = pipeline::Schedule::one_f_one_b;
  Stages stages{};  // empty: even
  Recompute recompute = Recompute::none;
  i64 recompute_layers = 0;  // full recompute of so many layers a pp rank; 0 = all
  Overlap overlap{};
  mesh::Placement placement{};

  i64 ranks() const { return tp * cp * dp * pp; }
  i64 data_ranks() const { return dp * cp; }  // over which dense gradients are reduced
  i64 shards() const { return shard_size == 0 ? data_ranks() : shard_size; }
  i64 expert_dp() const { return ranks() / (etp * ep * pp); }
  /// Every stage is held twice, by pp ranks r and pp - 1 - r: DualPipe.
  bool mirrored() const {
    return pp > 1 && row(schedule).stage_order == pipeline::StageOrder::mirror;
  }
  mesh::MeshPair meshes() const;

  friend bool operator==(const Plan&, const Plan&) = default;
};

/// The batch that stands in where none is stated: 8 microbatches for each pipeline stage, so that
/// the bubble does not drown the picture. Nothing where it leaves 64 bits.
std::optional<i64> default_global_batch(const Plan& plan);

/// A value that the input left open and that was filled in.
struct Assumption {
  std::string key;    // "parallelism.order"
  std::string value;  // as it would be typed
  std::string why;
};

struct TrainingConfig {
  model::Model model;
  cluster::Cluster cluster;
  Job job;
  Plan plan;
  Software software{};
  i64 world = 1;                 // ranks asked for; the degrees must multiply to it
  bool reference_model = false;  // no model was given: this one stands in, for prices per layer
  std::vector<Assumption> assumed{};
  std::shared_ptr<const RunCalibration> calibrated{};  // nothing: priced as the catalog says

  bool left_open(std::string_view key) const;

  i64 microbatches() const { return job.global_batch / (plan.micro_batch * plan.dp); }
  /// That a pp rank runs through each stage it holds: half of them where another rank holds it too.
  i64 stage_microbatches() const { return plan.mirrored() ? microbatches() / 2 : microbatches(); }
  /// The stages as stated, or the even split.
  Stages stages() const;
};

/// The constants that it is priced with: the shipped ones, those of a machine that was probed, or
/// as a measured run moves them.
const cluster::Calibration& calibration(const TrainingConfig& config);

/// The pipeline of a config whose microbatches divide its batch.
pipeline::PipelineShape pipeline_shape(const TrainingConfig& config);

/// What one pp rank runs: its stages' layers in order, equal neighbours together, and what stands
/// at the edges.
struct RankContents {
  std::vector<model::LayerRun> runs{};  // without MTP
  i64 layers = 0;
  i64 mtp = 0;
  bool embedding = false;
  bool loss = false;

  /// An MTP module embeds the next tokens: where the embedding stands elsewhere it keeps a copy.
  bool embeds() const { return embedding || mtp > 0; }
};
RankContents contents(const TrainingConfig& config, i64 pp_rank);

/// Of all pp ranks in one go: contents() looks through all stages for each.
std::vector<RankContents> rank_contents(const TrainingConfig& config);

/// The same by chunk of a pp rank, and by stage for all of them.
std::vector<RankContents> chunk_contents(const TrainingConfig& config, i64 pp_rank);
std::vector<RankContents> stage_contents(const TrainingConfig& config);

/// Of `count` layers that stand behind `before` others on a pp rank, MTP modules last: how many run
/// forward a second time under full recompute.
i64 run_again(const Plan& plan, i64 before, i64 count);

/// The stages that a pp rank holds, ascending, which is the order of its chunks. The two ranks of a
/// mirrored pair hold the same two, in this same order: what is counted through them (which layers
/// run again, which gradients share a bucket) comes out alike on both.
std::vector<i64> stages_of(const Plan& plan, i64 pp_rank);

}  // namespace rankwright::plan
