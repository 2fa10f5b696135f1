#include "rankwright/import/log/trace_format.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace rankwright::importer {
namespace trace_format_test {

TEST(TrackName, IsWhatViewersShow) {
  EXPECT_EQ(track_name({.pp_rank = 3}), "pp rank 3");
  EXPECT_EQ(track_name({.pp_rank = 0, .beside = true}), "pp rank 0, overlapped");
}

TEST(TrackName, OtherNamesAreRejected) {
  for (const char* name : {"", "pp rank", "pp rank ", "pp rank x", "pp rank 1 ", "pp rank -1",
                           "pp rank 01", "pp rank 1,beside", "pp rank 1, besides", "PP rank 1",
                           " pp rank 1", "pp rank , beside", "pp rank 1, beside, beside"})
    EXPECT_EQ(parse_track_name(name), std::nullopt) << name;
}

TEST(TrackName, RankBeyond64Bits_IsClamped) {
  EXPECT_EQ(parse_track_name("pp rank 99999999999999999999")->pp_rank,
            std::numeric_limits<i64>::max());
}

RC_GTEST_PROP(TrackName, RoundTrips, ()) {
  const TraceTrack track{.pp_rank = *rc::gen::nonNegative<i64>(),
                         .beside = *rc::gen::arbitrary<bool>()};
  RC_ASSERT(parse_track_name(track_name(track)) == track);
}

TEST(TrackName, OlderNamesAreRead) {
  EXPECT_EQ(parse_track_name("pp rank 4, beside"), (TraceTrack{.pp_rank = 4, .beside = true}));
}

TEST(CellName, IsReadableAndRoundTrips) {
  EXPECT_EQ(cell_name(pipeline::cell::F(2, 0)), "forward, micro-batch 0, stage 2");
  EXPECT_EQ(cell_name(pipeline::cell::I(12, 345)), "input gradient, micro-batch 345, stage 12");
  for (const pipeline::Action& cell : {pipeline::cell::F(2, 0), pipeline::cell::B(0, 7),
                                       pipeline::cell::I(12, 345), pipeline::cell::W(3, 1)})
    EXPECT_EQ(parse_cell_name(cell_name(cell)), cell);
  EXPECT_EQ(parse_cell_name("2F0"), pipeline::cell::F(2, 0));
}

TEST(CellName, OtherNamesAreRejected) {
  for (const char* name :
       {"", "forward", "forward, micro-batch , stage 2", "forward, micro-batch 0",
        "forward, micro-batch 0, stage x", "optimizer", "forward, stage 0, micro-batch 0"})
    EXPECT_EQ(parse_cell_name(name), std::nullopt) << name;
}

}  // namespace trace_format_test
}  // namespace rankwright::importer
