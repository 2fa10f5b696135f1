#include "rankwright/planner/validate.h"

#include <gmock/gmock.h>

#include "rankwright/import/syntax/file.h"

namespace rankwright::planner {
namespace validate_test {

using ::testing::HasSubstr;

SourceFile table(const std::string& name) {
  const std::string path = RANKWRIGHT_SOURCE_DIR "/tests/data/validation/" + name;
  return {path, importer::read_file(path).value()};
}

TEST(ValidateRuns, TableOfRuns_IsScoredAndOwnsItsRows) {
  Outcome<ValidateAnswer> answer = validate_runs({.files = {table("vtrain_single_node.csv")}});
  ASSERT_TRUE(answer.has_value());
  ASSERT_TRUE(answer->runs.has_value());
  const ScoredRuns runs = std::move(*answer->runs);  // its rows point into its cases
  ASSERT_FALSE(runs.validation.rows.empty());
  EXPECT_EQ(runs.validation.rows[0].run, &(*runs.cases)[0].run);
  EXPECT_GT(runs.source.share(runs.validation.rows.size()), 0);
}

TEST(ValidateRuns, TableOfCollectives_IsScoredAlone) {
  const Outcome<ValidateAnswer> answer = validate_runs({.files = {table("collectives.csv")}});
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(answer->collectives.has_value());
  const ValidateRequest two{.files = {table("collectives.csv"), table("collectives.csv")}};
  EXPECT_EQ(validate_runs(two).error().message, "a table of collectives is scored alone");
  const ValidateRequest fit{.files = {table("collectives.csv")}, .fit = true};
  EXPECT_THAT(validate_runs(fit).error().message, HasSubstr("this is a table of collectives"));
}

TEST(ValidateRuns, TableOfOtherColumns_IsUnreadable) {
  const Outcome<ValidateAnswer> answer = validate_runs({.files = {{"x.csv", "a,b\n1,2\n"}}});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, Refusal::Kind::unreadable);
  EXPECT_EQ(answer.error().findings[0].where.file, "x.csv");
}

}  // namespace validate_test
}  // namespace rankwright::planner
