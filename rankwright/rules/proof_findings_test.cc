#include "rankwright/rules/proof_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "tests/support/golden.h"
#include "tests/support/pipelines.h"
#include "tests/support/sample.h"
#include "tests/support/sanitized.h"
#include "tests/support/typed_configs.h"

namespace rankwright::rules {
namespace proof_findings_test {

using testing::Contains;
using testing::ElementsAre;

Diagnostics found(const std::string& text) {
  const Result<program::WrittenSchedule> written = program::parse_cells(text, "order.csv");
  EXPECT_TRUE(written.has_value());
  return check_schedule(*written).findings;
}

std::vector<std::string> codes(const Diagnostics& all) {
  std::vector<std::string> out;
  for (const Diagnostic& d : all) out.emplace_back(d.code);
  return out;
}

/// Formats the cells, then the details, notes and hints of their findings.
std::string describe(const std::string& cells) {
  std::string text = cells;
  for (const Diagnostic& d : found(cells)) {
    text += "  " + std::string(d.code) + ": " + d.detail + "\n";
    for (const std::string& note : d.notes) text += "    note: " + note + "\n";
    if (!d.hint.empty()) text += "    help: " + d.hint + "\n";
  }
  return text;
}

TEST(ProofPages, HaveExamplesThatAreReported) {
  int examples = 0;
  for (const Page& page : proof_pages()) {
    EXPECT_TRUE(page.why.ends_with('.')) << page.code;
    EXPECT_TRUE(page.remedy.ends_with('.')) << page.code;
    EXPECT_EQ(find_page(page.code), &page);
    if (page.example.empty()) continue;
    EXPECT_THAT(codes(found(std::string(page.example))), Contains(std::string(page.code)));
    ++examples;
  }
  EXPECT_GT(examples, 0);
}

TEST(ProofFindings, DeadlockedCells_NameTheCycleAndTheCellToMove) {
  const Diagnostics all = found("0F0,0F1,0B0,0B1\n1F1,1B1,1F0,1B0\n");
  // Rank 1 takes the microbatches in the other order, which delays it but does not deadlock.
  EXPECT_TRUE(all.empty());
  // A cycle: rank 2 needs microbatch 1 first, but rank 0 sends it only after a gradient that rank 2
  // computes later.
  const std::string cells = "0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n2F1,2B1,2F0,2B0\n";
  const Diagnostics cycle = found(cells);
  ASSERT_EQ(codes(cycle), std::vector<std::string>{"RW0422"});
  EXPECT_EQ(cycle[0].where, (Location{"order.csv", 1, 5, 3}));
  golden::expect("rules/deadlocked-cells.txt", describe(cells));
}

TEST(ProofFindings, NameDuplicateAndMissingCells) {
  const std::string cells = "0F0,0F0,0B0\n1F0\n";
  const Diagnostics all = found(cells);
  ASSERT_THAT(codes(all), ElementsAre("RW0421", "RW0421"));
  EXPECT_EQ(all[0].where, (Location{"order.csv", 1, 5, 3}));
  golden::expect("rules/duplicate-and-missing-cells.txt", describe(cells));
}

TEST(ProofFindings, NameCollectivesThatAreCalledInDifferentOrders) {
  const program::CollectiveMismatch d{
      .one = 0,
      .other = 3,
      .index = 1,
      .group = mesh::GroupKind::world,
      .of_one = program::Step{.kind = plan::TrafficKind::gradient_norm, .bytes = {4}}};
  const Diagnostics all = proof_findings({}, program::Proof{.mismatch = d}, nullptr);
  ASSERT_EQ(codes(all), std::vector<std::string>{"RW0426"});
  golden::expect("rules/collective-order.txt", all[0].detail + "\n");
}

TEST(ProofFindings, WrittenTransfers_NameTheTransferToMove) {
  // Rank 0 waits for a gradient before it has run and sent the forward pass that leads to it.
  const std::string cycle =
      "0F0,0SEND_F0,0RECV_B0,0B0,0F1,0SEND_F1,0RECV_B1,0B1\n"
      "1RECV_F0,1F0,1RECV_F1,1F1,1B0,1SEND_B0,1B1,1SEND_B1\n";
  ASSERT_EQ(codes(found(cycle)), std::vector<std::string>{"RW0422"});
  // One rank waits for itself: the cell and its send are too late, or only the send is.
  const std::string late = "1RECV_F0,0F0,0SEND_F0,1F0,1B0,0B0\n";
  const std::string late_send = "0F0,1RECV_F0,0SEND_F0,1F0,1B0,0B0\n";
  ASSERT_EQ(codes(found(late)), std::vector<std::string>{"RW0422"});
  golden::expect("rules/deadlocked-transfers.txt",
                 describe(cycle) + describe(late) + describe(late_send));
}

TEST(ProofFindings, NeedsBufferedSends_NameTheTransfersToBatch) {
  const std::string sends =
      "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
      "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n";
  ASSERT_EQ(codes(found(sends)), std::vector<std::string>{"RW0423"});
  // Rank 0 waits at a receive: the fix is on the rank that waits at a send.
  const std::string receive =
      "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B1,0B1,0RECV_B0,0B0\n"
      "1RECV_F0,1F0,1RECV_F1,1F1,1B0,1SEND_B0,1B1,1SEND_B1\n";
  ASSERT_EQ(codes(found(receive)), (std::vector<std::string>{"RW0427", "RW0427", "RW0423"}));
  golden::expect("rules/unbuffered-sends.txt", describe(sends) + describe(receive));
}

TEST(ProofFindings, NameAReceiveThatTakesTheWrongMessage) {
  const std::string cells =
      "0F0,0F1,(0SEND_F0;0SEND_F1),0RECV_B0,0B0,0RECV_B1,0B1\n"
      "(1RECV_F1;1RECV_F0),1F0,1B0,1SEND_B0,1F1,1B1,1SEND_B1\n";
  const Diagnostics all = found(cells);
  ASSERT_EQ(codes(all), (std::vector<std::string>{"RW0427", "RW0427"}));
  golden::expect("rules/crossed-messages.txt", describe(cells));
  EXPECT_EQ(all[0].where, (Location{"order.csv", 2, 1, 19}));
}

RC_GTEST_PROP(ProofFindings, BuiltInScheduleRoundTrip_HasNone, ()) {
  const pipeline::Sequences ranks = pipeline::cells(pipelines::valid_shape());
  RC_ASSERT(found(program::show_cells(ranks)).empty());
}

/// Returns a plan with a pipeline of that shape and a model with one layer per stage.
rankwright::plan::TrainingConfig plan_of(const pipeline::PipelineShape& shape) {
  rankwright::plan::TrainingConfig config = sample::config_of(
      sample::model_of({{shape.stages(), sample::dense_layer()}}),
      {.pp = shape.pp, .virtual_stages = shape.chunks, .schedule = shape.schedule},
      shape.microbatches);
  config.plan.microbatch_group = shape.group;
  return config;
}

TEST(EverySchedule, ReportsEveryUnsupportedShape) {
  constexpr i64 kPp = kSanitized ? 4 : 16, kChunks = kSanitized ? 3 : 4;
  constexpr i64 kMicrobatches = kSanitized ? 9 : 64;
  const std::set<std::string_view> of_shapes{"RW0120", "RW0121", "RW0122", "RW0123", "RW0124"};
  i64 refused = 0;
  pipelines::for_every_shape(
      kPp, kChunks, kMicrobatches, [&](const pipeline::PipelineShape& shape) {
        const rankwright::plan::TrainingConfig config = plan_of(shape);
        const std::vector<plan::ConstraintViolation> found = find_violations(config);
        EXPECT_EQ(bool(find_shape_fault(shape)), !found.empty()) << pipelines::show(shape);
        if (found.empty() || ++refused % 97 != 0) return;  // describing is slow: every 97th
        bool reported = false;
        for (const Diagnostic& d : lint(config, Target::any))
          reported = reported || (d.severity == Severity::error && of_shapes.contains(d.code));
        EXPECT_TRUE(reported) << pipelines::show(shape);
      });
  EXPECT_GT(refused, 0);
}

TEST(ProvePlan, ProvesOnlyPipelines) {
  const std::string job = "model: llama-3.2-1b\ncluster: dgx-h100\n";
  EXPECT_FALSE(prove_plan(config_of(job + "parallelism: {dp_size: 8}\njob: {global_batch: 8, "
                                          "sequence: 1024}\n"))
                   .has_value());
  const std::optional<ProvedPlan> proved = prove_plan(
      config_of(job + "parallelism: {pp_size: 8}\njob: {global_batch: 16, sequence: 1024}\n"));
  ASSERT_TRUE(proved.has_value());
  EXPECT_TRUE(proved->findings.empty());
  // 8 x 16 x 2 cells, 7 boundaries x 16 x 2 directions x 2 ends, and the steps of each rank.
  EXPECT_GE(proved->actions, 8 * 16 * 2 + 7 * 16 * 2 * 2);
}

TEST(ProvePlan, SkipsProgramsOfSeveralGigabytes) {
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.2-1b\ncluster: dgx-h100\nparallelism: {pp_size: 8}\n"
      "job: {global_batch: 134217728, sequence: 1024}\n");
  EXPECT_FALSE(prove_plan(config).has_value());
}

/// Applies a hint: moves the cell in front of the other.
pipeline::Sequences apply_hint(pipeline::Sequences ranks, const std::string& hint) {
  int rank = 0;
  char cell[32], before[32];
  RC_ASSERT(std::sscanf(hint.c_str(), "on PP rank %d put %31s before %31s", &rank, cell, before) ==
            3);
  pipeline::Sequence& line = ranks[std::size_t(rank)];
  const auto find = [&](const std::string& name) {
    return std::find_if(line.begin(), line.end(),
                        [&](const pipeline::Action& a) { return program::show(a) == name; });
  };
  const auto from = find(cell);
  const auto to = find(before);
  RC_ASSERT(from != line.end() && to != line.end());
  RC_ASSERT(to < from);  // otherwise the hint would change nothing
  std::rotate(to, from, from + 1);
  return ranks;
}

RC_GTEST_PROP(ProofFindings, FollowingHintsResolvesTheDeadlock, ()) {
  // Swaps two cells of a valid schedule. Following the hints one after another ends with a schedule
  // that runs, because each move removes one wait.
  const pipeline::PipelineShape shape{pipeline::Schedule::one_f_one_b, *rc::gen::inRange<i64>(2, 5),
                                      1, *rc::gen::inRange<i64>(2, 6)};
  pipeline::Sequences ranks = pipeline::cells(shape);
  pipeline::Sequence& line = ranks[*rc::gen::inRange<std::size_t>(0, ranks.size())];
  std::swap(line[*rc::gen::inRange<std::size_t>(0, line.size())],
            line[*rc::gen::inRange<std::size_t>(0, line.size())]);
  for (int moves = 0; moves < 200; ++moves) {
    const Diagnostics all = found(program::show_cells(ranks));
    const auto cycle = std::find_if(all.begin(), all.end(),
                                    [](const Diagnostic& d) { return d.code == "RW0422"; });
    if (cycle == all.end()) return;
    ranks = apply_hint(std::move(ranks), cycle->hint);
  }
  RC_FAIL("still a circle after 200 moves");
}

}  // namespace proof_findings_test
}  // namespace rankwright::rules
