#include "cli/lab/worksheet.h"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "cli/io/print_refusal.h"
#include "cli/options.h"
#include "cli/plan_input.h"
#include "rankwright/base/shell_word.h"
#include "rankwright/lab/lab.h"
#include "rankwright/lab/worksheet/judge_sheet.h"
#include "rankwright/lab/worksheet/sheet_text.h"
#include "rankwright/report/explain/findings.h"

namespace rankwright::cli {
namespace lab_worksheet_impl {
namespace {

constexpr std::string_view kCourse = "examples/course-64.yaml";  // compiled in

constexpr Verb kVerb{
    "lab worksheet",
    "Write the worksheet of a plan (axes, communication, states) with empty cells, "
    "and check a filled one.",
    "rankwright lab worksheet --blank -o sheet.md", lab_worksheet};

struct WorksheetFlags {
  std::string sheet, plan;
  bool blank = false, markdown = false, show = false;
};

/// Reads the plan: a file, or one of those that are compiled in.
planner::PlanSource read_plan(const WorksheetFlags& flags, const Io& io) {
  const std::string name = flags.plan.empty() ? std::string(kCourse) : flags.plan;
  std::error_code ignored;
  const bool exists = name == "-" || std::filesystem::exists(name, ignored);
  std::string_view embedded = lab::find_lab_file(name);
  if (embedded.empty()) embedded = lab::find_lab_file("examples/" + name);
  const bool use_embedded = !embedded.empty() && (flags.plan.empty() || !exists);
  if (use_embedded)
    return {.plan = {.name = name, .text = std::string(embedded)}, .files = importer::read_file};
  return PlanFlags{.plan = name}.source(io);
}

/// Writes the worksheet, blank or with the answers.
int write_blank(const lab::SheetPlan& plan, const WorksheetFlags& flags, const Options& options,
                const Io& io) {
  std::string command = "rankwright lab worksheet --check FILE";
  if (!flags.plan.empty() && flags.plan != "-") command += " --plan " + shell_word(flags.plan);
  return options.write(write_worksheet(plan, command, flags.show), io);
}

/// Checks a filled worksheet. An unreadable one is reported like other files.
int check(const lab::SheetPlan& plan, const std::string& plan_name, const WorksheetFlags& flags,
          const Options& options, const Io& io) {
  const Result<std::string> text = read_argument(flags.sheet, io);
  lab::GivenSheet sheet{.name = flags.sheet};
  if (text)
    sheet = lab::read_worksheet(*text, flags.sheet, lab::list_sheet_rows(plan.view));
  else
    sheet.findings.push_back(text.error());
  sort(sheet.findings);
  if (has_errors(sheet.findings)) {
    const int failed = options.write(
        options.json() ? report::make_findings_json(sheet.findings, sheet.name)
                       : report::render_findings_text(sheet.findings, sheet.name, sheet.text,
                                                      options.paint(io), io.prose()),
        io);
    return failed != kOk ? failed : kUnreadable;
  }
  if (!options.quiet()) print_findings(sheet.findings, sheet.name, sheet.text, io);
  const std::vector<lab::CellVerdict> verdicts = judge_worksheet(plan, sheet);
  const int failed = options.write(
      options.json()   ? make_sheet_json(verdicts, flags.show, plan_name)
      : flags.markdown ? render_sheet_markdown(verdicts, flags.show)
                       : render_sheet_text(verdicts, flags.show, options.paint(io), io.prose()),
      io);
  if (failed != kOk) return failed;
  const bool all = count_outcomes(verdicts, lab::CellOutcome::right) == i64(verdicts.size());
  return all ? kOk : kRefused;
}

}  // namespace
}  // namespace lab_worksheet_impl

int lab_worksheet(Args args, const Io& io) {
  Options options(lab_worksheet_impl::kVerb);
  lab_worksheet_impl::WorksheetFlags flags;
  options.add_switch("--blank", flags.blank, "write the worksheet with empty cells, as Markdown");
  options.add("--check", flags.sheet, "check the filled worksheet in this file, or -");
  options
      .add("--plan", flags.plan,
           "plan that it is about: a file, or one of the labs'; default: examples/course-64.yaml")
      .type_name("PLAN");
  options.add_switch("--show", flags.show,
                     "with --check: show the answers of cells that are not right; with --blank: "
                     "fill in all answers");
  options.add_switch("--markdown", flags.markdown,
                     "write Markdown: the tables with a verdict per cell");
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  if (flags.blank == !flags.sheet.empty())
    return print_usage_fault(
        "lab worksheet",
        flags.blank ? "--blank and --check cannot be combined" : "missing --blank or --check",
        flags.blank ? "use one of them" : std::string(lab_worksheet_impl::kVerb.example), io);
  if (flags.blank && options.json())
    return print_usage_fault("lab worksheet", "--blank writes Markdown only", "leave out --json",
                             io);
  if (flags.sheet == "-" && flags.plan == "-")
    return print_usage_fault("lab worksheet", "--check and --plan cannot both be standard input",
                             "pass one of them as a file", io);
  if (flags.blank || flags.markdown) options.keep_lines();

  const planner::Outcome<planner::ValidPlan> plan =
      read_valid_plan(lab_worksheet_impl::read_plan(flags, io));
  if (!plan) return print_refusal("lab worksheet", plan.error(), io);
  const lab::SheetPlan sheet_plan = lab::make_sheet_plan(plan->config());
  return flags.blank ? write_blank(sheet_plan, flags, options, io)
                     : check(sheet_plan, plan->name(), flags, options, io);
}

}  // namespace rankwright::cli
