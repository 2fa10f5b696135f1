// Lab 1: data parallelism, a full copy of the model on every rank.
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/cost/faults/failure.h"
#include "rankwright/lab/conditions.h"
#include "rankwright/lab/lab.h"

namespace rankwright::lab {
namespace data_parallelism_impl {
namespace {

WorkedAnswer sequences(const plan::TrainingConfig& s) {
  const i64 each = s.job.global_batch / s.plan.dp;
  return {
      double(each),
      fmt::format("{} sequences over {} copies: {} / {} = {}", s.job.global_batch, s.plan.dp,
                  s.job.global_batch, s.plan.dp, each),
      {{double(s.job.global_batch), "that is the whole batch: each copy computes its part of it"}}};
}

WorkedAnswer copies_held(const plan::TrainingConfig& s) {
  const i64 n = cost::count_copies(s).parameters;
  return {double(n),
          fmt::format("DP {}: every data-parallel rank holds all of it, so there are {} copies",
                      s.plan.dp, n),
          {{1, "that is one rank: every rank of the node has its own copy"}}};
}

WorkedAnswer states_held(const plan::TrainingConfig& s) {
  const cost::MemoryEstimate l = cost::estimate_memory(s, 0, select_calibration(s));
  const i64 n = count_parameters(s);
  return {l.states().value,
          fmt::format("{} parameters x 16 bytes (2 weight, 2 gradient, 12 optimizer) = {}",
                      format_short_count(double(n)), show(l.states())),
          {{l[cost::Entry::parameters].value,
            "that is 2 bytes per parameter: the weights alone, or all 16 divided by the ranks. "
            "Unsharded data parallelism does not divide the states"}}};
}

WorkedAnswer reduced(const plan::TrainingConfig& s) {
  const cost::TrafficCost row = find_max_traffic(s, plan::TrafficKind::dp_all_reduce);
  return {row.traffic.total.value,
          fmt::format("a 2-byte gradient for each of {} parameters: {}, in {} calls",
                      format_short_count(double(count_parameters(s))), show(row.traffic.total),
                      count(row.traffic.calls)),
          {{row.wire.value,
            "that is the data sent: a ring sends 2 (n-1)/n of the tensor. The question asks for "
            "the tensor"}}};
}

constexpr std::string_view kModels[] = {"llama-3.2-1b", "llama-3.2-3b", "llama-3.1-8b",
                                        "llama-3.1-70b"};

/// Returns the largest model whose full copy fits on a GPU.
WorkedAnswer largest(const plan::TrainingConfig& s) {
  WorkedAnswer worked;
  for (std::size_t i = 0; i < std::size(kModels); ++i) {
    plan::TrainingConfig one = s;
    one.model = *catalog::find_model(kModels[i]);
    const cost::Estimate e = cost::estimate_plan(one, select_calibration(one));
    if (e.fits()) worked.value = double(i);
    worked.arithmetic += fmt::format("{}{} {}", i == 0 ? "" : ", ", kModels[i],
                                     show_memory(e.memory.total(), e.capacity));
  }
  return worked;
}

constexpr std::string_view kFile = "labs/dp-1b.yaml";
constexpr Question kQuestions[] = {
    {"sequences", AnswerKind::whole, kFile, sequences,
     "rankwright explain examples/labs/dp-1b.yaml",
     "Each replica works on its own part of the global batch.", "global batch / DP"},
    {"copies", AnswerKind::whole, kFile, copies_held,
     "rankwright explain examples/labs/dp-1b.yaml --fail 3",
     "Which ranks hold a parameter if no axis splits the model and ZeRO is off?",
     "one copy per data-parallel rank: DP"},
    {"states", AnswerKind::bytes, kFile, states_held,
     "rankwright explain examples/labs/dp-1b.yaml --rank 0",
     "With bf16 and Adam, each parameter has a weight, a gradient, an fp32 copy and two moments.",
     "parameters x (bytes of weight + gradient + optimizer), not divided by DP", kRounded},
    {"reduced", AnswerKind::bytes, kFile, reduced, "rankwright explain examples/labs/dp-1b.yaml",
     "Every parameter has one gradient; grad_dtype sets its bytes.",
     "parameters x bytes per gradient: the tensor, not the bytes that a ring sends", kRounded},
    {"largest", AnswerKind::choice, kFile, largest,
     "rankwright check examples/labs/dp-1b.yaml --model llama-3.2-3b",
     "A full copy of the states must fit beside the activations.",
     "for each model: parameters x 16 bytes + activations < memory of the GPU", 0, kModels},
};

}  // namespace
}  // namespace data_parallelism_impl

std::span<const Question> data_parallelism_questions() { return data_parallelism_impl::kQuestions; }

}  // namespace rankwright::lab
