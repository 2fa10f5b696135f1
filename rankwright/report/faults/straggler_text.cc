#include "rankwright/report/faults/straggler_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace {

constexpr i64 kMaxRankRows = 24;  // of pp ranks
constexpr i64 kMaxTyped = 64;     // of hosts or ranks in a placement that is printed
constexpr std::size_t kBarCells = 24;

i64 find_host(const plan::TrainingConfig& config, i64 device) {
  return device / std::max<i64>(1, config.cluster.host_devices);
}

/// Describes a slow rank: "rank 17 (pp rank 1, tp 1, dp 0; device 17 on node 2) computes 1.3 times
/// as long".
std::string describe_slow_rank(const plan::TrainingConfig& config, const cost::SlowRank& slow) {
  const mesh::Mesh mesh = config.plan.meshes().dense;
  const i64 device = config.plan.placement.device(slow.rank);
  const auto at = [&](mesh::Axis axis) { return mesh.coordinate(slow.rank, axis); };
  return fmt::format(
      "Rank {} (PP {}, TP {}, {}DP {}; device {} on node {}) computes {:.4g} times as slowly",
      slow.rank, at(mesh::Axis::pp), at(mesh::Axis::tp),
      config.plan.cp > 1 ? fmt::format("CP {}, ", at(mesh::Axis::cp)) : "", at(mesh::Axis::dp),
      device, find_host(config, device), slow.factor);
}

/// Says how long the step takes, and how much of the job's work is lost.
std::string describe_loss(const plan::TrainingConfig& config, Seconds before, Seconds after) {
  const double lost = 1 - before / after;
  std::string text = fmt::format("The step takes {} instead of {}, {}", show(after), show(before),
                                 format_slowdown(before, after));
  if (lost < 5e-5) return text + ": no throughput is lost.";
  const double gpus = lost * double(config.world);
  return text +
         fmt::format(
             ": {} of the throughput of {} GPUs is lost, equal to {} GPUs or {} GPU-hours per day.",
             percent(lost), count(config.world), about(gpus), about(24 * gpus));
}

std::string_view describe_meeting(cost::ReplicaSync meet) {
  switch (meet) {
    case cost::ReplicaSync::gathers:
      return "at every ZeRO-3 gather, layer by layer";
    case cost::ReplicaSync::experts:
      return "at the all-to-alls of shared experts";
    case cost::ReplicaSync::gradients:
      return "at the end of the step, in the gradient reduction";
    case cost::ReplicaSync::never:
      break;
  }
  return "";
}

/// Names the inner axes that are split: "tp and cp".
std::string name_inner_axes(const plan::Plan& plan) {
  std::string text = plan.tp > 1 ? "tp" : "";
  if (plan.cp > 1) text += text.empty() ? "cp" : " and CP";
  return text;
}

Table make_waiting_table(const plan::TrainingConfig& config, const cost::Straggler& slow) {
  const plan::Plan& plan = config.plan;
  const Seconds more = slow.after - slow.before;
  const mesh::Mesh mesh = plan.meshes().dense;
  const i64 here = mesh.coordinate(slow.waited_for, mesh::Axis::pp);
  const Seconds extra = slow.ranks[std::size_t(here)].extra;
  Table table{
      {{"who"}, {"ranks", Table::Align::right}, {"extra idle", Table::Align::right}, {"where"}}};
  const auto add = [&](std::string name, i64 ranks, Seconds time, std::string where) {
    if (ranks > 0)
      table.rows.push_back({std::move(name), count(ranks), show(time), std::move(where)});
  };
  const i64 stage = plan.tp * plan.cp;
  add(fmt::format("rank {} itself", slow.waited_for), 1, more - extra,
      more < extra ? "it was idle before" : "the others are not ready earlier");
  add(fmt::format("its {} peers", name_inner_axes(plan)), stage - 1, more,
      fmt::format("{} of it in the {} collectives of its layers", show(std::min(more, extra)),
                  name_inner_axes(plan)));
  add("other PP ranks of its replica", (plan.pp - 1) * stage, more,
      "waiting for late activations and gradients");
  add("other replicas", (plan.dp - 1) * plan.pp * stage, more,
      std::string(describe_meeting(slow.meet)));
  return table;
}

