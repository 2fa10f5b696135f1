// `rankwright explain`: explains a plan, a diagnostic code, a plan key or a term.
#include "rankwright/planner/explain.h"

#include <filesystem>

#include "cli/explain/faults.h"
#include "cli/explain/sweep.h"
#include "cli/explain/timeline.h"
#include "cli/explain/word.h"
#include "cli/io/print_refusal.h"
#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"
#include "rankwright/report/explain/explain_json.h"
#include "rankwright/report/explain/explain_text.h"
#include "rankwright/report/explain/rank_text.h"
#include "rankwright/report/explain/sensitivity_text.h"
#include "rankwright/report/explain/stages_text.h"

namespace rankwright::cli {
namespace {

struct ExplainFlags {
  PlanFlags plan;
  TimelineFlags timeline{};
  FaultFlags faults{};
  SweepFlags sweep{};
  std::optional<i64> rank{};
  bool stages = false;
  bool sensitivity = false;
  std::string against{};  // another plan file
  bool markdown = false;

  planner::ExplainViews views() const {
    return {.rank = rank.has_value(),
            .stages = stages,
            .timeline = sweep.wanted() ? timeline.wanted_besides_svg() : timeline.wanted(),
            .faults = faults.any(),
            .sensitivity = sensitivity,
            .against = !against.empty(),
            .sweep = sweep.wanted()};
  }
};

/// Writes a view of a plan as `render` lays it out, then how many findings the plan has. Returns
/// the exit code.
template <class View, class Render>
int show(const planner::Outcome<View>& answer, const Options& options, const Io& io,
         Render render) {
  if (!answer) return print_refusal("explain", answer.error(), io);
  const std::string text = render(*answer, answer->plan.config(), options.paint(io));
  if (const int failed = options.write(text, io)) return failed;
  return print_finding_counts(answer->plan, options.quiet(), io);
}

int show_worksheet(const ExplainFlags& flags, const Options& options, const Io& io) {
  return show(explain_plan(flags.plan.source(io)), options, io,
              [&](const planner::ExplainAnswer& a, const plan::TrainingConfig& config,
                  const report::Paint& paint) {
                if (options.json()) return report::make_explain_json(config, a.explain_view);
                if (flags.markdown) return report::render_explain_markdown(config, a.explain_view);
                return render_explain_text(config, a.explain_view, paint, io.prose());
              });
}

int show_rank(const ExplainFlags& flags, const Options& options, const Io& io) {
  return show(explain_rank(flags.plan.source(io), *flags.rank), options, io,
              [&](const planner::ExplainRankAnswer& a, const plan::TrainingConfig& config,
                  const report::Paint& paint) {
                return options.json() ? report::make_rank_json(config, a.view)
                                      : render_rank_text(config, a.view, paint, io.prose());
              });
}

int show_stages(const ExplainFlags& flags, const Options& options, const Io& io) {
  return show(explain_stages(flags.plan.source(io)), options, io,
              [&](const planner::ExplainStagesAnswer& a, const plan::TrainingConfig& config,
                  const report::Paint& paint) {
                return options.json() ? report::make_stages_json(config, a.view)
                                      : render_stages_text(config, a.view, paint, io.prose());
              });
}

/// Shows the sensitivity of one plan to the model's constants.
int show_sensitivity(const ExplainFlags& flags, const Options& options, const Io& io) {
  return show(explain_sensitivity(flags.plan.source(io)), options, io,
              [&](const planner::ExplainSensitivityAnswer& a, const plan::TrainingConfig& config,
                  const report::Paint& paint) {
                return options.json() ? report::make_sensitivity_json(config, a.view)
                                      : render_sensitivity_text(config, a.view, paint, io.prose());
              });
}

/// Shows how the comparison of two plans depends on the model's constants.
int show_rivals(const ExplainFlags& flags, const Options& options, const Io& io) {
  const planner::PlanSource plan = flags.plan.source(io);  // first: one of the two may be -
  return show(explain_rivals(plan, read_source(flags.against, io)), options, io,
              [&](const planner::ExplainRivalsAnswer& a, const plan::TrainingConfig& config,
                  const report::Paint& paint) {
                const report::RivalPlan first{a.plan.name(), config};
                const report::RivalPlan second{a.against.name(), a.against.config()};
                return options.json()
                           ? make_rivals_json(first, second, a.view)
                           : render_rivals_text(first, second, a.view, paint, io.prose());
              });
}

int show_plan(const ExplainFlags& flags, const Options& options, const Io& io) {
  if (const std::optional<planner::Refusal> fault = check_views(flags.views()))
    return print_refusal("explain", *fault, io);
  if (flags.sweep.wanted())
    return show_sweep(flags.plan, flags.sweep, flags.timeline.svg, flags.markdown, options, io);
  if (flags.timeline.wanted())
    return show_timeline(flags.plan, flags.timeline, flags.markdown, options, io);
  if (flags.faults.any()) return show_faults(flags.plan, flags.faults, flags.markdown, options, io);
  if (flags.sensitivity)
    return flags.against.empty() ? show_sensitivity(flags, options, io)
                                 : show_rivals(flags, options, io);
  if (flags.stages) return show_stages(flags, options, io);
  if (flags.rank) return show_rank(flags, options, io);
  return show_worksheet(flags, options, io);
}

}  // namespace

int explain(Args args, const Io& io) {
  Options options(verb("explain"));
  ExplainFlags flags;
  std::string of;  // the plan of `explain tp plan.yaml`
  options
      .add(
          "what", flags.plan.plan,
          "plan file or -, schedule (.csv), code (RW0301), plan key (zero_stage), or term: an axis "
          "(tp), a collective (all-reduce), bubble")
      .required();
  options.add("plan", of, "plan for the numbers of a term: explain tp plan.yaml").type_name("FILE");
  options.add("--rank", flags.rank, "show one rank: its groups, memory and traffic");
  options.add_switch("--stages", flags.stages,
                     "show the layers of each PP rank, their balance and the best split");
  options.add_switch("--sensitivity", flags.sensitivity,
                     "show which cost-model constants matter most");
  options.add("--against", flags.against,
              "with --sensitivity: second plan; show what would change which is faster");
  flags.sweep.add_to(options);
  flags.timeline.add_to(options);
  flags.faults.add_to(options);
  options.add_switch("--markdown", flags.markdown, "write Markdown");
  flags.plan.add_to(options);
  flags.plan.add_calibration_to(options);
  flags.plan.add_job_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;

  const std::string what = flags.plan.plan;
  std::error_code error;
  const bool exists = std::filesystem::exists(what, error);
  if (!of.empty()) {
    const planner::ExplainViews views = flags.views();
    flags.plan.plan = of;
    return show_word_in_plan(what, flags.plan, exists || views.any(), options, io);
  }
  if (what.ends_with(".csv") && exists) {
    const planner::PlanSource source = flags.plan.source(io);
    if (const std::optional<planner::Refusal> fault = check_schedule_views(flags.views(), source))
      return print_refusal("explain", *fault, io);
    return show_schedule(source.plan, flags.timeline, flags.markdown, options, io);
  }
  if (what == "-" || exists) return show_plan(flags, options, io);
  return show_word(what, flags.timeline.svg, options, io);
}

}  // namespace rankwright::cli
