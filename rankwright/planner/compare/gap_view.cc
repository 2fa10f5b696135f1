#include "rankwright/planner/compare/gap_view.h"

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/planner/explain/key_differences.h"

namespace rankwright::planner {
namespace {

/// Adds the settings that the lines of the log state.
void add_stated(std::vector<SettingGap>& all, const plan::TrainingConfig& config,
                const importer::RunLog& log) {
  if (log.world && *log.world != config.world)
    all.push_back({"world_size", count(config.world), count(*log.world)});
  i64 batch = 0;  // the last one: the batch may ramp up
  for (const importer::RunStep& step : log.steps)
    if (step.global_batch > 0) batch = step.global_batch;
  if (batch > 0 && batch != config.job.global_batch)
    all.push_back({"job.global_batch", count(config.job.global_batch), count(batch)});
  if (!log.oom || log.oom->capacity <= Bytes{}) return;
  // The memory that a framework sees is slightly less than what the driver reports.
  const Bytes device = config.cluster.device.memory;
  if (device > Bytes{} && std::abs(log.oom->capacity / device - 1) > 0.03)
    all.push_back({"memory of the device", show_memory(device), show_memory(log.oom->capacity)});
}

/// Adds the settings that the log's own arguments state. Settings that they leave open are skipped.
void add_arguments(std::vector<SettingGap>& all, const plan::TrainingConfig& config,
                   const importer::PlanFile& ran) {
  const auto known = [&](std::string_view key) {
    return std::any_of(all.begin(), all.end(), [&](const SettingGap& s) { return s.key == key; });
  };
  const auto given = [&](std::string_view key) {
    return std::any_of(ran.keys.begin(), ran.keys.end(),
                       [&](const importer::FieldReader::Key& k) { return k.path == key; });
  };
  for (const KeyDifference& d : find_key_differences(config, resolve(ran.draft)))
    if (given(d.key) && !known(d.key)) all.push_back({std::string(d.key), d.a, d.b});
}

}  // namespace

bool GapView::outside() const {
  return !settings.empty() || oom || (time && !time->inside()) || (memory && !memory->inside());
}

GapView make_gap_view(const plan::TrainingConfig& config, const cluster::Calibration& calibration,
                      const importer::RunLog& log, const importer::PlanFile* ran) {
  GapView view{.plan = {}, .log = {}};
  add_stated(view.settings, config, log);
  if (ran != nullptr) add_arguments(view.settings, config, *ran);
  const double tokens = double(config.job.global_batch) * double(config.job.sequence);
  if (const std::optional<importer::MeasuredStep> step =
          measure_step(log, tokens / double(config.world)))
    view.time = validate::explain_time_gap(config, calibration, log, *step);
  else
    view.unsteady = i64(log.steps.size());
  view.timed = view.time && !view.time->timers.empty();
  view.memory = validate::explain_memory_gap(config, calibration, log);
  view.oom = validate::explain_oom(config, calibration, log);
  view.unledgered = log.oom && !view.oom;
  return view;
}

}  // namespace rankwright::planner
