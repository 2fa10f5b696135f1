// Lab 12: memory of the pipeline's first and last stage.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/memory/states.h"
#include "rankwright/lab/conditions.h"
#include "rankwright/lab/lab.h"
#include "rankwright/pipeline/order.h"

namespace rankwright::lab {
namespace edge_stages_impl {
namespace {

std::vector<cost::MemoryEstimate> memory_by_rank(const plan::TrainingConfig& s) {
  return cost::estimate_memory_per_pp_rank(s, select_calibration(s));
}

/// Works out the states of the embedding: ranks 0 and 1 have equally many layers.
WorkedAnswer embedding(const plan::TrainingConfig& s) {
  const Bytes extra = cost::compute_states(s, 0).total() - cost::compute_states(s, 1).total();
  const double all = double(s.model.vocab) * double(s.model.hidden);
  return {extra.value,
          fmt::format("{} words x {} hidden = {} parameters, / TP {} x 16 bytes = {}",
                      count(s.model.vocab), count(s.model.hidden), format_short_count(all),
                      s.plan.tp, show(extra)),
          {{extra.value * double(s.plan.tp), "that is the whole embedding: TP splits it by words"},
           {extra.value / 8, "those are the weights alone: 2 of 16 bytes"}}};
}

WorkedAnswer in_flight(const plan::TrainingConfig& s) {
  const pipeline::PipelineShape shape = make_pipeline_shape(s);
  const i64 held = pipeline::max_in_flight(shape, 1);
  return {double(held),
          fmt::format("1F1B: PP {} less the {} stage before it = {}", shape.pp, 1, held),
          {{double(pipeline::max_in_flight(shape, 0)), "that is the first PP rank"},
           {double(shape.microbatches), "that is GPipe, which runs all forward passes first"}}};
}

constexpr std::string_view kWhere[] = {"first", "middle", "last"};

/// Works out which PP rank needs the most memory.
WorkedAnswer fullest(const plan::TrainingConfig& s) {
  const std::vector<cost::MemoryEstimate> all = memory_by_rank(s);
  std::size_t max = 0;
  std::string listed;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].total() > all[max].total()) max = i;
    listed += fmt::format("{}PP rank {} {}", i == 0 ? "" : ", ", i, show_memory(all[i].total()));
  }
  return {max == 0 ? 0.0 : max + 1 == all.size() ? 2.0 : 1.0, listed};
}

WorkedAnswer gap(const plan::TrainingConfig& s) {
  const std::vector<cost::MemoryEstimate> all = memory_by_rank(s);
  const auto [min, max] = std::minmax_element(
      all.begin(), all.end(), [](const cost::MemoryEstimate& a, const cost::MemoryEstimate& b) {
        return a.total() < b.total();
      });
  const Bytes apart = max->total() - min->total();
  return {apart.value,
          fmt::format("PP rank {} {} - PP rank {} {} = {}", max->pp_rank, show_memory(max->total()),
                      min->pp_rank, show_memory(min->total()), show_memory(apart))};
}

WorkedAnswer logits(const plan::TrainingConfig& s) {
  const cost::MemoryEstimate last = memory_by_rank(s).back();
  const Bytes held = last[cost::Entry::logits];
  const double numbers = double(s.plan.micro_batch) * double(s.job.sequence) *
                         double(s.model.vocab) / double(s.plan.tp);
  return {held.value,
          fmt::format("{} x {} tokens x {} words / TP {} = {} logits, x {:.3g} bytes = {}",
                      s.plan.micro_batch, count(s.job.sequence), count(s.model.vocab), s.plan.tp,
                      format_short_count(numbers), held.value / numbers, show(held)),
          {{held.value / 2, "that is 2 bytes per logit: the loss needs more than the logits"}}};
}

ConditionResult lighter(const plan::TrainingConfig& answer, const plan::TrainingConfig& given) {
  const Bytes before = cost::fullest(given, select_calibration(given)).total(),
              after = cost::fullest(answer, select_calibration(answer)).total();
  return {after <= 0.9 * before, fmt::format("the fullest PP rank needs {} instead of {}",
                                             show_memory(after), show_memory(before))};
}

constexpr Condition kLighter[] = {
    {"keep model, cluster, job and software", keeps_task},
    {"keep TP 4, PP 4 and DP 1", keeps_degrees},
    {"need 10 % less memory on its fullest PP rank", lighter},
};

constexpr std::string_view kFile = "labs/pp-4.yaml", kLogits = "labs/edge-logits.yaml";
constexpr std::string_view kSeeFirst = "rankwright explain examples/labs/pp-4.yaml --rank 0";
constexpr std::string_view kSeeStages = "rankwright explain examples/labs/pp-4.yaml --stages";
constexpr Question kQuestions[] = {
    {"embedding", AnswerKind::bytes, kFile, embedding, kSeeFirst,
     "The embedding is a matrix of vocabulary x hidden size, and TP splits it by words.",
     "vocabulary x hidden size / TP x bytes per parameter", kRounded},
    {"in_flight", AnswerKind::whole, kFile, in_flight, kSeeStages,
     "A rank starts forward passes until its first backward pass arrives.", "PP - r for PP rank r"},
    {"fullest", AnswerKind::choice, kFile, fullest, kSeeFirst,
     "Add the embedding and the micro-batches in flight; the head only adds to one rank.",
     "states + micro-batches in flight x activations, per PP rank", 0, kWhere},
    {"gap", AnswerKind::bytes, kFile, gap,
     "rankwright report examples/labs/pp-4.yaml --no-search --svg DIR",
     "Compare the rank with the most micro-batches in flight with the one that has the fewest.",
     "memory of the fullest PP rank - memory of the emptiest", kEstimated},
    {"logits", AnswerKind::bytes, kLogits, logits,
     "rankwright explain examples/labs/edge-logits.yaml --rank 8",
     "The output head computes one number per token and word.",
     "tokens of a micro-batch x vocabulary / TP x bytes per logit", kEstimated},
    {"fullest_now", AnswerKind::choice, kLogits, fullest,
     "rankwright explain examples/labs/edge-logits.yaml --rank 8",
     "Which rank has the logits, and how do they compare with a micro-batch's activations?",
     "states + activations in flight + logits, per PP rank", 0, kWhere},
    {"lighter",
     AnswerKind::plan,
     kFile,
     nullptr,
     kSeeFirst,
     "The fullest rank holds activations that could be computed again, and states that are whole.",
     "set recompute, or stages with fewer layers on the fullest PP rank",
     0,
     {},
     kLighter},
};

}  // namespace
}  // namespace edge_stages_impl

std::span<const Question> edge_stage_questions() { return edge_stages_impl::kQuestions; }

}  // namespace rankwright::lab
