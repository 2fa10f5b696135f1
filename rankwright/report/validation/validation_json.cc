#include <nlohmann/json.hpp>

#include "rankwright/catalog/catalog.h"
#include "rankwright/report/validation/validation_text.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

ordered_json make_errors_json(const validate::ErrorStats& e) {
  return {{"rows", e.rows},     {"mape", 100 * e.mean_absolute}, {"bias", 100 * e.bias},
          {"p90", 100 * e.p90}, {"worst", 100 * e.worst},        {"worst_id", e.worst_id}};
}

/// Describes errors over families: `rows` counts families, and the worst is the family with the
/// highest MAPE.
ordered_json make_families_json(const validate::ErrorStats& e) {
  return {{"families", e.rows}, {"mape", 100 * e.mean_absolute}, {"bias", 100 * e.bias},
          {"p90", 100 * e.p90}, {"worst_mape", 100 * e.worst},   {"worst_family", e.worst_id}};
}

ordered_json make_beside_json(const validate::PredictorComparison& beside) {
  ordered_json json = make_errors_json(beside.theirs);
  json["here"] = make_errors_json(beside.ours);
  return json;
}

ordered_json make_step_json(const validate::Score& s) {
  ordered_json json = make_errors_json(s.all);
  json["over_families"] = make_families_json(s.over_families);
  json["dense"] = make_errors_json(s.dense);
  json["dense"]["over_families"] = make_families_json(s.dense_over_families);
  json["moe"] = make_errors_json(s.sparse);
  json["moe"]["over_families"] = make_families_json(s.sparse_over_families);
  json["moe"]["mechanisms"] = ordered_json::array();
  for (const validate::MechanismErrors& m : s.sparse_mechanisms) {
    ordered_json one{{"mechanism", m.mechanism}, {"value", m.errors.name}};
    one.update(make_errors_json(m.errors));
    json["moe"]["mechanisms"].push_back(one);
  }
  json["families"] = ordered_json::array();
  for (const validate::FamilyErrors& f : s.families) {
    ordered_json one = {{"family", f.family}, {"kind", f.sparse ? "moe" : "dense"}};
    one.update(make_errors_json(f.errors));
    json["families"].push_back(one);
  }
  json["calculon"] = make_beside_json(s.calculon);
  json["baseline"] = make_beside_json(s.baseline);
  if (s.medians_removed.ours.rows > 0)
    json["medians_removed"] = make_beside_json(s.medians_removed);
  return json;
}

/// Describes errors of pairs: the ratio of the two ratios of predicted to measured, minus 1.
ordered_json make_pairs_json(const validate::PairErrors& e) {
  return {
      {"pairs", e.pairs}, {"groups", e.groups}, {"median", 100 * e.median}, {"p90", 100 * e.p90}};
}

ordered_json make_memory_json(const validate::Score& s) {
  ordered_json json = {{"all", make_errors_json(s.memory)},
                       {"dense", make_errors_json(s.memory_dense)},
                       {"moe", make_errors_json(s.memory_sparse)},
                       {"eight_bits", make_errors_json(s.memory_eight_bits)},
                       {"allocated", make_errors_json(s.allocated)},
                       {"reserved", make_errors_json(s.reserved)},
                       {"families", ordered_json::array()}};
  for (const validate::ErrorStats& f : s.memory_families) {
    ordered_json one = {{"family", f.name}};
    one.update(make_errors_json(f));
    json["families"].push_back(one);
  }
  return json;
}

ordered_json make_sweeps_json(const std::vector<validate::Sweep>& sweeps) {
  ordered_json json = ordered_json::array();
  for (const validate::Sweep& s : sweeps)
    json.push_back({{"family", s.family},
                    {"name", s.name},
                    {"rows", s.rows},
                    {"spearman", s.spearman},
                    {"regret", 100 * s.regret},
                    {"picked", s.picked},
                    {"fastest", s.fastest}});
  return json;
}

