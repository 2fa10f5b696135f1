// Round-trip tests: a plan that is exported and imported again is the same, key by key, except for
// what the export reported as lost.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "rankwright/export/exporter.h"
#include "rankwright/export/plan_keys.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/rules/change.h"
#include "tests/support/any_config.h"

namespace rankwright::round_trip {

inline bool is_lost(const std::vector<exporter::UnsupportedSetting>& lost, std::string_view key) {
  return std::any_of(lost.begin(), lost.end(),
                     [&](const exporter::UnsupportedSetting& one) { return one.key == key; });
}

/// Removes what a file need not state: a shard over all data ranks, an even stage split, groups of
/// pp, the overlap of a reduction over one rank, a maximum sequence no longer than the trained one.
inline plan::TrainingConfig plain(plan::TrainingConfig s) {
  plan::Plan& p = s.plan;
  if (p.zero == 0 || p.shard_size == p.data_ranks()) p.shard_size = 0;
  if (p.stages == plan::split_evenly(s.model.layers(), p.pp * p.virtual_stages, s.model.mtp_layers))
    p.stages.clear();
  if (p.microbatch_group == p.pp || !row(p.schedule).groups) p.microbatch_group = 0;
  if (p.pp == 1) p.schedule = pipeline::Schedule::one_f_one_b;
  if (p.tp == 1) p.sequence_parallel = false;
  if (p.data_ranks() == 1 && p.expert_dp() == 1) p.overlap.grad_reduce = true;
  if (p.cp == 1) p.cp_comm = plan::CpComm::p2p;
  if (s.model.positions == 0 && s.model.max_sequence <= s.job.sequence) s.model.max_sequence = 0;
  return s;
}

/// Returns the files of the export that is being imported, which may refer to each other.
inline std::vector<exporter::ExportFile>& written_files() {
  static std::vector<exporter::ExportFile> files;
  return files;
}

inline Result<std::string> read_written(const std::string& path) {
  for (const exporter::ExportFile& file : written_files())
    if (file.name == path) return file.text;
  return importer::refuse_file(path);
}

/// Returns whether two configs have the same cells in the same order, whatever the schedule's name.
inline bool same_cells(const plan::TrainingConfig& a, const plan::TrainingConfig& b) {
  const pipeline::PipelineShape one = make_pipeline_shape(a), two = make_pipeline_shape(b);
  return one.pp == two.pp && one.chunks == two.chunks && one.microbatches == two.microbatches &&
         !find_shape_fault(one) && !find_shape_fault(two) &&
         pipeline::cells(one) == pipeline::cells(two);
}

/// Exports with `exporter` and imports the files as `format`. The cluster, the world size and lost
/// values are supplied again.
inline plan::TrainingConfig export_and_import(const exporter::Exporter& exporter,
                                              const importer::PlanFormat& format,
                                              const plan::TrainingConfig& config,
                                              Diagnostics& findings) {
  written_files() = export_plan(exporter, config);
  const exporter::ExportFile& main = written_files().front();
  importer::PlanFile plan = read_plan_as(format, main.text, main.name, read_written);
  findings = plan.findings;
  plan.draft.cluster = config.cluster;
  plan.draft.world = config.world;
  if (!plan.draft.model) plan.draft.model = config.model;
  // Without a degree that is set elsewhere, the others would not multiply to the world size.
  const std::vector<exporter::UnsupportedSetting> lost = find_unsupported(exporter, config);
  if (is_lost(lost, "parallelism.pp_size")) plan.draft.pp = config.plan.pp;
  if (is_lost(lost, "parallelism.tp_size")) plan.draft.tp = config.plan.tp;
  return resolve(plan.draft);
}

/// Returns the keys that changed, with both values; empty if none did.
inline std::string differences(const exporter::Exporter& exporter,
                               const plan::TrainingConfig& before,
                               const plan::TrainingConfig& after) {
  constexpr std::string_view kBeside[] = {"world_size", "node_shape", "cluster", "placement"};
  const std::vector<exporter::UnsupportedSetting> lost = find_unsupported(exporter, before);
  plan::TrainingConfig supplied = after;  // with lost degrees, on which other keys depend
  if (is_lost(lost, "parallelism.ep_size")) supplied.plan.ep = before.plan.ep;
  if (is_lost(lost, "parallelism.etp_size")) supplied.plan.etp = before.plan.etp;
  const plan::TrainingConfig a = plain(before), b = plain(supplied);
  std::string text;
  for (const exporter::ConfigKey& key : exporter::config_keys()) {
    const bool beside =
        std::find(std::begin(kBeside), std::end(kBeside), key.path) != std::end(kBeside);
    if (beside || key.path.starts_with("software.") || is_lost(lost, key.path)) continue;
    if (key.path == "model") {
      if (!is_same_network(a.model, b.model)) text += "model\n";
      continue;
    }
    const bool of_cells =
        key.path == "parallelism.schedule" || key.path == "parallelism.microbatch_group";
    if (of_cells && same_cells(a, b)) continue;
    if (key.path == "parallelism.order" && rules::same_order(a, b.plan.order)) continue;
    if (!key.written(a) && !key.written(b)) continue;  // both follow from the other keys
    const std::string was = key.value(a), is = key.value(b);
    if (was != is) text += fmt::format("{}: {} came back as {}\n", key.path, was, is);
  }
  return text;
}

/// Checks the round trip for one case of a property: four valid configs, so that the usual 100
/// cases test 400 configs and discard none.
inline void hold(const exporter::Exporter& exporter) {
  const importer::PlanFormat& format = *importer::find_plan_format(row(exporter.target).name);
  for (int i = 0; i < 4; ++i) {
    plan::TrainingConfig config = any_config::random_config();
    while (!find_violations(config).empty()) config = any_config::random_config();
    Diagnostics findings;
    const plan::TrainingConfig again = export_and_import(exporter, format, config, findings);
    for (const Diagnostic& finding : findings) RC_LOG() << finding.detail << "\n";
    RC_ASSERT(!has_errors(findings));
    const std::string different = differences(exporter, config, again);
    RC_LOG() << different;
    RC_ASSERT(different.empty());
  }
}

}  // namespace rankwright::round_trip
