// Writes the complete plan file for Rankwright's own runtime, with the runtime as its software.
#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/export/plan_file.h"
#include "rankwright/export/plan_keys.h"
#include "rankwright/export/rows.h"

namespace rankwright::exporter {
namespace {

/// Returns all keys.
std::span<const std::string_view> list_rankwright_keys() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> paths;
    for (const ConfigKey& key : config_keys()) paths.push_back(key.path);
    return paths;
  }();
  return all;
}

std::vector<ExportFile> write_rankwright(const plan::TrainingConfig& s, const ExportOptions&,
                                         const std::vector<std::string>& head) {
  const std::span<const plan::Software> known = plan::frameworks();
  const auto own = std::find_if(known.begin(), known.end(), [](const plan::Software& one) {
    return one.name == row(rules::Target::rankwright).software;
  });
  RW_CHECK(own != known.end());
  plan::TrainingConfig runtime_config = s;
  runtime_config.software = *own;
  return {{"plan.yaml", write_plan_yaml(runtime_config, {.head = head})}};
}

}  // namespace

constinit const Exporter kRankwrightExporter{
    .target = rules::Target::rankwright,
    .summary = "complete plan file for rankwright run",
    .states = list_rankwright_keys,
    .write = write_rankwright,
};

}  // namespace rankwright::exporter