/// Lists the pp ranks; if there are many, an evenly spaced sample of those that were tried.
Table make_rank_table(const cost::Straggler& slow) {
  Table table{{{"PP rank"},
               {"idle before", Table::Align::right},
               {"idle now", Table::Align::right},
               {"step with the slow device here", Table::Align::right},
               {""}}};
  Seconds max{};
  for (const cost::Straggler::Place& place : slow.places)
    max = std::max(max, place.after - slow.before);
  const i64 all = i64(slow.places.size());
  const i64 rows = std::min(all, kMaxRankRows);
  for (i64 k = 0; k < rows; ++k) {
    const cost::Straggler::Place& place =
        slow.places[std::size_t(rows == 1 ? 0 : k * (all - 1) / (rows - 1))];
    const cost::Straggler::PpRank& rank = slow.ranks[std::size_t(place.pp_rank)];
    const bool now = &place == &slow.places[std::size_t(slow.now)];
    const auto idle = [](Seconds step, Seconds busy) {
      return percent(std::max(0.0, 1 - busy / step));
    };
    table.rows.push_back(
        {std::to_string(place.pp_rank), idle(slow.before, rank.busy),
         idle(slow.after, rank.busy + rank.extra),
         fmt::format("{} {}", show(place.after), format_slowdown(slow.before, place.after)),
         bar((place.after - slow.before).value, max.value, kBarCells) +
             (now ? " (here now)" : "")});
  }
  return table;
}

/// Describes the swap of two hosts or devices.
std::string describe_place(const plan::TrainingConfig&, const cost::Straggler& slow,
                           const cost::StragglerMitigation& mitigation) {
  const cost::Swap& swap = *mitigation.place;
  return fmt::format("Move it: swap {} {} and {}, so that the slow device runs PP rank {}: {}, {}",
                     swap.hosts ? "nodes" : "devices", swap.first, swap.second, swap.pp_rank,
                     show(swap.after), format_slowdown(slow.before, swap.after));
}

std::string describe_lighter(const plan::TrainingConfig&, const cost::Straggler& slow,
                             const cost::StragglerMitigation& mitigation) {
  const cost::Rebalance& lighter = *mitigation.lighter;
  return fmt::format("Give it fewer layers: {} to other PP ranks, on all replicas: {}, {}",
                     plural(lighter.moved, "layer moves", "layers move"), show(lighter.after),
                     format_slowdown(slow.before, lighter.after));
}

std::string describe_without(const plan::TrainingConfig& config, const cost::Straggler&,
                             const cost::StragglerMitigation& mitigation) {
  const i64 dp = mitigation.without->dp, batch = config.job.global_batch;
  return fmt::format(
      "Drop its replica until a spare replaces the device: DP {} instead of {}{}", count(dp),
      count(config.plan.dp),
      mitigation.without->global_batch == batch
          ? ""
          : fmt::format(", with a global batch of {}, because {} does not divide "
                        "over {} replicas",
                        count(mitigation.without->global_batch), count(batch), count(dp)));
}

std::string describe_wait(const plan::TrainingConfig&, const cost::Straggler& slow,
                          const cost::StragglerMitigation&) {
  return fmt::format("Change nothing until a spare replaces the device: {}, {}", show(slow.after),
                     format_slowdown(slow.before, slow.after));
}

std::vector<std::string> type_place(const plan::TrainingConfig& config,
                                    const cost::StragglerMitigation& mitigation) {
  if (!mitigation.place->placement) return {};
  const std::string text = typed(*mitigation.place->placement, config.cluster.host_devices);
  return text.empty() ? std::vector<std::string>{} : std::vector{"placement: " + text};
}

std::vector<std::string> type_lighter(const plan::TrainingConfig&,
                                      const cost::StragglerMitigation& mitigation) {
  return {fmt::format("parallelism: {{stages: \"{}\"}}", show_layout(mitigation.lighter->stages))};
}

