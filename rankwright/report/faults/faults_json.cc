#include "rankwright/report/faults/faults_json.h"

#include <nlohmann/json.hpp>

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

ordered_json make_links_json(const plan::TrainingConfig& config, const cost::LinkLoss& loss) {
  ordered_json links = ordered_json::array(), all = ordered_json::array(),
               crossings = ordered_json::array();
  for (const cost::SlowLink& link : loss.links) {
    const cluster::Level& level = config.cluster.levels[std::size_t(link.level)];
    links.push_back({{"level", level.name},
                     {"bandwidth", link.bandwidth.value},
                     {"before", level.bandwidth.value}});
  }
  for (const cost::ItemRow& row : cost::items())
    if (loss.after[row.item] != loss.before[row.item])
      all.push_back({{"item", row.name},
                     {"before", loss.before[row.item].value},
                     {"after", loss.after[row.item].value}});
  for (const cost::LinkLoss::Crossing& row : loss.crossings)
    crossings.push_back({{"collective", rankwright::plan::row(row.kind).label},
                         {"op", name(row.op)},
                         {"group", name(row.group)},
                         {"ranks", row.ranks},
                         {"calls", row.calls},
                         {"before", row.before.value},
                         {"after", row.after.value}});
  return {
      {"links", links},
      {"step_before", loss.before.total().value},
      {"step_after", loss.after.total().value},
      {"throughput_lost", loss.lost()},
      {"items", all},
      {"crossings", crossings},
      {"best_order",
       {{"order", show(loss.best.order)}, {"step", loss.best.after.value}, {"tried", loss.tried}}}};
}

ordered_json make_mitigation_json(const cost::Straggler& slow,
                                  const cost::StragglerMitigation& mitigation) {
  ordered_json place = nullptr, lighter = nullptr, without = nullptr;
  if (mitigation.place)
    place = {{"exchange", mitigation.place->hosts ? "nodes" : "devices"},
             {"first", mitigation.place->first},
             {"second", mitigation.place->second},
             {"pp_rank", mitigation.place->pp_rank},
             {"step", mitigation.place->after.value}};
  if (mitigation.lighter)
    lighter = {{"layout", show_layout(mitigation.lighter->stages)},
               {"layers_moved", mitigation.lighter->moved},
               {"step", mitigation.lighter->after.value}};
  if (mitigation.without)
    without = {{"throughput", mitigation.without->throughput},
               {"dp", mitigation.without->dp},
               {"world", mitigation.without->world},
               {"global_batch", mitigation.without->global_batch}};
  constexpr std::string_view kNames[] = {"nothing", "place", "fewer_layers", "without_replica"};
  ordered_json ranked = ordered_json::array();
  for (const cost::RankedRemedy& one : rank_remedies(slow, mitigation))
    ranked.push_back({{"remedy", kNames[std::size_t(one.remedy)]}, {"throughput", one.throughput}});
  return {{"place", place},
          {"fewer_layers", lighter},
          {"without_replica", without},
          {"best_first", ranked}};
}

ordered_json make_slow_json(const cost::Straggler& slow,
                            const cost::StragglerMitigation& mitigation) {
  constexpr std::string_view kMeet[] = {"never", "gradients", "experts", "gathers"};
  ordered_json ranks = ordered_json::array(), by_pp = ordered_json::array(),
               places = ordered_json::array();
  for (const cost::SlowRank& one : slow.slow)
    ranks.push_back({{"rank", one.rank}, {"factor", one.factor}});
  for (const cost::Straggler::PpRank& rank : slow.ranks)
    by_pp.push_back({{"factor", rank.factor},
                     {"busy_before", rank.busy.value},
                     {"computes_longer", rank.extra.value}});
  for (const cost::Straggler::Place& place : slow.places)
    places.push_back({{"pp_rank", place.pp_rank}, {"step", place.after.value}});
  return {{"ranks", ranks},
          {"step_before", slow.before.value},
          {"step_after", slow.after.value},
          {"throughput_lost", slow.lost()},
          {"times", slow.simulated ? "simulated" : "closed form"},
          {"replicas_meet", kMeet[std::size_t(slow.meet)]},
          {"waited_for", slow.waited_for},
          {"pp_ranks", by_pp},
          {"places", places},
          {"mitigation", make_mitigation_json(slow, mitigation)}};
}

ordered_json make_uptime_json(const cost::Uptime& up) {
  return {{"useful", up.useful},
          {"checkpoints", up.checkpoints},
          {"lost", up.lost},
          {"restarts", up.restarts},
          {"work_lost_each", up.lost_each.value}};
}

ordered_json make_failure_json(i64 rank, const cost::Failure& failure,
                               const planner::FailureSources& from) {
  const cost::FailureModel& model = failure.task.model;
  return {{"rank", rank},
          {"step", failure.step.value},
          {"between_failures", {{"seconds", model.between.value}, {"from", from.between}}},
          {"restart", {{"seconds", model.restart.value}, {"from", from.restart}}},
          {"checkpoint", {{"seconds", model.checkpoint.value}, {"from", from.checkpoint}}},
          {"hang_noticed", {{"seconds", failure.task.hang.value}, {"from", from.hang}}},
          {"interval",
           {{"seconds", failure.uptime.interval.value},
            {"steps", failure.steps == 0 ? ordered_json(nullptr) : ordered_json(failure.steps)}}},
          {"time", make_uptime_json(failure.uptime)},
          {"time_if_all_hang", make_uptime_json(failure.when_hung)},
          {"time_with_slow_storage",
           {{"checkpoint_factor", cost::kSlowStorage},
            {"time", make_uptime_json(failure.with_slow_storage)}}},
          {"copies",
           {{"parameters", failure.copies.parameters}, {"optimizer", failure.copies.optimizer}}},
          {"sources", from.cites}};
}

}  // namespace

std::string make_faults_json(const plan::TrainingConfig& config, const planner::Faults& faults) {
  const ordered_json none = nullptr;
  const ordered_json json = {
      {"schema", "rankwright.faults/1"},
      {"world", config.world},
      {"slow_links", faults.links ? make_links_json(config, *faults.links) : none},
      {"slow_ranks", faults.slow ? make_slow_json(*faults.slow, faults.mitigation) : none},
      {"dead_rank",
       faults.dead ? make_failure_json(*faults.dead, faults.failure, faults.from) : none}};
  return json.dump(2) + "\n";
}

}  // namespace rankwright::report
