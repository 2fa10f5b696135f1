#include "rankwright/import/framework/foreign.h"

#include <gmock/gmock.h>

#include "rankwright/base/check.h"

namespace rankwright::importer {
namespace foreign_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr ForeignKey kRows[] = {
    {"size.tp", "parallelism.tp_size", whole<&Draft::tp, kMaxDegree>, true},
    {"offload", "", nullptr, false, "optimizer states on the host"},
    {"dotted.flag", "parallelism.pp_size", whole<&Draft::pp, kMaxDegree>},
};

/// Reads `text` with the rows above.
PlanFile read(const std::string& text) {
  PlanFile plan{.name = "a.yaml", .text = text};
  const Result<YamlNode> root = read_yaml(plan.text, plan.name);
  RW_CHECK(root.has_value());
  FieldReader fields(plan.name, plan.findings);
  ForeignReading reading{fields, plan.draft, *root, refuse_file};
  read_foreign(reading, kRows, plan);
  plan.keys = fields.keys();
  return plan;
}

TEST(Foreign, ReadsKeysWithRowsAndListsTheRest) {
  const PlanFile plan = read("size: {tp: 8, other: 1}\nlr: 0.1\nempty: {}\n");
  EXPECT_EQ(plan.draft.tp, 8);
  EXPECT_EQ(plan.where("parallelism.tp_size").column, 12);
  EXPECT_THAT(plan.ignored_keys, ElementsAre("size.other", "lr", "empty"));
  EXPECT_TRUE(plan.findings.empty());
}

TEST(Foreign, NullCountsAsMissing) {
  EXPECT_EQ(read("size: {tp: null}\n").draft.tp, std::nullopt);
  EXPECT_EQ(read("size:\n").draft.tp, std::nullopt);
}

TEST(Foreign, FindsKeysWithDotsInTheirNames) {
  EXPECT_EQ(read("dotted.flag: 4\n").draft.pp, 4);
  EXPECT_EQ(read("dotted: {flag: 4}\n").draft.pp, 4);
}

TEST(Foreign, IgnoredSetting_IsReportedUnlessOff) {
  const PlanFile plan = read("offload: {device: cpu}\n");
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].code, "RW0601");
  EXPECT_EQ(plan.findings[0].severity, Severity::warning);
  EXPECT_THAT(plan.findings[0].detail, HasSubstr("optimizer states on the host"));
  for (const char* const off : {"false", "{}", "none", "0", "null"})
    EXPECT_TRUE(read(std::string("offload: ") + off + "\n").findings.empty()) << off;
}

TEST(Foreign, WrongKind_HasItsLocation) {
  const PlanFile plan = read("size:\n  tp: [8]\n");
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].code, "RW0903");
  EXPECT_EQ(plan.findings[0].where.line, 2);
  EXPECT_EQ(plan.findings[0].key, "parallelism.tp_size");
}

TEST(Foreign, FileThatIsNotAMap_IsRejected) {
  const PlanFile plan = read("[1, 2]\n");
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].code, "RW0903");
}

TEST(Foreign, FindsTheKeyForAnEdit) {
  ASSERT_NE(find_row_for(kRows, "parallelism.tp_size"), nullptr);
  EXPECT_EQ(find_row_for(kRows, "parallelism.tp_size")->path, "size.tp");
  EXPECT_EQ(find_row_for(kRows, "parallelism.pp_size"),
            nullptr);  // its values are typed differently
}

}  // namespace foreign_test
}  // namespace rankwright::importer
