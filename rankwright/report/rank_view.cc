#include "rankwright/report/rank_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/priced.h"
#include "rankwright/report/ledger_view.h"
#include "rankwright/report/rank_map.h"
#include "rankwright/report/table.h"
#include "rankwright/report/worksheet.h"

namespace rankwright {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostMembers = 16;

/// The member of a group with this index, in ascending order: no list is made.
i64 member(const GroupShape& shape, i64 base, i64 index) {
  i64 rank = base;
  for (const Extent& extent : shape) {
    rank += index % extent.count * extent.stride;
    index /= extent.count;
  }
  return rank;
}

RankView::GroupView group_view(const Setup& setup, GroupKind kind, i64 rank) {
  const GroupShape shape = group_shape(setup.plan.meshes(), kind, setup.plan.shards());
  RankView::GroupView view{.name = std::string(name(kind)),
                           .levels = placement_text(setup.cluster, span_of(setup, kind)),
                           .size = shape.size()};
  const i64 base = group_base(shape, rank);
  view.shortened = view.size > i64(kMostMembers);
  const i64 listed = view.shortened ? 3 : view.size;
  for (i64 i = 0; i < listed; ++i) view.members.push_back(member(shape, base, i));
  if (view.shortened) view.members.push_back(member(shape, base, view.size - 1));
  return view;
}

std::vector<RankView::Chunk> chunks(const Setup& setup, i64 rank, i64 pp_rank) {
  const Stages stages = setup.stages();
  const PipelineShape shape = pipeline_shape(setup);
  const i64 stride = setup.plan.meshes().dense.stride(Axis::pp);
  std::vector<RankView::Chunk> all;
  for (const i64 s : stages_of(setup.plan, pp_rank)) {
    i64 first = 0;
    for (i64 before = 0; before < s; ++before) first += stages[std::size_t(before)].layers;
    const Stage& stage = stages[std::size_t(s)];
    const MicrobatchRun run = microbatches_of(shape, pp_rank, s);
    const auto holder = [&](i64 neighbour) {
      if (neighbour < 0 || neighbour == shape.stages()) return i64{-1};
      return rank + (pp_rank_of(shape, neighbour, run.first) - pp_rank) * stride;
    };
    all.push_back({s, first, stage.layers, stage.mtp, stage.embedding, stage.loss, run,
                   holder(s - 1), holder(s + 1)});
  }
  return all;
}

/// The other rank that holds the same stages, and what lies between the two.
RankView::GroupView mirror_view(const Setup& setup, const RankView& view) {
  const Plan& plan = setup.plan;
  const i64 stride = plan.meshes().dense.stride(Axis::pp);
  const i64 other = view.rank + (plan.pp - 1 - 2 * view.pp) * stride;
  const int level = level_between(setup.cluster, view.device, plan.placement.device(other));
  return {.name = std::string(name(GroupKind::mirror)),
          .levels = fmt::format("{} {}", level == 0 ? "inside" : "2 across",
                                setup.cluster.levels[std::size_t(level)].name),
          .size = 2,
          .members = {std::min(view.rank, other), std::max(view.rank, other)}};
}

std::string members_text(const RankView::GroupView& group) {
  std::string text;
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    if (i > 0) text += group.shortened && i + 1 == group.members.size() ? " ... " : " ";
    text += count(group.members[i]);
  }
  return text;
}

std::string chunk_text(const RankView::Chunk& chunk) {
  std::string text = chunk.embedding ? "embedding, " : "";
  text += chunk.layers == 0   ? "no layers"
          : chunk.layers == 1 ? fmt::format("layer {}", chunk.first_layer)
                              : fmt::format("layers {} to {}", chunk.first_layer,
                                            chunk.first_layer + chunk.layers - 1);
  if (chunk.mtp > 0) text += fmt::format(", {}", plural(chunk.mtp, "MTP module", "MTP modules"));
  if (chunk.loss) text += ", output head and loss";
  return text;
}

std::string half_text(const MicrobatchRun& run) {
  return fmt::format("; microbatches {} to {}", count(run.first), count(run.first + run.count - 1));
}

/// Who the chunks hand over to, or have from: other ranks than this one, each once.
std::string partners(const RankView& view, i64 RankView::Chunk::*partner) {
  std::set<i64> ranks;
  for (const RankView::Chunk& chunk : view.chunks)
    if (chunk.*partner >= 0 && chunk.*partner != view.rank) ranks.insert(chunk.*partner);
  std::string text;
  for (const i64 rank : ranks) text += (text.empty() ? "" : " and ") + count(rank);
  return text.empty() ? "none" : text;
}

/// Null of a model that is not named.
ordered_json memory_json(const Setup& setup, const Ledger& memory) {
  if (setup.reference_model) return nullptr;
  ordered_json rows = ordered_json::array();
  for (const EntryRow& of : entries())
    if (memory[of.entry] > Bytes{})
      rows.push_back({{"entry", of.name},
                      {"bytes", memory[of.entry].value},
                      {"origin", name(of.origin)},
                      {"formula", of.formula}});
  return {{"instant", name(memory.instant)},
          {"total_bytes", memory.total().value},
          {"capacity_bytes", setup.cluster.device.memory.value},
          {"entries", rows}};
}

}  // namespace

