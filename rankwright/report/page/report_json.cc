#include "rankwright/report/page/report_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "rankwright/base/format.h"
#include "rankwright/export/plan_file.h"
#include "rankwright/report/compare/compare_json.h"
#include "rankwright/report/explain/explain_json.h"
#include "rankwright/report/explain/memory_text.h"
#include "rankwright/report/page/advice_sentences.h"
#include "rankwright/report/page/report_sentences.h"
#include "rankwright/report/page/report_timeline_json.h"
#include "rankwright/report/plan/plan_points.h"
#include "rankwright/report/plan/plan_sentences.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/sweep/sweep_sentences.h"
#include "rankwright/report/timeline/timeline_drawing.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxStageBars = 512;  // of more pp ranks the report has a sample

ordered_json make_verdict_json(const planner::PlanReport& report) {
  const PlanVerdict verdict = make_plan_verdict(report);
  ordered_json figures = ordered_json::array();
  for (const KeyFigure& figure : list_key_figures(report))
    figures.push_back({{"name", figure.name}, {"text", figure.text}, {"detail", figure.detail}});
  return {{"sentence", verdict.sentence},
          {"tone", name(verdict.standing)},
          {"figures", std::move(figures)}};
}

ordered_json make_advice_json(const planner::PlanReport& report) {
  const AdviceCard card = make_advice_card(report);
  ordered_json changes = ordered_json::array(), gains = ordered_json::array();
  for (const planner::KeyDifference& one : report.advice.changes)
    changes.push_back({{"key", one.key}, {"from", one.a}, {"to", one.b}});
  for (const Gain& gain : card.gains)
    gains.push_back({{"name", gain.name},
                     {"now", gain.now},
                     {"after", gain.after},
                     {"difference", gain.difference}});
  return {{"kind", name(report.advice.kind)},
          {"sentence", card.sentence},
          {"changes", std::move(changes)},
          {"gains", std::move(gains)},
          {"runs", card.runs},
          {"command", card.command},
          {"file", card.file}};
}

ordered_json make_findings_json(const Diagnostics& findings) {
  ordered_json all = ordered_json::array();
  for (const Diagnostic& found : findings)
    all.push_back({{"code", found.code},
                   {"severity", name(found.severity)},
                   {"title", found.message},
                   {"message", found.detail},
                   {"notes", found.notes},
                   {"help", help(found)}});
  return all;
}

ordered_json make_domain_json(const planner::MapDomain& domain) {
  ordered_json below = ordered_json::array();
  for (const planner::MapDomain& one : domain.domains) below.push_back(make_domain_json(one));
  return {{"level", domain.level},
          {"index", domain.index},
          {"count", domain.count},
          {"domains", std::move(below)},
          {"devices", domain.devices}};
}

/// Lists the communication rows that the ranks of a pp rank take part in: head and loss are on one
/// pp rank, and dense layers send no tokens to experts. Pipeline traffic concerns every pp rank,
/// as sender or receiver.
ordered_json list_calls(const planner::PlanReport& report, i64 pp_rank) {
  const std::vector<plan::Traffic> sent = list_traffic(report.config, pp_rank);
  ordered_json all = ordered_json::array();
  for (std::size_t k = 0; k < report.explain_view.communication.size(); ++k) {
    const plan::Traffic& row = report.explain_view.communication[k].evaluated.traffic;
    if (row.group == mesh::GroupKind::pp ||
        std::any_of(sent.begin(), sent.end(),
                    [&](const plan::Traffic& t) { return t.kind == row.kind; }))
      all.push_back(k);
  }
  return all;
}

/// Describes a device: its coordinates on both meshes, -1 if it is idle, and its collectives.
ordered_json make_device_json(const plan::TrainingConfig& config, const planner::MapDevice& of,
                              const ordered_json& calls) {
  const mesh::MeshPair meshes = config.plan.meshes();
  const i64 host = std::max<i64>(1, config.cluster.host_devices);
  const auto at = [&](const mesh::Mesh& mesh, mesh::Axis axis) {
    return of.rank < 0 ? -1 : mesh.coordinate(of.rank, axis);
  };
  return {{"device", of.device},
          {"host", of.device / host},
          {"slot", of.device % host},
          {"stands_for", of.stands_for},
          {"rank", of.rank},
          {"tp", at(meshes.dense, mesh::Axis::tp)},
          {"cp", at(meshes.dense, mesh::Axis::cp)},
          {"pp", at(meshes.dense, mesh::Axis::pp)},
          {"dp", at(meshes.dense, mesh::Axis::dp)},
          {"ep", at(meshes.expert, mesh::Axis::ep)},
          {"etp", at(meshes.expert, mesh::Axis::tp)},
          {"edp", at(meshes.expert, mesh::Axis::dp)},
          {"collectives", calls}};
}