std::vector<std::string> type_without(const plan::TrainingConfig&,
                                      const cost::StragglerMitigation& mitigation) {
  const cost::WithoutReplica& without = *mitigation.without;
  return {fmt::format("world_size: {}", without.world),
          fmt::format("parallelism: {{dp_size: {}}}", without.dp),
          fmt::format("job: {{global_batch: {}}}", without.global_batch)};
}

std::vector<std::string> type_nothing(const plan::TrainingConfig&,
                                      const cost::StragglerMitigation&) {
  return {};
}

/// How a remedy is described, and the lines of a plan file that apply it.
struct RemedyRow {
  cost::Remedy remedy;
  std::string (*describe)(const plan::TrainingConfig&, const cost::Straggler&,
                          const cost::StragglerMitigation&);
  std::vector<std::string> (*type)(const plan::TrainingConfig&, const cost::StragglerMitigation&);
};
constexpr RemedyRow kRemedies[] = {
    {cost::Remedy::wait, describe_wait, type_nothing},
    {cost::Remedy::place, describe_place, type_place},
    {cost::Remedy::lighter, describe_lighter, type_lighter},
    {cost::Remedy::without, describe_without, type_without},
};

/// Lists the remedies, the one with the highest throughput first, then those that do not help.
std::string describe_mitigation(const plan::TrainingConfig& config, const cost::Straggler& slow,
                                const cost::StragglerMitigation& mitigation, std::size_t width) {
  std::string out;
  for (const cost::RankedRemedy& one : rank_remedies(slow, mitigation)) {
    const RemedyRow& row = kRemedies[std::size_t(one.remedy)];
    out += wrap_text(fmt::format("{} ({} of the throughput).",
                                 row.describe(config, slow, mitigation), percent(one.throughput)),
                     width - 2, "  ");
    for (const std::string& line : row.type(config, mitigation)) out += "    " + line + "\n";
  }
  const auto add = [&](const std::string& text) { out += wrap_text(text, width - 2, "  "); };
  if (!mitigation.place)
    add(config.plan.pp == 1 ? "Moving it gains nothing: all ranks compute the same."
                            : fmt::format("Moving it to another PP rank gains less than {}.",
                                          percent(cost::kMinMitigationGain)));
  if (config.plan.dp > 1 && !mitigation.without)
    add(fmt::format("DP {} is not possible with this plan: its replica cannot be dropped.",
                    count(config.plan.dp - 1)));
  return out;
}

constexpr std::string_view kBadCable =
    "Collective times add up all calls on the PP rank on which they take longest; the part that "
    "overlaps with compute is not in the step. A single bad cable or NIC costs as much as a slow "
    "level: its collective runs at its speed, and all ranks wait for it.";

/// Lists the items of the step that changed.
Table make_item_table(const cost::LinkLoss& loss) {
  Table table{{{"item"},
               {"before", Table::Align::right},
               {"after", Table::Align::right},
               {"more", Table::Align::right},
               {""}}};
  const auto more = [&](const cost::ItemRow& row) {
    return loss.after[row.item] - loss.before[row.item];
  };
  Seconds max{};
  for (const cost::ItemRow& row : cost::items()) max = std::max(max, more(row));
  for (const cost::ItemRow& row : cost::items())
    if (std::abs(more(row).value) >= 1e-6 * loss.before.total().value)
      table.rows.push_back({std::string(row.name), show(loss.before[row.item]),
                            show(loss.after[row.item]), show(more(row)),
                            bar(more(row).value, max.value, kBarCells)});
  return table;
}

Table make_crossing_table(const cost::LinkLoss& loss) {
  Table table{{{"crossing traffic"},
               {"group"},
               {"ranks", Table::Align::right},
               {"calls per step", Table::Align::right},
               {"before", Table::Align::right},
               {"after", Table::Align::right}}};
  for (const cost::LinkLoss::Crossing& one : loss.crossings)
    table.rows.push_back({std::string(row(one.kind).label), std::string(name(one.group)),
                          count(one.ranks), count(one.calls), show(one.before), show(one.after)});
  return table;
}

}  // namespace

std::string about(double amount) {
  return amount < 100 ? fmt::format("{:.3g}", amount) : count(i64(std::llround(amount)));
}

std::string format_slowdown(Seconds before, Seconds after) {
  const double more = after / before - 1;
  if (std::abs(more) < 5e-5) return "unchanged";
  return (more > 0 ? "+" : "") + percent(more);
}

