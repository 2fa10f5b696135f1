// `rankwright explain`: explains a plan, a diagnostic code or a plan key.
#include "rankwright/planner/explain.h"

#include <filesystem>

#include "cli/explain/faults.h"
#include "cli/explain/timeline.h"
#include "cli/io/print_refusal.h"
#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"
#include "rankwright/report/catalog/topic_text.h"
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
  std::optional<i64> rank{};
  bool stages = false;
  bool sensitivity = false;
  std::string against{};  // another plan file
  bool markdown = false;

  planner::ExplainViews views() const {
    return {.rank = rank.has_value(),
            .stages = stages,
            .timeline = timeline.wanted(),
            .faults = faults.any(),
            .sensitivity = sensitivity,
            .against = !against.empty()};
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

int show_word(const std::string& word, const Options& options, const Io& io) {
  const planner::Outcome<planner::ExplainTermAnswer> answer = planner::explain_term(word);
  if (!answer) return print_refusal("explain", answer.error(), io);
  const report::Paint paint = options.paint(io);
  if (answer->page != nullptr)
    return options.write(options.json() ? report::make_page_json(*answer->page)
                                        : render_page_text(*answer->page, paint, io.prose()),
                         io);
  if (answer->key != nullptr)
    return options.write(options.json() ? report::make_key_json(*answer->key)
                                        : render_key_text(*answer->key, paint, io.prose()),
                         io);
  return options.write(options.json() ? report::make_term_json(*answer->term)
                                      : report::render_term_text(*answer->term, paint, io.prose()),
                       io);
}

}  // namespace

int explain(Args args, const Io& io) {
  Options options(verb("explain"));
  ExplainFlags flags;
  options
      .add("what", flags.plan.plan,
           "a plan file or -, a schedule (.csv), a code (RW0301), a key (zero_stage) or a term "
           "(bubble)")
      .required();
  options.add("--rank", flags.rank, "everything about one rank");
  options.add_switch("--stages", flags.stages,
                     "layers by pp rank, how even they are, and the most even split");
  options.add_switch("--sensitivity", flags.sensitivity,
                     "which constants of the cost model the figures hang on");
  options.add("--against", flags.against,
              "with --sensitivity: which would change which of two plans is faster");
  flags.timeline.add_to(options);
  flags.faults.add_to(options);
  options.add_switch("--markdown", flags.markdown, "write Markdown");
  flags.plan.add_to(options);
  flags.plan.add_calibration_to(options);
  flags.plan.add_job_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;

  const std::string& what = flags.plan.plan;
  std::error_code error;
  const bool exists = std::filesystem::exists(what, error);
  if (what.ends_with(".csv") && exists) {
    const planner::PlanSource source = flags.plan.source(io);
    if (const std::optional<planner::Refusal> fault = check_schedule_views(flags.views(), source))
      return print_refusal("explain", *fault, io);
    return show_schedule(source.plan, flags.timeline, flags.markdown, options, io);
  }
  if (what == "-" || exists) return show_plan(flags, options, io);
  return show_word(what, options, io);
}

}  // namespace rankwright::cli
