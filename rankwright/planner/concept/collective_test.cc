#include "rankwright/planner/concept/collective.h"

#include <gtest/gtest.h>

#include "rankwright/cost/traffic_cost.h"

namespace rankwright::planner {
namespace collective_test {

using C = Collective;

/// Returns the slots that a rank holds something in.
i64 count_held(const Buffer& buffer) {
  i64 held = 0;
  for (const Slot& slot : buffer) held += slot.empty() ? 0 : 1;
  return held;
}

std::string show_rank(const Buffers& buffers, std::size_t rank) {
  std::string text;
  for (const Slot& slot : buffers[rank]) text += "|" + format_slot(slot);
  return text + "|";
}

TEST(ApplyCollective, TwoRanks_MatchTheDefinitions) {
  const auto after = [](C c, std::size_t rank) {
    return show_rank(apply_collective(c, make_input(c, 2)), rank);
  };
  EXPECT_EQ(after(C::all_reduce, 0), "|a0+a1|b0+b1|");
  EXPECT_EQ(after(C::all_reduce, 1), "|a0+a1|b0+b1|");
  EXPECT_EQ(after(C::reduce_scatter, 0), "|a0+a1||");
  EXPECT_EQ(after(C::reduce_scatter, 1), "||b0+b1|");
  EXPECT_EQ(after(C::all_gather, 0), "|a0|b1|");
  EXPECT_EQ(after(C::all_to_all, 0), "|a0|a1|");
  EXPECT_EQ(after(C::all_to_all, 1), "|b0|b1|");
  EXPECT_EQ(after(C::broadcast, 1), "|a0|b0|");
  EXPECT_EQ(after(C::send_recv, 0), "|a0||");
  EXPECT_EQ(after(C::send_recv, 1), "|b1|a0|");
}

TEST(ApplyCollective, OutputSizes_AreWholeOrOnePartPerRank) {
  for (const i64 d : {2, 4, 7}) {
    for (i64 r = 0; r < d; ++r) {
      const auto held = [&](C c) {
        return count_held(apply_collective(c, make_input(c, d))[std::size_t(r)]);
      };
      EXPECT_EQ(held(C::all_reduce), d);
      EXPECT_EQ(held(C::reduce_scatter), 1);
      EXPECT_EQ(held(C::all_gather), d);
      EXPECT_EQ(held(C::all_to_all), d);
      EXPECT_EQ(held(C::broadcast), d);
      EXPECT_EQ(held(C::send_recv), r == 0 ? 1 : 2);
    }
  }
}

TEST(ApplyCollective, AllReduce_IsReduceScatterThenAllGather) {
  for (const i64 d : {2, 3, 4, 8}) {
    const Buffers input = make_input(C::all_reduce, d);
    EXPECT_EQ(apply_collective(C::all_gather, apply_collective(C::reduce_scatter, input)),
              apply_collective(C::all_reduce, input));
  }
}

TEST(ApplyCollective, AllToAll_IsATransposeAndItsOwnInverse) {
  for (const i64 d : {2, 3, 4, 8}) {
    const Buffers input = make_input(C::all_to_all, d);
    const Buffers output = apply_collective(C::all_to_all, input);
    EXPECT_NE(output, input);
    for (std::size_t r = 0; r < std::size_t(d); ++r)
      for (std::size_t k = 0; k < std::size_t(d); ++k) EXPECT_EQ(output[r][k], input[k][r]);
    EXPECT_EQ(apply_collective(C::all_to_all, output), input);
  }
}

TEST(ApplyCollective, Broadcast_IsAnAllReduceToWhichOnlyTheRootAdds) {
  const Buffers input = make_input(C::broadcast, 4);
  EXPECT_EQ(apply_collective(C::broadcast, input), apply_collective(C::all_reduce, input));
}

TEST(RunMessages, EveryCollective_GivesWhatItsDefinitionSays) {
  for (const CollectiveRow& of : collectives())
    for (const i64 d : {2, 3, 4, 8}) {
      const Buffers input = make_input(of.collective, d);
      EXPECT_EQ(run_messages(of.collective, input).buffers, apply_collective(of.collective, input))
          << of.name << " on " << d;
    }
}

TEST(ComputeFigures, CostModel_CountsTheMessagesThatAreSent) {
  for (const CollectiveRow& of : collectives())
    for (const i64 d : {2, 3, 4, 8, 26}) {
      const MessageRun run = run_messages(of.collective, make_input(of.collective, d));
      const CollectiveFigures figures = compute_figures(of.collective, d);
      // The payload is a whole buffer; that of send/recv is the one slot that is sent.
      const i64 payload = of.collective == C::send_recv ? 1 : d;
      EXPECT_DOUBLE_EQ(figures.sent, double(run.slots_sent) / double(payload)) << of.name << d;
      EXPECT_EQ(figures.steps, run.steps) << of.name << " on " << d;
    }
}

TEST(ComputeFigures, EightRanks_MatchTheWorkedExample) {
  // Reduce-scatter: 7 steps of 1/8 of the buffer. All-reduce: twice that.
  EXPECT_DOUBLE_EQ(compute_figures(C::reduce_scatter, 8).sent, 7.0 / 8);
  EXPECT_EQ(compute_figures(C::reduce_scatter, 8).steps, 7);
  EXPECT_DOUBLE_EQ(compute_figures(C::all_reduce, 8).sent, 14.0 / 8);
  EXPECT_EQ(compute_figures(C::all_reduce, 8).steps, 14);
}

TEST(Collectives, NamesAreThoseOfTheTraffic) {
  for (const CollectiveRow& of : collectives()) {
    EXPECT_EQ(&row(of.collective), &of);
    EXPECT_EQ(of.name, of.op ? name(*of.op) : "broadcast");
  }
}

}  // namespace collective_test
}  // namespace rankwright::planner
