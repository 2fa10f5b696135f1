#include "rankwright/export/exporter.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/export/plan_keys.h"
#include "rankwright/export/rows.h"

namespace rankwright::exporter {
namespace {

/// Keys that no framework's configuration states: the hardware and how fast its kernels are.
constexpr std::string_view kNotInFrameworkFiles[] = {"world_size", "node_shape", "cluster",
                                                     "software"};
/// Keys that a launcher states. All others belong to the framework.
constexpr std::string_view kLauncherKeys[] = {"world_size", "node_shape", "placement"};

/// Returns whether `keys` has `path` or a map that contains it.
bool covers(std::span<const std::string_view> keys, std::string_view path) {
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) {
    return path == key || (path.starts_with(key) && path[key.size()] == '.');
  });
}

/// Returns whether the target is expected to state `path`.
bool should_state(const Exporter& exporter, std::string_view path) {
  return row(exporter.target).launcher ? covers(kLauncherKeys, path)
                                       : !covers(kNotInFrameworkFiles, path);
}

void add_once(std::vector<UnsupportedSetting>& lost, std::string_view key, std::string why) {
  const bool known = std::any_of(lost.begin(), lost.end(),
                                 [&](const UnsupportedSetting& one) { return one.key == key; });
  if (!known) lost.push_back({std::string(key), std::move(why)});
}

void add_broken_rules(const Exporter& exporter, const plan::TrainingConfig& config,
                      std::vector<UnsupportedSetting>& lost) {
  const std::vector<plan::ConstraintViolation> none;
  for (const rules::Rule* rule : find_refusals(exporter.target)) {
    if (rule->expressible || !rule->fault(config)) continue;  // check() formats text, and is slow
    if (const std::optional<rules::Finding> finding = rule->check({config, none, exporter.target}))
      add_once(lost, finding->key,
               fmt::format("{}: {} ({})", rule->page.title, finding->detail, rule->page.code));
  }
}

std::string explain_unstated(const Exporter& exporter, const ConfigKey& key,
                             const plan::TrainingConfig& config) {
  const rules::TargetRow& target = row(exporter.target);
  if (key.path == "placement")
    return "a launcher places the ranks: rankwright export PLAN --to slurm";
  return fmt::format("{} has no setting for {}", target.name, key.value(config));
}

}  // namespace

std::span<const Exporter* const> exporters() { return kExporters; }

const Exporter* find_exporter(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kExporters), std::end(kExporters),
                   [&](const Exporter* one) { return row(one->target).name == name; });
  return found == std::end(kExporters) ? nullptr : *found;
}

std::vector<UnsupportedSetting> find_unsupported(const Exporter& exporter,
                                                 const plan::TrainingConfig& config) {
  std::vector<UnsupportedSetting> lost;
  add_broken_rules(exporter, config, lost);
  if (exporter.lost != nullptr)
    for (UnsupportedSetting& one : exporter.lost(config))
      add_once(lost, one.key, std::move(one.why));
  for (const ConfigKey& key : config_keys()) {
    const bool unplaced =
        key.path == "placement" && config.plan.placement.kind == mesh::Placement::Kind::block;
    if (!key.written(config) || unplaced || !should_state(exporter, key.path) ||
        covers(exporter.states(), key.path))
      continue;
    add_once(lost, key.path, explain_unstated(exporter, key, config));
  }
  const auto position = [](const UnsupportedSetting& one) {
    const std::span<const ConfigKey> keys = config_keys();
    return std::find_if(keys.begin(), keys.end(),
                        [&](const ConfigKey& key) { return key.path == one.key; }) -
           keys.begin();
  };
  std::stable_sort(lost.begin(), lost.end(),
                   [&](const UnsupportedSetting& a, const UnsupportedSetting& b) {
                     return position(a) < position(b);
                   });
  return lost;
}

std::vector<std::string> make_head_lines(const Exporter& exporter,
                                         const plan::TrainingConfig& config) {
  const rules::TargetRow& target = row(exporter.target);
  const plan::TrainingConfig named = make_names_safe(config);
  const plan::Plan& p = named.plan;
  const std::vector<UnsupportedSetting> lost = find_unsupported(exporter, named);
  std::vector<std::string> lines = {
      fmt::format("Written by rankwright for {}.", target.checked),
      fmt::format("{} on {}: {} ranks = TP {} x CP {} x PP {} x DP {}",
                  named.reference_model ? "A model without a name" : named.model.name,
                  named.cluster.name, named.world, p.tp, p.cp, p.pp, p.dp)};
  if (!lost.empty()) lines.emplace_back("Settings of the plan that this file cannot express:");
  for (const UnsupportedSetting& one : lost)
    lines.push_back(fmt::format("  {}: {}", one.key, one.why));
  return lines;
}

std::vector<ExportFile> export_plan(const Exporter& exporter, const plan::TrainingConfig& config,
                                    const ExportOptions& options) {
  return exporter.write(config, options, make_head_lines(exporter, config));
}

}  // namespace rankwright::exporter
