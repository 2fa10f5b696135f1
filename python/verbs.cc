// The other verbs about a plan for Python: check, compare, report, export and import.
#include "python/verbs.h"

#include <memory>
#include <variant>

#include "rankwright/export/cluster_file.h"
#include "rankwright/export/model_file.h"
#include "rankwright/planner/check.h"
#include "rankwright/planner/compare.h"
#include "rankwright/planner/export.h"
#include "rankwright/planner/import.h"
#include "rankwright/planner/plan/source_files.h"
#include "rankwright/planner/plan/training_options.h"
#include "rankwright/planner/report.h"
#include "rankwright/report/compare/compare_json.h"
#include "rankwright/report/compare/compare_text.h"
#include "rankwright/report/compare/gap_text.h"
#include "rankwright/report/explain/check_text.h"
#include "rankwright/report/explain/findings.h"
#include "rankwright/report/page/report_json.h"
#include "rankwright/report/page/report_markdown.h"
#include "rankwright/report/page/report_sentences.h"
#include "rankwright/report/plan/export_json.h"
#include "rankwright/report/plan/import_text.h"
#include "rankwright/report/render/page_shell.h"

namespace rankwright::python {
namespace {

report::NamedPlan named(const planner::ValidPlan& plan) { return {plan.name(), plan.config()}; }

planner::Outcome<planner::TrainingRequest> read_training(const Arguments& args) {
  return planner::read_training_options(
      {.tokens = args.text("tokens"), .price = args.text("price"), .days = args.text("days")});
}

planner::Outcome<Answer> compare_two(const planner::PlanSource& a, const planner::SourceFile& other,
                                     const planner::TrainingRequest& training) {
  planner::CompareRequest request{.a = a, .b = a, .training = training};
  request.b.plan = other;
  using A = planner::CompareAnswer;
  return make_answer(
      compare_plans(request),
      [](const A& answer) {
        return make_compare_json(named(answer.a), named(answer.b), answer.view);
      },
      [](const A& answer) {
        return render_compare_text(named(answer.a), named(answer.b), answer.view, {}, kTextWidth);
      });
}

planner::Outcome<Answer> compare_log(const planner::PlanSource& plan, const std::string& log) {
  using A = planner::CompareLogAnswer;
  return make_answer(
      planner::compare_with_log({plan, planner::read_log_source(log)}),
      [](const A& a) { return report::make_gap_json(a.plan.config(), a.view); },
      [](const A& a) { return report::render_gap_text(a.plan.config(), a.view, {}, kTextWidth); });
}

/// Returns the hosts from a file of that name if there is one, otherwise as a list.
planner::HostNames host_names(const Arguments& args) {
  const std::string hosts = args.text("hosts");
  if (!hosts.empty() && args.names_file(hosts)) return {.file = args.source(hosts)};
  return {.list = hosts};
}

Answer forms(planner::ImportedPlan plan) {
  const auto made = std::make_shared<const planner::ImportedPlan>(std::move(plan));
  return {.json = [made] { return report::make_imported_plan_json(*made); },
          .text = [made] { return report::render_imported_plan(*made); }};
}

Answer forms(planner::ImportedCluster cluster) {
  const auto made = std::make_shared<const planner::ImportedCluster>(std::move(cluster));
  return {.text = [made] { return exporter::write_cluster_yaml(made->cluster, made->origins); },
          .findings = made->findings};
}

Answer forms(planner::ImportedModel model) {
  const auto made = std::make_shared<const planner::ImportedModel>(std::move(model));
  return {.text = [made] { return exporter::write_model_yaml(made->model, made->origins); },
          .findings = made->findings};
}

}  // namespace

planner::Outcome<Answer> check(const Arguments& args, const planner::SearchControl&) {
  planner::Outcome<std::optional<rules::Target>> target = planner::read_target(args.text("for"));
  if (!target) return tl::unexpected(std::move(target.error()));
  planner::Outcome<planner::PlanSource> plan = args.plan();
  if (!plan) return tl::unexpected(std::move(plan.error()));
  planner::Outcome<planner::CheckAnswer> outcome =
      planner::check_plan({.plan = std::move(*plan), .target = *target});
  if (!outcome) return tl::unexpected(std::move(outcome.error()));
  const auto made = std::make_shared<const planner::CheckAnswer>(std::move(*outcome));
  const int code = has_errors(made->findings) ? 2 : 0;
  return Answer{
      .json = [made] { return report::make_findings_json(made->findings, made->file.name); },
      .text = [made] { return report::render_check_text(*made, {}, kTextWidth); },
      .code = made->readable ? code : 1};
}

planner::Outcome<Answer> compare(const Arguments& args, const planner::SearchControl&) {
  const bool two = args.files.size() > 1;
  if (two == args.has("log")) return tl::unexpected(planner::refuse_sides());
  planner::Outcome<planner::PlanSource> plan = args.plan();
  if (!plan) return tl::unexpected(std::move(plan.error()));
  const planner::Outcome<planner::TrainingRequest> training = read_training(args);
  if (!training) return tl::unexpected(training.error());
  return two ? compare_two(*plan, args.source(args.files[1]), *training)
             : compare_log(*plan, args.text("log"));
}

planner::Outcome<Answer> report(const Arguments& args, const planner::SearchControl& control) {
  planner::Outcome<std::optional<rules::Target>> target = planner::read_target(args.text("for"));
  if (!target) return tl::unexpected(std::move(target.error()));
  planner::Outcome<planner::PlanSource> plan = args.plan();
  if (!plan) return tl::unexpected(std::move(plan.error()));
  const planner::Outcome<planner::TrainingRequest> training = read_training(args);
  if (!training) return tl::unexpected(training.error());
  planner::ReportRequest request{.plan = std::move(*plan), .target = *target};
  request.training = *training;
  if (args.has("measured")) request.measured = planner::read_trace_source(args.text("measured"));
  request.search = !args.has("no-search");
  planner::Outcome<planner::PlanReport> outcome = report_plan(request, control);
  if (!outcome) return tl::unexpected(std::move(outcome.error()));
  std::vector<std::string> words = args.words();
  words.push_back("--json");  // the command that prints the contents of .data
  report::Report whole{.version = RANKWRIGHT_VERSION,
                       .command = report::format_command_line(args.verb, words)};
  whole.plans.push_back(std::move(*outcome));
  const auto made = std::make_shared<const report::Report>(std::move(whole));
  Answer answer{.json = [made] { return make_report_json(*made); },
                .markdown = [made] { return render_report_markdown(*made); }};
  if (!report::kReportPage.empty())
    answer.html = [made] {
      return report::embed_document(report::kReportPage, make_report_json(*made));
    };
  return answer;
}

planner::Outcome<Answer> export_plan(const Arguments& args, const planner::SearchControl&) {
  planner::Outcome<planner::PlanSource> plan = args.plan();
  if (!plan) return tl::unexpected(std::move(plan.error()));
  planner::Outcome<planner::ExportAnswer> outcome =
      rankwright::planner::export_plan({.plan = std::move(*plan),
                                        .target = args.text("to"),
                                        .hosts = host_names(args),
                                        .strict = args.has("strict")});
  if (!outcome) return tl::unexpected(std::move(outcome.error()));
  const auto made = std::make_shared<const planner::ExportAnswer>(std::move(*outcome));
  Diagnostics findings = made->memory;
  findings.insert(findings.end(), made->findings.begin(), made->findings.end());
  return Answer{.json = [made] { return report::make_export_json(*made); },
                .text = [made] { return made->files.front().text; },
                .findings = std::move(findings)};
}

planner::Outcome<Answer> import_file(const Arguments& args, const planner::SearchControl&) {
  planner::Outcome<std::optional<i64>> world = args.size("world"), hosts = args.size("hosts");
  for (planner::Outcome<std::optional<i64>>* number : {&world, &hosts})
    if (!*number) return tl::unexpected(std::move(number->error()));
  planner::ImportRequest request{.from = args.text("from"),
                                 .model = args.text("model"),
                                 .cluster = args.text("cluster"),
                                 .world = *world,
                                 .device = args.text("device"),
                                 .hosts = *hosts,
                                 .collective = args.text("collective"),
                                 .files = args.reader(),
                                 .variables = args.variables()};
  for (const std::string& name : args.files) request.inputs.push_back(args.source(name));
  planner::Outcome<planner::ImportAnswer> outcome = rankwright::planner::import_file(request);
  if (!outcome) return tl::unexpected(std::move(outcome.error()));
  return std::visit([](auto& made) { return forms(std::move(made)); }, *outcome);
}

}  // namespace rankwright::python
