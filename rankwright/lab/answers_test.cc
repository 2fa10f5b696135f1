// Reads answer files: complete, partial and hostile ones.
#include "rankwright/lab/answers.h"

#include <gmock/gmock.h>

#include "rankwright/lab/lab_text.h"
#include "tests/support/golden.h"

namespace rankwright::lab {
namespace answers_test {

const Lab& kLab = *find_lab(3);

GivenAnswers read(const std::string& text,
                  const importer::FileReader& files = importer::refuse_file) {
  return read_answers(kLab, text, "answer.yaml", files);
}

/// Returns "RW0909 bubble 2:9" for each finding, those of the file first.
std::vector<std::string> list_faults(const std::string& text,
                                     const importer::FileReader& files = importer::refuse_file) {
  std::vector<std::string> all;
  const auto add = [&](const Diagnostics& found) {
    for (const Diagnostic& d : found)
      all.push_back(std::string(d.code) + " " + d.key + " " + std::to_string(d.where.line) + ":" +
                    std::to_string(d.where.column));
  };
  const GivenAnswers given = read(text, files);
  add(given.findings);
  for (const GivenAnswer& one : given.answers) add(one.faults);
  return all;
}

using Faults = std::vector<std::string>;

TEST(AnswerFile, Template_IsReadWithAllQuestionsOpen) {
  ASSERT_FALSE(labs().empty());
  for (const Lab& lab : labs()) {
    const GivenAnswers all =
        read_answers(lab, template_text(lab), "answer.yaml", importer::refuse_file);
    EXPECT_TRUE(all.findings.empty()) << lab.page;
    ASSERT_EQ(all.answers.size(), lab.questions.size());
    for (const GivenAnswer& one : all.answers) EXPECT_FALSE(one.given) << one.question->key;
  }
}

TEST(AnswerFile, MissingQuestions_AreOpen) {
  const GivenAnswers all = read("held: 4\n");
  EXPECT_TRUE(all.findings.empty());
  ASSERT_EQ(all.answers.size(), kLab.questions.size());
  for (const GivenAnswer& one : all.answers) EXPECT_EQ(one.given, one.question->key == "held");
}

TEST(AnswerFile, InvalidAnswers_AreReportedWithTheirPosition) {
  EXPECT_EQ(list_faults("held: 4\nbubble: 27.3\n"), Faults{"RW0909 bubble 2:9"});
  EXPECT_EQ(list_faults("held: four\n"), Faults{"RW0903 held 1:7"});
  EXPECT_EQ(list_faults("held: [4]\n"), Faults{"RW0903 held 1:7"});
  EXPECT_EQ(list_faults("held: 4\nhedl: 4\n"), Faults{"RW0902  2:1"});
  EXPECT_EQ(list_faults("held: 4\nheld: 4\n"), Faults{"RW0905  2:1"});
  EXPECT_EQ(list_faults("[held]\n"), Faults{"RW0903  1:1"});
  EXPECT_EQ(list_faults("held: &a 4\nmicrobatches: *a\n").at(0).substr(0, 6), "RW0906");
}

TEST(AnswerFile, OneUnreadableAnswer_DoesNotAffectOthers) {
  const GivenAnswers all = read("bubble: 27.3\nheld: 4\n");
  EXPECT_TRUE(all.findings.empty());
  ASSERT_EQ(all.answers.size(), kLab.questions.size());
  for (const GivenAnswer& one : all.answers) {
    EXPECT_EQ(one.given, one.question->key == "held");
    EXPECT_EQ(one.faults.size(), one.question->key == "bubble" ? 1u : 0u);
  }
}

TEST(AnswerFile, WarningsOfAPlan_AreFindingsOfTheFile) {
  const GivenAnswers all = read("faster: {parallelism: {tp_size: none, pp_sise: 4}}\n");
  ASSERT_EQ(all.findings.size(), 1u);
  EXPECT_EQ(all.findings[0].severity, Severity::warning);
  EXPECT_EQ(all.answers.back().faults.size(), 1u);
}

TEST(AnswerFile, Choices_IgnoreCase) {
  const GivenAnswers all =
      read_answers(*find_lab(2), "link: InfiniBand\n", "answer.yaml", importer::refuse_file);
  EXPECT_TRUE(all.findings.empty());
  EXPECT_TRUE(all.answers[3].given);
  EXPECT_EQ(all.answers[3].value, 1);
  EXPECT_EQ(all.answers[3].text, "InfiniBand");
}

TEST(AnswerFile, OtherLabsFile_IsRefused) {
  EXPECT_EQ(list_faults("lab: 4\nheld: 4\n"), Faults{"RW0933  1:6"});
  EXPECT_EQ(list_faults("stage_1: 61.8 GB\n"), Faults{"RW0933  1:1"});
  EXPECT_EQ(list_faults("lab: 3\n"), Faults{});
  EXPECT_EQ(list_faults("lab: three\n"), Faults{"RW0903  1:6"});
  EXPECT_EQ(list_faults(""), Faults{"RW0903  0:0"});
}

TEST(AnswerFile, PlanAsAMap_IsReadWithTheQuestionsTask) {
  const GivenAnswers all = read("faster:\n  parallelism: {tp_size: 4, pp_size: 4}\n");
  EXPECT_TRUE(all.findings.empty());
  const GivenAnswer& plan = all.answers.back();
  ASSERT_TRUE(plan.plan.has_value());
  // Settings that the answer leaves open are the question's.
  const rankwright::plan::TrainingConfig given = load_example_config(plan.question->file);
  EXPECT_EQ(plan.plan->model, given.model);
  EXPECT_EQ(plan.plan->job, given.job);
  EXPECT_EQ(plan.plan->cluster, given.cluster);
  EXPECT_EQ(plan.plan->world, 16);
}

TEST(AnswerFile, ErrorInAPlanMap_IsReportedWithItsPosition) {
  EXPECT_EQ(list_faults("faster:\n  parallelism: {tp_size: none}\n"),
            Faults{"RW0903 parallelism.tp_size 2:26"});
  EXPECT_EQ(list_faults("faster: [1]\n"), Faults{"RW0903 faster 1:9"});
}

Result<std::string> one_plan(const std::string& path) {
  if (path != "mine.yaml") return importer::refuse_file(path);
  return "parallelism: {tp_size: 2, pp_size: 8}\n";
}

TEST(AnswerFile, PlanAsAFileName_IsRead) {
  const GivenAnswers all = read("faster: mine.yaml\n", one_plan);
  EXPECT_TRUE(all.findings.empty());
  ASSERT_TRUE(all.answers.back().plan.has_value());
  EXPECT_EQ(all.answers.back().plan->plan.pp, 8);
  EXPECT_EQ(list_faults("faster: other.yaml\n", one_plan).size(), 1u);
}

Result<std::string> one_toml(const std::string& path) {
  if (path != "mine.toml") return importer::refuse_file(path);
  return "[parallelism]\ndata_parallel_shard_degree = 8\ndata_parallel_replicate_degree = 2\n"
         "tensor_parallel_degree = 1\n[training]\nlocal_batch_size = 1\n";
}

TEST(AnswerFile, FrameworkFile_UsesTheSoftwareOfTheQuestion) {
  const GivenAnswers all =
      read_answers(*find_lab(4), "inside: mine.toml\n", "answer.yaml", one_toml);
  ASSERT_TRUE(all.answers.back().plan.has_value());
  EXPECT_EQ(all.answers.back().plan->software,
            load_example_config(all.answers.back().question->file).software);
}

TEST(AnswerFile, TruncatedFile_IsReadOrRefused) {
  const std::string whole = golden::read(RANKWRIGHT_SOURCE_DIR "/tests/data/labs/04.yaml");
  ASSERT_FALSE(whole.empty());
  for (std::size_t n = 0; n <= whole.size(); ++n) {
    const GivenAnswers all =
        read_answers(*find_lab(4), whole.substr(0, n), "answer.yaml", importer::refuse_file);
    EXPECT_EQ(all.answers.size(), find_lab(4)->questions.size());
  }
}

}  // namespace answers_test
}  // namespace rankwright::lab
