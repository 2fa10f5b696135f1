// Implements `export` as a library call: writes a plan as the files of a framework or launcher, and
// lists the settings that they cannot express.
#pragma once

#include <string>
#include <vector>

#include "rankwright/export/exporter.h"
#include "rankwright/planner/input/host_names.h"
#include "rankwright/planner/input/plan_input.h"

namespace rankwright::planner {

/// A plan and the target to export it to.
struct ExportRequest {
  PlanSource plan{};
  std::string target{};  // name of a target in exporters(); empty: that of the plan
  HostNames hosts{};     // for launchers
  std::string script{};  // name of the file that a launcher's script is saved as, if known
  bool strict = false;   // refuse if the target cannot express the whole plan
};

/// The exported files and the findings about them.
struct ExportAnswer {
  PlanInput plan;
  const exporter::Exporter* exporter = nullptr;
  Diagnostics
      memory{};  // memory errors: they rest on our estimate, so the files are written anyway
  std::vector<exporter::UnsupportedSetting> lost{};  // settings that the target cannot express
  Diagnostics findings{};  // `lost` and what the target warns of, each with its position
  std::vector<exporter::ExportFile> files{};  // the main file first
};

/// Exports a plan. Refuses a plan with errors other than about memory: its files would not run.
Outcome<ExportAnswer> export_plan(const ExportRequest& request);

/// Returns the names of all targets.
std::vector<std::string> list_export_targets();

}  // namespace rankwright::planner
