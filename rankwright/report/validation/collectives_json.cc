#include <nlohmann/json.hpp>

#include "rankwright/catalog/catalog.h"
#include "rankwright/report/validation/collectives_text.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

ordered_json make_errors_json(std::span<const validate::RowClass> classes,
                              const validate::ErrorTable& table) {
  ordered_json json = ordered_json::object();
  for (std::size_t c = 0; c < table.size(); ++c) {
    const validate::ErrorStats& stats = table[c];
    if (stats.rows == 0) continue;
    json[std::string(classes[c].key)] = {{"rows", stats.rows},
                                         {"mean_absolute_error", stats.mean_absolute},
                                         {"bias", stats.bias},
                                         {"p90", stats.p90},
                                         {"worst", stats.worst}};
  }
  return json;
}

std::string_view name_call(const validate::MeasuredCollective& row) {
  if (row.kind == validate::CallKind::dispatch) return "dispatch";
  return row.kind == validate::CallKind::combine ? "combine" : name(row.op);
}

ordered_json make_prediction_json(const validate::CollectiveScore& score,
                                  const validate::CollectivePrediction& p) {
  const validate::MeasuredCollective& row = score.measured.rows[p.row];
  const validate::CollectiveSetting& setting = score.measured.settings[row.setting];
  ordered_json json = {{"line", row.line},
                       {"system", row.system},
                       {"cluster", setting.cluster.name},
                       {"ranks", setting.ranks},
                       {"collective", name_call(row)},
                       {"bytes", row.size.value},
                       {"measured_seconds", row.time.value},
                       {"harness_seconds", row.harness.value},
                       {"predicted_seconds", p.predicted.value},
                       {"algorithm", name(p.algorithm)}};
  if (p.held_out.value > 0) json["held_out_seconds"] = p.held_out.value;
  return json;
}

}  // namespace

std::string make_collectives_json(const validate::CollectiveScore& score) {
  const std::span<const validate::RowClass> classes = list_classes(score.measured);
  ordered_json systems = ordered_json::array(), predictions = ordered_json::array();
  ordered_json unscored = ordered_json::array(), constants_of = ordered_json::array();
  for (const validate::SystemScore& s : score.systems)
    systems.push_back({{"system", s.system},
                       {"given", make_errors_json(classes, s.given)},
                       {"held_out", make_errors_json(classes, s.held_out)}});
  for (const validate::CollectivePrediction& p : score.predictions)
    predictions.push_back(make_prediction_json(score, p));
  for (const validate::Unscored& u : score.measured.unscored)
    unscored.push_back({{"reason", u.reason}, {"rows", u.rows}, {"systems", u.systems}});
  for (const cluster::Constant c : list_fitted(score.measured)) {
    const catalog::ConstantRow& row = catalog::constants()[std::size_t(c)];
    constants_of.push_back({{"constant", row.name},
                            {"unit", row.unit},
                            {"given", score.given[c]},
                            {"fitted", score.fitted.constants[c]}});
  }
  if (!score.measured.dispatches)
    constants_of.push_back(
        {{"constant", "latency"}, {"unit", ""}, {"given", 1}, {"fitted", score.fitted.latency}});
  const ordered_json json = {{"schema", "rankwright.collectives/1"},
                             {"given", make_errors_json(classes, score.total)},
                             {"held_out", make_errors_json(classes, score.total_held_out)},
                             {"systems", systems},
                             {"constants", constants_of},
                             {"unscored", unscored},
                             {"rows", predictions}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rankwright::report
