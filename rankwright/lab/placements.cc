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
          {{double(s.world), "then the degrees multiply to more ranks than there are"}}};
}

WorkedAnswer peer(const plan::TrainingConfig& s) {
  const std::vector<i64> members = list_group_members(
      make_group_shape(s.plan.meshes(), mesh::GroupKind::tp, s.plan.shard_size), 0);
  return {double(members[1]),
          fmt::format("in {} the axes before tp have {} ranks, so its tp group is {}",
                      show(s.plan.order), members[1], fmt::join(members, " ")),
          {{1, "that is so where tp stands first in the order"},
           {double(members.back()), "that is the last of its group"}}};
}

constexpr std::string_view kLevels[] = {"nvlink", "infiniband"};

WorkedAnswer link(const plan::TrainingConfig& s) {
  const mesh::Span span = cost::find_span(s, mesh::GroupKind::tp);
  return {double(span.level), fmt::format("a node holds {} of the {} members of a tp group",
                                          span.inside[0], span.size)};
}

WorkedAnswer slower(const plan::TrainingConfig& s) {
  plan::TrainingConfig first = s;
  first.plan.order = mesh::kDefaultOrder;
  const Seconds here = step_time_of(s), there = step_time_of(first);
  return {
      here / there,
      fmt::format("{} / {} = {:.3g}, with the same degrees", show(here), show(there), here / there),
      {{here / there - 1, "that is how much longer it is: once its length comes on top"}}};
}

WorkedAnswer ratio(const plan::TrainingConfig& s) {
  const std::vector<cost::TrafficCost> tp = find_busiest_traffic(s, mesh::GroupKind::tp),
                                       pp = find_busiest_traffic(s, mesh::GroupKind::pp);
  const double times = sum_bytes(tp) / sum_bytes(pp);
  return {times, fmt::format("{} in {} calls ({}) / {} in {} calls ({}) = {:.3g}, each on the pp "
                             "rank that has most of it",
                             show(sum_bytes(tp)), count(calls(tp)), show(sum_times(tp)),
                             show(sum_bytes(pp)), count(calls(pp)), show(sum_times(pp)), times)};
}

ConditionResult stays_cyclic(const plan::TrainingConfig& answer, const plan::TrainingConfig&) {
  const bool cyclic = answer.plan.placement.kind == mesh::Placement::Kind::cyclic;
  return {cyclic, cyclic ? "rank r sits on node r mod 8" : "another placement"};
}

constexpr Condition kCyclic[] = {
    {"keep model, cluster, job and software", keeps_task},
    {"keep tp 8, pp 4 and dp 2", keeps_degrees},
    {"keep placement: cyclic", stays_cyclic},
    {"keep tp inside the node", keeps_tp_inside},
};

constexpr std::string_view kGood = "labs/tp-8.yaml", kPoor = "labs/order-dp.yaml";
constexpr std::string_view kSeePoor = "rankwright explain examples/labs/order-dp.yaml";
constexpr Question kQuestions[] = {
    {"dp", AnswerKind::whole, kGood, data_degree,
     "rankwright check tests/data/plans/course-64-dp3.yaml"},
    {"peer", AnswerKind::whole, kPoor, peer,
     "rankwright explain examples/labs/order-dp.yaml --rank 0"},
    {"link", AnswerKind::choice, kPoor, link, kSeePoor, 0, kLevels},
    {"slower", AnswerKind::number, kPoor, slower,
     "rankwright compare examples/labs/tp-8.yaml examples/labs/order-dp.yaml", kEstimated},
    {"ratio", AnswerKind::number, kGood, ratio, "rankwright explain examples/labs/tp-8.yaml",
     kEstimated},
    {"cyclic",
     AnswerKind::plan,
     "labs/cyclic.yaml",
     nullptr,
     "rankwright explain examples/labs/cyclic.yaml",
     0,
     {},
     kCyclic},
};

}  // namespace
}  // namespace placements_impl

std::span<const Question> placement_questions() { return placements_impl::kQuestions; }

}  // namespace rankwright::lab
