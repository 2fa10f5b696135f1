#include "rankwright/plan/software.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace rankwright::plan {
namespace software_test {

const Software& find(std::string_view name) {
  for (const Software& row : frameworks())
    if (row.name == name) return row;
  ADD_FAILURE() << "there is no row " << name;
  return frameworks().front();
}

TEST(Frameworks, HaveUniqueNamesAndAYear) {
  std::set<std::string_view> names;
  for (const Software& row : frameworks()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_GE(row.year, 2020) << row.name;
    EXPECT_LE(row.year, 2026) << row.name;
  }
  EXPECT_GT(names.size(), 10u);
}

// "deepspeed-2021" is DeepSpeed of 2021; the row without a year is today's.
TEST(Frameworks, RowWithAYearInItsName_DescribesThatYear) {
  int dated = 0;
  for (const Software& row : frameworks()) {
    const std::size_t at = row.name.rfind("-20");
    if (at == std::string_view::npos) continue;
    ++dated;
    EXPECT_EQ(std::to_string(row.year), row.name.substr(at + 1)) << row.name;
  }
  EXPECT_EQ(dated, 2);  // Megatron-LM and DeepSpeed
  EXPECT_EQ(find("deepspeed").year, 2026);
  EXPECT_EQ(frameworks().front().year, 2026);
}

TEST(Frameworks, DeepspeedOfToday_FusesAttentionAndUsesEveryNic) {
  EXPECT_EQ(find("deepspeed").attention, AttentionKernel::flash2);
  EXPECT_FALSE(find("deepspeed").single_rail);
  EXPECT_EQ(find("deepspeed-2021").attention, AttentionKernel::unfused);
  EXPECT_TRUE(find("deepspeed-2021").single_rail);
}

}  // namespace software_test
}  // namespace rankwright::plan
