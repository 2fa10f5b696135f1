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
  Table table{{{"who halts"}, {"ranks", Table::Align::right}, {"at"}}};
  const auto add = [&](std::string who, i64 ranks, std::string at) {
    if (ranks > 0) table.rows.push_back({std::move(who), count(ranks), std::move(at)});
  };
  const i64 stage = plan.tp * plan.cp;
  add("its tp peers", plan.tp - 1, "the next collective of the layer that it died in");
  add("its cp peers", stage - plan.tp, "the next exchange of keys and values");
  add("other pp ranks of its replica", (plan.pp - 1) * stage,
      "the next activation or gradient that does not come");
  const i64 others = (plan.dp - 1) * plan.pp * stage;
  switch (cost::find_replica_sync(plan)) {
    case cost::ReplicaSync::gathers:
      add("other replicas", others, "the next gather of ZeRO-3, within a layer");
      break;
    case cost::ReplicaSync::experts:
      add("other replicas", others, "the next all-to-all of experts that they share");
      break;
    default:
      add("other replicas", others,
          fmt::format("the gradient reduction, within a step of {}", show(failure.step)));
  }
  return table;
}

/// Says which of the rank's states other ranks also hold.
std::string describe_survivors(const cost::Failure& failure) {
  const auto held = [](i64 copies) {
    return copies == 1 ? std::string("nobody else holds")
                       : plural(copies - 1, "other rank holds too", "other ranks hold too");
  };
  return fmt::format(
      "Of its states {} of parameters {}, and {} of optimizer states {}. {}",
      show_memory(failure.parameters), held(failure.copies.parameters),
      show_memory(failure.optimizer), held(failure.copies.optimizer),
      failure.copies.optimizer == 1
          ? "They are only in the last checkpoint: all ranks go back to it."
          : "A peer could hand them on; frameworks go back to the last checkpoint all the same.");
}

std::string format_gpu_hours(Seconds time, const plan::TrainingConfig& config) {
  return about(time.value / 3600 * double(config.world));
}

Table make_figure_table(const plan::TrainingConfig& config, const cost::Failure& failure,
                        const planner::FailureSources& from) {
  const cost::FailureModel& model = failure.task.model;
  Table table{{{"figure"}, {"value", Table::Align::right}, {"from"}}};
  table.rows.push_back({fmt::format("between failures of {} GPUs", count(config.world)),
                        show(model.between), from.between});
  table.rows.push_back({"restart", show(model.restart), from.restart});
  table.rows.push_back({"one checkpoint", show(model.checkpoint), from.checkpoint});
  table.rows.push_back({"between checkpoints", show(failure.uptime.interval),
                        failure.steps == 0 ? "as stated"
                                           : fmt::format("{}: the best there is (Z11)",
                                                         plural(failure.steps, "step", "steps"))});
  return table;
}

Table make_share_table(const cost::Uptime& uptime) {
  Table table{{{"of the time"}, {"share", Table::Align::right}, {""}}};
  const auto add = [&](std::string what, double share) {
    table.rows.push_back({std::move(what), percent(share), bar(share, 1, kBar)});
  };
  add("useful work", uptime.useful);
  add("checkpoints", uptime.checkpoints);
  add("work done again", uptime.lost);
  add("restarts", uptime.restarts);
  return table;
}

}  // namespace

std::string render_failure_text(const plan::TrainingConfig& config, i64 rank,
                                const cost::Failure& failure, const planner::FailureSources& from,
                                const Paint& paint, std::size_t width) {
  const cost::Uptime& up = failure.uptime;
  const cost::FailureModel& model = failure.task.model;
  std::string out = wrap_text(
      fmt::format("Rank {} dies, and all {} halt: within a step each waits for it, or for one that "
                  "does.",
                  rank, plural(config.world, "rank", "ranks")),
      width, "");
  if (const Table table = make_halt_table(config, failure); !table.rows.empty())
    out += "\n" + table.text(paint, "  ");
  out +=
      "\n" + wrap_text(fmt::format("A process that ends is seen by its launcher at once; one that "
                                   "hangs only when a collective has waited {} ({}).",
                                   show(failure.task.hang), from.hang),
                       width, "");
  out += wrap_text(describe_survivors(failure), width, "") + "\n";
  out += make_figure_table(config, failure, from).text(paint, "  ") + "\n";
  out += wrap_text(fmt::format("One failure costs {} of work on average and {} of restart, on all "
                               "GPUs: {} GPU-hours.",
                               show(up.lost_each), show(model.restart),
                               format_gpu_hours(up.lost_each + model.restart, config)),
                   width, "") +
         "\n";
  out += make_share_table(up).text(paint, "  ") + "\n";
  out += wrap_text(fmt::format("If every failure were a hang, {} would be useful.",
                               percent(failure.when_hung.useful)),
                   width, "");
  for (const std::string& cite : from.cites) out += wrap_text("source: " + cite, width, "");
  return out;
}

}  // namespace rankwright::report
