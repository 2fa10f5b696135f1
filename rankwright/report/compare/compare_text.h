// A comparison for people: on a terminal, or as Markdown for a design document.
#pragma once

#include <string>

#include "rankwright/planner/compare/compare_view.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::report {

/// A plan with its name: a file's.
struct NamedPlan {
  std::string name;
  const plan::TrainingConfig& config;
};

std::string compare_text(const NamedPlan& a, const NamedPlan& b, const planner::CompareView& view,
                         const Paint& paint, std::size_t width);

std::string compare_markdown(const NamedPlan& a, const NamedPlan& b,
                             const planner::CompareView& view);

/// The plan's degree_tags with its schedule, and how many microbatches run through it.
std::string plan_line(const plan::TrainingConfig& config);

}  // namespace rankwright::report
