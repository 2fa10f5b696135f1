#include "rankwright/program/proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/program/cells.h"
#include "tests/support/pipelines.h"
#include "tests/support/sanitized.h"

namespace rankwright::program {
namespace proof_test {

using pipelines::any_shape;
using pipelines::program_of;
using testing::ElementsAre;

/// Parses a hand-written schedule; adds transfers if it has none.
Program written(const std::string& text) {
  const Result<WrittenSchedule> read = parse_cells(text, "a.csv");
  EXPECT_TRUE(read.has_value());
  const CellSet set = inspect_cells(read->ranks);
  EXPECT_TRUE(set.faults.empty());
  if (!read->transfers) return add_transfers(read->ranks, set.stages, set.microbatches);
  return {.stages = set.stages,
          .microbatches = set.microbatches,
          .roles = read->ranks,
          .stage_to_rank = StageToRank(read->ranks, set.stages, set.microbatches)};
}

/// Formats a wait-for chain: "0: 0RECV_B1 <- 1".
std::vector<std::string> words(const std::vector<Waiting>& chain) {
  std::vector<std::string> out;
  for (const Waiting& w : chain)
    out.push_back(std::to_string(w.pp_rank) + ": " + show(w.action) + " <- " +
                  std::to_string(w.other));
  return out;
}

TEST(Proof, HoldsForOneRank) { EXPECT_TRUE(prove(written("0F0,0B0")).holds()); }

TEST(Proof, HoldsForOneFOneB) {
  const Proof proof = prove(program_of({pipeline::Schedule::one_f_one_b, 4, 1, 8}));
  EXPECT_TRUE(proof.holds());
  // 4 ranks x 16 cells, and 3 boundaries x 8 microbatches x 2 directions x (send + receive).
  EXPECT_EQ(proof.actions, 4 * 16 + 3 * 8 * 2 * 2);
}

TEST(Proof, ReportsACycleOfCells) {
  // Rank 0 needs the gradient of microbatch 1 before it has sent microbatch 1 forward.
  const Proof proof = prove(written("0F0,0B1,0F1,0B0\n1F0,1B0,1F1,1B1\n"));
  EXPECT_THAT(words(proof.buffered), ElementsAre("0: 0RECV_B1 <- 1", "1: 1RECV_F1 <- 0"));
  EXPECT_EQ(words(proof.rendezvous), words(proof.buffered));
}

TEST(Proof, UnbatchedBlockingSendsOfOneFOneBDeadlock) {
  // After the warm-up, rank 0 sends forward while rank 1 sends backward. Both wait for a receive
  // that the other posts later.
  const Proof proof =
      prove(written("0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
                    "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n"));
  EXPECT_TRUE(proof.misplaced.empty());
  EXPECT_TRUE(proof.buffered.empty());
  EXPECT_THAT(words(proof.rendezvous), ElementsAre("0: 0SEND_F1 <- 1", "1: 1SEND_B0 <- 0"));
}

TEST(Proof, BatchedTransfersOfOneFOneBHold) {
  EXPECT_TRUE(prove(written("0F0,0SEND_F0,0F1,(0SEND_F1;0RECV_B0),0B0,0RECV_B1,0B1\n"
                            "1RECV_F0,1F0,1B0,(1SEND_B0;1RECV_F1),1F1,1B1,1SEND_B1\n"))
                  .holds());
}

std::vector<Misplaced::Why> whys(const Proof& proof) {
  std::vector<Misplaced::Why> out;
  for (const Misplaced& m : proof.misplaced) out.push_back(m.why);
  return out;
}

TEST(Proof, ReportsUnmatchedTransfers) {
  using Why = Misplaced::Why;
  const Proof proof = prove(written("0F0,0SEND_F0,0B0\n1F0,1B0,1SEND_B0\n"));
  EXPECT_THAT(whys(proof), ElementsAre(Why::early, Why::early, Why::no_receive, Why::no_receive));
  // No rank is left to receive, so the chain ends there.
  EXPECT_THAT(words(proof.rendezvous), ElementsAre("0: 0SEND_F0 <- 1", "1: 1SEND_B0 <- 0"));
}

TEST(Proof, ReportsEarlySendsAndDuplicateTransfers) {
  using Why = Misplaced::Why;
  EXPECT_THAT(whys(prove(written("0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"))),
              ElementsAre(Why::unsent));
  EXPECT_THAT(whys(prove(written("0F0,0SEND_F0,0SEND_F0,0RECV_B0,0B0\n"
                                 "1RECV_F0,1F0,1B0,1SEND_B0\n"))),
              ElementsAre(Why::twice));
}

TEST(Proof, ReportsAReceiveOnTheWrongRank) {
  // Three ranks: rank 2 receives what stage 1 on rank 1 needs.
  const Proof proof =
      prove(written("0F0,0SEND_F0,0RECV_B0,0B0\n"
                    "1F0,1SEND_F0,1RECV_B0,1B0,1SEND_B0\n"
                    "1RECV_F0,2RECV_F0,2F0,2B0,2SEND_B0\n"));
  EXPECT_THAT(whys(proof), ElementsAre(Misplaced::Why::early, Misplaced::Why::elsewhere));
}

TEST(Proof, ContinuesPastATransferOnTheWrongRank) {
  // Rank 0 sends the output of stage 1, which is on rank 1. Rank 2 receives it anyway, and no rank
  // is left waiting. Found by fuzzing.
  const Proof proof =
      prove(written("0F0,0SEND_F0,1SEND_F0,0RECV_B0,0B0\n"
                    "1RECV_F0,1F0,1RECV_B0,1B0,1SEND_B0\n"
                    "2RECV_F0,2F0,2B0,2SEND_B0\n"));
  EXPECT_THAT(whys(proof), ElementsAre(Misplaced::Why::unsent));
  EXPECT_TRUE(proof.rendezvous.empty());
}

TEST(Proof, ReportsATransferBeyondTheLastStage) {
  // The last stage has no next stage to send to.
  const Proof proof = prove(written("0F0,0SEND_F0,0B0\n"));
  EXPECT_THAT(whys(proof), ElementsAre(Misplaced::Why::no_receive));
  EXPECT_THAT(words(proof.rendezvous), ElementsAre("0: 0SEND_F0 <- -1"));
}

TEST(Proof, ReportsJoinedCellsThatDependOnEachOther) {
  // Joined cells start together, so the backward of microbatch 0 cannot be joined with its forward,
  // although their order would be valid on a single rank with one stage.
  const Proof proof = prove(written("(0F0;0B0)OVERLAP_F_B,0F1,0B1\n"));
  EXPECT_THAT(whys(proof), ElementsAre(Misplaced::Why::early));
  EXPECT_EQ(proof.misplaced[0].position, 1);
  EXPECT_TRUE(prove(written("0F0,(0F1;0B0)OVERLAP_F_B,0B1\n")).holds());
}

TEST(Proof, AcceptsATransferFromARankToItself) {
  EXPECT_TRUE(prove(written("0F0,(0SEND_F0;1RECV_F0),1F0,1B0,(1SEND_B0;0RECV_B0),0B0\n")).holds());
  // Without a batch, the send waits for a receive that comes after it.
  const Proof alone = prove(written("0F0,0SEND_F0,1RECV_F0,1F0,1B0,0B0\n"));
  EXPECT_TRUE(alone.buffered.empty());
  EXPECT_THAT(words(alone.rendezvous), ElementsAre("0: 0SEND_F0 <- 0"));
}

TEST(Proof, ReportsReceivesInAnotherOrderThanTheirSends) {
  // Within a batch no rank waits, and NCCL delivers microbatch 0 to the receive for microbatch 1.
  const Proof proof =
      prove(written("0F0,0F1,(0SEND_F0;0SEND_F1),0RECV_B0,0B0,0RECV_B1,0B1\n"
                    "(1RECV_F1;1RECV_F0),1F0,1B0,1SEND_B0,1F1,1B1,1SEND_B1\n"));
  EXPECT_TRUE(proof.rendezvous.empty());
  EXPECT_THAT(whys(proof), ElementsAre(Misplaced::Why::crossed, Misplaced::Why::crossed));
  EXPECT_EQ(show(proof.misplaced[0].action), "1RECV_F1");
  EXPECT_EQ(proof.misplaced[0].sent, 2);
  EXPECT_EQ(proof.misplaced[0].received, 1);
}

TEST(Proof, MatchesMessageOrderPerPairAndDirection) {
  // Two ranks with two chunks each: rank 0 sends 0F and 2F to rank 1, which sends 1F back. Messages
  // in the other direction and from a third rank do not count.
  EXPECT_TRUE(prove(program_of({pipeline::Schedule::interleaved, 2, 2, 4})).holds());
  EXPECT_TRUE(prove(program_of({pipeline::Schedule::zb_v, 3, 2, 6})).holds());
  // Activations and gradients to the same rank are one stream: here 2SEND_B0 is sent after
  // 0SEND_F1, but 1RECV_B0 is received before 1RECV_F1.
  const auto both = [](const std::string& sends, const std::string& receives) {
    return "0F0,0SEND_F0,2RECV_F0,2F0,2B0,0F1," + sends +
           ",0RECV_B0,0B0,2RECV_F1,2F1,2B1,2SEND_B1,0RECV_B1,0B1\n1RECV_F0,1F0,1SEND_F0," +
           receives + ",1B0,1SEND_B0,1F1,1SEND_F1,1RECV_B1,1B1,1SEND_B1\n";
  };
  EXPECT_TRUE(prove(written(both("(0SEND_F1;2SEND_B0)", "(1RECV_F1;1RECV_B0)"))).holds());
  EXPECT_THAT(whys(prove(written(both("(0SEND_F1;2SEND_B0)", "(1RECV_B0;1RECV_F1)")))),
              ElementsAre(Misplaced::Why::crossed, Misplaced::Why::crossed));
}

TEST(Proof, MaximumNumberOfRanksIsFast) {
  // 65,535 ranks, one microbatch: forwards go down and backwards come back one rank at a time.
  // Checking every rank each time would take four billion checks.
  constexpr i64 kRanks = 65535;
  const Proof proof = prove(program_of({pipeline::Schedule::one_f_one_b, kRanks, 1, 1}));
  EXPECT_TRUE(proof.holds());
  EXPECT_EQ(proof.actions, 2 * kRanks + 2 * 2 * (kRanks - 1));
  // With all backwards first, every rank waits for the next one, up to the last, which waits for
  // its input.
  pipeline::Sequences wrong;
  for (i64 r = 0; r < kRanks; ++r)
    wrong.push_back({pipeline::cell::B(r, 0), pipeline::cell::F(r, 0)});
  std::swap(wrong.back()[0], wrong.back()[1]);
  EXPECT_FALSE(prove(add_transfers(wrong, kRanks, 1)).buffered.empty());
}

/// Returns a pipeline of two ranks that also issue collectives over both.
Program with_steps(std::vector<Body> steps) {
  pipeline::Sequences ranks = pipeline::cells({pipeline::Schedule::one_f_one_b, 2, 1, 2});
  for (std::size_t r = 0; r < steps.size(); ++r)
    for (std::size_t i = 0; i < steps[r].size(); ++i)
      ranks[r].push_back(action(pipeline::ActionKind::step, 0, i64(i)));
  Program program = add_transfers(ranks, 2, 2);
  program.steps = std::move(steps);
  return program;
}

const Step kNorm{.kind = plan::TrafficKind::gradient_norm,
                 .op = plan::Op::all_reduce,
                 .group = mesh::GroupKind::world,
                 .bytes = {4}};
const Step kTied{.kind = plan::TrafficKind::tied_embedding_grad,
                 .op = plan::Op::all_reduce,
                 .group = mesh::GroupKind::edges,
                 .bytes = {1024}};
const Step kInside{.kind = plan::TrafficKind::dp_all_reduce,
                   .op = plan::Op::all_reduce,
                   .group = mesh::GroupKind::dp_cp,
                   .bytes = {64}};

TEST(Proof, HoldsIfMembersIssueTheSameCollectives) {
  EXPECT_TRUE(prove(with_steps({{kInside, kTied, kNorm}, {kTied, kInside, kNorm}})).holds());
}

TEST(Proof, ReportsCollectivesInAnotherOrder) {
  // Each group has the same calls, but the two ranks wait in calls of different groups: a cycle.
  const Proof crossed = prove(with_steps({{kTied, kNorm}, {kNorm, kTied}}));
  EXPECT_FALSE(crossed.mismatch.has_value());
  EXPECT_EQ(crossed.rendezvous.size(), 2U);
  EXPECT_EQ(crossed.buffered.size(), 2U);
}

TEST(Proof, ReportsTheFirstDifferingCollective) {
  Step longer = kNorm;
  longer.bytes = {8};
  const Proof proof = prove(with_steps({{kNorm, kNorm}, {kNorm, longer}}));
  ASSERT_TRUE(proof.mismatch.has_value());
  EXPECT_EQ(proof.mismatch->index, 1);
  EXPECT_EQ(proof.mismatch->of_other->bytes, Bytes{8});
  const Proof missing = prove(with_steps({{kNorm}, {}}));
  ASSERT_TRUE(missing.mismatch.has_value());
  EXPECT_FALSE(missing.mismatch->of_other.has_value());
}

// Every shape up to these sizes either has a shape fault or is proved. Under sanitizers only some
// shapes are checked.
TEST(EverySchedule, HoldsOrIsRejectedAsAShape) {
  constexpr i64 kPp = kSanitized ? 6 : 16, kChunks = kSanitized ? 3 : 4;
  constexpr i64 kMicrobatches = kSanitized ? 16 : 64;
  i64 proved = 0, refused = 0;
  pipelines::for_every_shape(
      kPp, kChunks, kMicrobatches, [&](const pipeline::PipelineShape& shape) {
        if (find_shape_fault(shape)) {
          ++refused;
          return;
        }
        ++proved;
        EXPECT_TRUE(prove(program_of(shape)).holds()) << pipelines::show(shape);
      });
  EXPECT_EQ(proved + refused, i64(pipeline::kSchedules) * kPp * kChunks * kMicrobatches);
  EXPECT_GT(proved, refused / 4);
}

RC_GTEST_PROP(EverySchedule, HoldsForAnyGroupSize, ()) {
  const pipeline::PipelineShape shape = any_shape();
  if (find_shape_fault(shape)) return;
  RC_ASSERT(prove(program_of(shape)).holds());
}

/// Decides by brute force whether an order of cells runs to its end: repeatedly runs the next cell
/// of every rank whose inputs are ready.
bool runs_by_brute_force(const pipeline::Sequences& ranks, i64 stages, i64 microbatches) {
  std::vector<std::size_t> next(ranks.size(), 0);
  std::vector<bool> forward(std::size_t(stages * microbatches)), gradient(forward.size());
  const auto at = [&](i64 s, i64 m) { return std::size_t(s * microbatches + m); };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (next[r] == ranks[r].size()) continue;
      const pipeline::Action& a = ranks[r][next[r]];
      const i64 s = a.stage, m = a.microbatch;
      if (a.kind == pipeline::ActionKind::forward) {
        if (s > 0 && !forward[at(s - 1, m)]) continue;
        forward[at(s, m)] = true;
      } else if (gives_gradient(a.kind)) {
        if (!forward[at(s, m)] || (s + 1 < stages && !gradient[at(s + 1, m)])) continue;
        gradient[at(s, m)] = true;
      } else if (!gradient[at(s, m)]) {
        continue;
      }
      ++next[r];
      moved = true;
    }
  }
  for (std::size_t r = 0; r < ranks.size(); ++r)
    if (next[r] != ranks[r].size()) return false;
  return true;
}

