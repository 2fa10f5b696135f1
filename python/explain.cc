// `explain` for Python: one view of a plan, a schedule, or the meaning of a code, a key or a term.
#include "rankwright/planner/explain.h"

#include "python/verbs.h"
#include "rankwright/planner/explain/sweep_view.h"
#include "rankwright/planner/explain_faults.h"
#include "rankwright/planner/explain_timeline.h"
#include "rankwright/planner/learn/explain_concept.h"
#include "rankwright/report/catalog/concept_text.h"
#include "rankwright/report/catalog/topic_text.h"
#include "rankwright/report/explain/explain_json.h"
#include "rankwright/report/explain/explain_text.h"
#include "rankwright/report/explain/rank_text.h"
#include "rankwright/report/explain/sensitivity_text.h"
#include "rankwright/report/explain/stages_text.h"
#include "rankwright/report/faults/faults_json.h"
#include "rankwright/report/faults/faults_text.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/sweep/sweep_text.h"
#include "rankwright/report/timeline/gantt.h"
#include "rankwright/report/timeline/timeline_json.h"

namespace rankwright::python {
namespace {

std::string titled(const std::string& heading, const std::string& text) {
  return heading + "\n\n" + text;
}

planner::Outcome<Answer> explain_term(const std::string& term) {
  using A = planner::ExplainTermAnswer;
  return make_answer(
      planner::explain_term(term),
      [](const A& a) {
        return a.page != nullptr           ? report::make_page_json(*a.page)
               : a.key != nullptr          ? report::make_key_json(*a.key)
               : a.concept_page != nullptr ? report::make_concept_json(*a.concept_page)
                                           : report::make_term_json(*a.term);
      },
      [](const A& a) {
        return a.page != nullptr  ? report::render_page_text(*a.page, {}, kTextWidth)
               : a.key != nullptr ? report::render_key_text(*a.key, {}, kTextWidth)
               : a.concept_page != nullptr
                   ? report::render_concept_text(*a.concept_page, {}, kTextWidth)
                   : report::render_term_text(*a.term, {}, kTextWidth);
      });
}

planner::Outcome<Answer> view_concept(const std::string& word, const planner::PlanSource& plan) {
  using A = planner::ConceptAnswer;
  return make_answer(
      planner::explain_concept(word, plan), [](const A& a) { return report::make_concept_json(a); },
      [](const A& a) { return report::render_concept_text(a, {}, kTextWidth); });
}

planner::Outcome<Answer> make_explain_view(const planner::PlanSource& plan) {
  using A = planner::ExplainAnswer;
  return make_answer(
      explain_plan(plan),
      [](const A& a) { return report::make_explain_json(a.plan.config(), a.explain_view); },
      [](const A& a) {
        return report::render_explain_text(a.plan.config(), a.explain_view, {}, kTextWidth);
      });
}

planner::Outcome<Answer> view_rank(const planner::PlanSource& plan, i64 rank) {
  using A = planner::ExplainRankAnswer;
  return make_answer(
      explain_rank(plan, rank),
      [](const A& a) { return report::make_rank_json(a.plan.config(), a.view); },
      [](const A& a) { return report::render_rank_text(a.plan.config(), a.view, {}, kTextWidth); });
}

planner::Outcome<Answer> view_stages(const planner::PlanSource& plan) {
  using A = planner::ExplainStagesAnswer;
  return make_answer(
      explain_stages(plan),
      [](const A& a) { return report::make_stages_json(a.plan.config(), a.view); },
      [](const A& a) {
        return report::render_stages_text(a.plan.config(), a.view, {}, kTextWidth);
      });
}

planner::Outcome<Answer> view_sensitivity(const planner::PlanSource& plan) {
  using A = planner::ExplainSensitivityAnswer;
  return make_answer(
      explain_sensitivity(plan),
      [](const A& a) { return report::make_sensitivity_json(a.plan.config(), a.view); },
      [](const A& a) {
        return report::render_sensitivity_text(a.plan.config(), a.view, {}, kTextWidth);
      });
}

planner::Outcome<Answer> view_sweep(const planner::PlanSource& plan, const std::string& sweep) {
  using A = planner::SweepAnswer;
  return make_answer(
      planner::explain_sweep(plan, sweep), [](const A& a) { return report::make_sweep_json(a); },
      [](const A& a) { return report::render_sweep_text(a, {}, kTextWidth); });
}

report::RivalPlan rival(const planner::ValidPlan& plan) { return {plan.name(), plan.config()}; }

planner::Outcome<Answer> view_rivals(const planner::PlanSource& plan,
                                     const planner::SourceFile& against) {
  using A = planner::ExplainRivalsAnswer;
  return make_answer(
      explain_rivals(plan, against),
      [](const A& a) { return make_rivals_json(rival(a.plan), rival(a.against), a.view); },
      [](const A& a) {
        return render_rivals_text(rival(a.plan), rival(a.against), a.view, {}, kTextWidth);
      });
}

std::string step_text(const planner::SummarizedStep& step, const std::string& heading) {
  return titled(heading, report::draw_gantt(step.simulated, step.summary, {}, kTextWidth));
}

planner::Outcome<Answer> view_timeline(const planner::PlanSource& plan, bool unit_times) {
  using A = planner::TimelineAnswer;
  return make_answer(
      planner::explain_timeline({.plan = plan, .unit_times = unit_times}),
      [](const A& a) {
        return report::make_timeline_json(a.step.simulated, a.step.summary,
                                          report::format_headline(a.plan.config()));
      },
      [](const A& a) { return step_text(a.step, report::format_headline(a.plan.config())); });
}

planner::Outcome<Answer> view_schedule(const planner::SourceFile& file) {
  return make_answer(
      explain_schedule(file, false),
      [name = file.name](const planner::SummarizedStep& step) {
        return report::make_timeline_json(step.simulated, step.summary, name);
      },
      [name = file.name](const planner::SummarizedStep& step) { return step_text(step, name); });
}

planner::Outcome<Answer> view_faults(const planner::PlanSource& plan,
                                     const planner::FaultOptions& options) {
  using A = planner::FaultsAnswer;
  return make_answer(
      planner::explain_faults({.plan = plan, .faults = options}),
      [](const A& a) { return report::make_faults_json(a.plan.config(), a.faults); },
      [](const A& a) {
        return titled(report::format_headline(a.plan.config()),
                      report::render_faults_text(a, {}, kTextWidth));
      });
}

planner::Outcome<planner::FaultOptions> read_faults(const Arguments& args) {
  planner::Outcome<std::optional<i64>> fail = args.whole("fail");
  if (!fail) return tl::unexpected(std::move(fail.error()));
  return planner::FaultOptions{.slow = args.all("slow"),
                               .slow_link = args.all("slow-link"),
                               .fail = *fail,
                               .failures = args.text("failures"),
                               .mtbf = args.text("mtbf"),
                               .checkpoint_time = args.text("checkpoint-time"),
                               .checkpoint_interval = args.text("checkpoint-interval"),
                               .restart_time = args.text("restart-time")};
}

}  // namespace

planner::Outcome<Answer> explain(const Arguments& args, const planner::SearchControl&) {
  planner::Outcome<std::optional<i64>> rank = args.whole("rank");
  if (!rank) return tl::unexpected(std::move(rank.error()));
  planner::Outcome<planner::FaultOptions> fault_options = read_faults(args);
  if (!fault_options) return tl::unexpected(std::move(fault_options.error()));
  const planner::ExplainViews views{.rank = rank->has_value(),
                                    .stages = args.has("stages"),
                                    .timeline = args.has("timeline") || args.has("unit-times"),
                                    .faults = fault_options->any(),
                                    .sensitivity = args.has("sensitivity"),
                                    .against = args.has("against"),
                                    .sweep = args.has("sweep")};
  const std::string& what = args.files.front();
  planner::Outcome<planner::PlanSource> plan = args.plan();
  if (!plan) return tl::unexpected(std::move(plan.error()));
  if (args.has("concept")) {
    if (!args.names_file(what) || views.any())
      return tl::unexpected(planner::make_usage_refusal("a concept needs a plan and no view",
                                                        "explain(plan, concept=\"tp\")"));
    return view_concept(args.text("concept"), *plan);
  }
  if (!args.names_file(what)) return explain_term(what);
  if (is_schedule(plan->plan)) {
    if (std::optional<planner::Refusal> fault = check_schedule_views(views, *plan))
      return tl::unexpected(std::move(*fault));
    return view_schedule(plan->plan);
  }
  if (std::optional<planner::Refusal> fault = check_views(views))
    return tl::unexpected(std::move(*fault));
  if (views.sweep) return view_sweep(*plan, args.text("sweep"));
  if (views.timeline) return view_timeline(*plan, args.has("unit-times"));
  if (views.faults) return view_faults(*plan, *fault_options);
  if (views.against) return view_rivals(*plan, args.source(args.text("against")));
  if (views.sensitivity) return view_sensitivity(*plan);
  if (views.stages) return view_stages(*plan);
  if (views.rank) return view_rank(*plan, **rank);
  return make_explain_view(*plan);
}

}  // namespace rankwright::python
