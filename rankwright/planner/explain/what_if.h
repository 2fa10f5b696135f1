// The what-if control of a report: the plan with other values of one setting at a time, each
// estimated as `explain PLAN --sweep` estimates it. Settings that change the job are left out.
#pragma once

#include <functional>
#include <vector>

#include "rankwright/planner/explain/sweep_view.h"

namespace rankwright::planner {

/// Returns a sweep for each setting that the plan can have other values of: its usual range and its
/// own value. Ends early, between two settings, when `should_stop` returns true. Requires: a config
/// without constraint violations, read from `draft`.
std::vector<SweepView> make_what_if(const plan::TrainingConfig& config,
                                    const importer::Draft& draft, rules::Target target,
                                    const std::function<bool()>& should_stop = {});

/// Returns a draft that states everything that the config does, for a plan that has no file.
importer::Draft make_draft(const plan::TrainingConfig& config);

}  // namespace rankwright::planner
