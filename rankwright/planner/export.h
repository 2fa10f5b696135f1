// `export` as a library call: a plan as the files that a framework or a launcher runs, and what of
// it they cannot express.
#pragma once

#include <string>
#include <vector>

#include "rankwright/export/exporter.h"
#include "rankwright/planner/input/host_names.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::planner {

struct ExportRequest {
  PlanSource plan{};
  std::string target{};  // a name of exporters()
  HostNames hosts{};     // for a launcher
  bool strict = false;   // refuse where the target cannot express all of the plan
};

struct ExportAnswer {
  PlanInput plan;
  const exporter::Exporter* exporter = nullptr;
  Diagnostics memory{};  // errors about memory: our estimate, so the files are written all the same
  std::vector<exporter::Lost> lost{};         // what the target cannot express
  Diagnostics findings{};                     // the same as warnings, each with its place
  std::vector<exporter::ExportFile> files{};  // the main one first
};

/// Refuses a plan with errors other than about memory: its files would not run.
Outcome<ExportAnswer> export_plan(const ExportRequest& request);

/// Returns the names of the targets.
std::vector<std::string> export_target_names();

}  // namespace rankwright::planner