/// Lists the collectives whose groups have the same ranks as this kind, even if they belong to
/// another kind: without context parallelism dp and dp-cp are the same ranks.
ordered_json list_collectives(const planner::PlanReport& report, mesh::GroupKind kind) {
  const plan::Plan& plan = report.config.plan;
  const mesh::MeshPair meshes = plan.meshes();
  const mesh::GroupShape shape = make_group_shape(meshes, kind, plan.shards());
  ordered_json all = ordered_json::array();
  for (std::size_t k = 0; k < report.explain_view.communication.size(); ++k) {
    const mesh::GroupKind calling = report.explain_view.communication[k].evaluated.traffic.group;
    if (calling == kind || make_group_shape(meshes, calling, plan.shards()) == shape)
      all.push_back(k);
  }
  return all;
}

ordered_json make_ranks_json(const planner::PlanReport& report) {
  const plan::TrainingConfig& config = report.config;
  ordered_json levels = ordered_json::array(), devices = ordered_json::array(),
               groups = ordered_json::array();
  for (const cluster::Level& level : config.cluster.levels) levels.push_back(level.name);
  const mesh::Mesh dense = config.plan.meshes().dense;
  std::map<i64, ordered_json> calls;  // by pp rank
  for (const planner::MapDevice& device : report.ranks.devices) {
    const i64 pp_rank = device.rank < 0 ? -1 : dense.coordinate(device.rank, mesh::Axis::pp);
    const auto [of, added] = calls.try_emplace(pp_rank, ordered_json::array());
    if (added && pp_rank >= 0) of->second = list_calls(report, pp_rank);
    devices.push_back(make_device_json(config, device, of->second));
  }
  for (const planner::MapGroups& of : report.ranks.groups) {
    groups.push_back({{"kind", name(of.kind)},
                      {"size", of.span.size},
                      {"count", of.groups},
                      {"spans", planner::describe_span(config.cluster, of.span)},
                      {"level", of.span.level},
                      {"of_device", of.of_device},
                      {"collectives", list_collectives(report, of.kind)}});
  }
  return {{"world", config.world},
          {"folded", report.ranks.folded},
          {"words", report.ranks.words},
          {"levels", std::move(levels)},
          {"root", make_domain_json(report.ranks.root)},
          {"devices", std::move(devices)},
          {"groups", std::move(groups)}};
}

ordered_json make_memory_json(const planner::PlanReport& report) {
  const cost::Estimate& e = report.explain_view.estimate;
  const std::vector<plan::RankContents> contents = list_rank_contents(report.config);
  ordered_json all = ordered_json::array();
  for (const i64 rank : select_ranks_to_draw(report.config.plan.pp, i64(kMaxStageBars))) {
    const cost::MemoryEstimate& memory = report.memory_per_pp_rank[std::size_t(rank)];
    const cost::MemoryVerdict verdict =
        cost::judge_memory(memory.total(), e.capacity, e.memory_band.within);
    ordered_json rows = ordered_json::array();
    for (const cost::EntryRow& of : cost::entries())
      if (memory[of.entry] > Bytes{})
        rows.push_back({{"entry", of.name}, {"bytes", memory[of.entry].value}});
    all.push_back({{"pp_rank", rank},
                   {"holds", describe_contents(contents[std::size_t(rank)])},
                   {"instant", name(memory.instant)},
                   {"instant_words", words(memory.instant)},
                   {"total_bytes", memory.total().value},
                   {"fits", fits(verdict)},
                   {"verdict", name(verdict)},
                   {"entries", std::move(rows)}});
  }
  return all;
}

ordered_json make_why_not_json(const planner::PlanReport& report) {
  if (!report.search) return nullptr;
  ordered_json points = ordered_json::array(), refused = ordered_json::array();
  const PlanPoints drawn = collect_points(report);
  for (const PlanPoint& p : drawn.points) {
    const exporter::PlanComments comments{
        .head = {format_headline(p.config), format_degree_tags(p.config)}};
    points.push_back({{"role", name(p.role)},
                      {"change", p.change},
                      {"brief", brief(p.config)},
                      {"step_seconds", p.time.value},
                      {"memory_bytes", p.memory.value},
                      {"fits", p.fits},
                      {"difference", p.time / report.time() - 1},
                      {"because", p.because},
                      {"file", write_plan_yaml(p.config, comments)}});
  }
  for (const RefusedChange& change : drawn.refused)
    refused.push_back(
        {{"change", change.change}, {"brief", change.plan}, {"because", change.because}});
  return {{"words", explain_choice(report)},
          {"searched", describe_certificate(report)},
          {"points", std::move(points)},
          {"refused", std::move(refused)}};
}

/// Describes one row of the trade-off table; `what` is what the plan trades its time for.
ordered_json make_trade_row(const planner::PlanReport& report, std::string what, i64 gpus,
                            const search::EvaluatedPlan& plan) {
  return {{"what", std::move(what)},
          {"gpus", gpus},
          {"brief", brief(plan.config)},
          {"step_seconds", plan.time().value},
          {"memory_bytes", plan.estimate.memory.total().value},
          {"difference", plan.time() / report.time() - 1}};
}

