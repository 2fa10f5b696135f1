#include "rankwright/planner/learn/explain_concept.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/planner/explain.h"
#include "rankwright/planner/explain_faults.h"

namespace rankwright::planner {
namespace {

using Facts = std::vector<ConceptFact>;

void add_straggler_facts(const FaultsAnswer& answer, Facts& facts) {
  const cost::Straggler& slow = *answer.faults.slow;
  facts.push_back({"slow rank",
                   fmt::format("rank {} computes {} times as long", slow.slow.front().rank,
                               slow.slow.front().factor),
                   slow.slow.front().factor, "ratio"});
  facts.push_back({"before", show(slow.before), slow.before.value, "seconds"});
  facts.push_back(
      {"after",
       fmt::format("{}, {}", show(slow.after), format_signed_percent(slow.after / slow.before - 1)),
       slow.after.value, "seconds"});
  facts.push_back({"lost",
                   fmt::format("{} of the throughput of all {} GPUs", percent(slow.lost()),
                               count(answer.plan.config().world)),
                   slow.lost(), "fraction"});
}

void add_checkpoint_facts(const FaultsAnswer& answer, Facts& facts) {
  const plan::TrainingConfig& config = answer.plan.config();
  const cost::Failure& failure = answer.faults.failure;
  const cost::FailureModel& model = failure.task.model;
  const Bytes size = cost::count_checkpoint_bytes(config);
  facts.push_back(
      {"size",
       fmt::format("{} parameters x ({} + {}) bytes = {}",
                   format_short_count(size.value / double(config.job.param_bytes() +
                                                          config.job.optimizer_bytes())),
                   config.job.param_bytes(), config.job.optimizer_bytes(), show(size)),
       size.value, "bytes"});
  facts.push_back({"time",
                   fmt::format("{}: {}", show(model.checkpoint), answer.faults.from.checkpoint),
                   model.checkpoint.value, "seconds"});
  facts.push_back({"failures",
                   fmt::format("one per {} ({})", show(model.between), answer.faults.from.between),
                   model.between.value, "seconds"});
  facts.push_back({"interval",
                   fmt::format("{}, {}: best for these figures", show(failure.uptime.interval),
                               plural(failure.steps, "step", "steps")),
                   failure.uptime.interval.value, "seconds"});
  facts.push_back({"goodput",
                   fmt::format("{}; checkpoints take {}, lost work {}, restarts {}",
                               percent(failure.uptime.useful), percent(failure.uptime.checkpoints),
                               percent(failure.uptime.lost), percent(failure.uptime.restarts)),
                   failure.uptime.useful, "fraction"});
}

/// A concept whose numbers are those of `explain --slow` or `--fail`.
struct FaultRow {
  std::string_view term;
  FaultOptions (*options)();
  void (*add)(const FaultsAnswer&, Facts&);
};

constexpr FaultRow kFaultRows[] = {
    {"straggler", [] { return FaultOptions{.slow = {fmt::format("0:{}x", kShownSlowdown)}}; },
     add_straggler_facts},
    {"checkpoint", [] { return FaultOptions{.fail = 0}; }, add_checkpoint_facts},
};

}  // namespace

Outcome<ConceptAnswer> explain_concept(const std::string& word, const PlanSource& source) {
  const Outcome<ExplainTermAnswer> term = explain_term(word);
  if (!term) return tl::unexpected(term.error());
  if (term->concept_page == nullptr)
    return refuse_usage(
        fmt::format("'{}' has no numbers of a plan", make_excerpt(word, 60)),
        fmt::format("rankwright explain {}, without a plan", make_excerpt(word, 60)));
  Outcome<ExplainAnswer> plan = explain_plan(source);
  if (!plan) return tl::unexpected(std::move(plan.error()));
  ConceptFacts facts = list_facts(*term->concept_page, plan->plan.config(), plan->explain_view);
  for (const FaultRow& row : kFaultRows) {
    if (row.term != term->concept_page->term) continue;
    const Outcome<FaultsAnswer> answer = explain_faults({.plan = source, .faults = row.options()});
    if (!answer) return tl::unexpected(answer.error());
    row.add(*answer, facts.facts);
  }
  return ConceptAnswer{term->concept_page, std::move(plan->plan), std::move(facts)};
}

}  // namespace rankwright::planner
