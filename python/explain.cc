// `explain` for Python: one view of a plan, a schedule, or what a code or a key means.
#include "rankwright/planner/explain.h"

#include "python/verbs.h"
#include "rankwright/planner/explain_faults.h"
#include "rankwright/planner/explain_timeline.h"
#include "rankwright/report/catalog/topic_text.h"
#include "rankwright/report/explain/explain_json.h"
#include "rankwright/report/explain/explain_text.h"
#include "rankwright/report/explain/rank_text.h"
#include "rankwright/report/explain/sensitivity_text.h"
#include "rankwright/report/explain/stages_text.h"
#include "rankwright/report/faults/faults_json.h"
#include "rankwright/report/faults/faults_text.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/timeline/gantt.h"
#include "rankwright/report/timeline/timeline_json.h"

namespace rankwright::python {
namespace {

std::string titled(const std::string& heading, const std::string& text) {
  return heading + "\n\n" + text;
}

Outcome<Answer> word(const std::string& word) {
  using A = ExplainWordAnswer;
  return make_answer(
      explain_word(word),
      [](const A& a) { return a.page != nullptr ? page_json(*a.page) : key_json(*a.key); },
      [](const A& a) {
        return a.page != nullptr ? page_text(*a.page, {}, kTextWidth)
                                 : key_text(*a.key, {}, kTextWidth);
      });
}

Outcome<Answer> make_explain_view(const PlanSource& plan) {
  using A = ExplainAnswer;
  return make_answer(
      explain_plan(plan), [](const A& a) { return explain_json(a.plan.config(), a.sheet); },
      [](const A& a) { return explain_text(a.plan.config(), a.sheet, {}, kTextWidth); });
}

Outcome<Answer> one_rank(const PlanSource& plan, i64 rank) {
  using A = ExplainRankAnswer;
  return make_answer(
      explain_rank(plan, rank), [](const A& a) { return rank_json(a.plan.config(), a.view); },
      [](const A& a) { return rank_text(a.plan.config(), a.view, {}, kTextWidth); });
}

Outcome<Answer> stages(const PlanSource& plan) {
  using A = ExplainStagesAnswer;
  return make_answer(
      explain_stages(plan), [](const A& a) { return stages_json(a.plan.config(), a.view); },
      [](const A& a) { return stages_text(a.plan.config(), a.view, {}, kTextWidth); });
}

Outcome<Answer> sensitivity(const PlanSource& plan) {
  using A = ExplainSensitivityAnswer;
  return make_answer(
      explain_sensitivity(plan),
      [](const A& a) { return sensitivity_json(a.plan.config(), a.view); },
      [](const A& a) { return sensitivity_text(a.plan.config(), a.view, {}, kTextWidth); });
}

RivalPlan rival(const ValidPlan& plan) { return {plan.name(), plan.config()}; }

Outcome<Answer> rivals(const PlanSource& plan, const SourceFile& against) {
  using A = ExplainRivalsAnswer;
  return make_answer(
      explain_rivals(plan, against),
      [](const A& a) { return rivals_json(rival(a.plan), rival(a.against), a.view); },
      [](const A& a) {
        return rivals_text(rival(a.plan), rival(a.against), a.view, {}, kTextWidth);
      });
}

std::string step_text(const SummarizedStep& step, const std::string& heading) {
  return titled(heading, gantt(step.simulated, step.summary, {}, kTextWidth));
}

Outcome<Answer> timeline(const PlanSource& plan, bool unit_times) {
  using A = TimelineAnswer;
  return make_answer(
      explain_timeline({.plan = plan, .unit_times = unit_times}),
      [](const A& a) {
        return timeline_json(a.step.simulated, a.step.summary, headline(a.plan.config()));
      },
      [](const A& a) { return step_text(a.step, headline(a.plan.config())); });
}

Outcome<Answer> schedule(const SourceFile& file) {
  return make_answer(
      explain_schedule(file, false),
      [name = file.name](const SummarizedStep& step) {
        return timeline_json(step.simulated, step.summary, name);
      },
      [name = file.name](const SummarizedStep& step) { return step_text(step, name); });
}

Outcome<Answer> faults(const PlanSource& plan, const FaultOptions& options) {
  using A = FaultsAnswer;
  return make_answer(
      explain_faults({.plan = plan, .faults = options}),
      [](const A& a) { return faults_json(a.plan.config(), a.faults); },
      [](const A& a) { return titled(headline(a.plan.config()), faults_text(a, {}, kTextWidth)); });
}

Outcome<FaultOptions> read_faults(const Arguments& args) {
  Outcome<std::optional<i64>> fail = args.whole("fail");
  if (!fail) return tl::unexpected(std::move(fail.error()));
  return FaultOptions{.slow = args.all("slow"),
                      .slow_link = args.all("slow-link"),
                      .fail = *fail,
                      .failures = args.text("failures"),
                      .mtbf = args.text("mtbf"),
                      .checkpoint_time = args.text("checkpoint-time"),
                      .checkpoint_interval = args.text("checkpoint-interval"),
                      .restart_time = args.text("restart-time")};
}

}  // namespace

Outcome<Answer> explain(const Arguments& args, const SearchControl&) {
  Outcome<std::optional<i64>> rank = args.whole("rank");
  if (!rank) return tl::unexpected(std::move(rank.error()));
  Outcome<FaultOptions> fault_options = read_faults(args);
  if (!fault_options) return tl::unexpected(std::move(fault_options.error()));
  const ExplainViews views{.rank = rank->has_value(),
                           .stages = args.has("stages"),
                           .timeline = args.has("timeline") || args.has("unit-times"),
                           .faults = fault_options->any(),
                           .sensitivity = args.has("sensitivity"),
                           .against = args.has("against")};
  const std::string& what = args.files.front();
  Outcome<PlanSource> plan = args.plan();
  if (!plan) return tl::unexpected(std::move(plan.error()));
  if (!args.names_file(what)) return word(what);
  if (is_schedule(plan->plan)) {
    if (std::optional<Refusal> fault = check_schedule_views(views, *plan))
      return tl::unexpected(std::move(*fault));
    return schedule(plan->plan);
  }
  if (std::optional<Refusal> fault = check_views(views)) return tl::unexpected(std::move(*fault));
  if (views.timeline) return timeline(*plan, args.has("unit-times"));
  if (views.faults) return faults(*plan, *fault_options);
  if (views.against) return rivals(*plan, args.source(args.text("against")));
  if (views.sensitivity) return sensitivity(*plan);
  if (views.stages) return stages(*plan);
  if (views.rank) return one_rank(*plan, **rank);
  return make_explain_view(*plan);
}

}  // namespace rankwright::python