constexpr double kHeadrooms[] = {0.125, 0.25, 0.5};  // as in search/trade.h

/// Lists what more headroom or fewer GPUs cost. A search around a given plan has no trade-offs of
/// its own; the Pareto front has those of memory.
ordered_json make_trade_json(const planner::PlanReport& report) {
  ordered_json all = ordered_json::array();
  if (!report.search) return all;
  for (const search::TradePoint& point : report.search->trade)
    if (point.plan)
      all.push_back(make_trade_row(report, describe_trade(report.search->problem, point),
                                   point.gpus, *point.plan));
  if (!all.empty()) return all;
  const search::EvaluatedPlan* last = nullptr;
  for (const double free : kHeadrooms) {
    const Bytes limit = (1 - free) * report.search->problem.capacity;
    const search::EvaluatedPlan* fastest = nullptr;
    for (const search::EvaluatedPlan& plan : report.front)
      if (plan.estimate.memory.total() <= limit &&
          (fastest == nullptr || plan.time() < fastest->time()))
        fastest = &plan;
    if (fastest == nullptr || fastest == last) continue;
    last = fastest;
    all.push_back(make_trade_row(report, fmt::format("leave {} of the memory free", percent(free)),
                                 report.config.world, *fastest));
  }
  return all;
}

/// Describes the plan with another value of one setting; "impossible" says why no such plan exists.
ordered_json make_what_if_row(const planner::PlanReport& report, const planner::SweepKey& key,
                              const planner::SweepRow& row) {
  ordered_json one = {{"value", format_bare_value(key, row.value)},
                      {"name", format_sweep_value(key, row.value)},
                      {"own", row.own},
                      {"impossible", row.impossible}};
  if (!row.estimated()) return one;
  const rules::Page* const page = rules::find_page(row.refused);
  one["refused"] = page == nullptr ? "" : fmt::format("{}: {}", page->code, page->title);
  one["step_seconds"] = row.estimate.time().value;
  one["difference"] = row.estimate.time() / report.time() - 1;
  one["memory_bytes"] = row.estimate.memory.total().value;
  one["fits"] = row.estimate.fits();
  one["verdict"] = name(row.estimate.verdict());
  const exporter::PlanComments comments{
      .head = {format_headline(row.config), format_degree_tags(row.config)}};
  one["file"] = write_plan_yaml(row.config, comments);
  return one;
}

ordered_json make_what_if_json(const planner::PlanReport& report) {
  ordered_json all = ordered_json::array();
  for (const planner::SweepView& view : report.what_if) {
    ordered_json rows = ordered_json::array();
    for (const planner::SweepRow& row : view.rows)
      rows.push_back(make_what_if_row(report, *view.key, row));
    all.push_back({{"key", view.key->name},
                   {"head", view.key->head},
                   {"words", describe_sweep(view)},
                   {"fixed", view.fixed},
                   {"rows", std::move(rows)}});
  }
  return all;
}

ordered_json make_commands_json(const planner::PlanReport& report) {
  ordered_json all = ordered_json::array();
  for (const NextCommand& next : list_next_commands(report))
    all.push_back({{"what", next.what}, {"command", next.command}, {"remark", next.remark}});
  return all;
}

ordered_json make_plan_report_json(const planner::PlanReport& report) {
  const exporter::PlanComments comments{
      .head = {format_headline(report.config), format_degree_tags(report.config)}};
  return {{"name", report.name},
          {"verdict", make_verdict_json(report)},
          {"advice", make_advice_json(report)},
          {"tags", list_all_tags(report.config)},
          {"explain", make_explain_document(report.config, report.explain_view)},
          {"findings", make_findings_json(report.findings)},
          {"ranks", make_ranks_json(report)},
          {"memory", make_memory_json(report)},
          {"timeline", make_timeline_report_json(report)},
          {"measured", make_measured_report_json(report)},
          {"why_not", make_why_not_json(report)},
          {"trade", make_trade_json(report)},
          {"what_if", make_what_if_json(report)},
          {"why_not_missing", explain_missing_search(report)},
          {"file", write_plan_yaml(report.config, comments)},
          {"commands", make_commands_json(report)}};
}

}  // namespace

std::string make_report_json(const Report& report) {
  ordered_json plans = ordered_json::array();
  for (const planner::PlanReport& plan : report.plans) plans.push_back(make_plan_report_json(plan));
  ordered_json compared = nullptr;
  if (report.compare) {
    const planner::PlanReport &a = report.plans[0], &b = report.plans[1];
    compared = make_compare_document({a.name, a.config}, {b.name, b.config}, *report.compare);
  }
  const ordered_json json = {{"schema", "rankwright.report/1"},
                             {"version", report.version},
                             {"command", report.command},
                             {"plans", std::move(plans)},
                             {"compare", std::move(compared)}};
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rankwright::report
