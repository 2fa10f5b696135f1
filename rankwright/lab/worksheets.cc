// Lab 7: the worksheet for 64 GPUs, filled in.
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/lab/conditions.h"
#include "rankwright/lab/lab.h"

namespace rankwright::lab {
namespace worksheets_impl {
namespace {

WorkedAnswer tp_calls(const plan::TrainingConfig& s) {
  const std::vector<cost::TrafficCost> rows = find_busiest_traffic(s, mesh::GroupKind::tp);
  const i64 gathers = find_max_traffic(s, plan::TrafficKind::tp_all_gather).traffic.calls,
            scatters = find_max_traffic(s, plan::TrafficKind::tp_reduce_scatter).traffic.calls;
  WorkedAnswer worked{double(calls(rows)), {}};
  for (const cost::TrafficCost& one : rows)
    worked.arithmetic += fmt::format("{}{} {}", worked.arithmetic.empty() ? "" : " + ",
                                     count(one.traffic.calls), row(one.traffic.kind).label);
  worked.arithmetic += " = " + count(i64(worked.value));
  worked.slips = {
      {double(gathers), "those are the all-gathers of the layers alone"},
      {double(gathers + scatters),
       "those are inside the layers: the output head and the loss have some of their own"},
      {double(calls(list_traffic_by_kind(s, mesh::GroupKind::tp))),
       "that adds the embedding's, which the first stage alone calls: no rank runs all kinds"}};
  return worked;
}

WorkedAnswer message(const plan::TrainingConfig& s) {
  const Bytes size = find_max_traffic(s, plan::TrafficKind::pp_forward).traffic.bytes();
  return {
      size.value,
      fmt::format("{} tokens x {} hidden x 2 bytes / tp {}, as sequence parallelism leaves each "
                  "rank its part: {}",
                  count(s.job.sequence), count(s.model.hidden), s.plan.tp, show(size)),
      {{size.value * double(s.plan.tp), "that is the whole tensor: each tp rank sends its part"}}};
}

WorkedAnswer stage_of(const plan::TrainingConfig& s) {
  const i64 rank = 19;
  const i64 stage = s.plan.meshes().dense.coordinate(rank, mesh::Axis::pp);
  const i64 each = s.plan.tp * s.plan.dp;
  return {
      double(stage),
      fmt::format("in {} a pp rank is tp {} x dp {} = {} ranks: {} / {} = {}, rest {}",
                  show(s.plan.order), s.plan.tp, s.plan.dp, each, rank, each, stage, rank % each)};
}

constexpr std::string_view kAxes[] = {"tp", "pp", "dp"};

WorkedAnswer longest(const plan::TrainingConfig& s) {
  const cost::StepTime t = cost::estimate_closely(s, select_calibration(s)).step;
  const Seconds waits[] = {t[cost::Item::tp],
                           t[cost::Item::sends] + t[cost::Item::bubble] + t[cost::Item::imbalance],
                           t[cost::Item::dp]};
  WorkedAnswer worked;
  for (std::size_t i = 0; i < std::size(waits); ++i) {
    if (waits[i] > waits[std::size_t(worked.value)]) worked.value = double(i);
    worked.arithmetic += fmt::format("{}{} {}", i == 0 ? "" : ", ", kAxes[i], show(waits[i]));
  }
  worked.arithmetic += "; pp's is bubble, uneven stages and sends";
  return worked;
}

WorkedAnswer exposed(const plan::TrainingConfig& s) {
  const cost::StepTime t = cost::estimate_closely(s, select_calibration(s)).step;
  const Seconds all = t[cost::Item::dp] + t.comm(cost::Item::dp).overlapped;
  return {t[cost::Item::dp].value,
          fmt::format("of {} of gradient reduction {} runs beside backward: {}", show(all),
                      show(t.comm(cost::Item::dp).overlapped), show(t[cost::Item::dp])),
          {{all.value, "that is all of it, hidden or not"}}};
}

ConditionResult is_shorter(const plan::TrainingConfig& answer, const plan::TrainingConfig& given) {
  return faster_by(answer, given, 0.05);
}

constexpr Condition kBetter[] = {
    {"keep model, cluster, job and software", keeps_task},
    {"fit in memory", fits_memory},
    {"keep tp inside the node", keeps_tp_inside},
    {"take a step that is 5 % shorter", is_shorter},
    {"give the rules no error and no warning", lints_clean},
};

constexpr std::string_view kFile = "course-64.yaml";
constexpr std::string_view kSee = "rankwright explain examples/course-64.yaml";
constexpr Question kQuestions[] = {
    {"tp_calls", AnswerKind::whole, kFile, tp_calls, kSee},
    {"message", AnswerKind::bytes, kFile, message, kSee, kRounded},
    {"stage_of_19", AnswerKind::whole, kFile, stage_of,
     "rankwright explain examples/course-64.yaml --rank 19"},
    {"longest", AnswerKind::choice, kFile, longest, kSee, 0, kAxes},
    {"exposed", AnswerKind::time, kFile, exposed, kSee, kEstimated},
    {"better",
     AnswerKind::plan,
     "labs/tp-8.yaml",
     nullptr,
     "rankwright plan examples/labs/tp-8.yaml",
     0,
     {},
     kBetter},
};

}  // namespace
}  // namespace worksheets_impl

std::span<const Question> worksheet_questions() { return worksheets_impl::kQuestions; }

}  // namespace rankwright::lab
