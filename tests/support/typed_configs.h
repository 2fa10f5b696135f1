// Makes a config for tests from the text of a plan file.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/plan/constraint_violation.h"

namespace rankwright {

inline plan::TrainingConfig config_of(const std::string& text) {
  const importer::PlanFile file = importer::read_plan(text, "plan.yaml", importer::refuse_file);
  EXPECT_TRUE(file.findings.empty()) << file.findings.front().detail;
  plan::TrainingConfig config = resolve(file.draft);
  EXPECT_TRUE(find_violations(config).empty());
  return config;
}

}  // namespace rankwright
