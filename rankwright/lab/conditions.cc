#include "rankwright/lab/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/model/parameters.h"
#include "rankwright/rules/rule.h"

namespace rankwright::lab {
namespace {

std::string describe_task(const plan::TrainingConfig& s) {
  return fmt::format("{} on {} {}, {} x {}", s.model.name, count(s.cluster.devices()),
                     s.cluster.device.name, count(s.job.global_batch), count(s.job.sequence));
}

/// A part of the task: whether two configs agree in it, and its text.
struct TaskPart {
  std::string_view key;
  bool (*same)(const plan::TrainingConfig&, const plan::TrainingConfig&);
  std::string (*show)(const plan::TrainingConfig&);
};

template <auto Member>
bool same_in_job(const plan::TrainingConfig& a, const plan::TrainingConfig& b) {
  return a.job.*Member == b.job.*Member;
}
template <auto Member>
std::string count_of_job(const plan::TrainingConfig& s) {
  return count(s.job.*Member);
}
template <auto Member>
std::string name_in_job(const plan::TrainingConfig& s) {
  return std::string(name(s.job.*Member));
}
template <auto Member>
bool same_in_software(const plan::TrainingConfig& a, const plan::TrainingConfig& b) {
  return a.software.*Member == b.software.*Member;
}
template <auto Member>
std::string name_in_software(const plan::TrainingConfig& s) {
  return std::string(name(s.software.*Member));
}

/// Returns "dgx-h100 x 8 (64 h100-sxm, nvlink x 8 at 450 GB/s, infiniband x 8 at 50 GB/s)".
std::string show_cluster(const plan::TrainingConfig& s) {
  std::string text =
      fmt::format("{} ({} {}", s.cluster.name, count(s.cluster.devices()), s.cluster.device.name);
  for (const cluster::Level& level : s.cluster.levels)
    text += fmt::format(", {} x {} at {}", level.name, level.arity, show(level.bandwidth));
  return text + ")";
}

constexpr TaskPart kTask[] = {
    {"model",
     [](const plan::TrainingConfig& a, const plan::TrainingConfig& b) {
       return is_same_network(a.model, b.model);
     },
     [](const plan::TrainingConfig& s) {
       return fmt::format("{} ({} layers, {} parameters)", s.model.name, s.model.layers(),
                          format_short_count(double(count_parameters(s))));
     }},
    {"cluster",
     [](const plan::TrainingConfig& a, const plan::TrainingConfig& b) {
       return a.cluster == b.cluster;
     },
     show_cluster},
    {"world_size",
     [](const plan::TrainingConfig& a, const plan::TrainingConfig& b) {
       return a.world == b.world;
     },
     [](const plan::TrainingConfig& s) { return count(s.world); }},
    {"job.global_batch", same_in_job<&plan::Job::global_batch>,
     count_of_job<&plan::Job::global_batch>},
    {"job.sequence", same_in_job<&plan::Job::sequence>, count_of_job<&plan::Job::sequence>},
    {"job.param_dtype", same_in_job<&plan::Job::param_dtype>, name_in_job<&plan::Job::param_dtype>},
    {"job.grad_dtype", same_in_job<&plan::Job::grad_dtype>, name_in_job<&plan::Job::grad_dtype>},
    {"job.matmul", same_in_job<&plan::Job::matmul>, name_in_job<&plan::Job::matmul>},
    {"job.optimizer", same_in_job<&plan::Job::optimizer>, name_in_job<&plan::Job::optimizer>},
    {"software.framework", same_in_software<&plan::Software::name>,
     [](const plan::TrainingConfig& s) { return std::string(s.software.name); }},
    {"software.attention", same_in_software<&plan::Software::attention>,
     name_in_software<&plan::Software::attention>},
    {"software.launch", same_in_software<&plan::Software::launch>,
     name_in_software<&plan::Software::launch>},
    {"software.loss", same_in_software<&plan::Software::loss>,
     name_in_software<&plan::Software::loss>},
    {"software.tuned", same_in_software<&plan::Software::tuned>,
     [](const plan::TrainingConfig& s) {
       return std::string(s.software.tuned ? "true" : "false");
     }},
};

std::string describe_degrees(const plan::Plan& p, bool with_cp) {
  return fmt::format("TP {} {}PP {} DP {}", p.tp, with_cp ? fmt::format("CP {} ", p.cp) : "", p.pp,
                     p.dp);
}

std::string describe_difference(const TaskPart& part, const plan::TrainingConfig& answer,
                                const plan::TrainingConfig& given) {
  const std::string is = part.show(answer), was = part.show(given);
  return is == was ? fmt::format("{}: {} with other values", part.key, is)
                   : fmt::format("{}: {} instead of {}", part.key, is, was);
}

}  // namespace

ConditionResult keeps_task(const plan::TrainingConfig& answer, const plan::TrainingConfig& given) {
  std::string differs;
  for (const TaskPart& part : kTask)
    if (!part.same(answer, given))
      differs += (differs.empty() ? "" : "; ") + describe_difference(part, answer, given);
  return {differs.empty(), differs.empty() ? describe_task(answer) : differs};
}

ConditionResult keeps_degrees(const plan::TrainingConfig& answer,
                              const plan::TrainingConfig& given) {
  const plan::Plan &a = answer.plan, &b = given.plan;
  const bool same = a.tp == b.tp && a.pp == b.pp && a.dp == b.dp && a.cp == b.cp;
  const bool with_cp = a.cp > 1 || b.cp > 1;
  return {same, same ? describe_degrees(a, with_cp)
                     : fmt::format("{} instead of {}", describe_degrees(a, with_cp),
                                   describe_degrees(b, with_cp))};
}

ConditionResult fits_memory(const plan::TrainingConfig& answer, const plan::TrainingConfig&) {
  const cost::Estimate e = cost::estimate_plan(answer, select_calibration(answer));
  return {e.fits(), fmt::format("{} on PP rank {}", show_memory(e.memory.total(), e.capacity),
                                e.memory.pp_rank)};
}

ConditionResult inside(const plan::TrainingConfig& config, mesh::GroupKind kind) {
  const mesh::Span span = cost::find_span(config, kind);
  const bool in = span.level <= 0;
  return {in, span.level < 0 ? "groups of one rank"
                             : fmt::format("groups of {} {} {}", span.size, in ? "inside" : "cross",
                                           config.cluster.levels[std::size_t(span.level)].name)};
}

ConditionResult keeps_tp_inside(const plan::TrainingConfig& answer, const plan::TrainingConfig&) {
  return inside(answer, mesh::GroupKind::tp);
}

ConditionResult lints_clean(const plan::TrainingConfig& answer, const plan::TrainingConfig&) {
  std::string codes;
  for (const Diagnostic& d : lint(answer, rules::Target::any))
    if (d.severity != Severity::note)
      codes += fmt::format("{}{} {}", codes.empty() ? "" : "; ", d.code, d.message);
  return {codes.empty(), codes.empty() ? "no problems found" : codes};
}

ConditionResult faster_by(const plan::TrainingConfig& answer, const plan::TrainingConfig& given,
                          double share) {
  const Seconds before = step_time_of(given), after = step_time_of(answer);
  return {
      after <= (1 - share) * before,
      fmt::format("a step of {} instead of {}, {} {}", show(after), show(before),
                  percent(std::abs(1 - after / before)), after > before ? "longer" : "shorter")};
}

Seconds step_time_of(const plan::TrainingConfig& config) {
  return cost::estimate_closely(config, select_calibration(config)).time();
}

cost::TrafficCost find_max_traffic(const plan::TrainingConfig& config, plan::TrafficKind kind) {
  cost::TrafficCost best{.traffic = {.kind = kind, .op = {}, .group = {}}, .span = {}};
  cost::Links links(config, select_calibration(config));
  for (i64 pp_rank = 0; pp_rank < config.plan.pp; ++pp_rank)
    for (const cost::TrafficCost& one : cost::estimate_traffic(config, pp_rank, links))
      if (one.traffic.kind == kind && one.traffic.calls > best.traffic.calls) best = one;
  return best;
}

std::vector<cost::TrafficCost> find_busiest_traffic(const plan::TrainingConfig& config,
                                                    mesh::GroupKind group) {
  std::vector<cost::TrafficCost> best;
  cost::Links links(config, select_calibration(config));
  for (i64 pp_rank = 0; pp_rank < config.plan.pp; ++pp_rank) {
    std::vector<cost::TrafficCost> rows = cost::estimate_traffic(config, pp_rank, links);
    std::erase_if(rows, [&](const cost::TrafficCost& one) { return one.traffic.group != group; });
    if (calls(rows) > calls(best)) best = std::move(rows);
  }
  return best;
}

std::vector<cost::TrafficCost> list_traffic_by_kind(const plan::TrainingConfig& config,
                                                    mesh::GroupKind group) {
  std::vector<cost::TrafficCost> rows;
  for (const plan::TrafficKindRow& kind : plan::list_traffic_kinds()) {
    cost::TrafficCost one = find_max_traffic(config, kind.kind);
    if (one.traffic.calls > 0 && one.traffic.group == group) rows.push_back(std::move(one));
  }
  return rows;
}

i64 calls(const std::vector<cost::TrafficCost>& rows) {
  i64 sum = 0;
  for (const cost::TrafficCost& one : rows) sum += one.traffic.calls;
  return sum;
}

Bytes sum_bytes(const std::vector<cost::TrafficCost>& rows) {
  Bytes sum{};
  for (const cost::TrafficCost& one : rows) sum += one.traffic.total;
  return sum;
}

Seconds sum_times(const std::vector<cost::TrafficCost>& rows) {
  Seconds sum{};
  for (const cost::TrafficCost& one : rows) sum += one.total;
  return sum;
}

i64 count_parameters(const plan::TrainingConfig& config) {
  return count_parameters(config.model).total();
}

}  // namespace rankwright::lab
