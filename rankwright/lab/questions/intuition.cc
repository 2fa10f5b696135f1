// Lab 10: plausible statements, refuted by numbers.
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/cost/faults/failure.h"
#include "rankwright/cost/faults/straggler.h"
#include "rankwright/lab/conditions.h"
#include "rankwright/lab/lab.h"

namespace rankwright::lab {
namespace intuition_impl {
namespace {

WorkedAnswer needs(const plan::TrainingConfig& s) {
  const cost::Estimate e = cost::estimate_plan(s, select_calibration(s));
  return {
      e.memory.total().value,
      fmt::format("states of {} parameters x 16 bytes are {}, with activations and buffers {}; "
                  "a GPU has {}",
                  format_short_count(double(count_parameters(s))), show_memory(e.memory.states()),
                  show_memory(e.memory.total()), show_memory(e.capacity)),
      {{e.memory.total().value / double(s.world),
        "that divides by 64: data parallelism copies the states and divides only the batch"},
       {e.memory.states().value,
        "those are the states alone: activations and buffers come on top"}}};
}

Seconds pipeline_overhead(const cost::StepTime& t) {
  return t[cost::Item::sends] + t[cost::Item::bubble] + t[cost::Item::imbalance];
}

WorkedAnswer pipeline(const plan::TrainingConfig& s) {
  const cost::StepTime t = cost::estimate_closely(s, select_calibration(s)).step;
  return {
      pipeline_overhead(t).value,
      fmt::format("sends {} + bubble {} + uneven stages {} = {}", show(t[cost::Item::sends]),
                  show(t[cost::Item::bubble]), show(t[cost::Item::imbalance]),
                  show(pipeline_overhead(t))),
      {{t[cost::Item::sends].value,
        "those are the sends alone: ranks also wait at fill and drain, and for the slowest stage"},
       {t[cost::Item::bubble].value,
        "that is the bubble alone: sends and uneven stages come on top"}}};
}

constexpr cost::SlowRank kSlow{.rank = 17, .factor = 1.3};

WorkedAnswer slow_rank(const plan::TrainingConfig& s) {
  const cost::Straggler found = cost::estimate_straggler(s, select_calibration(s), {&kSlow, 1});
  const double longer = found.after / found.before - 1;
  return {longer,
          fmt::format("{} instead of {}, for all {} ranks: + {}", show(found.after),
                      show(found.before), s.world, percent(longer)),
          {{1 / double(s.world), "that is one of 64: but the other 63 wait for it"},
           {(kSlow.factor - 1) / double(s.world),
            "that spreads the loss over the ranks: they all wait for the slowest"},
           {found.lost(), "that is the share of lost work, not of the step"},
           {kSlow.factor - 1, "only its compute is slower, not its collectives"}}};
}

WorkedAnswer stopped(const plan::TrainingConfig& s) {
  return {double(s.plan.ranks()),
          fmt::format("its {} TP peers wait in their next collective, the other PP ranks for its "
                      "activations, the other {} for its gradients: all {}",
                      s.plan.tp - 1, s.plan.dp == 2 ? "copy" : "copies", s.plan.ranks()),
          {{1, "that is the rank itself: the others wait for it"},
           {double(s.plan.tp), "that is its TP group: other stages and the other copy also wait"},
           {double(s.plan.tp * s.plan.pp),
            "that is its copy of the model: the other copy waits for its gradients"}}};
}

WorkedAnswer copies_left(const plan::TrainingConfig& s) {
  const i64 all = cost::count_copies(s).parameters;
  return {double(all - 1), fmt::format("DP {}: {} ranks hold the same parameters, including itself",
                                       s.plan.dp, all)};
}

constexpr std::string_view kWhere[] = {"first", "middle", "last"};

WorkedAnswer slowest(const plan::TrainingConfig& s) {
  const i64 rank = cost::estimate_closely(s, select_calibration(s)).step.slowest;
  const double index = rank == 0 ? 0 : rank == s.plan.pp - 1 ? 2 : 1;
  return {index, fmt::format("PP rank {} of 0 to {}: all have {} layers, and it also computes the "
                             "output head over {} words",
                             rank, s.plan.pp - 1, contents(s, rank).layers, count(s.model.vocab))};
}

constexpr double kMinReduction = 0.4;

ConditionResult evens_out(const plan::TrainingConfig& answer, const plan::TrainingConfig& given) {
  const Seconds
      before = cost::estimate_closely(given, select_calibration(given)).step[cost::Item::imbalance],
      after =
          cost::estimate_closely(answer, select_calibration(answer)).step[cost::Item::imbalance];
  return {after <= (1 - kMinReduction) * before,
          fmt::format("uneven stages cost {} instead of {}", show(after), show(before))};
}

constexpr Condition kEvenConditions[] = {
    {"keep model, cluster, job and software", keeps_task},
    {"keep TP 4, PP 4 and DP 1", keeps_degrees},
    {"fit in memory", fits_memory},
    {"reduce the time for uneven stages by 40 %", evens_out},
};

constexpr std::string_view kFile = "labs/tp-8.yaml", kEdges = "labs/pp-4.yaml";
constexpr Question kQuestions[] = {
    {"needs", AnswerKind::bytes, "labs/dp-64.yaml", needs,
     "rankwright check examples/labs/dp-64.yaml",
     "Data parallelism divides the batch, not the states.",
     "parameters x bytes per parameter + activations + buffers", kEstimated},
    {"pipeline", AnswerKind::time, kFile, pipeline, "rankwright explain examples/labs/tp-8.yaml",
     "Three rows of the step belong to the pipeline.", "sends + bubble + imbalance", kEstimated},
    {"slow_rank", AnswerKind::percent, kFile, slow_rank,
     "rankwright explain examples/labs/tp-8.yaml --slow 17:1.3x",
     "All ranks wait, but only compute is slower, and idle time absorbs a part.",
     "step with the slow rank / step without it - 100 %", kEstimated},
    {"stopped", AnswerKind::whole, kFile, stopped,
     "rankwright explain examples/labs/tp-8.yaml --fail 17",
     "Who waits for its TP peers, who for the next stage, who for the gradients?",
     "all ranks that groups connect, directly or through others"},
    {"copies", AnswerKind::whole, kFile, copies_left,
     "rankwright explain examples/labs/tp-8.yaml --fail 17", "Which axis holds equal parameters?",
     "DP, less the rank itself"},
    {"slowest", AnswerKind::choice, kEdges, slowest,
     "rankwright explain examples/labs/pp-4.yaml --stages",
     "Compare the work of the embedding with that of the output head.",
     "layers + work at the edge, per stage", 0, kWhere},
    {"even",
     AnswerKind::plan,
     kEdges,
     nullptr,
     "rankwright explain examples/labs/pp-4.yaml --stages",
     "Take layers from the slowest stage.",
     "choose stages such that layers + work at the edge are equal",
     0,
     {},
     kEvenConditions},
};

}  // namespace
}  // namespace intuition_impl

std::span<const Question> intuition_questions() { return intuition_impl::kQuestions; }

}  // namespace rankwright::lab
