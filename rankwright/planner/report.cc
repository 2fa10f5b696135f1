#include "rankwright/planner/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "rankwright/base/check.h"
#include "rankwright/base/format.h"
#include "rankwright/base/shell_word.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/memory/memory.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/planner/explain/what_if.h"
#include "rankwright/planner/explain_timeline.h"
#include "rankwright/planner/plan/plan_defaults.h"
#include "rankwright/program/expand.h"

namespace rankwright::planner {
namespace {

constexpr std::size_t kMaxFrontPlans = 24;

/// Returns whether the step is small enough to simulate in the time that a report may take.
bool can_simulate(const plan::TrainingConfig& config) {
  const pipeline::PipelineShape shape = make_pipeline_shape(config);
  const std::optional<i64> cells = pipeline::cell_count(shape);
  return cells && *cells <= cost::kMaxSimulatedCells &&
         program::bound_expansion_bytes(config) <= program::kMaxExpansion;
}

/// Reads a trace. Refuses one that is not of this plan.
Outcome<importer::RunTrace> read_measured(const SourceFile& file,
                                          const plan::TrainingConfig& config) {
  Result<importer::RunTrace> run =
      file.unreadable ? fail(*file.unreadable) : importer::read_run_trace(file.text, file.name);
  if (!run)
    return tl::unexpected(Refusal{
        .kind = Refusal::Kind::unreadable, .findings = {run.error()}, .file = {.name = file.name}});
  const std::string mismatch = find_trace_mismatch(config, *run);
  if (mismatch.empty()) return std::move(*run);
  return tl::unexpected(
      Refusal{.kind = Refusal::Kind::refused,
              .message = fmt::format("{} belongs to another plan: {}", file.name, mismatch),
              .hint = "rankwright run PLAN --trace FILE writes a trace of this plan"});
}

/// Returns the options that replace keys of the plan file, as they are typed.
std::string format_overrides(const PlanSource& source) {
  std::string text;
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) text += fmt::format(" --{} {}", option, shell_word(value));
  };
  add("model", source.model);
  add("cluster", source.cluster);
  if (source.world) add("world", std::to_string(*source.world));
  for (const auto& [option, value] : source.job) add(option, value);
  return text;
}

}  // namespace

PlanReport build_plan_report(std::string name, const plan::TrainingConfig& config,
                             Diagnostics findings) {
  PlanReport report{
      .name = std::move(name),
      .config = config,
      .explain_view = make_explain_view(config),
      .findings = std::move(findings),
      .memory_per_pp_rank = cost::estimate_memory_per_pp_rank(config, select_calibration(config)),
      .ranks = make_rank_map(config),
      .targets = check_targets(config)};
  if (can_simulate(config)) report.step = summarize_step(config);
  return report;
}

void add_training(PlanReport& report, const TrainingRequest& training) {
  report.training = training;
  report.run = estimate_training(report.config, report.explain_view.estimate, training);
}

void add_search(PlanReport& report, PlanAnswer search) {
  report.search = std::move(search);
  report.advice = advise(report.evaluated(), *report.search, report.training);
  const std::vector<search::Candidate>& front = report.search->answer.front;
  report.front.clear();
  for (std::size_t k = 0; k < std::min(kMaxFrontPlans, front.size()); ++k)
    report.front.push_back(
        evaluate_plan(report.search->problem, front[k].plan, select_calibration(report.config)));
}

PlanReport report_found_plan(std::string name, const PlanAnswer& answer) {
  RW_CHECK(can_report(answer));
  const plan::TrainingConfig& best =
      answer.answer.best ? answer.best().config : answer.leanest->config;
  PlanReport report =
      build_plan_report(std::move(name), best, lint(best, answer.problem.limits.target));
  report.what_if = make_what_if(best, make_draft(best), answer.problem.limits.target);
  add_training(report, answer.training);
  add_search(report, answer);
  return report;
}

bool can_report(const PlanAnswer& answer) { return answer.answer.best || answer.leanest; }

Outcome<PlanReport> report_plan(const ReportRequest& request, const SearchControl& control) {
  Outcome<ValidPlan> plan = read_valid_plan(request.plan, request.target);
  if (!plan) return tl::unexpected(std::move(plan.error()));
  std::optional<importer::RunTrace> measured;
  if (request.measured) {
    Outcome<importer::RunTrace> run = read_measured(*request.measured, plan->config());
    if (!run) return tl::unexpected(std::move(run.error()));
    measured = std::move(*run);
  }
  PlanReport report = build_plan_report(plan->name(), plan->config(), std::move(plan->findings));
  report.measured = std::move(measured);
  add_training(report, request.training);
  report.overrides = format_overrides(request.plan);
  if (report.config.reference_model) return report;
  const importer::PlanFile& file = plan->input.file;
  const rules::Target target = choose_search_target(request.target, file);
  report.what_if = make_what_if(report.config, file.draft, target, control.should_stop);
  if (request.search)
    add_search(report, search_around(report.evaluated(), file.draft, target, control));
  return report;
}

std::string find_trace_mismatch(const plan::TrainingConfig& config, const importer::RunTrace& run) {
  const pipeline::PipelineShape shape = make_pipeline_shape(config);
  if (i64(run.ranks.size()) != shape.pp)
    return fmt::format("the trace has {}, the plan {}",
                       plural(i64(run.ranks.size()), "PP rank", "PP ranks"), shape.pp);
  std::set<std::pair<i64, i64>> forwards;  // stage and microbatch
  for (i64 rank = 0; rank < shape.pp; ++rank)
    for (const importer::TraceSlice& slice : run.ranks[std::size_t(rank)]) {
      if (!slice.cell) continue;
      const i64 stage = slice.cell->stage, microbatch = slice.cell->microbatch;
      if (stage >= shape.stages() || microbatch >= shape.microbatches)
        return fmt::format("the trace has action {}, the plan {} and {}", slice.name,
                           plural(shape.stages(), "stage", "stages"),
                           plural(shape.microbatches, "micro-batch", "micro-batches"));
      if (const i64 owner = find_pp_rank(shape, stage, microbatch); owner != rank)
        return fmt::format("the trace has action {} on PP rank {}, the plan on PP rank {}",
                           slice.name, rank, owner);
      if (slice.cell->kind == pipeline::ActionKind::forward) forwards.emplace(stage, microbatch);
    }
  if (i64(forwards.size()) != shape.stages() * shape.microbatches)
    return fmt::format("the trace has {}, the plan {}: one for each of {} and {}",
                       plural(i64(forwards.size()), "forward action", "forward actions"),
                       count(shape.stages() * shape.microbatches),
                       plural(shape.stages(), "stage", "stages"),
                       plural(shape.microbatches, "micro-batch", "micro-batches"));
  return {};
}

}  // namespace rankwright::planner
