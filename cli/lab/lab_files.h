// Files of `rankwright lab`: writes the plans of a lab, and grades a folder of answer files.
#pragma once

#include <string>

#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/lab/page.h"

namespace rankwright::cli {

/// Writes the plans of a lab below `folder`, under the paths that its commands have. A file that
/// exists with other content is left unchanged, and nothing is written. Returns the exit code.
int write_lab_plans(const lab::Lab& lab, const std::string& folder, const Options& options,
                    const Io& io);

/// Grades every answer file of `folder`. Returns kOk if all are readable and right, else kRefused.
int grade_folder(const std::string& folder, const Options& options, const Io& io);

}  // namespace rankwright::cli
