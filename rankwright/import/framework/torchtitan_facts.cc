#include "rankwright/import/framework/torchtitan_facts.h"

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/program/cells.h"

namespace rankwright::importer {
namespace {

// torchtitan/models/{llama3,deepseek_v3,qwen3}/__init__.py. llama4 is not in the catalog.
constexpr TorchtitanFlavor kFlavors[] = {
    {"llama3", "8B", "llama-3.1-8b"},
    {"llama3", "70B", "llama-3.1-70b"},
    {"llama3", "405B", "llama-3.1-405b"},
    {"deepseek_v3", "16B", "deepseek-v2-lite"},
    {"deepseek_v3", "236B", "deepseek-v2"},
    {"deepseek_v3", "671B", "deepseek-v3"},
    {"qwen3", "0.6B", "qwen3-0.6b"},
    {"qwen3", "1.7B", "qwen3-1.7b"},
    {"qwen3", "4B", "qwen3-4b"},
    {"qwen3", "8B", "qwen3-8b"},
    {"qwen3", "14B", "qwen3-14b"},
    {"qwen3", "32B", "qwen3-32b"},
    {"qwen3", "30B-A3B", "qwen3-30b-a3b"},
    {"qwen3", "235B-A22B", "qwen3-235b-a22b"},
};

// torchtitan/models/llama/__init__.py of 2024, and models of experiments.
constexpr TorchtitanFlavor kOldFlavors[] = {
    {"gpt_oss", "20b", "gpt-oss-20b"}, {"gpt_oss", "120b", "gpt-oss-120b"},
    {"llama2", "7B", "llama-2-7b"},    {"llama2", "13B", "llama-2-13b"},
    {"llama2", "70B", "llama-2-70b"},
};

struct ScheduleClass {
  pipeline::Schedule schedule;
  std::string_view name;
};
constexpr ScheduleClass kClasses[] = {
    {pipeline::Schedule::gpipe, "GPipe"},
    {pipeline::Schedule::one_f_one_b, "1F1B"},
    {pipeline::Schedule::interleaved, "Interleaved1F1B"},
    {pipeline::Schedule::looped_bfs, "LoopedBFS"},
    {pipeline::Schedule::interleaved_zb, "InterleavedZeroBubble"},
    {pipeline::Schedule::zb_v, "ZBVZeroBubble"},
    {pipeline::Schedule::dualpipe_v, "DualPipeV"},
};

constexpr i64 kMaxGroups = 64;

}  // namespace

std::span<const TorchtitanFlavor> torchtitan_flavors() { return kFlavors; }

std::span<const TorchtitanFlavor> old_torchtitan_flavors() { return kOldFlavors; }

model::Model make_flavor_model(const TorchtitanFlavor& flavor) {
  Result<model::Model> model = catalog::find_model(flavor.model);
  RW_CHECK(model.has_value());
  if (model->mtp_layers > 0) {
    model->mtp_layers = 0;
    model->name += "-without-mtp";
  }
  return std::move(*model);
}

const TorchtitanFlavor* find_flavor(const model::Model& model) {
  const auto found =
      std::find_if(std::begin(kFlavors), std::end(kFlavors), [&](const TorchtitanFlavor& flavor) {
        model::Model same = make_flavor_model(flavor);
        same.max_sequence = model.max_sequence;
        same.mtp_layers = model.mtp_layers;
        return is_same_network(same, model);
      });
  return found == std::end(kFlavors) ? nullptr : found;
}

std::string_view torch_schedule(pipeline::Schedule schedule) {
  for (const ScheduleClass& one : kClasses)
    if (one.schedule == schedule) return one.name;
  return {};
}

std::optional<std::vector<i64>> split_like_torchtitan(i64 layers, i64 stages, i64 first, i64 last) {
  const i64 effective = layers + first + last;
  if (stages < 1 || stages > plan::kMaxStages || effective < stages) return std::nullopt;
  if (stages == 1) return std::vector<i64>{layers};
  const i64 base = effective / stages, more = effective % stages;
  if (first > base || last > base) return std::nullopt;
  std::vector<i64> split(std::size_t(stages), base);
  for (i64 i = 0; i < more; ++i) ++split[std::size_t(i)];
  split.front() -= first;
  split.back() -= last;
  return split;
}

std::optional<i64> torch_group_size(i64 pp, i64 microbatches) {
  if (pp < 1 || microbatches < pp) return std::nullopt;
  const i64 rounds = microbatches / pp;
  if (!divides(rounds, microbatches)) return std::nullopt;
  return microbatches / rounds;
}

bool needs_cells(const plan::TrainingConfig& config) {
  const plan::Plan& p = config.plan;
  if (p.pp == 1) return false;
  if (p.schedule == pipeline::Schedule::zb_h1 || p.schedule == pipeline::Schedule::zb_2p)
    return true;
  // Fewer microbatches than ranks form one round, whatever the group.
  if (!row(p.schedule).groups || config.microbatches() < p.pp) return false;
  return torch_group_size(p.pp, config.microbatches()) != make_pipeline_shape(config).group_size();
}

std::optional<pipeline::PipelineShape> find_shape(std::string_view text, std::string_view file,
                                                  i64 pp, i64 chunks) {
  const Result<program::WrittenSchedule> written = program::parse_cells(text, file);
  if (!written || i64(written->ranks.size()) != pp) return std::nullopt;
  const pipeline::Sequences ranks = program::only_cells(written->ranks);
  const program::CellSet set = program::inspect_cells(ranks);
  if (!set.faults.empty() || set.stages != pp * chunks) return std::nullopt;
  for (const pipeline::ScheduleRow& row : pipeline::schedules()) {
    const i64 groups = row.groups ? std::min(set.microbatches, pp + kMaxGroups) : pp;
    for (i64 group = pp; group <= std::max(groups, pp); ++group) {
      const pipeline::PipelineShape shape{row.schedule, pp, chunks, set.microbatches,
                                          group == pp ? 0 : group};
      const std::optional<i64> size = pipeline::cell_count(shape);
      if (find_shape_fault(shape) || !size || *size > kMaxTorchCells) continue;
      if (pipeline::cells(shape) == ranks) return shape;
    }
  }
  return std::nullopt;
}

}  // namespace rankwright::importer
