#include "rankwright/program/cells.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"

namespace rankwright::program {
namespace cells_test {

Diagnostic fault_in(const std::string& text) {
  const Result<WrittenSchedule> read = parse_cells(text, "a.csv");
  EXPECT_FALSE(read.has_value()) << text;
  return read ? Diagnostic{} : read.error();
}

WrittenSchedule read(const std::string& text) {
  const Result<WrittenSchedule> schedule = parse_cells(text, "a.csv");
  EXPECT_TRUE(schedule.has_value()) << schedule.error().detail;
  return schedule.value_or(WrittenSchedule{});
}

TEST(ParseCells, ReadsCellsWithTheirSourcePositions) {
  const WrittenSchedule s = read("# two ranks\n0F0, 0B0\r\n\n1F0,,1I0,1W0\n");
  ASSERT_EQ(s.ranks.size(), 2U);
  EXPECT_EQ(s.ranks[0], (pipeline::Sequence{pipeline::cell::F(0, 0), pipeline::cell::B(0, 0)}));
  EXPECT_EQ(s.ranks[1], (pipeline::Sequence{pipeline::cell::F(1, 0), pipeline::cell::I(1, 0),
                                            pipeline::cell::W(1, 0)}));
  EXPECT_EQ(s.where(0, 1), (Location{"a.csv", 2, 6, 3}));
  EXPECT_EQ(s.where(1, 1), (Location{"a.csv", 4, 6, 3}));
}

TEST(ParseCells, ReadsBatchedTransfers) {
  const WrittenSchedule s = read("0F0,(0SEND_F0;0RECV_B3),0UNSHARD,1F2");
  EXPECT_TRUE(s.transfers);
  EXPECT_EQ(s.ranks[0],
            (pipeline::Sequence{
                pipeline::cell::F(0, 0), action(pipeline::ActionKind::send_forward, 0, 0, true),
                action(pipeline::ActionKind::recv_backward, 0, 3), pipeline::cell::F(1, 2)}));
}

TEST(ParseCells, ReadsTorchsOverlappedPair) {
  EXPECT_EQ(read("(0F1;3B0)OVERLAP_F_B").ranks[0],
            (pipeline::Sequence{action(pipeline::ActionKind::forward, 0, 1, true),
                                pipeline::cell::B(3, 0)}));
  EXPECT_EQ(read("( 0F1 ; 3I0 ) OVERLAP_F_B").ranks[0],
            (pipeline::Sequence{action(pipeline::ActionKind::forward, 0, 1, true),
                                pipeline::cell::I(3, 0)}));
}

TEST(ParseCells, ReportsTheInvalidCell) {
  const Diagnostic d = fault_in("0F0,0F1\n1F0,1X1\n");
  EXPECT_EQ(d.code, "RW0916");
  EXPECT_EQ(d.where, (Location{"a.csv", 2, 5, 3}));
}

TEST(ParseCells, RejectsNumbersOutOfRangeAndIncompleteGroups) {
  for (const char* text : {"F0", "0F", "-1F0", "0F-1", "0F0x", "(0F0", "(0F0;0B0)", "()OVERLAP_F_B",
                           "(0F0;0SEND_F0)OVERLAP_F_B", "(0F0;0B0)TOGETHER",
                           "0F99999999999999999999", "(0F1)OVERLAP_F_B", "(0F1;1F0)OVERLAP_F_B",
                           "(0F2;1B0;2B0)OVERLAP_F_B", "(0F1;1W0)OVERLAP_F_B", "()", "(;0SEND_F0)"})
    EXPECT_EQ(fault_in(text).code, "RW0916") << text;
  EXPECT_EQ(fault_in("8192F0").code, "RW0916");
  EXPECT_EQ(fault_in("0F268435456").code, "RW0916");
}

TEST(ParseCells, RejectsAFileWithoutCells) {
  const std::string detail = fault_in("\n# nothing\n").detail;
  EXPECT_EQ(fault_in(", \n,,\n").detail, detail);  // found by fuzzing
  EXPECT_EQ(fault_in(",\n0UNSHARD,0RESHARD\n").detail, detail);
}

TEST(ParseCells, NamesTheFault) {
  // There are at most 8,192 stages and 2^28 microbatches, counted from 0.
  std::string text;
  for (const std::string cells : {"1X1", "8192F0", "0F268435456", ","})
    text += cells + "\n  " + fault_in(cells).detail + "\n";
  golden::expect("program/cell-faults.txt", text);
}

TEST(ParseCell, ReadsShownCellsOfEveryKind) {
  for (const pipeline::Action& a : {pipeline::cell::F(0, 0), pipeline::cell::B(2, 0),
                                    pipeline::cell::I(8191, 268435455), pipeline::cell::W(1, 9)})
    EXPECT_EQ(parse_cell(show(a)), a) << show(a);
}

TEST(ParseCell, RejectsAnythingElse) {
  for (const char* text :
       {"", "F", "0F", "F0", "0F0x", " 0F0", "-1F0", "0F-1", "0X0", "0UNSHARD", "0SEND_F0",
        "0F0,0F1", "8192F0", "0F268435456", "99999999999999999999F0", "optimizer"})
    EXPECT_EQ(parse_cell(text), std::nullopt) << text;
}

TEST(ShowCells, KeepsARankWithoutCells) {
  const pipeline::Sequences ranks = {{}, {pipeline::cell::F(0, 0), pipeline::cell::B(0, 0)}};
  EXPECT_EQ(show_cells(ranks), ",\n0F0,0B0\n");
  EXPECT_EQ(read(show_cells(ranks)).ranks, ranks);
}

std::vector<CellFault> faults(const std::string& text) {
  return inspect_cells(read(text).ranks).faults;
}

TEST(CellSet, AcceptsACompleteSchedule) { EXPECT_TRUE(faults("0F0,0B0\n1F0,1I0,1W0\n").empty()); }

TEST(CellSet, ReportsMissingCells) {
  using Why = CellFault::Why;
  EXPECT_EQ(faults("0F0,0F1,0B0"),
            (std::vector<CellFault>{{Why::missing, pipeline::cell::B(0, 1)}}));
  EXPECT_EQ(faults("0F0,0I0"), (std::vector<CellFault>{{Why::missing, pipeline::cell::W(0, 0)}}));
  EXPECT_EQ(faults("0B0"), (std::vector<CellFault>{{Why::missing, pipeline::cell::F(0, 0)}}));
}

TEST(CellSet, ReportsDuplicateMisplacedAndMixedCells) {
  using Why = CellFault::Why;
  EXPECT_EQ(faults("0F0,0F0,0B0"),
            (std::vector<CellFault>{{Why::twice, pipeline::cell::F(0, 0), 0, 1}}));
  EXPECT_EQ(faults("0F0\n0B0"),
            (std::vector<CellFault>{{Why::elsewhere, pipeline::cell::B(0, 0), 1, 0}}));
  EXPECT_EQ(faults("0F0,0B0,0W0"),
            (std::vector<CellFault>{{Why::mixed, pipeline::cell::W(0, 0), 0, 2}}));
}

TEST(CellSet, StopsEarlyInALargeGap) {
  // 8,192 x 2^28 cells are expected; the check stops after eight faults.
  EXPECT_EQ(faults("0F0,8191F268435455").size(), 9U);
}

}  // namespace cells_test
}  // namespace rankwright::program
