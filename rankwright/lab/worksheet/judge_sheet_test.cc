// Verdicts on answers about examples/course-64.yaml: 64 GPUs in 8 nodes of 8, TP 8 inside the node,
// PP 4 and DP 2 across nodes, no ZeRO. Other plans are edits of it.
#include "rankwright/lab/worksheet/judge_sheet.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/lab/lab.h"
#include "rankwright/plan/constraint_violation.h"
#include "tests/support/golden.h"

namespace rankwright::lab {
namespace judge_sheet_test {

constexpr CellOutcome kRight = CellOutcome::right, kHalf = CellOutcome::half_right,
                      kWrong = CellOutcome::wrong, kOpen = CellOutcome::open;

const SheetPlan& course() {
  static const SheetPlan plan = make_sheet_plan(load_example_config("course-64.yaml"));
  return plan;
}

std::size_t find_row(const SheetPlan& plan, const std::string& label) {
  for (const SheetRow& row : list_sheet_rows(plan.view))
    if (row.label == label) return row.index;
  ADD_FAILURE() << "no row " << label;
  return 0;
}

/// One answer and its verdict.
struct Case {
  std::string row, given;
  CellOutcome outcome;
};

void expect_verdicts(const SheetPlan& plan, SheetColumn column, const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    const CellJudgment judgment = judge_cell(plan, column, find_row(plan, one.row), one.given);
    EXPECT_EQ(name(judgment.outcome), name(one.outcome))
        << one.row << ": " << one.given << " (" << judgment.reason << ")";
    if (one.outcome == kHalf || one.outcome == kWrong) {
      EXPECT_NE(judgment.reason, "") << one.row << ": " << one.given;
    }
  }
}

TEST(JudgeDegree, AgainstThePlan) {
  expect_verdicts(course(), SheetColumn::degree,
                  {{"TP", "8", kRight},
                   {"TP", "8-way", kRight},
                   {"TP", "TP = eight", kRight},
                   {"TP", "4", kWrong},
                   {"TP", "8 or 16", kHalf},
                   {"TP", "", kOpen},
                   {"TP", "many", kOpen},
                   {"TP", "none", kWrong},
                   {"SP", "with TP", kRight},
                   {"SP", "8", kRight},
                   {"SP", "2", kWrong},
                   {"PP", "4 stages", kRight},
                   {"DP", "DP=2", kRight},
                   {"FSDP/ZeRO", "0", kRight},
                   {"FSDP/ZeRO", "none", kRight},
                   {"FSDP/ZeRO", "-", kRight},
                   {"FSDP/ZeRO", "1", kHalf},
                   {"FSDP/ZeRO", "stage 3", kWrong}});
}

TEST(JudgeDegree, ZeroNeedsStageAndShards) {
  plan::TrainingConfig config = load_example_config("course-64.yaml");
  config.plan.zero = 1;
  expect_verdicts(make_sheet_plan(config), SheetColumn::degree,
                  {{"FSDP/ZeRO", "stage 1 over 2", kRight},
                   {"FSDP/ZeRO", "ZeRO-1 on 2 ranks", kRight},
                   {"FSDP/ZeRO", "ZeRO-1", kHalf},
                   {"FSDP/ZeRO", "stage 3 over 2", kHalf},
                   {"FSDP/ZeRO", "none", kWrong}});
}

TEST(JudgePlacement, AgainstThePlan) {
  expect_verdicts(course(), SheetColumn::placement,
                  {{"TP", "inside nvlink", kRight},
                   {"TP", "Within a node (8 GPUs)", kRight},
                   {"TP", "intra-node, not across nodes", kRight},
                   {"TP", "across infiniband", kWrong},
                   {"TP", "inside nvlink and across nodes", kHalf},
                   {"TP", "4 inside nvlink", kHalf},  // 4 is neither the degree nor a node
                   {"TP", "blue", kOpen},
                   {"TP", "-", kOpen},
                   {"PP", "4 across infiniband", kRight},
                   {"PP", "inter-node", kRight},
                   {"PP", "inside the node", kWrong},
                   {"FSDP/ZeRO", "-", kRight},
                   {"FSDP/ZeRO", "across infiniband", kWrong}});
}

TEST(JudgePlacement, TwoLevelsNeedTheirCounts) {
  plan::TrainingConfig config = load_example_config("course-64.yaml");
  config.plan.tp = 4;  // then 2 of the 4 DP ranks share a node: 2 inside nvlink x 2 across
  config.plan.dp = 4;
  expect_verdicts(make_sheet_plan(config), SheetColumn::placement,
                  {{"DP", "2 inside nvlink x 2 across infiniband", kRight},
                   {"DP", "2 in each node, across 2 nodes", kRight},
                   {"DP", "inside nvlink and across infiniband", kHalf},
                   {"DP", "across infiniband", kHalf}});
}

TEST(JudgeReason, NeedsItsParts) {
  expect_verdicts(course(), SheetColumn::reason,
                  {{"TP", "splits every matmul; needs NVLink bandwidth", kRight},
                   {"TP", "All-reduces in every layer", kRight},
                   {"TP", "splits the weight matrices", kHalf},
                   {"TP", "it is good for everyone", kWrong},
                   {"TP", "good", kOpen},
                   {"PP", "80 layers in 4 stages, so there is a bubble", kRight},
                   {"PP", "stages", kHalf},
                   {"DP", "two replicas split the batch", kRight},
                   {"DP", "copies", kHalf},
                   {"FSDP/ZeRO", "states are replicated", kRight}});
}

TEST(JudgeReason, ZeroStageDecidesWhichStatesAreNamed) {
  plan::TrainingConfig config = load_example_config("course-64.yaml");
  config.plan.zero = 2;
  expect_verdicts(make_sheet_plan(config), SheetColumn::reason,
                  {{"FSDP/ZeRO", "shards optimizer states and gradients", kRight},
                   {"FSDP/ZeRO", "shards optimizer states", kHalf},
                   {"FSDP/ZeRO", "it makes the step short", kWrong}});
}

TEST(JudgeFrequency, AgainstThePlan) {
  expect_verdicts(course(), SheetColumn::frequency,
                  {{"TP all-gather", "per layer", kRight},
                   {"TP all-gather", "in every transformer block", kRight},
                   {"TP all-gather", "per micro-batch", kHalf},
                   {"TP all-gather", "once per step", kWrong},
                   {"PP send/recv forward", "every microbatch", kRight},
                   {"PP send/recv forward", "per stage boundary", kRight},
                   {"PP send/recv forward", "per step", kWrong},
                   {"DP all-reduce", "per step", kRight},
                   {"DP all-reduce", "once per iteration", kRight},
                   {"DP all-reduce", "per layer", kHalf},
                   {"DP all-reduce", "often", kOpen}});
}

TEST(JudgePreferredLink, AgainstThePlan) {
  expect_verdicts(course(), SheetColumn::preferred_link,
                  {{"TP all-gather", "NVLink", kRight},
                   {"TP all-gather", "intra-node", kRight},
                   {"TP all-gather", "infiniband", kWrong},
                   {"TP all-gather", "any", kWrong},
                   {"TP all-gather", "nvlink or IB", kHalf},
                   {"PP send/recv forward", "any", kRight},
                   {"PP send/recv forward", "infiniband", kRight},
                   {"PP send/recv forward", "nvlink", kRight},
                   {"PP send/recv forward", "token ring", kOpen}});
}

TEST(JudgeRisk, NeedsItsParts) {
  expect_verdicts(course(), SheetColumn::risk,
                  {{"TP all-gather", "a slow link stalls each layer", kRight},
                   {"TP all-gather", "bandwidth", kHalf},
                   {"PP send/recv forward", "bubbles", kRight},
                   {"PP send/recv forward", "the model becomes too large", kWrong},
                   {"DP all-reduce", "exposed if backward is too short", kRight},
                   {"DP all-reduce", "exposed", kHalf}});
}

TEST(JudgeStates, AxesAreSets) {
  expect_verdicts(course(), SheetColumn::split_over,
                  {{"parameters", "TP, PP", kRight},
                   {"parameters", "pipeline stages and tensor ranks", kRight},
                   {"parameters", "TP", kHalf},
                   {"parameters", "TP, PP, DP", kHalf},
                   {"parameters", "DP", kWrong},
                   {"parameters", "none", kWrong},
                   {"parameters", "-", kOpen},
                   {"batch", "DP", kRight}});
  expect_verdicts(course(), SheetColumn::replicated_over,
                  {{"parameters", "DP", kRight},
                   {"parameters", "data-parallel replicas", kRight},
                   {"parameters", "TP", kWrong},
                   {"activations", "-", kRight},
                   {"batch", "TP and PP", kRight}});
}

TEST(JudgeConsistency, AgainstThePlan) {
  expect_verdicts(course(), SheetColumn::consistent_by,
                  {{"gradients", "all-reduce over DP", kRight},
                   {"gradients", "AllReduce", kRight},
                   {"gradients", "reduce-scatter", kWrong},
                   {"gradients", "magic", kOpen},
                   {"parameters", "same gradients and the same update", kRight},
                   {"activations", "TP collectives", kHalf},
                   {"activations", "TP collectives and PP sends", kRight},
                   {"batch", "the sampler", kRight}});
}

TEST(JudgeCell, AnswerIsNotInTheReasonOfWrongDegrees) {
  for (const char* axis : {"TP", "PP", "DP"}) {
    const std::size_t index = find_row(course(), axis);
    const std::string reason = judge_cell(course(), SheetColumn::degree, index, "3").reason;
    EXPECT_EQ((" " + reason + " ").find(" " + course().view.axes[index].degree + " "),
              std::string::npos)
        << reason;
  }
}

TEST(JudgeWorksheet, ReasonsOfAnAxisDoNotGiveAwayItsDegree) {
  const std::string table = "| axis | degree | placement | reason |\n|---|---|---|---|\n| PP | ";
  const auto reason_of = [&](const std::string& degree) {
    const GivenSheet sheet = read_worksheet(table + degree + " | across nodes | layers, bubble |\n",
                                            "a.md", list_sheet_rows(course().view));
    for (const CellVerdict& verdict : judge_worksheet(course(), sheet))
      if (verdict.row.label == "PP" && verdict.column == SheetColumn::reason)
        return verdict.judgment.reason;
    return std::string("no such cell");
  };
  EXPECT_EQ(reason_of("8"), "");
  EXPECT_EQ(reason_of(""), "");
  EXPECT_EQ(reason_of("4"), course().view.axes[find_row(course(), "PP")].reason);
}

TEST(JudgeWorksheet, Blank_IsAllOpen) {
  const GivenSheet sheet =
      read_worksheet(write_worksheet(course(), "x", false), "a.md", list_sheet_rows(course().view));
  EXPECT_TRUE(sheet.findings.empty());
  const std::vector<CellVerdict> verdicts = judge_worksheet(course(), sheet);
  EXPECT_EQ(count_outcomes(verdicts, kOpen), i64(verdicts.size()));
  EXPECT_GT(verdicts.size(), 30u);
}

TEST(JudgeWorksheet, MissingTablesColumnsAndRows_AreOpenWithTheReason) {
  const GivenSheet sheet = read_worksheet("| axis | degree |\n|---|---|\n| TP | 8 |\n", "a.md",
                                          list_sheet_rows(course().view));
  const std::vector<CellVerdict> verdicts = judge_worksheet(course(), sheet);
  EXPECT_EQ(count_outcomes(verdicts, kRight), 1);
  EXPECT_EQ(count_outcomes(verdicts, kOpen), i64(verdicts.size()) - 1);
  for (const CellVerdict& verdict : verdicts)
    if (verdict.judgment.outcome == kOpen) {
      EXPECT_NE(verdict.judgment.reason.find(verdict.row.table == SheetTable::axes
                                                 ? "in the table at line 1"
                                                 : "the file has no such table"),
                std::string::npos);
    }
}

/// Returns all plan files of examples/ that have no constraint violations.
std::vector<std::pair<std::string, plan::TrainingConfig>> list_example_plans() {
  std::vector<std::pair<std::string, plan::TrainingConfig>> plans;
  for (const char* folder : {"/examples", "/examples/labs"})
    for (const auto& entry :
         std::filesystem::directory_iterator(RANKWRIGHT_SOURCE_DIR + std::string(folder))) {
      if (entry.path().extension() != ".yaml") continue;
      const importer::PlanFile file = importer::read_plan(
          golden::read(entry.path()), entry.path().filename(), importer::refuse_file);
      if (has_errors(file.findings)) continue;  // a cluster file
      plan::TrainingConfig config = resolve(file.draft);
      if (find_violations(config).empty()) plans.emplace_back(file.name, std::move(config));
    }
  return plans;
}

// Law: the worksheet that `explain` fills in is all right, for every example plan.
TEST(JudgeWorksheet, AnswersOfExplain_AreAllRight) {
  const auto plans = list_example_plans();
  EXPECT_GT(plans.size(), 20u);
  for (const auto& [name_of_plan, config] : plans) {
    const SheetPlan plan = make_sheet_plan(config);
    const GivenSheet sheet =
        read_worksheet(write_worksheet(plan, "x", true), name_of_plan, list_sheet_rows(plan.view));
    EXPECT_TRUE(sheet.findings.empty()) << name_of_plan;
    for (const CellVerdict& verdict : judge_worksheet(plan, sheet))
      EXPECT_EQ(name(verdict.judgment.outcome), "right")
          << name_of_plan << ": " << verdict.row.label << " " << row(verdict.column).title << " '"
          << verdict.given << "': " << verdict.judgment.reason;
  }
}

// Law: the answer of `explain` is right for every kind of communication, also those not asked for.
TEST(JudgeCell, EveryRowOfExplain_IsRight) {
  for (const auto& [name_of_plan, config] : list_example_plans()) {
    const SheetPlan plan = make_sheet_plan(config);
    for (const SheetRow& line : list_sheet_rows(plan.view))
      for (const SheetColumnRow& column : sheet_columns())
        if (column.table == line.table) {
          EXPECT_EQ(
              judge_cell(plan, column.column, line.index, column.answer(plan, line.index)).outcome,
              kRight)
              << name_of_plan << ": " << line.label << " " << column.title;
        }
  }
}

}  // namespace judge_sheet_test
}  // namespace rankwright::lab
