// For tests: a setup as somebody types it. Not part of the library.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "rankwright/import/plan_file.h"
#include "rankwright/plan/misfit.h"

namespace rankwright {

inline Setup setup_of(const std::string& text) {
  const PlanFile file = read_plan(text, "plan.yaml", refuse_file);
  EXPECT_TRUE(file.findings.empty()) << file.findings.front().detail;
  Setup setup = resolve(file.draft);
  EXPECT_TRUE(misfits(setup).empty());
  return setup;
}

}  // namespace rankwright
