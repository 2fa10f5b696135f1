#include "rankwright/planner/plan/source_files.h"

#include "rankwright/import/log/run_log.h"
#include "rankwright/import/log/run_trace.h"

namespace rankwright::planner {

SourceFile make_source(std::string name, Result<std::string> text) {
  if (!text) return {.name = std::move(name), .unreadable = std::move(text.error())};
  return {.name = std::move(name), .text = std::move(*text)};
}

SourceFile read_source(const std::string& name, const importer::FileReader& files) {
  return make_source(name, files(name));
}

SourceFile read_log_source(const std::string& path) {
  return make_source(path, importer::read_long_file(path, importer::kMaxLogBytes));
}

SourceFile read_trace_source(const std::string& path) {
  return make_source(path, importer::read_long_file(path, importer::TraceLimits{}.bytes));
}

void read_named_files(PlanRequest& request, const importer::FileReader& files) {
  if (request.log) request.log = read_log_source(request.log->name);
  if (request.ran) request.ran = read_source(request.ran->name, files);
}

}  // namespace rankwright::planner
