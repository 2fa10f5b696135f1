#include "rankwright/catalog/failures.h"

#include <gtest/gtest.h>

#include <set>

#include "rankwright/catalog/table.h"

namespace rankwright::catalog {
namespace failures_test {

TEST(Failures, HaveUniqueNamesPositiveNumbersAndASource) {
  std::set<std::string> names;
  for (const FailureRow& row : list_failure_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " appears twice";
    EXPECT_EQ(row.name, lower(row.name));
    EXPECT_GT(row.value, 0) << row.name;
    EXPECT_FALSE(row.system.empty()) << row.name;
    EXPECT_FALSE(row.source.empty()) << row.name;
    EXPECT_FALSE(row.notes.empty()) << row.name;
    EXPECT_TRUE(row.verified == "yes" || row.verified == "memory") << row.name;
    EXPECT_TRUE(row.gpus > 0 || row.kind == FailureRow::Kind::hang) << row.name;
  }
  EXPECT_FALSE(names.empty());
}

TEST(Failures, RestartTimes_GrowWithTheJob) {
  i64 gpus = 0;
  double value = 0;
  int restarts = 0;
  for (const FailureRow& row : list_failure_rows()) {
    if (row.kind != FailureRow::Kind::restart) continue;
    EXPECT_GT(row.gpus, gpus);
    EXPECT_GT(row.value, value);
    gpus = row.gpus;
    value = row.value;
    ++restarts;
  }
  EXPECT_GE(restarts, 2);  // fewer do not show growth
}

TEST(UsualRestart, InterpolatesBetweenPublishedPoints) {
  EXPECT_EQ(estimate_restart_time(16384), Seconds{200});
  EXPECT_EQ(estimate_restart_time(8), Seconds{200});
  // Half way from 22,000 (300 s) to 64,000 (600 s).
  EXPECT_EQ(estimate_restart_time(43'000), Seconds{450});
  EXPECT_EQ(estimate_restart_time(98'000), Seconds{900});
  EXPECT_EQ(estimate_restart_time(i64{1} << 20), Seconds{900});
}

TEST(FindFailureRate, FindsOnlyRatesByName) {
  EXPECT_EQ(find_failure_rate("RSC-1")->value, 6.5);
  EXPECT_EQ(find_failure_rate("llama3").error().hint, "did you mean llama-3?");
  EXPECT_EQ(find_failure_rate("torch-nccl").error().hint,
            "known: llama-3, rsc-1, rsc-2, ft-hsdp, bloom");
  EXPECT_EQ(usual(FailureRow::Kind::rate).name, "llama-3");
}

}  // namespace failures_test
}  // namespace rankwright::catalog
