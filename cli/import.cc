// `rankwright import`: somebody else's file as a plan file of ours.
#include <fmt/format.h>

#include <ostream>

#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/verb.h"
#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"
#include "rankwright/export/plan_file.h"
#include "rankwright/import/plan_format.h"
#include "rankwright/report/findings.h"
#include "rankwright/report/waterfall.h"
#include "rankwright/report/words.h"

namespace rankwright::cli {
namespace {

std::string list() {
  std::string text;
  for (const PlanFormat& format : plan_formats())
    text += fmt::format("{:<16}{:<52}{}\n", format.name, format.summary,
                        format.target == Target::any ? "" : row(format.target).checked);
  return text;
}

int unknown_format(const std::string& word, const Io& io) {
  std::vector<std::string> names;
  for (const PlanFormat& format : plan_formats()) names.emplace_back(format.name);
  const std::optional<std::string> near = nearest(word, names);
  io.err << fmt::format(
      "rankwright import: there is no format '{}'\n  help: {}\n", excerpt(word),
      near ? fmt::format("did you mean {}?", *near) : "rankwright import --list shows them");
  return kUsage;
}

/// The plan file, with what was assumed beside each key.
std::string plan_text(const PlanInput& input) {
  PlanComments comments;
  comments.head = {fmt::format("From {} ({}).", input.file.name, input.file.format->summary),
                   headline(*input.setup), chips(*input.setup)};
  for (const Assumption& assumed : input.setup->assumed)
    comments.beside.push_back(
        {assumed.key, assumed.why.empty() ? "assumed" : "assumed: " + assumed.why});
  return plan_yaml(*input.setup, comments);
}

void tell_passed_over(const PlanFile& file, const Io& io) {
  constexpr std::size_t kShown = 12;
  if (file.passed_over.empty()) return;
  io.err << fmt::format("passed over, as no matter of layout: {}",
                        plural(i64(file.passed_over.size()), "key", "keys"));
  for (std::size_t i = 0; i < std::min(kShown, file.passed_over.size()); ++i)
    io.err << (i == 0 ? ": " : ", ") << file.passed_over[i];
  io.err << (file.passed_over.size() > kShown ? ", ...\n" : "\n");
}

}  // namespace

int import_plan(Args args, const Io& io) {
  Options options(verb("import"));
  PlanFlags flags;
  std::string from;
  bool listed = false;
  options.app().add_option("file", flags.plan, "a framework's config, script or log, or -");
  options.app().add_option("--from", from, "its format, where its name and text do not say");
  options.app().add_flag("--list", listed, "list what is read");
  flags.add_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;
  if (listed) return options.write(list(), io);
  if (flags.plan.empty()) {
    io.err << "rankwright import: there is no file\n  help: " << verb("import").example << "\n";
    return kUsage;
  }
  if (!from.empty() && find_plan_format(from) == nullptr) return unknown_format(from, io);
  flags.format = find_plan_format(from);

  const PlanInput input = read_input(flags, io);
  const Diagnostics findings = all_findings(input, Target::any);
  if (!input.setup) {
    io.err << findings_text(findings, input.file.name, input.file.text, {});
    return kUnreadable;
  }
  if (const int failed = options.write(plan_text(input), io)) return failed;
  if (options.quiet()) return kOk;
  tell_passed_over(input.file, io);
  if (!findings.empty())
    io.err << fmt::format("{} · rankwright check {}\n", tally(findings), input.file.name);
  return kOk;
}

}  // namespace rankwright::cli
