#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/export/framework/torchtitan.h"
#include "rankwright/export/quote.h"
#include "rankwright/import/framework/torchtitan_facts.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/program/cells.h"

namespace rankwright::exporter {
namespace {

/// Returns whether shards contain whole context-parallel groups.
bool has_whole_shards(const plan::Plan& p) { return divides(p.cp, p.shards()); }

/// Returns whether the plan is DDP. FSDP is on as soon as a shard has more than one rank.
bool is_ddp(const plan::Plan& p) { return p.zero == 0 && p.cp == 1; }

/// Returns whether torchtitan's own split of the layers gives the plan's stages.
bool matches_own_split(const plan::TrainingConfig& s) {
  const importer::TorchtitanFlavor* const flavor = importer::find_flavor(s.model);
  const i64 stages = s.plan.pp * s.plan.virtual_stages;
  const i64 usual = row(s.plan.schedule).min_chunks;
  if (flavor == nullptr || s.model.mtp_layers > 0 || s.plan.virtual_stages != usual) return false;
  const std::optional<std::vector<i64>> own =
      importer::split_like_torchtitan(s.model.layers(), stages, 1, 1);
  return own && plan::make_listed_stages(*own, 0) == s.stages();
}

}  // namespace

DataRankSplit split_data_ranks(const plan::Plan& p) {
  if (is_ddp(p)) return {.replicas = p.dp};
  if (p.zero == 0 || !has_whole_shards(p)) return {.shards = p.dp};
  const i64 shards = p.shards() / p.cp;
  return {.replicas = p.dp / shards, .shards = shards};
}

std::string_view choose_reshard_policy(const plan::Plan& p) {
  constexpr std::string_view kPolicies[] = {"default", "never", "never", "always"};
  return kPolicies[std::size_t(p.zero)];
}

bool writes_cells(const plan::TrainingConfig& s) {
  if (!importer::needs_cells(s)) return false;
  const std::optional<i64> size = pipeline::cell_count(make_pipeline_shape(s));
  return size && *size <= importer::kMaxTorchCells;
}

std::string_view choose_schedule_class(const plan::TrainingConfig& s) {
  if (writes_cells(s))
    return s.plan.virtual_stages > 1 ? "PipelineScheduleMulti" : "PipelineScheduleSingle";
  const std::string_view known = importer::torch_schedule(s.plan.schedule);
  return known.empty() ? "1F1B" : known;
}

std::optional<bool> find_compile(const plan::TrainingConfig& s) {
  if (s.plan.overlap.tp) return true;
  if (!s.software.name.starts_with("torchtitan")) return std::nullopt;
  return !s.software.eager_ops;
}

std::string list_modules(const plan::TrainingConfig& s, std::string_view head_module,
                         std::string_view indent) {
  if (s.plan.pp == 1 || matches_own_split(s)) return "";
  std::string text = "[\n";
  i64 layer = 0;
  for (const plan::Stage& stage : s.stages()) {
    std::string modules;
    const auto add = [&](const std::string& name) {
      modules += (modules.empty() ? "" : ", ") + quote_python(name);  // valid in TOML too
    };
    if (stage.embedding) add("tok_embeddings");
    for (i64 i = 0; i < stage.layers; ++i) add(fmt::format("layers.{}", layer++));
    if (stage.loss) add("norm");
    if (stage.loss) add(std::string(head_module));
    text += fmt::format("{}  [{}],\n", indent, modules);
  }
  return text + std::string(indent) + "]";
}

std::vector<ExportFile> write_schedule_files(const plan::TrainingConfig& s) {
  if (!writes_cells(s)) return {};
  return {
      {std::string(kScheduleFile), program::show_cells(pipeline::cells(make_pipeline_shape(s)))}};
}

std::vector<UnsupportedSetting> find_unsupported_by_both_torchtitans(
    const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  std::vector<UnsupportedSetting> lost;
  if (p.zero >= 1 && !has_whole_shards(p))
    lost.push_back({"parallelism.shard_size", "it shards over dp_shard x CP ranks"});
  if (p.zero >= 1 && p.cp == 1 && p.shards() == 1 && p.dp > 1)
    for (const char* const key : {"parallelism.zero_stage", "parallelism.shard_size"})
      lost.push_back({key, "a shard of one rank is unsharded data parallelism"});
  if (p.zero == 1 && p.data_ranks() == 1)
    lost.push_back(
        {"parallelism.zero_stage", "there is one data-parallel rank and nothing to shard"});
  if (importer::needs_cells(s) && !writes_cells(s))
    lost.push_back({"parallelism.schedule",
                    fmt::format("schedule files of more than {} actions are not written",
                                count(importer::kMaxTorchCells))});
  if (p.pp > 1 && s.model.mtp_layers > 0)
    lost.push_back({"parallelism.stages", "its pipelines have no MTP modules"});
  if (s.model.sparse() && p.ep == 1 && p.etp != p.tp)
    lost.push_back({"parallelism.etp_size", "without EP, experts are split like dense layers"});
  if (p.recompute == plan::Recompute::full && p.recompute_layers > 0)
    lost.push_back({"parallelism.recompute", "it recomputes all layers or none"});
  if (p.recompute == plan::Recompute::selective && p.modules != plan::RecomputeModules{})
    lost.push_back({"parallelism.recompute", "it recomputes by operation, not by module"});
  constexpr std::string_view kTogether = "FSDP offloads parameters and optimizer states together";
  if (p.offload.optimizer > 0 && (!p.offload.states()))
    lost.push_back({"parallelism.offload.optimizer", std::string(kTogether)});
  if (p.offload.parameters && (!p.offload.states()))
    lost.push_back({"parallelism.offload.parameters", std::string(kTogether)});
  if (s.job.optimizer != plan::Optimizer::adam)
    lost.push_back({"job.optimizer", "it has Adam and AdamW"});
  const importer::TorchtitanFlavor* const flavor = importer::find_flavor(s.model);
  if (!s.reference_model && flavor == nullptr)
    lost.push_back({"model", "no flavor with these shapes is known"});
  else if (!s.reference_model && !is_same_network(make_flavor_model(*flavor), s.model))
    lost.push_back(
        {"model",
         fmt::format("its flavor {} of {} has no MTP modules and a maximum sequence length of {}",
                     flavor->flavor, flavor->name, make_flavor_model(*flavor).max_sequence)});
  return lost;
}

}  // namespace rankwright::exporter
