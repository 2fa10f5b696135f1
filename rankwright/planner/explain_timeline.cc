#include "rankwright/planner/explain_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "rankwright/base/format.h"
#include "rankwright/cost/durations.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/import/log/trace_format.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/planner/explain/stages_view.h"
#include "rankwright/program/cells.h"
#include "rankwright/program/expand.h"
#include "rankwright/program/steps.h"
#include "rankwright/program/transfers.h"
#include "rankwright/rules/proof_findings.h"

namespace rankwright::planner {
namespace {

/// Returns a hint: a global batch that keeps the step within `max` cells. The number of
/// microbatches is a multiple of 2 pp, which every schedule accepts.
std::string suggest_smaller_batch(const plan::TrainingConfig& config, i64 max) {
  const pipeline::PipelineShape shape = make_pipeline_shape(config);
  const std::optional<i64> one = pipeline::cell_count({shape.schedule, shape.pp, shape.chunks, 1});
  const i64 round = 2 * shape.pp;
  const i64 microbatches = one && *one > 0 ? max / *one / round * round : 0;
  const std::optional<i64> batch = product({microbatches, config.plan.micro_batch, config.plan.dp});
  if (microbatches <= 0 || !batch) return "lower pp_size or virtual_stages";
  return fmt::format("job: {{global_batch: {}}}, which gives {} micro-batches", *batch,
                     count(microbatches));
}

Refusal make_refusal(std::string message, std::string hint) {
  return {.kind = Refusal::Kind::refused, .message = std::move(message), .hint = std::move(hint)};
}

Refusal refuse_cells(const plan::TrainingConfig& config, i64 have, i64 max, std::string_view done) {
  return make_refusal(
      fmt::format("the step has {} actions; at most {} can be {}", count(have), count(max), done),
      suggest_smaller_batch(config, max));
}

/// Returns the refusal of a step that is too large to simulate, or to trace if `traced`.
std::optional<Refusal> check_step_size(const plan::TrainingConfig& config, bool traced) {
  const pipeline::PipelineShape shape = make_pipeline_shape(config);
  const i64 cells = pipeline::cell_count(shape).value_or(std::numeric_limits<i64>::max());
  if (cells > cost::kMaxSimulatedCells)
    return refuse_cells(config, cells, cost::kMaxSimulatedCells, "simulated");
  if (const Bytes need = program::bound_expansion_bytes(config); need > program::kMaxExpansion)
    return make_refusal(
        fmt::format("the step's actions and collectives take {}; at most {} can be simulated",
                    show(need), show(program::kMaxExpansion)),
        "use fewer layers or a smaller cp_size");
  if (!traced) return std::nullopt;
  // Actions outside cells, once per step and rank, are slices of the trace too.
  i64 max = importer::kMaxSlices;
  for (const program::Body& of_rank : program::steps(config)) max -= i64(of_rank.size());
  if (cells > max) return refuse_cells(config, cells, std::max<i64>(max, 0), "written to a trace");
  return std::nullopt;
}

/// Returns a shape to draw a written schedule with: stages assigned to pp ranks round-robin.
pipeline::PipelineShape drawn_shape(const rules::CheckedSchedule& s) {
  return {.pp = s.pp, .chunks = ceil_div(s.stages, s.pp), .microbatches = s.microbatches};
}

SummarizedStep summarize(SimulatedStep step) {
  TimelineSummary sum = summary(step);
  return {std::move(step), std::move(sum)};
}

/// Returns whether the most even split has a lighter busiest pp rank, and fewer layers on
/// `pp_rank`.
bool can_move_layers(const plan::TrainingConfig& config, i64 pp_rank) {
  const StagesView view = make_stages_view(config);
  if (view.best_imbalance >= view.imbalance) return false;
  i64 now = 0, then = 0;
  for (const i64 stage : list_stages(config.plan, pp_rank)) {
    now += view.now[std::size_t(stage)].layers;
    then += view.best.stages[std::size_t(stage)].layers;
  }
  return then < now;
}

}  // namespace

SummarizedStep summarize_step(const plan::TrainingConfig& config, bool unit_times) {
  SummarizedStep step = summarize(simulate_step(config, unit_times));
  step.summary.can_move_layers = can_move_layers(config, step.summary.longest().pp_rank);
  return step;
}

Outcome<TimelineAnswer> explain_timeline(const TimelineRequest& request) {
  Outcome<ValidPlan> plan = read_valid_plan(request.plan);
  if (!plan) return tl::unexpected(std::move(plan.error()));
  const plan::TrainingConfig& config = plan->config();
  if (std::optional<Refusal> refusal = check_step_size(config, request.traced))
    return tl::unexpected(std::move(*refusal));
  SummarizedStep step = summarize_step(config, request.unit_times);
  return TimelineAnswer{std::move(*plan), std::move(step)};
}

Outcome<SummarizedStep> explain_schedule(const SourceFile& file, bool traced) {
  const auto refuse = [&](Refusal::Kind kind, Diagnostics findings) {
    return tl::unexpected(
        Refusal{.kind = kind, .findings = std::move(findings), .file = {file.name, file.text}});
  };
  if (file.unreadable) return refuse(Refusal::Kind::unreadable, {*file.unreadable});
  const Result<program::WrittenSchedule> written = program::parse_cells(file.text, file.name);
  if (!written) return refuse(Refusal::Kind::unreadable, {written.error()});
  const rules::CheckedSchedule checked = rules::check_schedule(*written);
  if (!checked.findings.empty()) return refuse(Refusal::Kind::refused, checked.findings);
  program::Program program = program::add_transfers(program::only_cells(written->ranks),
                                                    checked.stages, checked.microbatches);
  if (const i64 cells = slice_count(program); traced && cells > importer::kMaxSlices)
    return tl::unexpected(make_refusal(
        fmt::format("the schedule has {} actions; at most {} can be written to a trace",
                    count(cells), count(importer::kMaxSlices)),
        ""));
  program::Durations times = make_equal_durations(program, 1.0_s, 1.0_s, 1.0_s);
  SimulatedStep step = simulate_step(drawn_shape(checked), std::move(program), std::move(times),
                                     std::string(kUnitTimes));
  step.what = "as written";
  return summarize(std::move(step));
}

bool is_schedule(const SourceFile& file) { return file.name.ends_with(".csv"); }

tl::unexpected<Refusal> refuse_plan_options(std::string_view options) {
  return refuse_usage(fmt::format("{} need a plan, but this is a schedule", options),
                      "remove them");
}

}  // namespace rankwright::planner
