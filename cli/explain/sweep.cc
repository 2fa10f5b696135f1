#include "cli/explain/sweep.h"

#include "cli/io/print_refusal.h"
#include "rankwright/planner/explain/sweep_view.h"
#include "rankwright/report/sweep/sweep_svg.h"
#include "rankwright/report/sweep/sweep_text.h"

namespace rankwright::cli {

void SweepFlags::add_to(Options& options) {
  options
      .add(
          "--sweep", sweep,
          "estimate the plan per value: microbatches=1..64, tp=1,2,4; also pp, dp, cp, ep, chunks, "
          "zero, micro_batch, recompute, sequence")
      .type_name("KEY=RANGE");
}

int show_sweep(const PlanFlags& plan, const SweepFlags& flags, const std::string& svg,
               bool markdown, const Options& options, const Io& io) {
  const planner::Outcome<planner::SweepAnswer> answer =
      planner::explain_sweep(plan.source(io), flags.sweep);
  if (!answer) return print_refusal("explain", answer.error(), io);
  if (!svg.empty())
    if (const int failed = options.save(report::draw_sweep_svg(*answer), svg, io)) return failed;
  const auto render = [&] {
    if (options.json()) return report::make_sweep_json(*answer);
    if (markdown) return report::render_sweep_markdown(*answer);
    return report::render_sweep_text(*answer, options.paint(io), io.prose());
  };
  if (const int failed = options.write(render(), io)) return failed;
  return print_finding_counts(answer->plan, options.quiet(), io);
}

}  // namespace rankwright::cli
