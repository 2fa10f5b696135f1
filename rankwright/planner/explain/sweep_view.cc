#include "rankwright/planner/explain/sweep_view.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/pipeline/bubble.h"
#include "rankwright/plan/constraint_violation.h"

namespace rankwright::planner {
namespace sweep_view_impl {
namespace {

/// Returns "TP 8 x CP 2 x PP 4"; leaves out degrees of 1, but never all of them.
std::string show_model_degrees(const plan::Plan& plan) {
  std::string text;
  const auto add = [&](std::string_view name, i64 degree) {
    if (degree > 1) text += fmt::format("{}{} {}", text.empty() ? "" : " x ", name, count(degree));
  };
  add("TP", plan.tp);
  add("CP", plan.cp);
  add("PP", plan.pp);
  return text.empty() ? "TP 1" : text;
}

/// Returns why the config cannot exist; empty if it can. The degrees have their own message: in a
/// sweep nobody states dp.
std::string find_reason(const plan::TrainingConfig& config) {
  const plan::ConstraintViolation first = find_first_violation(config);
  if (!first) return {};
  const plan::Plan& p = config.plan;
  if (first.why == plan::ConstraintViolation::Why::degrees)
    if (const std::optional<i64> ranks = product({p.tp, p.cp, p.pp}))
      return fmt::format("{} = {} does not divide the {} GPUs", show_model_degrees(p),
                         count(*ranks), count(config.world));
  for (const Diagnostic& found : lint(config, rules::Target::any))
    if (found.severity == Severity::error) return found.detail;
  return "violates a constraint";
}

/// Returns the code of the first rule by which the target cannot run the config; empty if it can.
std::string_view find_refusal(const plan::TrainingConfig& config, rules::Target target) {
  for (const rules::Rule* const rule : rules::find_refusals(target))
    if (rule->page.severity == Severity::error && rule->fault(config)) return rule->page.code;
  return {};
}

std::string find_link(const plan::TrainingConfig& config, const SweepKey& key) {
  if (!key.group) return {};
  const int level = cost::find_span(config, *key.group).level;
  return level < 0 ? std::string() : config.cluster.levels[std::size_t(level)].name;
}

Seconds sum_exposed(const cost::StepTime& step) {
  using cost::Item;
  return step[Item::tp] + step[Item::cp] + step[Item::ep] + step[Item::sends] + step[Item::dp];
}

SweepRow make_row(const plan::TrainingConfig& config, const SweepKey& key, i64 value, bool own,
                  rules::Target target) {
  SweepRow row{.value = value, .own = own, .config = config};
  if (config.job.global_batch > plan::kMaxBatch) {
    row.impossible = fmt::format("a global batch of {} exceeds {}", count(config.job.global_batch),
                                 count(plan::kMaxBatch));
    return row;
  }
  row.impossible = find_reason(config);
  if (!row.estimated()) return row;
  const plan::Plan& p = config.plan;
  row.refused = find_refusal(config, target);
  row.estimate = cost::estimate_closely(config, select_calibration(config));
  if (p.pp > 1)
    row.bubble =
        pipeline::bubble_fraction(p.schedule, p.pp, p.virtual_stages, config.microbatches());
  row.tokens = cost::tokens_per_second(config, row.estimate.time());
  row.mfu = cost::mfu(config, row.estimate.time());
  row.exposed = sum_exposed(row.estimate.step);
  row.link = find_link(config, key);
  return row;
}

/// Describes what the sweep does not change, and what changes with the value: "Fixed: 64 GPUs, TP
/// 8, micro-batch 1, global batch 64. DP takes the rest of the GPUs."
std::string describe_fixed(const plan::TrainingConfig& config, const SweepKey& key) {
  struct Fact {
    std::string_view changed_by;  // the key that changes it
    std::string text;
    bool shown = true;
  };
  const plan::Plan& p = config.plan;
  const Fact facts[] = {
      {"dp", fmt::format("{} GPUs", count(config.world))},
      {"tp", fmt::format("TP {}", count(p.tp))},
      {"cp", fmt::format("CP {}", count(p.cp)), p.cp > 1},
      {"pp", fmt::format("PP {}", count(p.pp))},
      {"dp", fmt::format("DP {}", count(p.dp)), !key.moves_dp},
      {"micro_batch", fmt::format("micro-batch {}", count(p.micro_batch))},
      {"microbatches", fmt::format("global batch {}", count(config.job.global_batch))}};
  std::vector<std::string_view> fixed;
  for (const Fact& fact : facts)
    if (fact.shown && fact.changed_by != key.name) fixed.push_back(fact.text);
  return fmt::format("Fixed: {}.{}", fmt::join(fixed, ", "), key.changes);
}

}  // namespace
}  // namespace sweep_view_impl

SweepView make_sweep_view(const plan::TrainingConfig& config, const importer::Draft& draft,
                          const Sweep& sweep, rules::Target target) {
  const SweepKey& key = *sweep.key;
  SweepView view{.key = sweep.key,
                 .now = key.read(config),
                 .fixed = sweep_view_impl::describe_fixed(config, key),
                 .tie_band = cost::find_tie_band(config)};
  for (const i64 value : sweep.values)
    view.rows.push_back(sweep_view_impl::make_row(apply_sweep_value(config, draft, key, value), key,
                                                  value, value == view.now, target));
  for (std::size_t i = 0; i < view.rows.size(); ++i)
    if (view.rows[i].runs() &&
        (!view.best || view.rows[i].throughput() > view.rows[*view.best].throughput()))
      view.best = i;
  if (view.best) view.changes = find_key_differences(config, view.rows[*view.best].config);
  return view;
}

std::vector<const SweepRow*> list_tied_rows(const SweepView& view) {
  std::vector<const SweepRow*> tied;
  if (!view.best) return tied;
  const double best = view.rows[*view.best].throughput();
  for (const SweepRow& row : view.rows)
    if (row.runs() && best <= (1 + view.tie_band) * row.throughput()) tied.push_back(&row);
  return tied;
}

Outcome<SweepAnswer> explain_sweep(const PlanSource& source, const std::string& text) {
  const Outcome<Sweep> sweep = read_sweep(text);
  if (!sweep) return tl::unexpected(sweep.error());
  Outcome<ValidPlan> plan = read_valid_plan(source);
  if (!plan) return tl::unexpected(std::move(plan.error()));
  const importer::PlanFile& file = plan->input.file;
  SweepView view = make_sweep_view(plan->config(), file.draft, *sweep, choose_target({}, file));
  return SweepAnswer{std::move(*plan), std::move(view)};
}

}  // namespace rankwright::planner
