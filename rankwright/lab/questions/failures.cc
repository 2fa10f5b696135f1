// Lab 14: failures and stragglers of a job on 16,384 GPUs.
#include "rankwright/catalog/failures.h"

#include <fmt/format.h>

#include <cmath>

#include "rankwright/base/check.h"
#include "rankwright/base/format.h"
#include "rankwright/lab/conditions.h"
#include "rankwright/lab/lab.h"
#include "rankwright/planner/explain_faults.h"

namespace rankwright::lab {
namespace failures_impl {
namespace {

constexpr std::string_view kFile = "llama-3.1-405b-16384.yaml", kSlowFile = "labs/tp-8.yaml";

/// Returns what `explain --fail 0` computes for the plan of the lab.
cost::Failure explain_failure() {
  const std::string path = "examples/" + std::string(kFile);
  const planner::Outcome<planner::FaultsAnswer> answer = planner::explain_faults(
      {.plan = {.plan = {.name = path, .text = std::string(find_lab_file(path))}},
       .faults = {.fail = 0}});
  RW_CHECK(answer.has_value());
  return answer->faults.failure;
}

WorkedAnswer stopped(const plan::TrainingConfig& s) {
  const i64 each = s.plan.tp * s.plan.pp, others = (s.plan.dp - 1) * each;
  return {double(others),
          fmt::format("({} - 1) replicas x TP {} x PP {} = {}: all wait for its gradients",
                      s.plan.dp, s.plan.tp, s.plan.pp, count(others)),
          {{0, "the gradient reduction of every step connects the replicas: all of them wait"},
           {double(s.plan.ranks()), "that includes its own replica"},
           {double(s.plan.dp - 1),
            "as many as replicas, or as ranks of its own replica: count all ranks of the others"}}};
}

WorkedAnswer copies(const plan::TrainingConfig& s) {
  const i64 all = cost::count_copies(s).parameters;
  return {double(all - 1),
          fmt::format("DP {}: {} ranks hold these weights, itself included", s.plan.dp, all),
          {{double(all), "that includes the rank itself, which is lost"}}};
}

WorkedAnswer optimizer_copies(const plan::TrainingConfig& s) {
  const i64 all = cost::count_copies(s).optimizer;
  return {double(all - 1),
          fmt::format("ZeRO-{} leaves {} copy of each optimizer state, on the failed rank: {} "
                      "others, so the job restarts from a checkpoint",
                      s.plan.zero, all, all - 1),
          {{double(s.plan.dp - 1), "that is for the weights: ZeRO-1 shards the optimizer states"}}};
}

WorkedAnswer between(const plan::TrainingConfig& s) {
  const catalog::FailureRow& rate = usual(catalog::FailureRow::Kind::rate);
  const Seconds mean = explain_failure().task.model.between;
  const i64 nodes = s.cluster.devices() / s.cluster.levels[0].arity;
  return {mean.value,
          fmt::format("{} nodes x {} failures per 1,000 node-days = {:.3g} per day, so one in {}",
                      count(nodes), rate.value, double(nodes) * rate.value / 1000, show(mean)),
          {{mean.value * double(nodes), "that is one node: any of them stops the job"}}};
}

WorkedAnswer checkpoint(const plan::TrainingConfig& s) {
  const Bytes size = cost::count_checkpoint_bytes(s);
  return {size.value,
          fmt::format("{} parameters x (2 + 12) bytes = {}: gradients are not saved",
                      format_short_count(double(count_parameters(s))), show(size)),
          {{size.value * 16 / 14, "that includes gradients: the next step computes them again"},
           {size.value / 7, "those are the weights alone: training also needs the optimizer"}}};
}

WorkedAnswer interval(const plan::TrainingConfig&) {
  const cost::FailureModel model = explain_failure().task.model;
  const Seconds best = cost::find_best_interval(model);
  return {best.value,
          fmt::format("about the square root of 2 x {} x {}, Young's formula; exactly {}",
                      show(model.checkpoint), show(model.between), show(best)),
          {{std::sqrt(model.checkpoint.value * model.between.value),
            "the square root has a factor of 2: half an interval is lost on average"},
           {model.between.value, "then a failure would destroy most of the work"}}};
}

WorkedAnswer lost(const plan::TrainingConfig&) {
  const cost::FailureModel model = explain_failure().task.model;
  const cost::Uptime time = cost::compute_uptime(cost::find_best_interval(model), model);
  return {1 - time.useful,
          fmt::format("checkpoints {} + work done again {} + restarts {} = {}",
                      percent(time.checkpoints), percent(time.lost), percent(time.restarts),
                      percent(1 - time.useful)),
          {{time.checkpoints, "those are the checkpoints alone"},
           {time.restarts, "those are the restarts alone"},
           {time.useful, "that is the useful share"}}};
}

constexpr cost::SlowRank kSlow{.rank = 17, .factor = 1.3};

WorkedAnswer waiting(const plan::TrainingConfig& s) {
  const cost::Straggler found = cost::estimate_straggler(s, select_calibration(s), {&kSlow, 1});
  const double gpus = found.lost() * double(s.world);
  return {gpus,
          fmt::format("a step takes {} instead of {}: {} of the work of {} GPUs, or {:.3g} GPUs",
                      show(found.after), show(found.before), percent(found.lost()), s.world, gpus),
          {{1, "that is the GPU itself: the others wait for it"},
           {kSlow.factor - 1, "that is its own loss: the others wait as long"}}};
}

constexpr std::string_view kSee = "rankwright explain examples/llama-3.1-405b-16384.yaml --fail 0";
constexpr Question kQuestions[] = {
    {"stopped", AnswerKind::whole, kFile, stopped, kSee,
     "Replicas meet in the gradient reduction of every step, and inside a replica all ranks wait.",
     "(DP - one) x TP x PP"},
    {"copies", AnswerKind::whole, kFile, copies, kSee, "Which axis replicates the weights?",
     "DP, less the rank itself"},
    {"optimizer_copies", AnswerKind::whole, kFile, optimizer_copies, kSee,
     "What does the ZeRO stage of this plan shard?",
     "replicas of an optimizer shard, less the rank itself"},
    {"between", AnswerKind::time, kFile, between, kSee,
     "Failures of nodes are independent, so their rates add up.",
     "thousand node-days / failures / nodes", kEstimated},
    {"checkpoint", AnswerKind::bytes, kFile, checkpoint, kSee,
     "A checkpoint has what the next step cannot compute again.",
     "parameters x (bytes of weight + optimizer states)", kRounded},
    {"interval", AnswerKind::time, kFile, interval, kSee,
     "Frequent checkpoints cost time; rare ones lose more work per failure.",
     "square root of (two x time of a checkpoint x time between failures)", kEstimated},
    {"lost", AnswerKind::percent, kFile, lost, kSee,
     "Time goes into checkpoints, into work done again, and into restarts.",
     "checkpoint / interval + half an interval / time between failures + restart / time between "
     "failures",
     0.05},
    {"waiting", AnswerKind::number, kSlowFile, waiting,
     "rankwright explain examples/labs/tp-8.yaml --slow 17:1.3x",
     "All GPUs wait for the slow one, but part of the delay falls into idle time.",
     "GPUs x (longer step - step) / longer step", kEstimated},
};

}  // namespace
}  // namespace failures_impl

std::span<const Question> failure_questions() { return failures_impl::kQuestions; }

}  // namespace rankwright::lab