RC_GTEST_PROP(Proof, AgreesWithBruteForceOnShuffledSchedules, ()) {
  const pipeline::PipelineShape shape = any_shape(3, 5);
  if (find_shape_fault(shape)) return;
  pipeline::Sequences ranks = cells(shape);
  for (pipeline::Sequence& rank : ranks)
    for (pipeline::Action& a : rank) a.joined = 0;
  for (int swaps = *rc::gen::inRange(0, 6); swaps > 0; --swaps) {
    pipeline::Sequence& rank = ranks[*rc::gen::inRange<std::size_t>(0, ranks.size())];
    std::swap(rank[*rc::gen::inRange<std::size_t>(0, rank.size())],
              rank[*rc::gen::inRange<std::size_t>(0, rank.size())]);
  }
  const Proof proof = prove(add_transfers(ranks, shape.stages(), shape.microbatches));
  RC_ASSERT(proof.holds() == runs_by_brute_force(ranks, shape.stages(), shape.microbatches));
  for (const Misplaced& m : proof.misplaced) RC_ASSERT(m.why != Misplaced::Why::crossed);
  // A program that runs without buffers also runs with them.
  RC_ASSERT(!proof.rendezvous.empty() || proof.buffered.empty());
}

RC_GTEST_PROP(Proof, DetectsARemovedTransfer, ()) {
  const pipeline::PipelineShape shape = any_shape(4, 8);
  if (find_shape_fault(shape) || shape.pp == 1) return;
  Program program = program_of(shape);
  pipeline::Sequence& role = program.roles[*rc::gen::inRange<std::size_t>(0, program.roles.size())];
  std::vector<std::size_t> transfers;
  for (std::size_t i = 0; i < role.size(); ++i)
    if (is_transfer(role[i].kind)) transfers.push_back(i);
  const std::size_t gone = *rc::gen::elementOf(transfers);
  if (role[gone].joined == 0 && gone > 0 && is_transfer(role[gone - 1].kind))
    role[gone - 1].joined = 0;
  role.erase(role.begin() + std::ptrdiff_t(gone));
  RC_ASSERT(!prove(program).misplaced.empty());
}

}  // namespace proof_test
}  // namespace rankwright::program