std::string bar(double share, double max, std::size_t cells) {
  if (!(share > 0) || !(max > 0)) return "";
  const double part = std::min(1.0, share / max) * double(cells);
  return std::string(std::max<std::size_t>(1, std::size_t(std::lround(part))), '#');
}

std::string typed(const mesh::Placement& placement, i64 host_devices) {
  const std::vector<i64>& devices = placement.devices;
  const i64 host = std::max<i64>(1, host_devices);
  bool whole = i64(devices.size()) % host == 0;
  for (std::size_t r = 0; r < devices.size() && whole; ++r)
    whole = devices[r] == devices[r - r % std::size_t(host)] + i64(r) % host &&
            devices[r] % host == i64(r) % host;
  std::vector<i64> listed;
  for (std::size_t r = 0; r < devices.size(); r += whole ? std::size_t(host) : 1)
    listed.push_back(whole ? devices[r] / host : devices[r]);
  if (i64(listed.size()) > kMaxTyped) return "";
  return fmt::format("{{{}: [{}]}}", whole ? "hosts" : "ranks", fmt::join(listed, ", "));
}

std::string render_straggler_text(const plan::TrainingConfig& config, const cost::Straggler& slow,
                                  const cost::StragglerMitigation& mitigation, const Paint& paint,
                                  std::size_t width) {
  std::string out;
  for (const cost::SlowRank& one : slow.slow)
    out += wrap_text(describe_slow_rank(config, one) + ".", width, "");
  out += wrap_text(describe_loss(config, slow.before, slow.after), width, "") + "\n";
  if (slow.slow.size() > 1)
    out += wrap_text(fmt::format("All ranks wait for the replica of rank {}.", slow.waited_for),
                     width, "");
  if (slow.after <= slow.before)
    return out + wrap_text("No rank waits for it: others are slower.", width, "");
  out += make_waiting_table(config, slow).text(paint, "  ", width) + "\n";
  if (config.plan.pp > 1) out += make_rank_table(slow).text(paint, "  ", width) + "\n";
  out += "Mitigation, best first:\n" + describe_mitigation(config, slow, mitigation, width);
  out += "\n" + wrap_text(slow.simulated
                              ? "times: simulated step with the slow rank (Z1 to Z4)"
                              : "times: closed form of the pipeline with the slow stage, because "
                                "the step has too many actions to simulate (Z1 to Z4)",
                          width, "");
  return out;
}

std::string render_link_text(const plan::TrainingConfig& config, const cost::LinkLoss& loss,
                             const Paint& paint, std::size_t width) {
  std::string out;
  for (const cost::SlowLink& link : loss.links) {
    const cluster::Level& level = config.cluster.levels[std::size_t(link.level)];
    out += wrap_text(fmt::format("{} runs at {} instead of {}.", level.name, show(link.bandwidth),
                                 show(level.bandwidth)),
                     width, "");
  }
  const Seconds before = loss.before.total(), after = loss.after.total();
  out += wrap_text(describe_loss(config, before, after), width, "") + "\n";
  if (const Table items = make_item_table(loss); !items.rows.empty())
    out += items.text(paint, "  ", width) + "\n";
  if (loss.crossings.empty() && before == after)
    return out + wrap_text("No collective of this plan crosses this level.", width, "");
  out += make_crossing_table(loss).text(paint, "  ", width) + "\n" +
         wrap_text(kBadCable, width, "") + "\n";
  if (before == after)
    return out + wrap_text("Another level is slower, so the step does not change.", width, "");
  const std::string verdict =
      loss.best.order == config.plan.order
          ? fmt::format(
                "Mitigation: none. No other order of the same degrees is faster by more "
                "than {} of the step ({} tried).",
                percent(cost::kMinMitigationGain), loss.tried)
          : fmt::format(
                "Mitigation: order: {}, {} ({}), the best of {} orders of the same degrees.",
                show(loss.best.order), show(loss.best.after),
                format_slowdown(before, loss.best.after), loss.tried);
  return out + wrap_text(verdict, width, "");
}

}  // namespace rankwright::report
