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

WorkedAnswer bubble(const plan::TrainingConfig& s) {
  const i64 p = s.plan.pp, m = s.microbatches();
  const cost::Estimate e = cost::estimate_closely(s, select_calibration(s));
  return {pipeline::bubble_fraction(s.plan.schedule, p, 1, m),
          fmt::format("(pp - 1) / (m + pp - 1) = {} / {} = {}", p - 1, m + p - 1,
                      percent(pipeline::bubble_fraction(s.plan.schedule, p, 1, m))),
          {{pipeline::bubble_ratio(s.plan.schedule, p, 1, m),
            "that is idle time over work, (pp - 1) / m: the step has both"},
           {e.step[cost::Item::bubble] / e.time(),
            "that is of the estimated step, in which stages are uneven and more than stages takes "
            "time: with equal stages it is a matter of slots"}}};
}

WorkedAnswer microbatches(const plan::TrainingConfig& s) {
  i64 m = 1;
  while (pipeline::bubble_fraction(s.plan.schedule, s.plan.pp, 1, m) > kSmallBubble) ++m;
  const i64 p = s.plan.pp;
  return {double(m),
          fmt::format("{} / (m + {}) <= {} from m = {} on: {} / {} = {}", p - 1, p - 1,
                      percent(kSmallBubble), m, p - 1, m + p - 1,
                      percent(pipeline::bubble_fraction(s.plan.schedule, p, 1, m))),
          {{double(p - 1) / kSmallBubble, "that takes the step for the work: (pp - 1) / m"}}};
}

WorkedAnswer held(const plan::TrainingConfig& s) {
  const pipeline::PipelineShape shape = make_pipeline_shape(s);
  pipeline::PipelineShape all = shape;
  all.schedule = pipeline::Schedule::gpipe;
  return {
      double(pipeline::max_in_flight(shape, 0)),
      fmt::format("1f1b lets pp rank 0 run ahead by the {} stages of the pipeline, then one "
                  "backward makes room for one forward; gpipe holds all {}",
                  shape.pp, pipeline::max_in_flight(all, 0)),
      {{double(pipeline::max_in_flight(all, 0)), "that is gpipe, which runs every forward first"},
       {double(pipeline::max_in_flight(shape, shape.pp - 1)), "that is the last pp rank"}}};
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
      fmt::format("fill and drain pass chunks of half the size: r = ({} - 1) / ({} x {})",
                  s.plan.pp, kChunks, s.microbatches()));
}

WorkedAnswer zero_bubble(const plan::TrainingConfig& s) {
  return bubble_of(
      s, pipeline::Schedule::zb_h1, 1,
      fmt::format("weight gradients fill the drain; of 3 parts (F, I, W) one is left: r = ({} - 1) "
                  "x (1 + 1 - 1) / (3 x {})",
                  s.plan.pp, s.microbatches()));
}

ConditionResult is_shorter(const plan::TrainingConfig& answer, const plan::TrainingConfig& given) {
  return faster_by(answer, given, 0.1);
}

constexpr Condition kFaster[] = {
    {"keep model, cluster, job and software", keeps_task},
    {"keep tp 4, pp 4 and dp 1", keeps_degrees},
    {"fit in memory", fits_memory},
    {"take a step that is 10 % shorter", is_shorter},
};

constexpr std::string_view kFile = "labs/pp-4.yaml";
constexpr std::string_view kDrawn =
    "rankwright explain examples/labs/pp-4.yaml --timeline --unit-times";
constexpr Question kQuestions[] = {
    {"bubble", AnswerKind::percent, kFile, bubble, kDrawn, kRounded},
    {"microbatches", AnswerKind::whole, kFile, microbatches,
     "rankwright explain - --timeline --unit-times <<< "
     "\"$(sed 's/batch: 8/batch: 60/' examples/labs/pp-4.yaml)\""},
    {"held", AnswerKind::whole, kFile, held, kDrawn},
    {"interleaved", AnswerKind::percent, kFile, interleaved,
     "rankwright explain examples/labs/pp-4-chunks.yaml --timeline --unit-times", kRounded},
    {"zero_bubble", AnswerKind::percent, kFile, zero_bubble,
     "rankwright explain - --timeline --unit-times <<< "
     "\"$(sed 's/1f1b/zb-h1/' examples/labs/pp-4.yaml)\"",
     kRounded},
    {"faster",
     AnswerKind::plan,
     kFile,
     nullptr,
     "rankwright compare examples/labs/pp-4.yaml examples/labs/pp-4-chunks.yaml",
     0,
     {},
     kFaster},
};

}  // namespace
}  // namespace pipelines_impl

std::span<const Question> pipeline_questions() { return pipelines_impl::kQuestions; }

}  // namespace rankwright::lab
