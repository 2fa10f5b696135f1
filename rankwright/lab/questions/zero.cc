// Lab 4: states sharded over the data ranks, and what that costs on the links.
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/cost/memory/states.h"
#include "rankwright/lab/conditions.h"
#include "rankwright/lab/lab.h"

namespace rankwright::lab {
namespace zero_impl {
namespace {

constexpr int kStages = 4;
constexpr std::string_view kCut[kStages] = {"", "the optimizer is", "gradients and optimizer are",
                                            "all three are"};

plan::TrainingConfig with_zero(plan::TrainingConfig s, int stage) {
  s.plan.zero = stage;
  return s;
}

/// Returns the states that a rank keeps between steps. Parameters that ZeRO-3 gathers for a layer
/// are temporary.
Bytes kept(const plan::TrainingConfig& s) {
  const cost::States held = cost::compute_states(s, 0);
  return held.parameters + held.gradients + held.optimizer;
}

WorkedAnswer stage_states(const plan::TrainingConfig& s, int stage) {
  const plan::TrainingConfig one = with_zero(s, stage);
  const cost::States held = cost::compute_states(one, 0);
  WorkedAnswer worked{
      kept(one).value,
      fmt::format("parameters {} + gradients {} + optimizer {} = {}: ", show(held.parameters),
                  show(held.gradients), show(held.optimizer), show(kept(one)))};
  worked.arithmetic += stage == 0 ? std::string("ZeRO-0 shards nothing")
                                  : fmt::format("{} sharded over {} ranks", kCut[stage], s.plan.dp);
  for (int other = 0; other < kStages; ++other)
    if (other != stage)
      worked.slips.push_back(
          {kept(with_zero(s, other)).value, fmt::format("that is what ZeRO-{} leaves", other)});
  return worked;
}

WorkedAnswer stage_0(const plan::TrainingConfig& s) { return stage_states(s, 0); }
WorkedAnswer stage_1(const plan::TrainingConfig& s) { return stage_states(s, 1); }
WorkedAnswer stage_2(const plan::TrainingConfig& s) { return stage_states(s, 2); }
WorkedAnswer stage_3(const plan::TrainingConfig& s) { return stage_states(s, 3); }

/// Returns the lowest stage that fits with margin, whatever the error of the memory estimate.
WorkedAnswer lowest_stage(const plan::TrainingConfig& s) {
  WorkedAnswer worked{.value = kStages, .arithmetic = {}};
  for (int stage = kStages - 1; stage >= 0; --stage) {
    const cost::Estimate e = cost::estimate_plan(with_zero(s, stage), select_calibration(s));
    if (e.fits() && e.sure()) worked.value = stage;
    worked.slips.push_back(
        {double(stage), !e.fits()  ? "that does not fit"
                        : e.sure() ? "that fits, but a lower stage also fits and sends less"
                                   : "that leaves less than the error of the memory estimate"});
    worked.arithmetic += fmt::format("{}ZeRO-{} {}", stage == kStages - 1 ? "" : ", ", stage,
                                     show_memory(e.memory.total(), e.capacity));
  }
  std::erase_if(worked.slips,
                [&](const CommonMistake& slip) { return slip.value == worked.value; });
  return worked;
}

/// Returns the bytes on the wire for gradients and for what ZeRO gathers.
Bytes dp_wire_bytes(const plan::TrainingConfig& s) {
  Bytes sum{};
  for (const plan::TrafficKind kind :
       {plan::TrafficKind::dp_all_reduce, plan::TrafficKind::dp_reduce_scatter,
        plan::TrafficKind::dp_all_gather})
    sum += find_max_traffic(s, kind).wire;
  return sum;
}

WorkedAnswer compute_traffic(const plan::TrainingConfig& s) {
  const plan::TrainingConfig plain = with_zero(s, 0), sharded = with_zero(s, 3);
  const double ratio = dp_wire_bytes(sharded) / dp_wire_bytes(plain);
  return {
      ratio,
      fmt::format("{} per rank / {} = {:.3g}: parameters are gathered twice and gradients "
                  "scattered once for each of {} micro-batches, not once per step",
                  show(dp_wire_bytes(sharded)), show(dp_wire_bytes(plain)), ratio,
                  s.microbatches()),
      {{1.5,
        "that is for one micro-batch per step: two gathers and a scatter against an all-reduce"},
       {2 * ratio, "an all-reduce sends its tensor twice: it scatters sums, then gathers them"}}};
}

WorkedAnswer hidden(const plan::TrainingConfig& s) {
  const cost::StepTime step = cost::estimate_closely(s, select_calibration(s)).step;
  const cost::CommTime time = step.comm(cost::Item::dp);
  const double overlapped = time.overlapped / time.total();
  return {overlapped,
          fmt::format("of {}, {} is exposed, so {} / {} = {} overlaps with compute",
                      show(time.total()), show(time.exposed), show(time.overlapped),
                      show(time.total()), percent(overlapped)),
          {{1 - overlapped, fmt::format("that is the exposed share: {} of {}", show(time.exposed),
                                        show(time.total()))}}};
}

ConditionResult shards_parameters(const plan::TrainingConfig& answer, const plan::TrainingConfig&) {
  return {answer.plan.zero == 3, fmt::format("zero_stage: {}", answer.plan.zero)};
}

/// Checks that shard groups are inside a node and have more than one rank.
ConditionResult shards_inside(const plan::TrainingConfig& answer, const plan::TrainingConfig&) {
  ConditionResult met = inside(answer, mesh::GroupKind::shard);
  met.met = met.met && answer.plan.shards() > 1;
  return met;
}

constexpr Condition kInside[] = {
    {"keep model, cluster, job and software", keeps_task},
    {"also shard the parameters", shards_parameters},
    {"keep every shard group inside a node, of more than one rank", shards_inside},
    {"fit in memory", fits_memory},
};

constexpr std::string_view kPlain = "labs/zero-0.yaml", kSharded = "labs/zero-3.yaml";
constexpr std::string_view kSeePlain = "rankwright explain examples/labs/zero-0.yaml --rank 0";
constexpr std::string_view kSeeStages = "rankwright explain zero_stage";
constexpr std::string_view kSeeSharded = "rankwright explain examples/labs/zero-3.yaml";
constexpr Question kQuestions[] = {
    {"stage_0", AnswerKind::bytes, kPlain, stage_0, kSeePlain,
     "Without ZeRO, every rank keeps all states of all parameters.",
     "parameters x (weight + gradient + optimizer bytes)", kRounded},
    {"stage_1", AnswerKind::bytes, kPlain, stage_1, kSeeStages,
     "The first stage shards the optimizer states and nothing else.",
     "parameters x (weight + gradient + optimizer / DP)", kRounded},
    {"stage_2", AnswerKind::bytes, kPlain, stage_2, kSeeStages,
     "The second stage also shards the gradients.",
     "parameters x (weight + (gradient + optimizer) / DP)", kRounded},
    {"stage_3", AnswerKind::bytes, kPlain, stage_3,
     "rankwright explain examples/labs/zero-3.yaml --rank 0",
     "The third stage also shards the weights.",
     "parameters x (weight + gradient + optimizer) / DP", kRounded},
    {"least", AnswerKind::whole, kPlain, lowest_stage, "rankwright check examples/labs/zero-0.yaml",
     "Activations and buffers come on top of the states, and the error of the estimate must stay "
     "free.",
     "the lowest stage with memory x (100 % + error) < memory of the GPU"},
    {"traffic", AnswerKind::number, kPlain, compute_traffic, kSeeSharded,
     "How often does each collective run: once per step, or once per micro-batch?",
     "micro-batches x (two all-gathers + one reduce-scatter) / one all-reduce, which sends its "
     "tensor twice",
     kEstimated},
    {"hidden", AnswerKind::percent, kSharded, hidden, kSeeSharded,
     "The step splits each kind of traffic into exposed and overlapped time.",
     "overlapped / (exposed + overlapped), in the row DP and ZeRO", kEstimated},
    {"inside",
     AnswerKind::plan,
     kSharded,
     nullptr,
     "rankwright check examples/labs/zero-3.yaml",
     "Hybrid sharding shards inside a group of ranks and replicates across groups.",
     "set shard_size to the GPUs per node",
     0,
     {},
     kInside},
};

}  // namespace
}  // namespace zero_impl

std::span<const Question> zero_questions() { return zero_impl::kQuestions; }

}  // namespace rankwright::lab
