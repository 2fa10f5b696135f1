#include "rankwright/planner/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/memory/memory.h"
#include "rankwright/pipeline/order.h"
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
              .message = fmt::format("{} is of another plan: {}", file.name, mismatch),
              .hint = "rankwright run PLAN --trace FILE writes one of this"});
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
  if (can_simulate(config)) {
    SimulatedStep step = simulate_step(config);
    TimelineSummary sum = summary(step);
    report.step = SummarizedStep{std::move(step), std::move(sum)};
  }
  return report;
}

void add_search(PlanReport& report, PlanAnswer search) {
  report.search = std::move(search);
  const std::vector<search::Candidate>& front = report.search->answer.front;
  report.front.clear();
  for (std::size_t k = 0; k < std::min(kMaxFrontPlans, front.size()); ++k)
    report.front.push_back(
        evaluate_plan(report.search->problem, front[k].plan, select_calibration(report.config)));
}

PlanReport report_best_plan(std::string name, const PlanAnswer& answer) {
  const plan::TrainingConfig& best = answer.best().config;
  PlanReport report =
      build_plan_report(std::move(name), best, lint(best, answer.problem.limits.target));
  add_search(report, answer);
  return report;
}

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
  if (request.search && !report.config.reference_model)
    add_search(report, search_around(report.evaluated(), plan->input.file.draft,
                                     choose_target(request.target, plan->input.file), control));
  return report;
}

std::string find_trace_mismatch(const plan::TrainingConfig& config, const importer::RunTrace& run) {
  const pipeline::PipelineShape shape = make_pipeline_shape(config);
  if (i64(run.ranks.size()) != shape.pp)
    return fmt::format("it has {}, the plan {}",
                       plural(i64(run.ranks.size()), "pp rank", "pp ranks"), shape.pp);
  std::set<std::pair<i64, i64>> forwards;  // stage and microbatch
  for (i64 rank = 0; rank < shape.pp; ++rank)
    for (const importer::TraceSlice& slice : run.ranks[std::size_t(rank)]) {
      if (!slice.cell) continue;
      const i64 stage = slice.cell->stage, microbatch = slice.cell->microbatch;
      if (stage >= shape.stages() || microbatch >= shape.microbatches)
        return fmt::format("it has the cell {}, the plan {} and {}", slice.name,
                           plural(shape.stages(), "stage", "stages"),
                           plural(shape.microbatches, "microbatch", "microbatches"));
      if (const i64 owner = find_pp_rank(shape, stage, microbatch); owner != rank)
        return fmt::format("it has the cell {} on pp rank {}, the plan on pp rank {}", slice.name,
                           rank, owner);
      if (slice.cell->kind == pipeline::ActionKind::forward) forwards.emplace(stage, microbatch);
    }
  if (i64(forwards.size()) != shape.stages() * shape.microbatches)
    return fmt::format("it has {}, the plan {}: one for each of {} and {}",
                       plural(i64(forwards.size()), "forward cell", "forward cells"),
                       count(shape.stages() * shape.microbatches),
                       plural(shape.stages(), "stage", "stages"),
                       plural(shape.microbatches, "microbatch", "microbatches"));
  return {};
}

}  // namespace rankwright::planner
