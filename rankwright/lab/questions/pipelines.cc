// Lab 3: pipeline stages, the bubble, and how to shrink it.
#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/lab/conditions.h"
#include "rankwright/lab/lab.h"
#include "rankwright/pipeline/bubble.h"
#include "rankwright/pipeline/order.h"

namespace rankwright::lab {
namespace pipelines_impl {
namespace {

constexpr double kSmallBubble = 0.05;
constexpr i64 kChunks = 2;
constexpr i64 kFew = 4;  // micro-batches of the question `fewer`

WorkedAnswer bubble(const plan::TrainingConfig& s) {
  const i64 p = s.plan.pp, m = s.microbatches();
  const cost::Estimate e = cost::estimate_closely(s, select_calibration(s));
  return {pipeline::bubble_fraction(s.plan.schedule, p, 1, m),
          fmt::format("(PP - 1) / (m + PP - 1) = {} / {} = {}", p - 1, m + p - 1,
                      percent(pipeline::bubble_fraction(s.plan.schedule, p, 1, m))),
          {{pipeline::bubble_ratio(s.plan.schedule, p, 1, m),
            "that is idle time over work, (PP - 1) / m: the step has both"},
           {e.step[cost::Item::bubble] / e.time(),
            "that is the idle share of the estimated step, which has uneven stages and other work; "
            "count slots of equal stages instead"}}};
}

WorkedAnswer microbatches(const plan::TrainingConfig& s) {
  i64 m = 1;
  while (pipeline::bubble_fraction(s.plan.schedule, s.plan.pp, 1, m) > kSmallBubble) ++m;
  const i64 p = s.plan.pp;
  return {double(m),
          fmt::format("{} / (m + {}) <= {} from m = {} on: {} / {} = {}", p - 1, p - 1,
                      percent(kSmallBubble), m, p - 1, m + p - 1,
                      percent(pipeline::bubble_fraction(s.plan.schedule, p, 1, m))),
          {{double(p - 1) / kSmallBubble, "that uses idle time over work: (PP - 1) / m"}}};
}

WorkedAnswer fewer(const plan::TrainingConfig& s) {
  const i64 p = s.plan.pp;
  const double value = pipeline::bubble_fraction(s.plan.schedule, p, 1, kFew);
  return {value,
          fmt::format("(PP - 1) / (m + PP - 1) = {} / {} = {}: {} idle slots per rank, as with {} "
                      "micro-batches, beside less work",
                      p - 1, kFew + p - 1, percent(value), p - 1, s.microbatches()),
          {{pipeline::bubble_ratio(s.plan.schedule, p, 1, kFew),
            "that is idle time over work, (PP - 1) / m: the step has both"},
           {2 * pipeline::bubble_fraction(s.plan.schedule, p, 1, s.microbatches()),
            "half the micro-batches halve the work, but the idle slots stay: the share does not "
            "double"}}};
}

WorkedAnswer held(const plan::TrainingConfig& s) {
  const pipeline::PipelineShape shape = make_pipeline_shape(s);
  pipeline::PipelineShape all = shape;
  all.schedule = pipeline::Schedule::gpipe;
  return {double(pipeline::max_in_flight(shape, 0)),
          fmt::format("1F1B lets PP rank 0 run ahead by the {} stages of the pipeline, then each "
                      "backward pass frees room for one forward pass; GPipe holds all {}",
                      shape.pp, pipeline::max_in_flight(all, 0)),
          {{double(pipeline::max_in_flight(all, 0)),
            "that is GPipe, which runs all forward passes first"},
           {double(pipeline::max_in_flight(shape, shape.pp - 1)), "that is the last PP rank"}}};
}

WorkedAnswer bubble_of(const plan::TrainingConfig& s, pipeline::Schedule schedule, i64 chunks,
                       std::string formula) {
  const i64 p = s.plan.pp, m = s.microbatches();
  const double value = pipeline::bubble_fraction(schedule, p, chunks, m);
  return {value,
          fmt::format("{} = {:.3g}, and r / (1 + r) = {}", formula,
                      pipeline::bubble_ratio(schedule, p, chunks, m), percent(value)),
          {{pipeline::bubble_ratio(schedule, p, chunks, m),
            "that is idle time over work: the step has both"}}};
}

WorkedAnswer interleaved(const plan::TrainingConfig& s) {
  return bubble_of(
      s, pipeline::Schedule::interleaved, kChunks,
      fmt::format("fill and drain pass virtual stages of half the size: r = ({} - 1) / ({} x {})",
                  s.plan.pp, kChunks, s.microbatches()));
}

WorkedAnswer zero_bubble(const plan::TrainingConfig& s) {
  return bubble_of(s, pipeline::Schedule::zb_h1, 1,
                   fmt::format("weight gradients fill the drain; one of 3 parts (F, I, W) is left: "
                               "r = ({} - 1) x (1 + 1 - 1) / (3 x {})",
                               s.plan.pp, s.microbatches()));
}

ConditionResult is_shorter(const plan::TrainingConfig& answer, const plan::TrainingConfig& given) {
  return faster_by(answer, given, 0.1);
}

constexpr Condition kFaster[] = {
    {"keep model, cluster, job and software", keeps_task},
    {"keep TP 4, PP 4 and DP 1", keeps_degrees},
    {"fit in memory", fits_memory},
    {"take a step that is 10 % shorter", is_shorter},
};

constexpr std::string_view kFile = "labs/pp-4.yaml";
constexpr std::string_view kDrawn =
    "rankwright explain examples/labs/pp-4.yaml --timeline --unit-times";
constexpr Question kQuestions[] = {
    {"bubble", AnswerKind::percent, kFile, bubble, kDrawn,
     "Draw the slots: each rank is idle at fill and drain while other stages work.",
     "(PP - 1) / (m + PP - 1)", kRounded},
    {"held", AnswerKind::whole, kFile, held, kDrawn,
     "When can the first stage run its first backward pass?",
     "with 1F1B, PP rank r holds at most PP - r micro-batches"},
    {"fewer", AnswerKind::percent, kFile, fewer,
     "rankwright explain examples/labs/pp-4-few.yaml --timeline --unit-times",
     "The idle slots at fill and drain do not depend on the number of micro-batches.",
     "(PP - 1) / (m + PP - 1), with the smaller m", kRounded},
    {"microbatches", AnswerKind::whole, kFile, microbatches,
     "rankwright explain examples/labs/pp-4-many.yaml --timeline --unit-times",
     "Solve the formula of the bubble for the number of micro-batches.",
     "the smallest m with (PP - 1) / (m + PP - 1) <= the limit"},
    {"interleaved", AnswerKind::percent, kFile, interleaved,
     "rankwright explain examples/labs/pp-4-chunks.yaml --timeline --unit-times",
     "Fill and drain pass virtual stages, which have fewer layers each.",
     "r = (PP - 1) / (v m) with v virtual stages per rank, then r / (1 + r)", kRounded},
    {"zero_bubble", AnswerKind::percent, kFile, zero_bubble,
     "rankwright explain examples/labs/pp-4-zb.yaml --timeline --unit-times",
     "No other rank waits for a weight gradient, so it can run during the drain.",
     "r = (PP - 1) (F + I - W) / ((F + I + W) m), then r / (1 + r)", kRounded},
    {"faster",
     AnswerKind::plan,
     kFile,
     nullptr,
     "rankwright compare examples/labs/pp-4.yaml examples/labs/pp-4-chunks.yaml",
     "Which way to shrink the bubble keeps both the batch and the degrees?",
     "set schedule, and virtual_stages if the schedule has them",
     0,
     {},
     kFaster},
};

}  // namespace
}  // namespace pipelines_impl

std::span<const Question> pipeline_questions() { return pipelines_impl::kQuestions; }

}  // namespace rankwright::lab
