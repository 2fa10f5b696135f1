// Lab 9: sequences split with tp (sequence parallelism), and by cp (context parallelism).
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/cost/memory/memory.h"
#include "rankwright/lab/conditions.h"
#include "rankwright/lab/lab.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/rules/rule.h"

namespace rankwright::lab {
namespace sequences_impl {
namespace {

plan::TrainingConfig with_sequence_parallelism(plan::TrainingConfig s) {
  s.plan.sequence_parallel = true;
  return s;
}

WorkedAnswer saved(const plan::TrainingConfig& s) {
  const Bytes without =
      cost::estimate_memory(s, 0, select_calibration(s))[cost::Entry::activations];
  const plan::TrainingConfig other = with_sequence_parallelism(s);
  const Bytes with =
      cost::estimate_memory(other, 0, select_calibration(other))[cost::Entry::activations];
  return {
      (without - with).value,
      fmt::format("activations {} - {} = {}: the norms' activations are also split over {} ranks",
                  show_memory(without), show_memory(with), show_memory(without - with), s.plan.tp)};
}

WorkedAnswer all_reduces(const plan::TrainingConfig& s) {
  const i64 n = find_max_traffic(s, plan::TrafficKind::tp_all_reduce).traffic.calls;
  const i64 m = s.microbatches(), layers = s.model.layers();
  return {
      double(n),
      fmt::format("{} layers x {} micro-batches x {} (attention and feed-forward, both passes) = "
                  "{}; sequence parallelism turns each into a reduce-scatter and an all-gather",
                  layers, m, n / (layers * m), count(n))};
}

WorkedAnswer tokens(const plan::TrainingConfig& s) {
  const i64 each = s.job.sequence / s.plan.cp;
  return {double(each),
          fmt::format("{} / CP {} = {}", count(s.job.sequence), s.plan.cp, count(each)),
          {{double(each / s.plan.tp),
            "TP splits the tokens of the norms only: attention has all of them"}}};
}

constexpr std::string_view kLevels[] = {"nvlink", "infiniband"};

WorkedAnswer ring(const plan::TrainingConfig& s) {
  const mesh::Span span = cost::find_span(s, mesh::GroupKind::cp);
  return {double(span.level),
          fmt::format("TP {} is inside, so a node of {} holds {} of the {} CP ranks", s.plan.tp,
                      s.cluster.levels[0].arity, span.inside[0], span.size)};
}

plan::TrainingConfig with_head_exchange(plan::TrainingConfig s, i64 cp) {
  s.plan.cp_comm = plan::CpComm::a2a;
  s.plan.cp = cp;
  s.world = s.plan.ranks();
  return s;
}

/// Returns whether Megatron-LM cannot run the all-to-alls of this cp (rule RW0513).
bool megatron_refuses(const plan::TrainingConfig& s) {
  const std::vector<const rules::Rule*> rules = find_refusals(rules::Target::megatron);
  return std::any_of(rules.begin(), rules.end(),
                     [&](const rules::Rule* r) { return r->page.code == "RW0513" && r->fault(s); });
}

/// Returns the largest cp whose ranks get whole heads to exchange, including keys and values.
WorkedAnswer ulysses(const plan::TrainingConfig& s) {
  WorkedAnswer worked;
  for (const i64 cp : list_divisors(s.world))
    if (!megatron_refuses(with_head_exchange(s, cp))) worked.value = double(cp);
  const model::Attention& a = s.model.layer(0).attention;
  worked.arithmetic =
      fmt::format("{} key-value heads / TP {} = {} per TP rank, and each CP rank takes some",
                  a.kv_heads, s.plan.tp, a.kv_heads / s.plan.tp);
  worked.slips.push_back(
      {double(a.heads / s.plan.tp),
       "heads alone: Megatron-LM and torchtitan also divide the key-value heads"});
  return worked;
}

ConditionResult cuts_sequences(const plan::TrainingConfig& answer, const plan::TrainingConfig&) {
  return {answer.plan.cp > 1, fmt::format("CP {}", answer.plan.cp)};
}

ConditionResult context_inside(const plan::TrainingConfig& answer, const plan::TrainingConfig&) {
  return inside(answer, mesh::GroupKind::cp);
}

constexpr Condition kInside[] = {
    {"keep model, cluster, job and software", keeps_task},
    {"split every sequence over more than one rank", cuts_sequences},
    {"keep CP inside the node", context_inside},
    {"fit in memory", fits_memory},
};

constexpr std::string_view kPlain = "labs/sp-off.yaml", kLong = "labs/long.yaml";
constexpr std::string_view kSeePlain = "rankwright explain examples/labs/sp-off.yaml";
constexpr std::string_view kSeeLong = "rankwright explain examples/labs/long.yaml";
constexpr Question kQuestions[] = {
    {"all_reduces", AnswerKind::whole, kPlain, all_reduces, kSeePlain,
     "Attention and MLP each end in an all-reduce, in each pass.",
     "layers x micro-batches x blocks per layer x passes"},
    {"saved", AnswerKind::bytes, kPlain, saved,
     "rankwright compare examples/labs/sp-off.yaml examples/labs/sp-on.yaml",
     "Without it, norms and residuals keep whole activations on every TP rank.",
     "activations without - activations with sequence parallelism", kEstimated},
    {"tokens", AnswerKind::whole, kLong, tokens, kSeeLong,
     "Each CP rank has an equal part of the sequence.", "sequence / CP"},
    {"link", AnswerKind::choice, kLong, ring, kSeeLong,
     "How many CP ranks fit into a node beside the TP ranks?",
     "TP x CP > GPUs per node: the group leaves the node", 0, kLevels},
    {"ulysses", AnswerKind::whole, kLong, ulysses,
     "rankwright check examples/labs/long-a2a.yaml --for megatron",
     "Which heads are fewer: those of the queries, or those of keys and values?",
     "key-value heads / TP"},
    {"inside",
     AnswerKind::plan,
     kLong,
     nullptr,
     "rankwright check examples/labs/long.yaml",
     "TP and CP share the GPUs of a node.",
     "TP x CP <= GPUs per node",
     0,
     {},
     kInside},
};

}  // namespace
}  // namespace sequences_impl

std::span<const Question> sequence_questions() { return sequences_impl::kQuestions; }

}  // namespace rankwright::lab
