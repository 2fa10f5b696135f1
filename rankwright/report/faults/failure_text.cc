#include "rankwright/report/faults/failure_text.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/cost/faults/straggler.h"
#include "rankwright/report/faults/straggler_text.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace {

constexpr std::size_t kBar = 40;

Table make_halt_table(const plan::TrainingConfig& config, const cost::Failure& failure) {
  const plan::Plan& plan = config.plan;
  Table table{{{"ranks that stop"}, {"ranks", Table::Align::right}, {"at"}}};
  const auto add = [&](std::string who, i64 ranks, std::string at) {
    if (ranks > 0) table.rows.push_back({std::move(who), count(ranks), std::move(at)});
  };
  const i64 stage = plan.tp * plan.cp;
  add("its TP peers", plan.tp - 1, "the next collective of the same layer");
  add("its CP peers", stage - plan.tp, "the next exchange of keys and values");
  add("other PP ranks of its replica", (plan.pp - 1) * stage,
      "the next missing activation or gradient");
  const i64 others = (plan.dp - 1) * plan.pp * stage;
  switch (cost::find_replica_sync(plan)) {
    case cost::ReplicaSync::gathers:
      add("other replicas", others, "the next ZeRO-3 gather, within one layer");
      break;
    case cost::ReplicaSync::experts:
      add("other replicas", others, "the next all-to-all of shared experts");
      break;
    default:
      add("other replicas", others,
          fmt::format("the gradient reduction, within one step ({})", show(failure.step)));
  }
  return table;
}

/// Says which of the rank's states other ranks also hold.
std::string describe_survivors(const cost::Failure& failure) {
  const auto held = [](i64 copies) {
    return copies == 1 ? std::string("are on no other rank")
                       : "are replicated on " + plural(copies - 1, "other rank", "other ranks");
  };
  return fmt::format(
      "{} of parameters {}; {} of optimizer states {}. {}", show_memory(failure.parameters),
      held(failure.copies.parameters), show_memory(failure.optimizer),
      held(failure.copies.optimizer),
      failure.copies.optimizer == 1
          ? "Only the last checkpoint has them: all ranks restart from it."
          : "A peer could send them, but frameworks restart from the last checkpoint anyway.");
}

std::string format_gpu_hours(Seconds time, const plan::TrainingConfig& config) {
  return about(time.value / 3600 * double(config.world));
}

Table make_figure_table(const plan::TrainingConfig& config, const cost::Failure& failure,
                        const planner::FailureSources& from) {
  const cost::FailureModel& model = failure.task.model;
  Table table{{{"figure"}, {"value", Table::Align::right}, {"from"}}};
  table.rows.push_back({fmt::format("time between failures of {} GPUs", count(config.world)),
                        show(model.between), from.between});
  table.rows.push_back({"restart", show(model.restart), from.restart});
  table.rows.push_back({"time per checkpoint", show(model.checkpoint), from.checkpoint});
  table.rows.push_back({"checkpoint interval", show(failure.uptime.interval),
                        failure.steps == 0 ? "as given"
                                           : fmt::format("{}, the optimum (Z11)",
                                                         plural(failure.steps, "step", "steps"))});
  return table;
}

Table make_share_table(const cost::Uptime& uptime) {
  Table table{{{"share of time"}, {"share", Table::Align::right}, {""}}};
  const auto add = [&](std::string what, double share) {
    table.rows.push_back({std::move(what), percent(share), bar(share, 1, kBar)});
  };
  add("useful work", uptime.useful);
  add("checkpoints", uptime.checkpoints);
  add("lost work", uptime.lost);
  add("restarts", uptime.restarts);
  return table;
}

}  // namespace

std::string render_failure_text(const plan::TrainingConfig& config, i64 rank,
                                const cost::Failure& failure, const planner::FailureSources& from,
                                const Paint& paint, std::size_t width) {
  const cost::Uptime& up = failure.uptime;
  const cost::FailureModel& model = failure.task.model;
  std::string out = wrap_text(fmt::format("Rank {} fails, and all {} stop: each waits for it, "
                                          "directly or indirectly, within one step.",
                                          rank, plural(config.world, "rank", "ranks")),
                              width, "");
  if (const Table table = make_halt_table(config, failure); !table.rows.empty())
    out += "\n" + table.text(paint, "  ", width);
  out += "\n" + wrap_text(fmt::format("The launcher notices a process that exits at once. A hang "
                                      "is noticed when a collective has waited {} ({}).",
                                      show(failure.task.hang), from.hang),
                          width, "");
  out += wrap_text(describe_survivors(failure), width, "") + "\n";
  out += make_figure_table(config, failure, from).text(paint, "  ", width) + "\n";
  out += wrap_text(fmt::format("One failure costs {} of lost work on average and a restart of {}, "
                               "on all GPUs: {} GPU-hours.",
                               show(up.lost_each), show(model.restart),
                               format_gpu_hours(up.lost_each + model.restart, config)),
                   width, "") +
         "\n";
  out += make_share_table(up).text(paint, "  ", width) + "\n";
  out += wrap_text(fmt::format("If every failure were a hang, useful work would be {}.",
                               percent(failure.when_hung.useful)),
                   width, "");
  if (model.checkpoint > Seconds{})
    out += wrap_text(
        fmt::format("With storage {:.0f} times slower, {} per checkpoint, it would be {}.",
                    cost::kSlowStorage, show(cost::kSlowStorage * model.checkpoint),
                    percent(failure.with_slow_storage.useful)),
        width, "");
  for (const std::string& cite : from.cites) out += wrap_text("source: " + cite, width, "");
  return out;
}

}  // namespace rankwright::report
