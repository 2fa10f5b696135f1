// The flags about the job and the software are the same in every verb that estimates a plan.
#include <gmock/gmock.h>

#include <fstream>

#include "cli/option_rows.h"
#include "rankwright/planner/input/key_options.h"
#include "tests/support/run_command.h"

namespace rankwright::cli {
namespace job_flags_test {

/// Returns the flags under the heading of the job, with their values and help.
std::vector<std::string> list_job_flags(std::string_view name) {
  std::vector<std::string> all;
  for (const OptionRow& row : list_option_rows(verb(name)))
    if (row.group == planner::kJobOptionGroup)
      all.push_back(row.flags.front() + " " + row.type + " " + row.help);
  return all;
}

TEST(JobFlags, CheckExplainAndReport_TakeThoseOfPlan) {
  const std::vector<std::string> of_plan = list_job_flags("plan");
  EXPECT_EQ(of_plan.size(), planner::key_options().size());
  for (const char* const name : {"check", "explain", "report"})
    EXPECT_EQ(list_job_flags(name), of_plan) << name;
}

TEST(JobFlags, ReplaceWhatThePlanSays) {
  const std::vector<std::string> plan = {"explain", "examples/course-64.yaml", "--json"};
  std::vector<std::string> longer = plan;
  longer.insert(longer.end(), {"--seq", "16384"});
  const CommandResult a = run_command(plan), b = run_command(longer);
  EXPECT_EQ(a.code, 0);
  EXPECT_EQ(b.code, 0) << b.err;
  EXPECT_THAT(b.out, ::testing::HasSubstr("\"sequence\": 16384"));
  EXPECT_THAT(a.out, ::testing::Not(::testing::HasSubstr("\"sequence\": 16384")));
}

TEST(JobFlags, Schedule_RefusesThem) {
  const Scratch file("job-flags.csv");
  std::ofstream(file.path()) << "0F0,0B0\n";
  EXPECT_EQ(run_command({"check", file.path(), "--seq", "4096"}).code, 64);
}

}  // namespace job_flags_test
}  // namespace rankwright::cli
