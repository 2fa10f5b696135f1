#include "rankwright/lab/conditions.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/model/parameters.h"
#include "rankwright/rules/rule.h"

namespace rankwright {
namespace {

std::string task(const Setup& s) {
  return fmt::format("{} on {} {}, {} x {}", s.model.name, count(s.cluster.devices()),
                     s.cluster.device.name, count(s.job.global_batch), count(s.job.sequence));
}

std::string degrees(const Plan& p) { return fmt::format("tp {} pp {} dp {}", p.tp, p.pp, p.dp); }

}  // namespace

Met keeps_task(const Setup& answer, const Setup& given) {
  const bool same = same_network(answer.model, given.model) && answer.cluster == given.cluster &&
                    answer.job == given.job && answer.world == given.world;
  return {same, same ? task(answer) : fmt::format("{} instead of {}", task(answer), task(given))};
}

Met keeps_degrees(const Setup& answer, const Setup& given) {
  const Plan &a = answer.plan, &b = given.plan;
  const bool same = a.tp == b.tp && a.pp == b.pp && a.dp == b.dp && a.cp == b.cp;
  return {same, same ? degrees(a) : fmt::format("{} instead of {}", degrees(a), degrees(b))};
}

Met fits_memory(const Setup& answer, const Setup&) {
  const Estimate e = estimate(answer, calibration(answer));
  return {e.fits(), fmt::format("{} on pp rank {}", show_memory(e.memory.total(), e.capacity),
                                e.memory.pp_rank)};
}

Met inside(const Setup& setup, GroupKind kind) {
  const Span lies = span_of(setup, kind);
  const bool in = lies.level <= 0;
  return {in, lies.level < 0 ? "groups of one rank"
                             : fmt::format("groups of {} {} {}", lies.size, in ? "inside" : "cross",
                                           setup.cluster.levels[std::size_t(lies.level)].name)};
}

Met keeps_tp_inside(const Setup& answer, const Setup&) { return inside(answer, GroupKind::tp); }

Met lints_clean(const Setup& answer, const Setup&) {
  std::string codes;
  for (const Diagnostic& d : lint(answer, Target::any))
    if (d.severity != Severity::note)
      codes += fmt::format("{}{} {}", codes.empty() ? "" : "; ", d.code, d.message);
  return {codes.empty(), codes.empty() ? "nothing found" : codes};
}

Met faster_by(const Setup& answer, const Setup& given, double share) {
  const Seconds before = step_of(given), after = step_of(answer);
  return {after <= (1 - share) * before,
          fmt::format("a step of {} instead of {}, {} shorter", show(after), show(before),
                      percent(1 - after / before))};
}

Seconds step_of(const Setup& setup) { return close_estimate(setup, calibration(setup)).time(); }

PricedTraffic most(const Setup& setup, TrafficKind kind) {
  PricedTraffic best{.traffic = {.kind = kind, .op = {}, .group = {}}, .span = {}};
  SpanTable spans{};
  for (i64 pp_rank = 0; pp_rank < setup.plan.pp; ++pp_rank)
    for (const PricedTraffic& one : priced(setup, pp_rank, spans))
      if (one.traffic.kind == kind && one.traffic.calls > best.traffic.calls) best = one;
  return best;
}

std::vector<PricedTraffic> all_of(const Setup& setup, GroupKind group) {
  std::vector<PricedTraffic> rows;
  for (const TrafficKindRow& kind : traffic_kinds()) {
    PricedTraffic one = most(setup, kind.kind);
    if (one.traffic.calls > 0 && one.traffic.group == group) rows.push_back(std::move(one));
  }
  return rows;
}

i64 calls(const std::vector<PricedTraffic>& rows) {
  i64 sum = 0;
  for (const PricedTraffic& one : rows) sum += one.traffic.calls;
  return sum;
}

Bytes bytes_of(const std::vector<PricedTraffic>& rows) {
  Bytes sum{};
  for (const PricedTraffic& one : rows) sum += one.traffic.total;
  return sum;
}

Seconds time_of(const std::vector<PricedTraffic>& rows) {
  Seconds sum{};
  for (const PricedTraffic& one : rows) sum += one.total;
  return sum;
}

i64 parameters_of(const Setup& setup) { return parameters(setup.model).total(); }

}  // namespace rankwright
