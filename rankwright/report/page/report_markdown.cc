#include "rankwright/report/page/report_markdown.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/export/plan_file.h"
#include "rankwright/report/explain/explain_text.h"
#include "rankwright/report/explain/plan_summary.h"
#include "rankwright/report/page/advice_sentences.h"
#include "rankwright/report/page/pictures.h"
#include "rankwright/report/page/report_sentences.h"
#include "rankwright/report/plan/plan_points.h"
#include "rankwright/report/plan/plan_sentences.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/render/markdown.h"
#include "rankwright/report/render/table.h"
#include "rankwright/report/timeline/timeline_sentences.h"

namespace rankwright::report {
namespace {

std::string write_section(std::string_view title, const std::string& text) {
  return text.empty() ? "" : fmt::format("## {}\n\n{}\n", title, text);
}

Table make_figure_table(const planner::PlanReport& report) {
  Table table{{{"figure"}, {"value", kRight}, {"note"}}};
  for (const KeyFigure& figure : list_key_figures(report))
    table.rows.push_back({std::string(figure.name), figure.text, figure.detail});
  return table;
}

/// Writes the advice: the keys to change, the gain, and the command.
std::string write_advice(const planner::PlanReport& report) {
  const AdviceCard advice = make_advice_card(report);
  std::string text = escape_markdown(advice.sentence) + "\n";
  Table changes{{{"key"}, {"now"}, {"after"}}};
  for (const planner::KeyDifference& one : report.advice.changes)
    changes.rows.push_back({std::string(one.key), one.a, one.b});
  if (!changes.rows.empty()) text += "\n" + changes.markdown();
  Table gains{{{"figure"}, {"now", kRight}, {"after", kRight}, {"difference", kRight}}};
  for (const Gain& gain : advice.gains)
    gains.rows.push_back({std::string(gain.name), gain.now, gain.after, gain.difference});
  if (!gains.rows.empty()) text += "\n" + gains.markdown();
  if (!advice.runs.empty()) text += "\n" + escape_markdown(advice.runs) + "\n";
  if (!advice.command.empty()) text += "\n" + format_markdown_code(advice.command) + "\n";
  return text;
}

Table make_point_table(const planner::PlanReport& report) {
  Table table{
      {{"plan"}, {"step", kRight}, {"difference", kRight}, {"memory", kRight}, {"because"}}};
  const PlanPoints drawn = collect_points(report);
  for (const PlanPoint& p : drawn.points) {
    const std::string what = p.change.empty() ? std::string(name(p.role)) : p.change;
    table.rows.push_back({fmt::format("{}: {}", what, brief(p.config)), show(p.time),
                          p.role == PlanPoint::Role::itself ? "-"
                          : p.fits ? format_difference(p.time, report.time())
                                   : "does not fit",
                          show_memory(p.memory), p.because});
  }
  for (const RefusedChange& one : drawn.refused)
    table.rows.push_back({one.change, "-", "not possible", "-", one.because});
  return table;
}

std::string write_alternatives(const planner::PlanReport& report) {
  if (!report.search) return escape_markdown(explain_missing_search(report)) + "\n";
  std::string text;
  for (const std::string& words : explain_choice(report)) text += escape_markdown(words) + "\n\n";
  text += make_point_table(report).markdown();
  for (const std::string& words : describe_certificate(report))
    text += "\n" + escape_markdown(words) + "\n";
  return text;
}

std::string write_pipeline(const planner::PlanReport& report) {
  std::string text = escape_markdown(describe_drawn_step(report)) + "\n";
  if (report.measured) text += "\n" + escape_markdown(describe_measurement(report)) + "\n";
  if (!report.step) return text;
  text += "\n";
  for (const Remark& remark : write_remarks(report.step->simulated, report.step->summary))
    text += fmt::format("- {}: {}\n", remark.name, escape_markdown(remark.text));
  return text;
}

std::string write_findings(const Diagnostics& findings) {
  Table table{{{"code"}, {"severity"}, {"what"}, {"help"}}};
  for (const Diagnostic& one : findings)
    table.rows.push_back(
        {std::string(one.code), std::string(name(one.severity)),
         one.detail.empty() ? one.message : fmt::format("{}: {}", one.message, one.detail),
         help(one)});
  return table.rows.empty() ? "" : table.markdown();
}

std::string write_commands(const planner::PlanReport& report) {
  std::string text;
  for (const NextCommand& next : list_next_commands(report))
    text += fmt::format(
        "- {}: {}{}\n", next.what, format_markdown_code(next.command),
        next.remark.empty() ? "" : fmt::format(" (breaks {})", escape_markdown(next.remark)));
  return text;
}

/// Writes links to the plan's pictures, one below the other.
std::string write_pictures(const Report& report, std::size_t plan, const std::string& folder) {
  std::string text;
  if (folder.empty()) return text;
  for (const std::string_view name : list_picture_names(report.plans[plan]))
    text +=
        fmt::format("![{}]({})\n\n", name,
                    format_markdown_target(folder + "/" + name_picture_file(report, plan, name)));
  return text;
}

std::string write_plan(const planner::PlanReport& report, const std::string& drawn) {
  std::string out = fmt::format("# {}\n\n{}\n\n", escape_markdown(format_headline(report.config)),
                                escape_markdown(make_plan_verdict(report).sentence));
  out += write_section("Do this", write_advice(report));
  out += "## Figures\n\n";
  out +=
      escape_markdown(fmt::format("{}", fmt::join(list_all_tags(report.config), " · "))) + "\n\n";
  out += make_figure_table(report).markdown() + "\n" +
         escape_markdown(describe_plan(report.config, report.explain_view)) + "\n\n";
  out += drawn;
  out += write_section("Alternatives", write_alternatives(report));
  out += render_explain_tables(report.config, report.explain_view) + "\n";
  out += write_section("Pipeline", write_pipeline(report));
  out += write_section("Findings", write_findings(report.findings));
  out += write_section("The plan",
                       format_markdown_block("yaml", exporter::write_plan_yaml(report.config)));
  return out + write_section("Commands", write_commands(report));
}

}  // namespace

std::string render_report_markdown(const Report& report, const std::string& pictures) {
  std::string out;
  if (report.compare) {
    const planner::PlanReport &a = report.plans[0], &b = report.plans[1];
    out += render_compare_markdown({a.name, a.config}, {b.name, b.config}, *report.compare) + "\n";
  }
  for (std::size_t k = 0; k < report.plans.size(); ++k)
    out += write_plan(report.plans[k], write_pictures(report, k, pictures));
  return out + fmt::format("Made by {}, rankwright {}.\n", format_markdown_code(report.command),
                           report.version);
}

}  // namespace rankwright::report
