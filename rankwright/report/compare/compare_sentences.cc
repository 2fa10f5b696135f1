#include "rankwright/report/compare/compare_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/report/explain/waterfall_text.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/rules/memory_verdict.h"

namespace rankwright::report {
namespace {

constexpr double kMillion = 1e6;

/// Explains why steps of the two plans are different work; empty if they are not.
std::string explain_unlike(const plan::TrainingConfig& a, const plan::TrainingConfig& b,
                           planner::Basis basis) {
  if (basis == planner::Basis::step) return {};
  std::string text = "Steps are not the same work in both (";
  std::string_view comma;
  const auto add = [&](bool differs, const std::string& what) {
    if (differs) text += std::string(comma) + what, comma = ", ";
  };
  add(a.model != b.model, "the models differ");
  add(a.job.global_batch != b.job.global_batch || a.job.sequence != b.job.sequence,
      fmt::format("{} x {} against {} x {} tokens", count(a.job.global_batch),
                  count(a.job.sequence), count(b.job.global_batch), count(b.job.sequence)));
  add(a.world != b.world, fmt::format("{} against {} GPUs", count(a.world), count(b.world)));
  text += fmt::format("), so times are {}.", basis == planner::Basis::tokens
                                                 ? "per million tokens"
                                                 : "those of all GPUs together per million tokens");
  if (a.model != b.model) text += " Tokens of two models are not the same work either.";
  if (a.left_open("job.global_batch") && b.left_open("job.global_batch") &&
      a.job.global_batch != b.job.global_batch)
    text += " Neither plan states its batch: job: {global_batch: N} in both compares steps.";
  return text;
}

/// Formats the change of a time: "takes 12 % less time", from a factor of two on "is 2.1 times as
/// fast" or "takes 2.1 times as long". For a plan that cannot run, "would take".
std::string format_change(double change, bool can_run, std::string_view noun) {
  constexpr double kFactor = 2;
  const std::string_view takes = can_run ? "takes" : "would take";
  if (1 / (1 + change) >= kFactor)
    return fmt::format("{} {:.1f} times as fast", can_run ? "is" : "would be", 1 / (1 + change));
  if (1 + change >= kFactor)
    return fmt::format("{} {:.1f} times as much {}", takes, 1 + change, noun);
  return fmt::format("{} {:.1f} % {} {}", takes, 100 * std::abs(change),
                     change > 0 ? "more" : "less", noun);
}

/// Describes the memory of the fullest rank.
std::string describe_need(const cost::Estimate& e) {
  return fmt::format("{} {} on PP rank {}", show_memory(e.memory.total(), e.capacity),
                     format_band(e.memory_band), e.memory.pp_rank);
}

/// Describes the verdict on the memory of a plan; empty if it fits with margin.
std::string describe_fit_of(std::string_view plan, const cost::Estimate& e) {
  if (e.verdict() == cost::MemoryVerdict::fits_with_margin) return {};
  return fmt::format("{} {} ({}).", plan, rules::state_memory_verdict(e), describe_need(e));
}

std::string describe_both_fits(const plan::TrainingConfig& a, const plan::TrainingConfig& b,
                               const planner::CompareView& view) {
  std::string text = describe_fit_of("A" + name_assumed_model(a), view.a);
  const std::string of_b = describe_fit_of("B" + name_assumed_model(b), view.b);
  if (!text.empty() && !of_b.empty()) text += " ";
  text += of_b;
  if (!view.a_can_run() && !view.b_can_run())
    text += " Neither can run: times are what they would be.";
  return text;
}

/// Compares the elapsed time for the same number of tokens: more GPUs are faster, whatever they
/// cost.
std::string describe_wall_clock(const plan::TrainingConfig& a, const plan::TrainingConfig& b,
                                const planner::CompareView& view) {
  const auto of = [](const plan::TrainingConfig& s, const cost::Estimate& e) {
    return show((kMillion / planner::tokens_per_step(s)) * e.time());
  };
  return fmt::format(" For a million tokens the {} GPUs of A take {}, the {} of B {}.",
                     count(a.world), of(a, view.a), count(b.world), of(b, view.b));
}

/// Describes the change of time: "B takes 12 % less time (8.1 s against 9.2 s per step)".
std::string describe_change(const planner::CompareView& view) {
  const bool by_device = view.basis == planner::Basis::device_tokens;
  const std::string_view unit = by_device ? words(planner::Basis::tokens) : words(view.basis);
  return fmt::format(
      "B {} ({} against {} {})",
      format_change(view.change(), view.b_can_run(), by_device ? "GPU time" : "time"),
      show(view.total_b), show(view.total_a), unit);
}

/// Describes the error that the gap is compared with.
std::string describe_error(const planner::CompareView& view) {
  const std::string within = percent(view.within);
  return view.paired
             ? fmt::format("±{} of the shorter, the median error between two plans of one model",
                           within)
             : fmt::format("the model's error of ±{} of the shorter", within);
}

/// Compares what one GPU does if both run the same step on different numbers of GPUs; else empty.
std::string describe_per_gpu(const plan::TrainingConfig& a, const plan::TrainingConfig& b,
                             const planner::CompareView& view) {
  if (view.basis != planner::Basis::step || a.world == b.world) return {};
  const std::string_view part = a.world == 2 * b.world   ? "half the"
                                : b.world == 2 * a.world ? "twice the"
                                                         : "another number of";
  const double of_a = cost::tokens_per_second(a, view.a.time()),
               of_b = cost::tokens_per_second(b, view.b.time());
  return fmt::format(
      " It is the same step on {} GPUs ({} against {}): per GPU, B does {} tokens/s, A {}.", part,
      count(b.world), count(a.world), format_short_count(of_b), format_short_count(of_a));
}

std::string describe_lead(const plan::TrainingConfig& a, const plan::TrainingConfig& b,
                          const planner::CompareView& view) {
  if (view.a_can_run() != view.b_can_run())
    return fmt::format("Only {} can run.", view.a_can_run() ? "A" : "B");
  const bool by_device = view.basis == planner::Basis::device_tokens;
  const std::string more =
      by_device ? describe_wall_clock(a, b, view) : describe_per_gpu(a, b, view);
  constexpr double kNothing = 1e-6;
  if (view.gap() < kNothing)
    return (by_device ? "Both take the same GPU time." : "Both take the same time.") + more;
  const std::string change = describe_change(view), error = describe_error(view);
  if (view.tie()) return fmt::format("Tie: {}, inside {}. Measure both.", change, error) + more;
  return fmt::format("{}: more than {}.", change, error) + more;
}

}  // namespace

CompareSentences describe_comparison(const plan::TrainingConfig& a, const plan::TrainingConfig& b,
                                     const planner::CompareView& view) {
  return {.fit = describe_both_fits(a, b, view),
          .verdict = describe_lead(a, b, view),
          .unlike = explain_unlike(a, b, view.basis)};
}

}  // namespace rankwright::report
