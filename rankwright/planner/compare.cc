#include "rankwright/planner/compare.h"

#include "rankwright/base/format.h"
#include "rankwright/import/log/run_log.h"
#include "rankwright/planner/input/run_input.h"

namespace rankwright::planner {
namespace {

constexpr std::size_t kMaxName = 200;  // characters of a file name

Refusal refuse_log(const SourceFile& log, Diagnostic fault) {
  return {
      .kind = Refusal::Kind::unreadable, .findings = {std::move(fault)}, .file = {log.name, {}}};
}

}  // namespace

Refusal refuse_sides() {
  return {.message = "compare needs a second plan or the log of a run",
          .hint = "rankwright compare a.yaml b.yaml, or compare a.yaml --log run.log"};
}

Outcome<CompareAnswer> compare_plans(const CompareRequest& request) {
  PlanInput input_a = read_input(request.a);
  PlanSource source_b = request.b;
  source_b.log.reset();
  PlanInput input_b = read_input(source_b);
  if (input_a.config && input_b.config) calibrate_by(*input_b.config, input_a.config->calibrated);
  Outcome<ValidPlan> a = require_valid(std::move(input_a));
  Outcome<ValidPlan> b = require_valid(std::move(input_b));
  if (!a && !b) a.error().also.push_back(std::move(b.error()));
  if (!a) return tl::unexpected(std::move(a.error()));
  if (!b) return tl::unexpected(std::move(b.error()));
  CompareView view = make_compare_view(a->config(), b->config());
  view.training = request.training;
  view.run_a = estimate_training(a->config(), view.a, request.training);
  view.run_b = estimate_training(b->config(), view.b, request.training);
  return CompareAnswer{std::move(*a), std::move(*b), std::move(view)};
}

Outcome<CompareLogAnswer> compare_with_log(const CompareLogRequest& request) {
  Outcome<ValidPlan> plan = read_valid_plan(request.plan);
  if (!plan) return tl::unexpected(std::move(plan.error()));
  const SourceFile& file = request.log;
  if (file.unreadable) return tl::unexpected(refuse_log(file, *file.unreadable));
  const Result<importer::RunLog> log = importer::read_run_log(file.text, file.name);
  if (!log) return tl::unexpected(refuse_log(file, log.error()));
  const plan::TrainingConfig& config = plan->config();
  const std::optional<importer::PlanFile> ran = read_plan_of_log(file.text, file.name);
  GapView view = make_gap_view(config, select_calibration(config), *log, ran ? &*ran : nullptr);
  view.plan = make_excerpt(plan->name(), kMaxName);
  view.log = make_excerpt(file.name, kMaxName);
  return CompareLogAnswer{std::move(*plan), std::move(view)};
}

}  // namespace rankwright::planner
