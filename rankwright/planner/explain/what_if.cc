#include "rankwright/planner/explain/what_if.h"

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/export/plan_file.h"
#include "rankwright/import/plan/plan_file.h"

namespace rankwright::planner {
namespace {

/// A setting of the what-if control, and the plans that have it.
struct WhatIfKey {
  std::string_view name;
  bool (*applies)(const plan::TrainingConfig&);
};

bool always(const plan::TrainingConfig&) { return true; }
bool has_pipeline(const plan::TrainingConfig& config) { return config.plan.pp > 1; }
bool has_experts(const plan::TrainingConfig& config) { return config.model.sparse(); }

constexpr WhatIfKey kWhatIfKeys[] = {
    {"tp", always},      {"pp", always},   {"chunks", has_pipeline}, {"cp", always},
    {"ep", has_experts}, {"zero", always}, {"micro_batch", always},  {"recompute", always}};

/// Returns the usual values of the key and the plan's own, ascending.
Sweep list_values(const SweepKey& key, const plan::TrainingConfig& config) {
  Outcome<Sweep> sweep = read_sweep(std::string(key.name));
  RW_CHECK(sweep.has_value());
  const i64 own = key.read(config);
  std::vector<i64>& values = sweep->values;
  if (const auto at = std::lower_bound(values.begin(), values.end(), own);
      at == values.end() || *at != own)
    values.insert(at, own);
  return std::move(*sweep);
}

}  // namespace

std::vector<SweepView> make_what_if(const plan::TrainingConfig& config,
                                    const importer::Draft& draft, rules::Target target,
                                    const std::function<bool()>& should_stop) {
  std::vector<SweepView> all;
  for (const WhatIfKey& row : kWhatIfKeys) {
    if (should_stop && should_stop()) break;
    if (!row.applies(config)) continue;
    SweepView view =
        make_sweep_view(config, draft, list_values(*find_sweep_key(row.name), config), target);
    if (std::count_if(view.rows.begin(), view.rows.end(),
                      [](const SweepRow& one) { return one.estimated(); }) > 1)
      all.push_back(std::move(view));
  }
  return all;
}

importer::Draft make_draft(const plan::TrainingConfig& config) {
  importer::Draft draft =
      importer::read_plan(exporter::write_plan_yaml(config), "plan.yaml", importer::refuse_file)
          .draft;
  draft.model = config.model;  // the file may name them by files of their own
  draft.cluster = config.cluster;
  return draft;
}

}  // namespace rankwright::planner
