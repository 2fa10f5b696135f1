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

NamedPlan named(const ValidPlan& plan) { return {plan.name(), plan.config()}; }

Outcome<Answer> compare_two(const PlanSource& a, const SourceFile& other) {
  CompareRequest request{.a = a, .b = a};
  request.b.plan = other;
  using A = CompareAnswer;
  return make_answer(
      compare_plans(request),
      [](const A& answer) { return compare_json(named(answer.a), named(answer.b), answer.view); },
      [](const A& answer) {
        return compare_text(named(answer.a), named(answer.b), answer.view, {}, kTextWidth);
      });
}

Outcome<Answer> compare_log(const PlanSource& plan, const std::string& log) {
  using A = CompareLogAnswer;
  return make_answer(
      compare_with_log({plan, read_log_source(log)}),
      [](const A& a) { return gap_json(a.plan.config(), a.view); },
      [](const A& a) { return gap_text(a.plan.config(), a.view, {}, kTextWidth); });
}

/// A file of that name where there is one, else a list.
HostNames host_names(const Arguments& args) {
  const std::string hosts = args.text("hosts");
  if (!hosts.empty() && args.names_file(hosts)) return {.file = args.source(hosts)};
  return {.list = hosts};
}

Answer forms(ImportedPlan plan) {
  const auto made = std::make_shared<const ImportedPlan>(std::move(plan));
  return {.json = [made] { return imported_plan_json(*made); },
          .text = [made] { return imported_plan_text(*made); }};
}

Answer forms(ImportedCluster cluster) {
  const auto made = std::make_shared<const ImportedCluster>(std::move(cluster));
  return {.text = [made] { return cluster_yaml(made->cluster, made->origins); },
          .findings = made->findings};
}

Answer forms(ImportedModel model) {
  const auto made = std::make_shared<const ImportedModel>(std::move(model));
  return {.text = [made] { return model_yaml(made->model, made->origins); },
          .findings = made->findings};
}

}  // namespace

Outcome<Answer> check(const Arguments& args, const SearchControl&) {
  Outcome<Target> target = read_target(args.text("for"));
  if (!target) return tl::unexpected(std::move(target.error()));
  Outcome<PlanSource> plan = args.plan();
  if (!plan) return tl::unexpected(std::move(plan.error()));
  Outcome<CheckAnswer> outcome = check_plan({.plan = std::move(*plan), .target = *target});
  if (!outcome) return tl::unexpected(std::move(outcome.error()));
  const auto made = std::make_shared<const CheckAnswer>(std::move(*outcome));
  const int code = has_errors(made->findings) ? 2 : 0;
  return Answer{.json = [made] { return findings_json(made->findings, made->file.name); },
                .text = [made] { return check_text(*made, {}); },
                .code = made->readable ? code : 1};
}

Outcome<Answer> compare(const Arguments& args, const SearchControl&) {
  const bool two = args.files.size() > 1;
  if (two == args.has("log")) return tl::unexpected(refuse_sides());
  Outcome<PlanSource> plan = args.plan();
  if (!plan) return tl::unexpected(std::move(plan.error()));
  return two ? compare_two(*plan, args.source(args.files[1]))
             : compare_log(*plan, args.text("log"));
}

Outcome<Answer> report(const Arguments& args, const SearchControl& control) {
  Outcome<Target> target = read_target(args.text("for"));
  if (!target) return tl::unexpected(std::move(target.error()));
  Outcome<PlanSource> plan = args.plan();
  if (!plan) return tl::unexpected(std::move(plan.error()));
  ReportRequest request{.plan = std::move(*plan), .target = *target};
  if (args.has("measured")) request.measured = read_trace_source(args.text("measured"));
  request.search = !args.has("no-search");
  Outcome<PlanReport> outcome = report_plan(request, control);
  if (!outcome) return tl::unexpected(std::move(outcome.error()));
  std::vector<std::string> words = args.words();
  words.push_back("--json");  // the command that prints what .data holds
  Report whole{.version = RANKWRIGHT_VERSION, .command = command_line(args.verb, words)};
  whole.plans.push_back(std::move(*outcome));
  const auto made = std::make_shared<const Report>(std::move(whole));
  Answer answer{.json = [made] { return report_json(*made); },
                .markdown = [made] { return report_markdown(*made); }};
  if (!kReportPage.empty())
    answer.html = [made] { return page_with(kReportPage, report_json(*made)); };
  return answer;
}

Outcome<Answer> export_plan(const Arguments& args, const SearchControl&) {
  Outcome<PlanSource> plan = args.plan();
  if (!plan) return tl::unexpected(std::move(plan.error()));
  Outcome<ExportAnswer> outcome = rankwright::export_plan({.plan = std::move(*plan),
                                                           .target = args.text("to"),
                                                           .hosts = host_names(args),
                                                           .strict = args.has("strict")});
  if (!outcome) return tl::unexpected(std::move(outcome.error()));
  const auto made = std::make_shared<const ExportAnswer>(std::move(*outcome));
  Diagnostics findings = made->memory;
  findings.insert(findings.end(), made->findings.begin(), made->findings.end());
  return Answer{.json = [made] { return export_json(*made); },
                .text = [made] { return made->files.front().text; },
                .findings = std::move(findings)};
}

Outcome<Answer> import_file(const Arguments& args, const SearchControl&) {
  Outcome<std::optional<i64>> world = args.size("world"), hosts = args.size("hosts");
  for (Outcome<std::optional<i64>>* number : {&world, &hosts})
    if (!*number) return tl::unexpected(std::move(number->error()));
  ImportRequest request{.from = args.text("from"),
                        .model = args.text("model"),
                        .cluster = args.text("cluster"),
                        .world = *world,
                        .device = args.text("device"),
                        .hosts = *hosts,
                        .collective = args.text("collective"),
                        .files = args.reader()};
  for (const std::string& name : args.files) request.inputs.push_back(args.source(name));
  Outcome<ImportAnswer> outcome = rankwright::import_file(request);
  if (!outcome) return tl::unexpected(std::move(outcome.error()));
  return std::visit([](auto& made) { return forms(std::move(made)); }, *outcome);
}

}  // namespace rankwright::python
