// `rankwright compare`: two plans side by side, and what explains the difference.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"
#include "rankwright/report/compare_json.h"
#include "rankwright/report/compare_text.h"
#include "rankwright/report/findings.h"

namespace rankwright::cli {
namespace {

/// A plan that was read, and what was found in it.
struct Read {
  PlanInput input;
  Diagnostics findings;

  bool sound() const { return input.setup && misfits(*input.setup).empty(); }
  NamedPlan named() const { return {input.file.name, *input.setup}; }
};

Read read(PlanFlags flags, const std::string& file, const Io& io) {
  flags.plan = file;
  Read plan{.input = read_input(flags, io), .findings = {}};
  plan.findings = all_findings(plan.input, Target::any);
  return plan;
}

}  // namespace

int compare(Args args, const Io& io) {
  Options options(verb("compare"));
  PlanFlags flags;
  std::string first, second;
  bool markdown = false;
  options.app().add_option("a", first, "a plan file or -")->required();
  options.app().add_option("b", second, "another, which is compared with it")->required();
  options.app().add_flag("--markdown", markdown, "write Markdown");
  flags.add_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  if (first == "-" && second == "-") {
    io.err << "rankwright compare: standard input is one plan, not both\n"
              "  help: a file for one of the two\n";
    return kUsage;
  }

  const Read a = read(flags, first, io), b = read(flags, second, io);
  int failed = kOk;
  for (const Read* plan : {&a, &b}) {
    if (plan->sound()) continue;
    io.err << findings_text(plan->findings, plan->input.file.name, plan->input.file.text, {});
    const int code = plan->input.setup ? kRefused : kUnreadable;
    failed = failed == kOk ? code : std::min(failed, code);
  }
  if (failed != kOk) return failed;

  const CompareView view = compare_view(*a.input.setup, *b.input.setup);
  const std::string text =
      options.json() ? compare_json(a.named(), b.named(), view)
      : markdown     ? compare_markdown(a.named(), b.named(), view)
                     : compare_text(a.named(), b.named(), view, options.paint(io), io.prose());
  if (const int unwritten = options.write(text, io)) return unwritten;
  for (const Read* plan : {&a, &b})
    if (!plan->findings.empty() && !options.quiet())
      io.err << fmt::format("{} · rankwright check {}\n", tally(plan->findings),
                            plan->input.file.name);
  return has_errors(a.findings) || has_errors(b.findings) ? kRefused : kOk;
}

}  // namespace rankwright::cli
