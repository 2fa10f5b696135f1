// `rankwright check`: everything that is wrong with a plan, at once.
#include <fmt/format.h>

#include <ostream>

#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"
#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"
#include "rankwright/report/findings.h"
#include "rankwright/report/words.h"
#include "rankwright/rules/rule.h"

namespace rankwright::cli {
namespace {

/// "64 = 8 x 4 x 2": the first thing that one checks by hand.
std::string summary(const Setup& s) {
  const Plan& p = s.plan;
  std::string product = fmt::format("{} = tp {}", s.world, p.tp);
  if (p.cp > 1) product += fmt::format(" x cp {}", p.cp);
  product += fmt::format(" x pp {} x dp {}", p.pp, p.dp);
  return fmt::format("{}\n{}\n\n", product, chips(s));
}

std::string target_names() {
  std::string text;
  for (const TargetRow& row : targets()) text += (text.empty() ? "" : ", ") + std::string(row.name);
  return text;
}

int unknown_target(const std::string& word, const Io& io) {
  std::vector<std::string> names;
  for (const TargetRow& row : targets()) names.emplace_back(row.name);
  const std::optional<std::string> near = nearest(word, names);
  io.err << fmt::format("rankwright check: there is no target '{}'\n  help: {}\n", excerpt(word),
                        near ? fmt::format("did you mean {}?", *near)
                             : fmt::format("--for takes {}", target_names()));
  return kUsage;
}

}  // namespace

int check(Args args, const Io& io) {
  Options options(verb("check"));
  PlanFlags flags;
  std::string target_name;
  bool sarif = false;
  options.app().add_option("plan", flags.plan, "a plan file, or - for standard input")->required();
  options.app().add_option("--for", target_name,
                           fmt::format("also the rules of this framework: {}", target_names()));
  options.app().add_flag("--sarif", sarif, "write SARIF 2.1.0");
  flags.add_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;

  const TargetRow* const target = find_target(target_name);
  if (target == nullptr && !target_name.empty()) return unknown_target(target_name, io);
  const PlanInput input = read_input(flags, io);
  const Diagnostics findings =
      all_findings(input, target == nullptr ? Target::any : target->target);

  std::string text;
  if (options.json()) {
    text = findings_json(findings, input.file.name);
  } else if (sarif) {
    text = findings_sarif(findings, RANKWRIGHT_VERSION);
  } else {
    const Paint paint = options.paint(io);
    if (input.setup && !has_errors(findings) && !options.quiet()) text = summary(*input.setup);
    text += findings.empty() ? "nothing found\n"
                             : findings_text(findings, input.file.name, input.file.text, paint);
  }
  if (const int failed = options.write(text, io)) return failed;
  if (!input.setup) return kUnreadable;
  return has_errors(findings) ? kRefused : kOk;
}

}  // namespace rankwright::cli
