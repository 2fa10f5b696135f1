#include "cli/explain/faults.h"

#include "cli/io/print_refusal.h"
#include "rankwright/report/faults/faults_json.h"
#include "rankwright/report/faults/faults_text.h"
#include "rankwright/report/render/labels.h"

namespace rankwright::cli {

void FaultFlags::add_to(Options& options) {
  options.add("--slow", slow, "slow rank and its factor: 17:1.3x")
      .type_name("RANK:FACTOR")
      .one_value_each();
  options
      .add("--slow-link", slow_link,
           "slow level and its bandwidth: infiniband:0.5x, :50% or :25GB/s; one bad NIC costs as "
           "much, because its collective runs at its speed")
      .type_name("LEVEL:FACTOR")
      .one_value_each();
  options.add("--fail", fail, "rank that fails: show which ranks stop and the cost");
  options
      .add("--failures", failures,
           "published failure rate: llama-3, rsc-1, rsc-2, ft-hsdp or bloom")
      .type_name("NAME");
  options.add("--mtbf", mtbf, "mean time between failures of the job").type_name("TIME");
  options.add("--checkpoint-time", checkpoint_time, "time to write a checkpoint").type_name("TIME");
  options
      .add("--checkpoint-interval", checkpoint_interval,
           "time between checkpoints; default: the optimum")
      .type_name("TIME");
  options.add("--restart-time", restart_time, "time from a failure until training resumes")
      .type_name("TIME");
}

int show_faults(const PlanFlags& plan, const FaultFlags& flags, bool markdown,
                const Options& options, const Io& io) {
  const planner::Outcome<planner::FaultsAnswer> answer =
      planner::explain_faults({.plan = plan.source(io), .faults = flags});
  if (!answer) return print_refusal("explain", answer.error(), io);
  const plan::TrainingConfig& config = answer->plan.config();
  const report::Paint paint = markdown ? report::Paint{} : options.paint(io);
  const auto text = [&] {
    const std::string faults = render_faults_text(*answer, paint, io.prose());
    return markdown ? "# " + report::format_headline(config) + "\n\n```text\n" + faults + "```\n"
                    : paint.bold(report::format_headline(config)) + "\n\n" + faults;
  };
  if (const int failed = options.write(
          options.json() ? report::make_faults_json(config, answer->faults) : text(), io))
    return failed;
  return print_finding_counts(answer->plan, options.quiet(), io);
}

}  // namespace rankwright::cli
