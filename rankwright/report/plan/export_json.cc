#include "rankwright/report/plan/export_json.h"

#include <nlohmann/json.hpp>

namespace rankwright {

std::string export_json(const ExportAnswer& answer) {
  using Json = nlohmann::ordered_json;
  const TargetRow& target = row(answer.exporter->target);
  Json out{{"schema", "rankwright.export/1"},
           {"target", target.name},
           {"checked", target.checked},
           {"files", Json::array()},
           {"lost", Json::array()}};
  for (const ExportFile& file : answer.files)
    out["files"].push_back({{"name", file.name}, {"text", file.text}});
  for (const Lost& one : answer.lost) out["lost"].push_back({{"key", one.key}, {"why", one.why}});
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rankwright
