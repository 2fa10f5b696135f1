#include "rankwright/planner/explain/rank_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/catalog/bands.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/planner/explain/explain_view.h"
#include "rankwright/planner/explain/rank_map.h"

namespace rankwright::planner {
namespace {

constexpr std::size_t kMaxMembers = 16;

/// Returns the member of a group by its index in ascending order, without building the list.
i64 find_member(const mesh::GroupShape& shape, i64 base, i64 index) {
  i64 rank = base;
  for (const mesh::Extent& extent : shape) {
    rank += index % extent.count * extent.stride;
    index /= extent.count;
  }
  return rank;
}

RankView::GroupView make_group_view(const plan::TrainingConfig& config, mesh::GroupKind kind,
                                    i64 rank) {
  const mesh::GroupShape shape = make_group_shape(config.plan.meshes(), kind, config.plan.shards());
  RankView::GroupView view{.name = std::string(name(kind)),
                           .levels = describe_span(config.cluster, cost::find_span(config, kind)),
                           .size = shape.size()};
  const i64 base = find_group_base(shape, rank);
  view.shortened = view.size > i64(kMaxMembers);
  const i64 listed = view.shortened ? 3 : view.size;
  for (i64 i = 0; i < listed; ++i) view.members.push_back(find_member(shape, base, i));
  if (view.shortened) view.members.push_back(find_member(shape, base, view.size - 1));
  return view;
}

std::vector<RankView::Chunk> list_chunks(const plan::TrainingConfig& config, i64 rank,
                                         i64 pp_rank) {
  const plan::Stages stages = config.stages();
  const pipeline::PipelineShape shape = make_pipeline_shape(config);
  const i64 stride = config.plan.meshes().dense.stride(mesh::Axis::pp);
  std::vector<RankView::Chunk> all;
  for (const i64 s : list_stages(config.plan, pp_rank)) {
    i64 first = 0;
    for (i64 before = 0; before < s; ++before) first += stages[std::size_t(before)].layers;
    const plan::Stage& stage = stages[std::size_t(s)];
    const pipeline::MicrobatchRun run = find_microbatches(shape, pp_rank, s);
    const auto holder = [&](i64 neighbor) {
      if (neighbor < 0 || neighbor == shape.stages()) return i64{-1};
      return rank + (find_pp_rank(shape, neighbor, run.first) - pp_rank) * stride;
    };
    all.push_back({s, first, stage.layers, stage.mtp, stage.embedding, stage.loss, run,
                   holder(s - 1), holder(s + 1)});
  }
  return all;
}

/// Returns the other rank that holds the same stages, and the level between the two.
RankView::GroupView make_mirror_view(const plan::TrainingConfig& config, const RankView& view) {
  const plan::Plan& plan = config.plan;
  const i64 stride = plan.meshes().dense.stride(mesh::Axis::pp);
  const i64 other = view.rank + (plan.pp - 1 - 2 * view.pp) * stride;
  const int level =
      mesh::find_level_between(config.cluster, view.device, plan.placement.device(other));
  return {.name = std::string(name(mesh::GroupKind::mirror)),
          .levels = fmt::format("{} {}", level == 0 ? "inside" : "2 across",
                                config.cluster.levels[std::size_t(level)].name),
          .size = 2,
          .members = {std::min(view.rank, other), std::max(view.rank, other)}};
}

}  // namespace

RankView make_rank_view(const plan::TrainingConfig& config, i64 rank) {
  const plan::Plan& plan = config.plan;
  const mesh::MeshPair meshes = plan.meshes();
  RankView view{.rank = rank};
  view.tp = meshes.dense.coordinate(rank, mesh::Axis::tp);
  view.cp = meshes.dense.coordinate(rank, mesh::Axis::cp);
  view.dp = meshes.dense.coordinate(rank, mesh::Axis::dp);
  view.pp = meshes.dense.coordinate(rank, mesh::Axis::pp);
  view.etp = meshes.expert.coordinate(rank, mesh::Axis::tp);
  view.ep = meshes.expert.coordinate(rank, mesh::Axis::ep);
  view.edp = meshes.expert.coordinate(rank, mesh::Axis::dp);
  view.device = plan.placement.device(rank);
  const i64 host = std::max<i64>(1, config.cluster.host_devices);
  view.host = view.device / host;
  view.slot = view.device % host;
  for (int level = 0; level < int(config.cluster.levels.size()); ++level)
    view.domains.push_back(view.device / config.cluster.domain(level));
  view.chunks = list_chunks(config, rank, view.pp);
  for (const mesh::GroupKind kind : list_shown_groups(config)) {
    view.groups.push_back(make_group_view(config, kind, rank));
    if (kind == mesh::GroupKind::pp && plan.mirrored())
      view.groups.push_back(make_mirror_view(config, view));
  }
  const i64 stride = meshes.dense.stride(mesh::Axis::pp);
  // With looped chunks, the last pp rank sends to the next chunk on the first pp rank.
  const bool ring =
      plan.virtual_stages > 1 && row(plan.schedule).stage_order == pipeline::StageOrder::loop;
  const i64 round = (plan.pp - 1) * stride;
  if (plan.pp > 1 && (ring || view.pp > 0)) view.previous = rank + (view.pp > 0 ? -stride : round);
  if (plan.pp > 1 && (ring || view.pp + 1 < plan.pp))
    view.next = rank + (view.pp + 1 < plan.pp ? stride : -round);
  view.traffic = cost::estimate_traffic(config, view.pp);
  view.memory = cost::estimate_memory(config, view.pp, select_calibration(config));
  view.memory_band = cost::get_memory_band(config);
  return view;
}

}  // namespace rankwright::planner
