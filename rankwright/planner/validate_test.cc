#include "rankwright/planner/validate.h"

#include <gtest/gtest.h>

#include "rankwright/import/syntax/file.h"
#include "tests/support/golden.h"
#include "tests/support/refusal_lines.h"

namespace rankwright::planner {
namespace validate_test {

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
  const ValidateRequest fit{.files = {table("collectives.csv")}, .fit = true};
  golden::expect("planner/validate-refusals.txt",
                 format_refusal("two tables of collectives", validate_runs(two)) +
                     format_refusal("a table of collectives with --fit", validate_runs(fit)));
}

TEST(ValidateRuns, TableOfOtherColumns_IsUnreadable) {
  const Outcome<ValidateAnswer> answer = validate_runs({.files = {{"x.csv", "a,b\n1,2\n"}}});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, Refusal::Kind::unreadable);
  EXPECT_EQ(answer.error().findings[0].where.file, "x.csv");
}

}  // namespace validate_test
}  // namespace rankwright::planner
