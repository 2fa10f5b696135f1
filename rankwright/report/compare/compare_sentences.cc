#include "rankwright/report/compare/compare_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/report/explain/waterfall_text.h"
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
  text +=
      fmt::format("), so times are {}.", basis == planner::Basis::tokens
                                             ? "those of a million tokens"
                                             : "those of all GPUs together for a million tokens");
  if (a.model != b.model) text += " Tokens of two models are not the same work either.";
  if (a.left_open("job.global_batch") && b.left_open("job.global_batch") &&
      a.job.global_batch != b.job.global_batch)
    text += " Neither plan states its batch: job: {global_batch: N} in both compares steps.";
  return text;
}

/// Formats a speedup: "12 % faster", from a factor of two on "2.1 times as fast".
std::string format_speedup(double gap) {
  return gap < 1 ? fmt::format("{} faster", percent(std::round(1000 * gap) / 1000))
                 : fmt::format("{:.1f} times as fast", 1 + gap);
}

/// Describes the memory of the fullest rank.
std::string describe_need(const cost::Estimate& e) {
  return fmt::format("{} {} on pp rank {}", show_memory(e.memory.total(), e.capacity),
                     format_band(e.memory_band), e.memory.pp_rank);
}

/// Describes the verdict on the memory of a plan; empty if it fits with margin.
std::string describe_fit_of(std::string_view plan, const cost::Estimate& e) {
  if (e.verdict() == cost::MemoryVerdict::fits_with_margin) return {};
  return fmt::format("{} {} ({}).", plan, rules::state_memory_verdict(e), describe_need(e));
}

bool cannot_run(const cost::Estimate& e) {
  return e.verdict() == cost::MemoryVerdict::does_not_fit;
}

std::string describe_both_fits(const plan::TrainingConfig& a, const plan::TrainingConfig& b,
                               const planner::CompareView& view) {
  std::string text = describe_fit_of("A" + name_assumed_model(a), view.a);
  const std::string of_b = describe_fit_of("B" + name_assumed_model(b), view.b);
  if (!text.empty() && !of_b.empty()) text += " ";
  text += of_b;
  const bool no_a = cannot_run(view.a), no_b = cannot_run(view.b);
  if (no_a && no_b) return text + " Neither can run: times are what they would be.";
  if (no_a || no_b) return text + fmt::format(" Only {} can run.", no_a ? "B" : "A");
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

/// Names the faster plan: "B is 12 % faster (8.1 s against 9.2 s a step)"; for a plan that cannot
/// run, "would be".
std::string describe_winner(const planner::CompareView& view) {
  const bool b_wins = view.lead() > 0;
  const bool cannot = b_wins ? cannot_run(view.b) : cannot_run(view.a);
  return fmt::format("{}{} {} {} ({} against {} {})",
                     view.basis == planner::Basis::device_tokens ? "for each GPU " : "",
                     b_wins ? "B" : "A", cannot ? "would be" : "is", format_speedup(view.gap()),
                     show(std::min(view.total_a, view.total_b)),
                     show(std::max(view.total_a, view.total_b)), words(view.basis));
}

/// Describes the error that the gap is compared with.
std::string describe_error(const planner::CompareView& view) {
  const std::string within = percent(view.within);
  return view.paired ? fmt::format("±{}, the median error between two plans of one model", within)
                     : fmt::format("the model's error of ±{}", within);
}

std::string describe_lead(const plan::TrainingConfig& a, const plan::TrainingConfig& b,
                          const planner::CompareView& view) {
  const bool by_device = view.basis == planner::Basis::device_tokens;
  const std::string clock = by_device ? describe_wall_clock(a, b, view) : "";
  constexpr double kNothing = 1e-6;
  if (view.gap() < kNothing)
    return (by_device ? "A GPU gets through as many tokens with either." : "Both take as long.") +
           clock;
  std::string winner = describe_winner(view);
  const std::string error = describe_error(view);
  if (view.tie()) return fmt::format("Tie: {}, inside {}. Measure both.", winner, error) + clock;
  if (by_device) winner.front() = 'F';
  return fmt::format("{}: more than {}.", winner, error) + clock;
}

}  // namespace

CompareSentences describe_comparison(const plan::TrainingConfig& a, const plan::TrainingConfig& b,
                                     const planner::CompareView& view) {
  return {.fit = describe_both_fits(a, b, view),
          .verdict = describe_lead(a, b, view),
          .unlike = explain_unlike(a, b, view.basis)};
}

}  // namespace rankwright::report
