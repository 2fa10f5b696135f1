// Grades of answer files: right, wrong, open and unreadable answers, and files that cannot be read.
#include "rankwright/lab/grade.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/golden.h"

namespace rankwright::lab {
namespace grade_test {

using ::testing::HasSubstr;

Grade grade_text(const std::string& learner, const std::string& text) {
  return grade(learner, text, learner, importer::refuse_file);
}

std::vector<Grade> make_class() {
  return {grade_text("ada.yaml", "lab: 3\nbubble: 27.3 %\nheld: 4\n"),
          grade_text("bob.yaml", "lab: 3\nbubble: 37.5 %\nheld: four\n"),
          grade_text("cyd.yaml", "lab: 99\n"),
          grade_text("dan.yaml", "bubble: 27.3 %\n"),
          grade_text("eve\x1b[2J\xff.yaml", "{{{"),
          grade_text("fay.yaml", "lab: 3\nfaster: /etc/passwd\n")};
}

TEST(Grade, OutcomesAreCounted) {
  const std::vector<Grade> all = make_class();
  // Lab 3 has 7 questions: Ada answered two, both right; Bob's first is wrong, the second is not a
  // number.
  EXPECT_EQ(all[0].number(LabOutcome::right), 2);
  EXPECT_EQ(all[0].number(LabOutcome::open), 5);
  EXPECT_EQ(all[1].number(LabOutcome::wrong), 1);
  EXPECT_EQ(all[1].number(LabOutcome::unread), 1);
  EXPECT_EQ(all[1].number(LabOutcome::open), 5);
  EXPECT_TRUE(all[0].fault.empty());
  for (const std::size_t i : {2u, 3u, 4u}) EXPECT_FALSE(all[i].fault.empty()) << i;
  EXPECT_EQ(all[5].number(LabOutcome::unread), 1);  // names a file that may not be read
}

TEST(Grade, UnreadableFile_DoesNotAffectOthers_TextMatchesGolden) {
  golden::expect("lab/grades.txt", grades_text(make_class(), {}, 100));
}

TEST(Grade, Json_HasEachAnswerAndTheTotals) {
  const nlohmann::json all = nlohmann::json::parse(grades_json(make_class()));
  EXPECT_EQ(all["schema"], "rankwright.lab_grades/1");
  EXPECT_EQ(all["files"].size(), 6u);
  EXPECT_EQ(all["files"][0]["learner"], "ada.yaml");
  EXPECT_EQ(all["files"][0]["answers"]["bubble"], "right");
  EXPECT_EQ(all["files"][1]["answers"]["held"], "unread");
  EXPECT_THAT(std::string(all["files"][2]["error"]), HasSubstr("99"));
  EXPECT_EQ(all["totals"]["right"], 2);
  EXPECT_EQ(all["totals"]["wrong"], 1);
  // `bubble` was right once and wrong once; three files are of lab 3.
  EXPECT_EQ(all["questions"].size(), 7u);
}

TEST(Grade, FileThatCannotBeOpened_IsARow) {
  const Grade one = refuse_grade("x.yaml", {.code = "RW0910", .message = "cannot read the file"});
  EXPECT_THAT(one.fault, HasSubstr("RW0910"));
  EXPECT_THAT(grades_text({one}, {}, 80), HasSubstr("1 file, 1 unreadable"));
}

}  // namespace grade_test
}  // namespace rankwright::lab
