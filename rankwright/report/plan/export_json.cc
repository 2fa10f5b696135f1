#include "rankwright/report/plan/export_json.h"

#include <nlohmann/json.hpp>

namespace rankwright::report {

std::string make_export_json(const planner::ExportAnswer& answer) {
  using Json = nlohmann::ordered_json;
  const rules::TargetRow& target = row(answer.exporter->target);
  Json out{{"schema", "rankwright.export/1"},
           {"target", target.name},
           {"checked", target.checked},
           {"files", Json::array()},
           {"lost", Json::array()}};
  for (const exporter::ExportFile& file : answer.files)
    out["files"].push_back({{"name", file.name}, {"text", file.text}});
  for (const exporter::UnsupportedSetting& one : answer.lost)
    out["lost"].push_back({{"key", one.key}, {"why", one.why}});
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rankwright::report
