// `rankwright explain`: what a plan, a diagnostic code or a plan key means.
#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "cli/call.h"
#include "cli/faults.h"
#include "cli/options.h"
#include "cli/plan_input.h"
#include "cli/timeline.h"
#include "cli/verb.h"
#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/import/plan_keys.h"
#include "rankwright/report/explain_json.h"
#include "rankwright/report/explain_text.h"
#include "rankwright/report/findings.h"
#include "rankwright/report/pages.h"
#include "rankwright/report/rank_view.h"
#include "rankwright/report/sensitivity_view.h"
#include "rankwright/report/stages_view.h"
#include "rankwright/rules/rule.h"

namespace rankwright::cli {
namespace {

struct ExplainFlags {
  PlanFlags plan;
  TimelineFlags timeline{};
  FaultFlags faults{};
  std::optional<i64> rank{};
  bool stages = false;
  bool sensitivity = false;
  std::string against{};  // another plan file
  bool markdown = false;
};

/// "zero_stage", "plan.zero_stage" and "parallelism.zero_stage" are the same key.
const PlanKey* find_key(std::string_view name) {
  if (name.starts_with("plan.")) name.remove_prefix(5);
  for (const KeyRow& row : key_rows()) {
    const std::string_view path = row.key.path;
    if (path == name || path.substr(path.rfind('.') + 1) == name ||
        path.substr(path.find('.') + 1) == name)
      return &row.key;
  }
  return nullptr;
}

/// Codes are known in either case.
std::string upper(std::string word) {
  for (char& c : word)
    if (c >= 'a' && c <= 'z') c = char(c - 'a' + 'A');
  return word;
}

/// The plan's constants against those of another plan, or alone.
int show_sensitivity(const Setup& setup, const ExplainFlags& flags, const Options& options,
                     const Io& io) {
  const Paint paint = options.paint(io);
  if (flags.against.empty()) {
    const SensitivityView view = sensitivity_view(setup);
    return options.write(options.json() ? sensitivity_json(setup, view)
                                        : sensitivity_text(setup, view, paint, io.prose()),
                         io);
  }
  PlanFlags other = flags.plan;
  other.plan = flags.against;
  const PlanInput input = read_input(other, io);
  if (!input.setup || !misfits(*input.setup).empty()) {
    tell(all_findings(input, Target::any), input.file.name, input.file.text, io);
    return input.setup ? kRefused : kUnreadable;
  }
  const Comparison comparison = compare(setup, *input.setup, calibration(setup));
  const RivalPlan first{flags.plan.plan, setup}, second{flags.against, *input.setup};
  return options.write(options.json()
                           ? comparison_json(first, second, comparison)
                           : comparison_text(first, second, comparison, paint, io.prose()),
                       io);
}

/// Writes what was asked for. The setup has no misfits.
int show_plan(const Setup& setup, const ExplainFlags& flags, const Options& options, const Io& io) {
  const Paint paint = options.paint(io);
  if (flags.timeline.wanted())
    return show_timeline(setup, flags.timeline, flags.markdown, options, io);
  if (flags.faults.wanted()) return show_faults(setup, flags.faults, flags.markdown, options, io);
  if (flags.sensitivity) return show_sensitivity(setup, flags, options, io);
  if (flags.stages) {
    const StagesView view = stages_view(setup);
    return options.write(
        options.json() ? stages_json(setup, view) : stages_text(setup, view, paint, io.prose()),
        io);
  }
  if (flags.rank) {
    const RankView view = rank_view(setup, *flags.rank);
    return options.write(
        options.json() ? rank_json(setup, view) : rank_text(setup, view, paint, io.prose()), io);
  }
  const Worksheet sheet = worksheet(setup);
  return options.write(options.json()   ? explain_json(setup, sheet)
                       : flags.markdown ? explain_markdown(setup, sheet)
                                        : explain_text(setup, sheet, paint, io.prose()),
                       io);
}

int explain_plan(const ExplainFlags& flags, const Options& options, const Io& io) {
  const int views = int(flags.rank.has_value()) + int(flags.stages) + int(flags.timeline.wanted()) +
                    int(flags.faults.wanted()) + int(flags.sensitivity);
  if (views > 1) {
    io.err << "rankwright explain: --rank, --stages, --timeline, --sensitivity and --slow, "
              "--slow-link, --fail are views of a plan\n  help: one of them at a time\n";
    return kUsage;
  }
  if (!flags.against.empty() && !flags.sensitivity) {
    io.err << "rankwright explain: --against belongs to --sensitivity\n"
              "  help: --sensitivity --against OTHER_PLAN\n";
    return kUsage;
  }
  const PlanInput input = read_input(flags.plan, io);
  const Diagnostics findings = all_findings(input, Target::any);
  // A plan that cannot be has no groups to explain; one that does not fit still has.
  const bool sound = input.setup && misfits(*input.setup).empty();
  if (!sound) {
    tell(findings, input.file.name, input.file.text, io);
    return input.setup ? kRefused : kUnreadable;
  }
  const Setup& setup = *input.setup;
  if (flags.rank && (*flags.rank < 0 || *flags.rank >= setup.world)) {
    io.err << fmt::format(
        "rankwright explain: there is no rank {}: the plan has ranks 0 to {}\n"
        "  help: --rank {}\n",
        *flags.rank, setup.world - 1, setup.world - 1);
    return kUsage;
  }
  if (const int failed = show_plan(setup, flags, options, io)) return failed;
  if (!findings.empty() && !options.quiet())
    io.err << fmt::format("{} · rankwright check {}\n", tally(findings), input.file.name);
  return has_errors(findings) ? kRefused : kOk;
}

int unknown(const std::string& word, const Io& io) {
  std::vector<std::string> known;
  for (const Page* page : pages()) known.emplace_back(page->code);
  for (const KeyRow& row : key_rows())
    known.emplace_back(row.key.path.substr(row.key.path.rfind('.') + 1));
  io.err << fmt::format("rankwright explain: '{}' is no file, no code and no plan key\n",
                        excerpt(word, 60));
  const std::optional<std::string> near = nearest(word, known);
  io.err << (near ? fmt::format("  help: did you mean {}?\n", *near)
                  : "  help: rankwright catalog codes lists the codes, rankwright catalog keys the "
                    "keys\n");
  return kUnreadable;
}

}  // namespace

int explain(Args args, const Io& io) {
  Options options(verb("explain"));
  ExplainFlags flags;
  options
      .add("what", flags.plan.plan,
           "a plan file or -, a schedule (.csv), a code (RW0301), or a key (zero_stage)")
      .required();
  options.add("--rank", flags.rank, "everything about one rank");
  options.add_switch("--stages", flags.stages,
                     "layers by pp rank, how even they are, and the most even split");
  options.add_switch("--sensitivity", flags.sensitivity,
                     "which constants of the cost model the figures hang on");
  options.add("--against", flags.against,
              "with --sensitivity: which would change which of two plans is faster");
  flags.timeline.add_to(options);
  flags.faults.add_to(options);
  options.add_switch("--markdown", flags.markdown, "write Markdown");
  flags.plan.add_to(options);
  flags.plan.add_calibration_to(options);
  if (const std::optional<int> done = options.parse(args, io)) return *done;

  const std::string& what = flags.plan.plan;
  std::error_code error;
  if (what.ends_with(".csv") && std::filesystem::exists(what, error)) {
    if (flags.rank || flags.stages || flags.faults.wanted() || flags.sensitivity ||
        (!flags.plan.model.empty() || !flags.plan.cluster.empty() || flags.plan.world ||
         !flags.plan.calibrate.empty()))
      return options.about_a_plan(
          "--rank, --stages, --sensitivity, --slow, --fail, --model and --cluster", io);
    return show_schedule(what, flags.timeline, flags.markdown, options, io);
  }
  const bool given = io.call != nullptr && io.call->texts.contains(what);
  if (what == "-" || given || std::filesystem::exists(what, error))
    return explain_plan(flags, options, io);
  if (const Page* page = find_page(upper(what)))
    return options.write(
        options.json() ? page_json(*page) : page_text(*page, options.paint(io), io.prose()), io);
  if (const PlanKey* key = find_key(what))
    return options.write(
        options.json() ? key_json(*key) : key_text(*key, options.paint(io), io.prose()), io);
  return unknown(what, io);
}

}  // namespace rankwright::cli
