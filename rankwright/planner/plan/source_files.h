// Reads the files that a caller names into the values of a request. The planner's calls do not read
// files by themselves.
#pragma once

#include <string>

#include "rankwright/base/result.h"
#include "rankwright/import/syntax/file.h"
#include "rankwright/planner/plan/plan_request.h"

namespace rankwright::planner {

/// Returns a file with its text, or with the reason why it could not be read.
SourceFile make_source(std::string name, Result<std::string> text);

/// Reads a file of at most kMaxFileBytes.
SourceFile read_source(const std::string& name,
                       const importer::FileReader& files = importer::read_file);

/// Reads the log of a run, which may be longer than other files.
SourceFile read_log_source(const std::string& path);

/// Reads the trace of a run, which may be longer than other files.
SourceFile read_trace_source(const std::string& path);

/// Reads the files that the options of `request` name: the log, and the plan of its run.
void read_named_files(PlanRequest& request,
                      const importer::FileReader& files = importer::read_file);

}  // namespace rankwright::planner
