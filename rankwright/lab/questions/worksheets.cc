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
  worked.slips = {{double(gathers), "those are the all-gathers of the layers alone"},
                  {double(gathers + scatters),
                   "those are inside the layers: the output head and the loss have their own"},
                  {double(calls(list_traffic_by_kind(s, mesh::GroupKind::tp))),
                   "that adds those of the embedding, which only the first stage calls: no rank "
                   "runs all kinds"}};
  return worked;
}

WorkedAnswer message(const plan::TrainingConfig& s) {
  const Bytes size = find_max_traffic(s, plan::TrafficKind::pp_forward).traffic.bytes();
  return {
      size.value,
      fmt::format("{} tokens x {} hidden x 2 bytes / TP {}, since sequence parallelism leaves each "
                  "rank its part: {}",
                  count(s.job.sequence), count(s.model.hidden), s.plan.tp, show(size)),
      {{size.value * double(s.plan.tp), "that is the whole tensor: each TP rank sends its part"}}};
}

WorkedAnswer stage_of(const plan::TrainingConfig& s) {
  const i64 rank = 19;
  const i64 stage = s.plan.meshes().dense.coordinate(rank, mesh::Axis::pp);
  const i64 each = s.plan.tp * s.plan.dp;
  return {
      double(stage),
      fmt::format("in {}, each PP rank is TP {} x DP {} = {} ranks: {} / {} = {}, remainder {}",
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
  worked.arithmetic += "; for PP: bubble, uneven stages and sends";
  return worked;
}

WorkedAnswer exposed(const plan::TrainingConfig& s) {
  const cost::StepTime t = cost::estimate_closely(s, select_calibration(s)).step;
  const Seconds all = t[cost::Item::dp] + t.comm(cost::Item::dp).overlapped;
  return {t[cost::Item::dp].value,
          fmt::format("{} of gradient reduction, of which {} overlaps with the backward pass: {}",
                      show(all), show(t.comm(cost::Item::dp).overlapped), show(t[cost::Item::dp])),
          {{all.value, "that is all of it, overlapped and exposed"}}};
}

ConditionResult is_shorter(const plan::TrainingConfig& answer, const plan::TrainingConfig& given) {
  return faster_by(answer, given, 0.05);
}

constexpr Condition kBetter[] = {
    {"keep model, cluster, job and software", keeps_task},
    {"fit in memory", fits_memory},
    {"keep TP inside the node", keeps_tp_inside},
    {"take a step that is 5 % shorter", is_shorter},
    {"pass check without errors or warnings", lints_clean},
};

constexpr std::string_view kFile = "course-64.yaml";
constexpr std::string_view kSee = "rankwright explain examples/course-64.yaml";
constexpr Question kQuestions[] = {
    {"tp_calls", AnswerKind::whole, kFile, tp_calls, kSee,
     "The last stage also runs the output head and the loss.",
     "layers per stage x micro-batches x calls per layer + micro-batches x (head + loss calls) + "
     "one for the gradients of the norms"},
    {"message", AnswerKind::bytes, kFile, message, kSee,
     "With sequence parallelism, each TP rank sends its own part of the tensor.",
     "tokens x hidden size x bytes per element / TP", kRounded},
    {"stage_of_19", AnswerKind::whole, kFile, stage_of,
     "rankwright explain examples/course-64.yaml --rank 19",
     "In the default order pp is outermost, so each stage is a block of consecutive ranks.",
     "rank / (TP x DP), rounded down"},
    {"longest", AnswerKind::choice, kFile, longest, kSee,
     "Sends, bubble and imbalance all belong to the pipeline.",
     "compare the exposed times of the step, added up per axis", 0, kAxes},
    {"exposed", AnswerKind::time, kFile, exposed, kSee,
     "Gradient buckets are reduced during the backward pass; the last ones outlast it.",
     "total - overlapped, in the row DP", kEstimated},
    {"better",
     AnswerKind::plan,
     "labs/tp-8.yaml",
     nullptr,
     "rankwright plan examples/labs/tp-8.yaml",
     "Start from the layout that rankwright plan recommends for this job.",
     "a smaller TP with virtual stages, and ZeRO for the memory; then check",
     0,
     {},
     kBetter},
};

}  // namespace
}  // namespace worksheets_impl

std::span<const Question> worksheet_questions() { return worksheets_impl::kQuestions; }

}  // namespace rankwright::lab