ordered_json make_row_json(const validate::ScoredRun& row) {
  const validate::Run& run = *row.run;
  const plan::Plan& plan = row.config->plan;
  ordered_json json = {{"id", run.id},
                       {"family", run.family},
                       {"kind", run.sparse ? "moe" : "dense"},
                       {"scored", !row.calibrates}};
  if (row.timed()) {
    json["predicted"] = row.step.value;
    json["measured"] = run.measured.value;
    json["error"] = 100 * row.error();
  }
  if (row.memory.value > 0)
    json["memory"] = {{"figure", name(run.memory_figure)},
                      {"predicted", row.memory.value},
                      {"measured", run.measured_memory.value},
                      {"error", 100 * row.memory_error()}};
  if (row.slowdown > 0)
    json["slowdown"] = {{"predicted", row.slowdown}, {"measured", run.measured_slowdown}};
  if (row.baseline) json["baseline_error"] = 100 * *row.baseline;
  ordered_json chosen = ordered_json::object();
  if (run.open_micro_batch) chosen["micro_batch"] = plan.micro_batch;
  if (run.open_chunks) chosen["virtual_stages"] = plan.virtual_stages;
  if (run.open_recompute) chosen["recompute"] = name(plan.recompute);
  if (run.open_zero) chosen["zero_stage"] = plan.zero;
  json["chosen"] = chosen;
  return json;
}

ordered_json make_effects_json(const std::vector<validate::Effect>& effects) {
  ordered_json json = ordered_json::array();
  for (const validate::Effect& one : effects)
    json.push_back({{"effect", one.kind},
                    {"figure", one.figure == validate::Figure::memory ? "memory" : "speed"},
                    {"base", one.base},
                    {"changed", one.changed},
                    {"measured", one.measured},
                    {"predicted", one.predicted},
                    {"right_sign", one.right_sign()},
                    {"right_size", one.right_size()}});
  return json;
}

ordered_json make_constants_json(const validate::Validation& v) {
  ordered_json json = ordered_json::array();
  for (const catalog::ConstantRow& row : catalog::constants()) {
    ordered_json one = {{"constant", row.name},   {"value", row.value},     {"unit", row.unit},
                        {"how", name(row.found)}, {"meaning", row.meaning}, {"origin", row.origin}};
    if (row.found == catalog::Found::fitted) one["prior"] = row.prior;
    if (catalog::is_fitted_to_runs(row.data))
      for (const auto& [publication, values] : v.refits)
        one["without"][publication] = values[row.constant];
    json.push_back(one);
  }
  return json;
}

}  // namespace

std::string make_validation_json(const validate::Validation& v,
                                 const planner::ValidationSource& source) {
  const validate::Score& s = v.score;
  ordered_json rows = ordered_json::array(), excluded = ordered_json::array();
  for (const validate::ScoredRun& row : v.rows) rows.push_back(make_row_json(row));
  for (const validate::Excluded& one : source.excluded)
    excluded.push_back({{"id", one.id}, {"family", one.family}, {"why", one.why}});
  const ordered_json json = {
      {"schema", "rankwright.validation/1"},
      {"units", {{"error", "percent"}, {"regret", "percent"}, {"time", "s"}, {"memory", "bytes"}}},
      {"files", source.files},
      {"with", source.with},
      {"leave_one_family_out", v.options.mode == validate::Mode::leave_one_family_out},
      {"calibrate_one", v.options.calibrate_one},
      {"at_priors", v.at_priors},
      {"scored",
       {{"rows", v.rows.size()},
        {"of", v.rows.size() + source.excluded.size()},
        {"percent", 100 * source.share(v.rows.size())}}},
      {"step_time", make_step_json(s)},
      {"pairs",
       {{"dense", make_pairs_json(s.dense_pairs)}, {"moe", make_pairs_json(s.sparse_pairs)}}},
      {"memory", make_memory_json(s)},
      {"mean_regret", 100 * s.mean_regret},
      {"mean_moe_regret", 100 * s.mean_sparse_regret},
      {"mean_spearman", s.mean_spearman},
      {"mean_model_spearman", s.mean_model_spearman},
      {"effects", make_effects_json(s.effects)},
      {"sweeps", make_sweeps_json(s.sweeps)},
      {"models", make_sweeps_json(s.models)},
      {"excluded", excluded},
      {"constants", make_constants_json(v)},
      {"rows", rows}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rankwright::report
