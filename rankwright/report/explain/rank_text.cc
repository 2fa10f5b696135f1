#include "rankwright/report/explain/rank_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "rankwright/base/format.h"
#include "rankwright/report/explain/memory_text.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

std::string list_members(const planner::RankView::GroupView& group) {
  std::string text;
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    if (i > 0) text += group.shortened && i + 1 == group.members.size() ? " ... " : " ";
    text += count(group.members[i]);
  }
  return text;
}

std::string describe_chunk(const planner::RankView::Chunk& chunk) {
  std::string text = chunk.embedding ? "embedding, " : "";
  text += chunk.layers == 0   ? "no layers"
          : chunk.layers == 1 ? fmt::format("layer {}", chunk.first_layer)
                              : fmt::format("layers {} to {}", chunk.first_layer,
                                            chunk.first_layer + chunk.layers - 1);
  if (chunk.mtp > 0) text += fmt::format(", {}", plural(chunk.mtp, "MTP module", "MTP modules"));
  if (chunk.loss) text += ", output head and loss";
  return text;
}

std::string describe_microbatches(const pipeline::MicrobatchRun& run) {
  return fmt::format("; micro-batches {} to {}", count(run.first),
                     count(run.first + run.count - 1));
}

/// Lists the ranks that the chunks send to or receive from, each once and without this rank
/// itself.
std::string list_partners(const planner::RankView& view, i64 planner::RankView::Chunk::*partner) {
  std::set<i64> ranks;
  for (const planner::RankView::Chunk& chunk : view.chunks)
    if (chunk.*partner >= 0 && chunk.*partner != view.rank) ranks.insert(chunk.*partner);
  std::string text;
  for (const i64 rank : ranks) text += (text.empty() ? "" : " and ") + count(rank);
  return text.empty() ? "none" : text;
}

std::string name_level(const plan::TrainingConfig& config, int level) {
  return level < 0 ? "" : std::string(config.cluster.levels[std::size_t(level)].name);
}

Table make_traffic_table(const plan::TrainingConfig& config,
                         std::span<const cost::TrafficCost> rows) {
  constexpr Table::Align kRight = Table::Align::right;
  Table table{{{"communication per step"},
               {"group"},
               {"calls", kRight},
               {"bytes", kRight},
               {"link"},
               {"total", kRight}}};
  for (const cost::TrafficCost& one : rows)
    table.rows.push_back({std::string(row(one.traffic.kind).label),
                          std::string(name(one.traffic.group)), count(one.traffic.calls),
                          show(one.traffic.bytes()), name_level(config, one.level),
                          show(one.total)});
  return table;
}

ordered_json make_memory_json(const plan::TrainingConfig& config,
                              const cost::MemoryEstimate& memory) {
  ordered_json rows = ordered_json::array();
  for (const cost::EntryRow& of : cost::entries())
    if (memory[of.entry] > Bytes{})
      rows.push_back({{"entry", of.name},
                      {"bytes", memory[of.entry].value},
                      {"origin", name(of.origin)},
                      {"formula", of.formula}});
  return {{"instant", name(memory.instant)},
          {"total_bytes", memory.total().value},
          {"capacity_bytes", config.cluster.device.memory.value},
          {"entries", rows}};
}

}  // namespace

std::string render_rank_text(const plan::TrainingConfig& config, const planner::RankView& view,
                             const Paint& paint, std::size_t width) {
  std::string out = paint.bold(fmt::format("rank {} of {}", count(view.rank), count(config.world)));
  out += fmt::format("\n\n  coordinates  tp {} · cp {} · dp {} · pp {}", view.tp, view.cp,
                     count(view.dp), view.pp);
  if (config.model.sparse())
    out += fmt::format("; for experts etp {} · ep {} · edp {}", view.etp, view.ep, count(view.edp));
  out += fmt::format("\n  device       {} on host {}, slot {}", count(view.device),
                     count(view.host), view.slot);
  for (std::size_t level = 0; level < view.domains.size(); ++level)
    if (config.cluster.domain(int(level)) < config.cluster.devices())
      out += fmt::format(" · {} domain {}", config.cluster.levels[level].name,
                         count(view.domains[level]));
  out += "\n";
  for (const planner::RankView::Chunk& chunk : view.chunks)
    out += fmt::format("  stage {:<7}{}{}\n", chunk.stage, describe_chunk(chunk),
                       config.plan.mirrored() ? describe_microbatches(chunk.microbatches) : "");
  out += fmt::format("  pipeline     receives from {}, sends to {}\n\n",
                     list_partners(view, &planner::RankView::Chunk::receives_from),
                     list_partners(view, &planner::RankView::Chunk::sends_to));
  Table table{{{"group"}, {"ranks", Table::Align::right}, {"spans"}, {"members"}}};
  for (const planner::RankView::GroupView& group : view.groups)
    table.rows.push_back({group.name, count(group.size), group.levels, list_members(group)});
  out += table.text(paint, "  ", width);
  if (!view.traffic.empty())
    out += "\n" + make_traffic_table(config, view.traffic).text(paint, "  ", width);
  return out + "\n" +
         render_memory_text(view.memory, config.cluster.device.memory, view.memory_band, paint,
                            width);
}

std::string make_rank_json(const plan::TrainingConfig& config, const planner::RankView& view) {
  ordered_json stages = ordered_json::array();
  for (const planner::RankView::Chunk& c : view.chunks)
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
  for (const planner::RankView::GroupView& g : view.groups)
    groups.push_back({{"group", g.name},
                      {"size", g.size},
                      {"spans", g.levels},
                      {"members", g.members},
                      {"shortened", g.shortened}});
  ordered_json communication = ordered_json::array();
  for (const cost::TrafficCost& one : view.traffic)
    communication.push_back({{"communication", row(one.traffic.kind).label},
                             {"collective", name(one.traffic.op)},
                             {"group", name(one.traffic.group)},
                             {"calls", one.traffic.calls},
                             {"bytes", one.traffic.bytes().value},
                             {"total_bytes", one.traffic.total.value},
                             {"wire_bytes", one.wire.value},
                             {"level", name_level(config, one.level)},
                             {"groups_per_link", one.sharers},
                             {"seconds", one.total.value}});
  const ordered_json json = {
      {"schema", "rankwright.rank/2"},
      {"rank", view.rank},
      {"world", config.world},
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
      {"communication", communication},
      {"memory", make_memory_json(config, view.memory)}};
  return json.dump(2) + "\n";
}

}  // namespace rankwright::report
