// Lab 6: degrees are not a plan until every rank has a place.
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/lab/conditions.h"
#include "rankwright/lab/lab.h"

namespace rankwright::lab {
namespace placements_impl {
namespace {

WorkedAnswer data_degree(const plan::TrainingConfig& s) {
  const i64 rest = s.world / (s.plan.tp * s.plan.pp);
  return {double(rest),
          fmt::format("{} / ({} x {}) = {}", s.world, s.plan.tp, s.plan.pp, rest),
          {{double(s.world), "then the product of the degrees exceeds the number of ranks"}}};
}

WorkedAnswer peer(const plan::TrainingConfig& s) {
  const std::vector<i64> members = list_group_members(
      make_group_shape(s.plan.meshes(), mesh::GroupKind::tp, s.plan.shard_size), 0);
  return {double(members[1]),
          fmt::format("in {} the axes before tp have {} ranks, so its TP group is {}",
                      show(s.plan.order), members[1], fmt::join(members, " ")),
          {{1, "that is true if tp is first in the order"},
           {double(members.back()), "that is the last of its group"}}};
}

constexpr std::string_view kLevels[] = {"nvlink", "infiniband"};

WorkedAnswer link(const plan::TrainingConfig& s) {
  const mesh::Span span = cost::find_span(s, mesh::GroupKind::tp);
  return {double(span.level), fmt::format("a node holds {} of the {} members of a TP group",
                                          span.inside[0], span.size)};
}

WorkedAnswer slower(const plan::TrainingConfig& s) {
  plan::TrainingConfig first = s;
  first.plan.order = mesh::kDefaultOrder;
  const Seconds here = step_time_of(s), there = step_time_of(first);
  return {
      here / there,
      fmt::format("{} / {} = {:.3g}, with the same degrees", show(here), show(there), here / there),
      {{here / there - 1, "that is the increase: add 1 for the ratio"}}};
}

WorkedAnswer ratio(const plan::TrainingConfig& s) {
  const std::vector<cost::TrafficCost> tp = find_busiest_traffic(s, mesh::GroupKind::tp),
                                       pp = find_busiest_traffic(s, mesh::GroupKind::pp);
  const double times = sum_bytes(tp) / sum_bytes(pp);
  return {times, fmt::format("{} in {} calls ({}) / {} in {} calls ({}) = {:.3g}, each on the PP "
                             "rank that has most of it",
                             show(sum_bytes(tp)), count(calls(tp)), show(sum_times(tp)),
                             show(sum_bytes(pp)), count(calls(pp)), show(sum_times(pp)), times)};
}

ConditionResult stays_cyclic(const plan::TrainingConfig& answer, const plan::TrainingConfig&) {
  const bool cyclic = answer.plan.placement.kind == mesh::Placement::Kind::cyclic;
  return {cyclic, cyclic ? "rank r is on node r mod 8" : "another placement"};
}

constexpr Condition kCyclic[] = {
    {"keep model, cluster, job and software", keeps_task},
    {"keep TP 8, PP 4 and DP 2", keeps_degrees},
    {"keep placement: cyclic", stays_cyclic},
    {"keep TP inside the node", keeps_tp_inside},
};

constexpr std::string_view kGood = "labs/tp-8.yaml", kPoor = "labs/order-dp.yaml";
constexpr std::string_view kSeePoor = "rankwright explain examples/labs/order-dp.yaml";
constexpr Question kQuestions[] = {
    {"dp", AnswerKind::whole, kGood, data_degree, "rankwright check examples/labs/tp-8.yaml",
     "The degrees multiply to the world size.", "world size / (TP x PP)"},
    {"peer", AnswerKind::whole, kPoor, peer,
     "rankwright explain examples/labs/order-dp.yaml --rank 0",
     "The first axis of an order varies fastest.",
     "the stride of an axis is the product of the degrees of the axes before it"},
    {"link", AnswerKind::choice, kPoor, link, kSeePoor,
     "How many members of a TP group are on the same node?",
     "stride of TP x TP > GPUs per node: the group leaves the node", 0, kLevels},
    {"slower", AnswerKind::number, kPoor, slower,
     "rankwright compare examples/labs/tp-8.yaml examples/labs/order-dp.yaml",
     "Only the order differs, so one comparison of the two steps is enough.",
     "step time with dp-pp-tp / step time with tp-dp-pp", kEstimated},
    {"ratio", AnswerKind::number, kGood, ratio, "rankwright explain examples/labs/tp-8.yaml",
     "The communication table has the calls and the bytes per call of both.",
     "(calls x bytes) of all TP collectives / (calls x bytes) of all sends", kEstimated},
    {"cyclic",
     AnswerKind::plan,
     "labs/cyclic.yaml",
     nullptr,
     "rankwright explain examples/labs/cyclic.yaml",
     "With cyclic placement, consecutive ranks are on different nodes.",
     "choose an order in which the stride of TP is the number of nodes",
     0,
     {},
     kCyclic},
};

}  // namespace
}  // namespace placements_impl

std::span<const Question> placement_questions() { return placements_impl::kQuestions; }

}  // namespace rankwright::lab
