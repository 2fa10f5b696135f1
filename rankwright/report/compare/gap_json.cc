#include <nlohmann/json.hpp>

#include "rankwright/report/compare/gap_text.h"
#include "rankwright/report/render/labels.h"

namespace rankwright::report {
namespace {

using nlohmann::ordered_json;

ordered_json make_sample_json(const importer::TimerSample& sample) {
  return {{"min_seconds", sample.both ? ordered_json(sample.min.value) : ordered_json()},
          {"max_seconds", sample.max.value}};
}

ordered_json make_time_json(const validate::TimeGap& gap) {
  ordered_json timers = ordered_json::array();
  for (const validate::TimerGap& timer : gap.timers)
    timers.push_back({{"name", timer.name},
                      {"measured", make_sample_json(timer.measured)},
                      {"predicted", make_sample_json(timer.predicted)}});
  ordered_json explanations = ordered_json::array();
  for (const validate::Explanation& e : gap.explanations)
    explanations.push_back({{"name", e.name},
                            {"item", row(e.item).name},
                            {"before_seconds", e.before.value},
                            {"after_seconds", e.after.value},
                            {"factor", e.factor},
                            {"plausible", e.plausible},
                            {"strain", e.implausibility},
                            {"timers_off", e.timer_residual},
                            {"likely", e.likely()},
                            {"evidence", e.evidence},
                            {"reason", e.reason},
                            {"look_at", e.suggestion}});
  const importer::MeasuredStep& m = gap.measured;
  return {{"measured",
           {{"median_seconds", m.median.value},
            {"low_seconds", m.low.value},
            {"high_seconds", m.high.value},
            {"lines", m.steps},
            {"warm_up", m.warm_up},
            {"skipped", m.skipped}}},
          {"predicted_seconds", gap.predicted.time().value},
          {"within", gap.predicted.step_band.within},
          {"inside", gap.inside()},
          {"timers", timers},
          {"explanations", explanations}};
}

ordered_json make_memory_json(const validate::MemoryGap& gap) {
  ordered_json explanations = ordered_json::array();
  for (const validate::MemoryExplanation& e : gap.explanations)
    explanations.push_back({{"name", e.name},
                            {"entry", row(e.entry).name},
                            {"factor", e.factor},
                            {"strain", e.implausibility},
                            {"likely", e.likely()},
                            {"evidence", e.evidence},
                            {"look_at", e.suggestion}});
  return {{"rank", gap.rank == importer::kUnknownRank ? ordered_json() : ordered_json(gap.rank)},
          {"pp_rank", gap.memory_estimate.pp_rank},
          {"figure", name(gap.figure)},
          {"measured_bytes", gap.measured.value},
          {"predicted_bytes", gap.predicted.value},
          {"within", gap.band.within},
          {"inside", gap.inside()},
          {"explanations", explanations}};
}

ordered_json make_oom_json(const validate::OomGap& gap) {
  ordered_json alike = ordered_json::array(), fits = ordered_json::array();
  for (const validate::Tensor& tensor : gap.alike)
    alike.push_back(
        {{"name", tensor.name}, {"entry", row(tensor.entry).name}, {"bytes", tensor.bytes.value}});
  for (const rules::FittingChange& fit : gap.fits) {
    ordered_json edits = ordered_json::object();
    for (const Edit& edit : fit.change.edits()) edits[edit.key] = edit.value;
    fits.push_back({{"edits", edits},
                    {"total_bytes", fit.estimate.memory.total().value},
                    {"step_seconds", fit.estimate.time().value}});
  }
  return {{"rank", gap.oom.rank ? ordered_json(*gap.oom.rank) : ordered_json()},
          {"wanted_bytes", gap.oom.wanted.value},
          {"free_bytes", gap.oom.free.value},
          {"allocated_bytes", gap.oom.allocated.value},
          {"capacity_bytes", gap.capacity.value},
          {"steps_done", gap.oom.steps},
          {"phase", name(gap.oom.phase)},
          {"estimate_bytes", gap.memory_estimate.total().value},
          {"foreseen", gap.foreseen()},
          {"entry", row(gap.entry).name},
          {"why", gap.why},
          {"tensors", alike},
          {"fits", fits}};
}

}  // namespace

std::string make_gap_json(const plan::TrainingConfig& config, const planner::GapView& view) {
  ordered_json settings = ordered_json::array();
  for (const planner::SettingGap& s : view.settings)
    settings.push_back({{"key", s.key}, {"plan", s.plan}, {"log", s.log}});
  const ordered_json json = {
      {"schema", "rankwright.gap/1"},
      {"plan", view.plan},
      {"log", view.log},
      {"headline", format_headline(config)},
      {"settings", settings},
      {"time", view.time ? make_time_json(*view.time) : ordered_json()},
      {"memory", view.memory ? make_memory_json(*view.memory) : ordered_json()},
      {"out_of_memory", view.oom ? make_oom_json(*view.oom) : ordered_json()},
  };
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rankwright::report