RankView rank_view(const Setup& setup, i64 rank) {
  const Plan& plan = setup.plan;
  const MeshPair meshes = plan.meshes();
  RankView view{.rank = rank};
  view.tp = meshes.dense.coordinate(rank, Axis::tp);
  view.cp = meshes.dense.coordinate(rank, Axis::cp);
  view.dp = meshes.dense.coordinate(rank, Axis::dp);
  view.pp = meshes.dense.coordinate(rank, Axis::pp);
  view.etp = meshes.expert.coordinate(rank, Axis::tp);
  view.ep = meshes.expert.coordinate(rank, Axis::ep);
  view.edp = meshes.expert.coordinate(rank, Axis::dp);
  view.device = plan.placement.device(rank);
  const i64 host = std::max<i64>(1, setup.cluster.host_devices);
  view.host = view.device / host;
  view.slot = view.device % host;
  for (int level = 0; level < int(setup.cluster.levels.size()); ++level)
    view.domains.push_back(view.device / setup.cluster.domain(level));
  view.chunks = chunks(setup, rank, view.pp);
  for (const GroupKind kind : shown_groups(setup)) {
    view.groups.push_back(group_view(setup, kind, rank));
    if (kind == GroupKind::pp && plan.mirrored()) view.groups.push_back(mirror_view(setup, view));
  }
  const i64 stride = meshes.dense.stride(Axis::pp);
  // With chunks in a loop the last pp rank hands over to the first one's next chunk.
  const bool ring = plan.virtual_stages > 1 && row(plan.schedule).order == StageOrder::loop;
  const i64 round = (plan.pp - 1) * stride;
  if (plan.pp > 1 && (ring || view.pp > 0)) view.previous = rank + (view.pp > 0 ? -stride : round);
  if (plan.pp > 1 && (ring || view.pp + 1 < plan.pp))
    view.next = rank + (view.pp + 1 < plan.pp ? stride : -round);
  view.memory = ledger(setup, view.pp, calibration(setup));
  return view;
}

std::string rank_text(const Setup& setup, const RankView& view, const Paint& paint,
                      std::size_t width) {
  std::string out = paint.bold(fmt::format("rank {} of {}", count(view.rank), count(setup.world)));
  out += fmt::format("\n\n  coordinates  tp {} · cp {} · dp {} · pp {}", view.tp, view.cp,
                     count(view.dp), view.pp);
  if (setup.model.sparse())
    out += fmt::format("; for experts etp {} · ep {} · edp {}", view.etp, view.ep, count(view.edp));
  out += fmt::format("\n  device       {} on host {}, slot {}", count(view.device),
                     count(view.host), view.slot);
  for (std::size_t level = 0; level < view.domains.size(); ++level)
    if (setup.cluster.domain(int(level)) < setup.cluster.devices())
      out += fmt::format(" · {} domain {}", setup.cluster.levels[level].name,
                         count(view.domains[level]));
  out += "\n";
  for (const RankView::Chunk& chunk : view.chunks)
    out += fmt::format("  stage {:<7}{}{}\n", chunk.stage, chunk_text(chunk),
                       setup.plan.mirrored() ? half_text(chunk.microbatches) : "");
  out += fmt::format("  pipeline     receives from {}, sends to {}\n\n",
                     partners(view, &RankView::Chunk::receives_from),
                     partners(view, &RankView::Chunk::sends_to));
  Table table{{{"group"}, {"ranks", Table::Align::right}, {"lies"}, {"members"}}};
  for (const RankView::GroupView& group : view.groups)
    table.rows.push_back({group.name, count(group.size), group.levels, members_text(group)});
  out += table.text(paint, "  ");
  // Of a model that is not named nothing can be said.
  if (setup.reference_model) return out;
  const ErrorBand band{bands().memory.within, bands().memory.rows};
  return out + "\n" + ledger_text(view.memory, setup.cluster.device.memory, band, paint, width);
}

std::string rank_json(const Setup& setup, const RankView& view) {
  ordered_json stages = ordered_json::array();
  for (const RankView::Chunk& c : view.chunks)
    stages.push_back({{"stage", c.stage},
                      {"first_layer", c.first_layer},
                      {"layers", c.layers},
                      {"mtp", c.mtp},
                      {"embedding", c.embedding},
                      {"loss", c.loss},
                      {"first_microbatch", c.microbatches.first},
                      {"microbatches", c.microbatches.count},
                      {"receives_from", c.receives_from},
                      {"sends_to", c.sends_to}});
  ordered_json groups = ordered_json::array();
  for (const RankView::GroupView& g : view.groups)
    groups.push_back({{"group", g.name},
                      {"size", g.size},
                      {"lies", g.levels},
                      {"members", g.members},
                      {"shortened", g.shortened}});
  const ordered_json json = {
      {"schema", "rankwright.rank/2"},
      {"rank", view.rank},
      {"world", setup.world},
      {"coordinates",
       {{"tp", view.tp},
        {"cp", view.cp},
        {"dp", view.dp},
        {"pp", view.pp},
        {"etp", view.etp},
        {"ep", view.ep},
        {"edp", view.edp}}},
      {"device", {{"index", view.device}, {"host", view.host}, {"slot", view.slot}}},
      {"domains", view.domains},
      {"stages", stages},
      {"pipeline", {{"previous", view.previous}, {"next", view.next}}},
      {"groups", groups},
      {"memory", memory_json(setup, view.memory)}};
  return json.dump(2) + "\n";
}

}  // namespace rankwright
