#include "rankwright/planner/explain/explain_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/item_traffic.h"
#include "rankwright/pipeline/bubble.h"

namespace rankwright::planner {
namespace {

std::string level_name(const plan::TrainingConfig& config, int level) {
  return level < 0 ? "-" : config.cluster.levels[std::size_t(level)].name;
}

/// Returns whether a kind of collective should stay on the innermost level: the next operation
/// always waits for it, or the step waits for it noticeably long.
bool wants_innermost(plan::TrafficKind kind, const cost::StepTime& step) {
  constexpr double kNoticeable = 0.1;  // of the step
  return row(kind).wants_fastest || step[cost::find_item(kind)] > kNoticeable * step.total();
}

/// Returns one row per kind of collective, from the pp rank on which it takes longest.
std::vector<CommunicationRow> list_communication(const plan::TrainingConfig& config,
                                                 const cost::StepTime& step) {
  std::vector<CommunicationRow> rows;
  for (const cost::LongestTraffic& one : cost::list_longest_traffic(config))
    rows.push_back({.evaluated = one.cost, .pp_rank = one.pp_rank});
  for (CommunicationRow& c : rows) {
    c.level = level_name(config, c.evaluated.level);
    c.slowest = level_name(config, c.evaluated.slowest);
    const cost::CommTime item = step.comm(cost::find_item(c.evaluated.traffic.kind));
    const Seconds both = item.exposed + item.overlapped;
    c.exposed = (both > Seconds{} ? item.exposed / both : 1.0) * c.evaluated.total;
    c.overlapped = c.evaluated.total - c.exposed;
    c.preferred = wants_innermost(c.evaluated.traffic.kind, step) ? level_name(config, 0) : "any";
  }
  return rows;
}

using ItemTraffic = std::array<cost::ItemTraffic, cost::kItems>;

AxisRow tensor_row(const plan::TrainingConfig& s, const ItemTraffic& traffic) {
  if (s.plan.tp == 1) return {"TP", "1", "-", "layers stay whole"};
  const cost::ItemTraffic& sum = traffic[std::size_t(cost::Item::tp)];
  return {"TP", count(s.plan.tp), describe_span(s.cluster, cost::find_span(s, mesh::GroupKind::tp)),
          fmt::format("{} collectives per step inside the layers: {} per rank", count(sum.calls),
                      show(sum.bytes))};
}

AxisRow pipeline_row(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  if (p.pp == 1) return {"PP", "1", "-", "no stages, no bubble"};
  const double bubble =
      pipeline::bubble_fraction(p.schedule, p.pp, p.virtual_stages, s.microbatches());
  const std::string chunks =
      p.virtual_stages > 1 ? fmt::format(" x {} virtual", p.virtual_stages) : "";
  return {
      "PP", count(p.pp) + chunks, describe_span(s.cluster, cost::find_span(s, mesh::GroupKind::pp)),
      fmt::format("{} layers over {} stages{}; {} {}, ideal bubble {} ({})", s.model.layers(),
                  p.pp * p.virtual_stages, p.mirrored() ? ", each on two PP ranks" : "",
                  count(s.microbatches()), s.microbatches() == 1 ? "micro-batch" : "micro-batches",
                  percent(bubble), name(p.schedule))};
}

AxisRow data_row(const plan::TrainingConfig& s, const ItemTraffic& traffic) {
  if (s.plan.dp == 1)
    return {"DP", "1", "-", s.plan.mirrored() ? "no replicas but the mirror's" : "one replica"};
  return {"DP", count(s.plan.dp), describe_span(s.cluster, cost::find_span(s, mesh::GroupKind::dp)),
          fmt::format("{} replicas share a batch of {}; {} per rank and step", count(s.plan.dp),
                      count(s.job.global_batch), show(traffic[std::size_t(cost::Item::dp)].bytes))};
}

AxisRow zero_row(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  constexpr std::string_view kSharded[] = {"nothing", "optimizer states",
                                           "optimizer states and gradients",
                                           "parameters, gradients and optimizer states"};
  if (p.zero == 0)
    return {"FSDP/ZeRO", "0", "-",
            p.data_ranks() == 1 ? "DP is 1: nothing to shard over"
                                : "every DP rank replicates all states"};
  const mesh::GroupKind kind =
      p.shards() < p.data_ranks() ? mesh::GroupKind::shard : mesh::GroupKind::dp_cp;
  return {"FSDP/ZeRO", fmt::format("stage {} over {}", p.zero, count(p.shards())),
          describe_span(s.cluster, cost::find_span(s, kind)),
          fmt::format("{} sharded: {} of states on the fullest rank", kSharded[p.zero],
                      show_memory(cost::fullest(s, select_calibration(s)).states()))};
}

std::vector<AxisRow> list_axes(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  const ItemTraffic traffic = cost::sum_traffic_by_item(s);
  std::vector<AxisRow> all{tensor_row(s, traffic)};
  if (p.tp > 1 && p.sequence_parallel)
    all.push_back({"SP", "with TP", all.front().placement,
                   "norms and dropout split along the sequence: all-gather and reduce-scatter, no "
                   "all-reduce"});
  if (p.cp > 1) {
    const cost::ItemTraffic& sum = traffic[std::size_t(cost::Item::cp)];
    all.push_back({"CP", count(p.cp),
                   describe_span(s.cluster, cost::find_span(s, mesh::GroupKind::cp)),
                   fmt::format("{} tokens per rank of {}; keys and values are exchanged ({}): {}",
                               count(s.job.sequence / p.cp), count(s.job.sequence), name(p.cp_comm),
                               show(sum.bytes))});
  }
  if (p.ep > 1) {
    const cost::ItemTraffic& sum = traffic[std::size_t(cost::Item::ep)];
    const std::string etp = p.etp > 1 ? fmt::format(" x ETP {}", p.etp) : "";
    all.push_back({"EP", count(p.ep) + etp,
                   describe_span(s.cluster, cost::find_span(s, mesh::GroupKind::ep)),
                   fmt::format("{} all-to-alls per step carry tokens to their experts: {}",
                               count(sum.calls), show(sum.bytes))});
  }
  all.push_back(pipeline_row(s));
  all.push_back(data_row(s, traffic));
  all.push_back(zero_row(s));
  return all;
}

/// Returns the collectives that pass activations between ranks.
std::string activations_by(const plan::Plan& p) {
  std::string text;
  const auto add = [&](i64 degree, std::string_view what) {
    if (degree > 1) text += (text.empty() ? "" : ", ") + std::string(what);
  };
  add(p.tp, "TP collectives");
  add(p.cp, "CP exchange");
  add(p.ep, "EP all-to-all");
  add(p.pp, "PP send/recv");
  return text.empty() ? "nothing" : text;
}

/// Returns the collectives that keep gradients equal: among data ranks, and between the two ranks
/// that hold a stage.
std::string gradients_by(const plan::Plan& p) {
  const std::string data = p.zero == 0 ? "DP all-reduce" : "DP reduce-scatter";
  if (!p.mirrored()) return p.data_ranks() > 1 ? data : "nothing: one replica";
  return p.data_ranks() > 1 ? data + ", mirror all-reduce" : "mirror all-reduce";
}

std::string gradients_when(const plan::Plan& p) {
  const std::string data =
      p.zero >= 2 ? "every micro-batch, overlapped" : "end of step, overlapped with backward";
  if (!p.mirrored()) return p.data_ranks() > 1 ? data : "-";
  return p.data_ranks() > 1 ? data + "; mirror: end of step" : "end of step";
}

std::vector<StateRow> list_states(const plan::TrainingConfig& s) {
  const plan::Plan& p = s.plan;
  const auto mark = [](bool split, i64 degree, std::string_view text) {
    return degree == 1 ? std::string("-") : std::string(split ? text : "same");
  };
  const std::string heads = mark(true, p.tp, "split");
  const std::string layers = mark(true, p.pp, "by layer");
  const std::string held = p.mirrored() ? "by layer, twice" : layers;
  const std::string same_cp = mark(false, p.cp, "");
  const std::string experts = mark(true, p.ep, "by expert");
  const bool data = p.data_ranks() > 1;
  const auto sharded = [&](int stage) { return mark(p.zero >= stage, p.data_ranks(), "sharded"); };
  const std::string gather = p.zero >= 3   ? "FSDP all-gather before use"
                             : p.zero >= 1 ? "all-gather after the update"
                                           : "equal gradients, equal update";
  return {
      {"parameters", heads, held, same_cp, sharded(3), experts,
       data           ? gather
       : p.mirrored() ? "equal gradients, equal update"
                      : "one replica",
       p.zero >= 3 && data ? "yes, unless prefetched" : "no"},
      {"gradients", heads, held, same_cp, sharded(2), experts, gradients_by(p), gradients_when(p)},
      {"optimizer", heads, held, same_cp, sharded(1), experts,
       p.zero >= 1 && data ? "each rank updates its shard" : "each rank updates all it holds",
       "no"},
      {"activations", mark(p.sequence_parallel, p.tp, "split"), layers,
       mark(true, p.cp, "by sequence"), mark(true, p.dp, "by batch"), mark(true, p.ep, "by token"),
       activations_by(p), p.tp * p.cp * p.ep * p.pp > 1 ? "yes" : "-"},
      {"batch", mark(false, p.tp, ""), mark(false, p.pp, ""), mark(true, p.cp, "by sequence"),
       mark(true, p.dp, "by sample"), mark(false, p.ep, ""), "the data loader", "no"},
  };
}

}  // namespace

std::string describe_span(const cluster::Cluster& cluster, const mesh::Span& span) {
  if (span.level < 0) return "one rank";
  const bool uniform = span.uniform(cluster.levels.size());
  if (!uniform && span.inside[0] == span.size)
    return fmt::format("some inside {}, some across {}", cluster.levels[0].name,
                       cluster.levels[std::size_t(span.level)].name);
  std::string text;
  i64 before = 1;
  for (int level = 0; level <= span.level; ++level) {
    const i64 here = span.inside[std::size_t(level)];
    const std::string& name = cluster.levels[std::size_t(level)].name;
    if (here > before) {
      const i64 domains = ceil_div(here, before);
      if (!text.empty()) text += " x ";
      text += level == 0 && here == span.size ? fmt::format("inside {}", name)
              : level == 0                    ? fmt::format("{} inside {}", domains, name)
                                              : fmt::format("{} across {}", domains, name);
    }
    before = std::max(before, here);
  }
  return uniform ? text : text + ", unevenly";
}

ExplainView make_explain_view(const plan::TrainingConfig& config) {
  return make_explain_view(config, cost::estimate_closely(config, select_calibration(config)));
}

ExplainView make_explain_view(const plan::TrainingConfig& config, const cost::Estimate& estimate) {
  ExplainView view;
  view.communication = list_communication(config, estimate.step);
  view.axes = list_axes(config);
  view.states = list_states(config);
  view.estimate = estimate;
  view.waterfall = make_waterfall(config, view.communication, view.estimate);
  for (const cost::MemoryEstimate& of_rank :
       cost::estimate_memory_per_pp_rank(config, select_calibration(config)))
    view.totals.push_back(of_rank.total());
  return view;
}

}  // namespace rankwright::planner
