#include "rankwright/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/plan/run_calibration.h"

namespace rankwright::plan {
namespace {

constexpr std::string_view kRecomputes[] = {"none", "selective", "full"};
constexpr std::string_view kCpComms[] = {"p2p", "all_gather", "a2a"};
constexpr std::string_view kNvmeStates[] = {"none", "optimizer", "parameters", "all"};
constexpr std::string_view kDispatchers[] = {"alltoall", "deepep", "hybridep", "uccl"};

void add_run(std::vector<model::LayerRun>& runs, const model::Layer& layer, i64 count) {
  if (!runs.empty() && runs.back().layer == layer)
    runs.back().count += count;
  else
    runs.push_back({count, layer});
}

/// Returns the contents of a stage that begins with layer `first` of the model.
RankContents make_stage_contents(const model::Model& model, const Stage& stage, i64 first) {
  RankContents on_stage{
      .layers = stage.layers, .mtp = stage.mtp, .embedding = stage.embedding, .loss = stage.loss};
  i64 begin = 0;
  for (const model::LayerRun& run : model.runs) {
    const i64 from = std::max(begin, first);
    const i64 to = std::min(begin + run.count, first + stage.layers);
    if (from < to) add_run(on_stage.runs, run.layer, to - from);
    begin += run.count;
  }
  return on_stage;
}

void add_chunk(RankContents& on_rank, const RankContents& chunk) {
  on_rank.layers += chunk.layers;
  on_rank.mtp += chunk.mtp;
  on_rank.embedding = on_rank.embedding || chunk.embedding;
  on_rank.loss = on_rank.loss || chunk.loss;
  for (const model::LayerRun& run : chunk.runs) add_run(on_rank.runs, run.layer, run.count);
}

}  // namespace

std::span<const std::string_view> recompute_names() { return kRecomputes; }
std::string_view name(Recompute recompute) { return kRecomputes[std::size_t(recompute)]; }

std::span<const std::string_view> nvme_states_names() { return kNvmeStates; }
std::string_view name(NvmeStates states) { return kNvmeStates[std::size_t(states)]; }

std::string show(const Offload& offload) {
  std::string text;
  const auto add = [&](std::string part, bool nvme = false) {
    text += (text.empty() ? "" : ", ") + part + (nvme ? " on NVMe" : "");
  };
  if (offload.optimizer >= 1)
    add("optimizer", offload.nvme_optimizer());
  else if (offload.optimizer > 0)
    add(fmt::format("{} of the optimizer", percent(offload.optimizer)), offload.nvme_optimizer());
  if (offload.parameters) add("parameters", offload.nvme_parameters());
  if (offload.activations) add("activations");
  return text.empty() ? "nothing" : text;
}

std::span<const std::string_view> cp_comm_names() { return kCpComms; }
std::string_view name(CpComm comm) { return kCpComms[std::size_t(comm)]; }

std::span<const RecomputeModuleRow> recompute_modules() {
  static constexpr RecomputeModuleRow kRows[] = {
      {"core_attn", &RecomputeModules::core_attn},
      {"layernorm", &RecomputeModules::layernorm},
      {"mla_up_proj", &RecomputeModules::mla_up_proj},
      {"mlp", &RecomputeModules::mlp},
      {"moe_act", &RecomputeModules::moe_act},
      {"moe", &RecomputeModules::moe},
      {"shared_experts", &RecomputeModules::shared_experts}};
  return kRows;
}

std::string show(const RecomputeModules& modules, std::string_view separator) {
  std::string text;
  for (const RecomputeModuleRow& row : recompute_modules()) {
    if (!(modules.*row.field)) continue;
    if (!text.empty()) text += separator;
    text += row.name;
  }
  return text;
}

std::span<const std::string_view> dispatcher_names() { return kDispatchers; }
std::string_view name(Dispatcher dispatcher) { return kDispatchers[std::size_t(dispatcher)]; }

mesh::MeshPair Plan::meshes() const {
  return {.dense = {.tp = tp, .cp = cp, .ep = 1, .dp = dp, .pp = pp, .order = order},
          .expert = {.tp = etp, .cp = 1, .ep = ep, .dp = expert_dp(), .pp = pp, .order = order}};
}

bool TrainingConfig::left_open(std::string_view key) const {
  return std::any_of(assumed.begin(), assumed.end(),
                     [&](const Assumption& assumption) { return assumption.key == key; });
}

Stages TrainingConfig::stages() const {
  if (!plan.stages.empty()) return plan.stages;
  return split_evenly(model.layers(), plan.pp * plan.virtual_stages, model.mtp_layers);
}

i64 assume_sequence(const model::Model& model) {
  constexpr i64 kUsual = 8192, kUnknown = 4096;
  return model.max_sequence > 0 ? std::min(model.max_sequence, kUsual) : kUnknown;
}

std::optional<i64> assume_global_batch(const TrainingConfig& config) {
  constexpr i64 kTokens = 4 * 1024 * 1024, kAdapterTokens = 128 * 1024, kRanksPerSequence = 8;
  const i64 tokens = config.job.frozen() ? kAdapterTokens : kTokens;
  const i64 sequences = std::max<i64>(1, tokens / std::max<i64>(1, config.job.sequence));
  const i64 world = std::max<i64>(1, config.world);
  const i64 shared = world <= sequences || world % kRanksPerSequence != 0 ? 1 : kRanksPerSequence;
  const i64 unit = world / shared;
  // Chunked schedules need whole rounds of microbatches; those with two directions need them twice.
  const Plan& plan = config.plan;
  const i64 rounds = plan.virtual_stages > 1 || plan.mirrored() ? 2 * plan.pp : 1;
  const std::optional<i64> step = product({plan.dp, plan.micro_batch, rounds});
  const std::optional<i64> usual = product({ceil_div(sequences, unit), unit});
  if (!step || !usual) return std::nullopt;
  return divides(*step, *usual) ? usual : product({ceil_div(*usual, *step), *step});
}

const cluster::Calibration& select_calibration(const TrainingConfig& config) {
  if (config.calibrated) return config.calibrated->calibration;
  return config.cluster.device.cpu() ? catalog::probed_calibration() : catalog::get_calibration();
}

pipeline::PipelineShape make_pipeline_shape(const TrainingConfig& config) {
  return {.schedule = config.plan.schedule,
          .pp = config.plan.pp,
          .chunks = config.plan.virtual_stages,
          .microbatches = config.microbatches(),
          .group = config.plan.microbatch_group};
}

std::vector<RankContents> list_stage_contents(const TrainingConfig& config) {
  std::vector<RankContents> all;
  i64 first = 0;
  for (const Stage& stage : config.stages()) {
    all.push_back(make_stage_contents(config.model, stage, first));
    first += stage.layers;
  }
  return all;
}

std::vector<RankContents> list_chunk_contents(const TrainingConfig& config, i64 pp_rank) {
  return list_chunk_contents(config, config.stages(), pp_rank);
}

std::vector<RankContents> list_chunk_contents(const TrainingConfig& config, const Stages& stages,
                                              i64 pp_rank) {
  std::vector<RankContents> chunks;
  std::size_t at = 0;
  i64 first = 0;  // index of the first layer of stage `at`
  for (const i64 s : list_stages(config.plan, pp_rank)) {
    for (; at < std::size_t(s); ++at) first += stages[at].layers;
    chunks.push_back(make_stage_contents(config.model, stages[at], first));
  }
  return chunks;
}

RankContents contents(const TrainingConfig& config, i64 pp_rank) {
  RankContents on_rank;
  for (const RankContents& chunk : list_chunk_contents(config, pp_rank)) add_chunk(on_rank, chunk);
  return on_rank;
}

std::vector<RankContents> list_rank_contents(const TrainingConfig& config) {
  const std::vector<RankContents> by_stage = list_stage_contents(config);
  std::vector<RankContents> all(std::size_t(config.plan.pp));
  for (i64 r = 0; r < config.plan.pp; ++r)
    for (const i64 s : list_stages(config.plan, r))
      add_chunk(all[std::size_t(r)], by_stage[std::size_t(s)]);
  return all;
}

i64 count_recomputed_layers(const Plan& plan, i64 before, i64 count) {
  if (plan.recompute != Recompute::full) return 0;
  if (plan.recompute_layers == 0) return count;
  return std::clamp(plan.recompute_layers - before, i64{0}, count);
}

bool recomputes_everything(const Plan& plan) {
  return plan.recompute == Recompute::full && plan.recompute_layers == 0;
}

std::vector<i64> list_stages(const Plan& plan, i64 pp_rank) {
  const i64 mirrored = plan.pp - 1 - pp_rank;
  if (plan.mirrored() && pp_rank != mirrored)
    return {std::min(pp_rank, mirrored), std::max(pp_rank, mirrored)};
  std::vector<i64> stages;
  for (i64 pass = 0; pass < plan.virtual_stages; ++pass) {
    const bool back =
        pipeline::row(plan.schedule).stage_order == pipeline::StageOrder::vee && pass % 2 == 1;
    stages.push_back(pass * plan.pp + (back ? mirrored : pp_rank));
  }
  return stages;
}

}  // namespace rankwright::plan
