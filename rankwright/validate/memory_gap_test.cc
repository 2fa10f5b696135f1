#include "rankwright/validate/memory_gap.h"

#include <gmock/gmock.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/import/plan/plan_file.h"
#include "rankwright/plan/shares.h"
#include "rankwright/rules/change.h"
#include "tests/support/golden.h"

namespace rankwright::validate {
namespace memory_gap_test {

/// llama-3.1-8b on one node: tp 2, pp 2, dp 2, one sequence of 8192 tokens.
rankwright::plan::TrainingConfig small() {
  return resolve(
      importer::read_plan("world_size: 8\nmodel: llama-3.1-8b\ncluster: dgx-h100\n"
                          "parallelism: {tp_size: 2, pp_size: 2, dp_size: 2, zero_stage: 1, "
                          "sequence_parallel: true, micro_batch: 1}\n"
                          "job: {global_batch: 32, sequence: 8192}\n",
                          "plan.yaml", importer::refuse_file)
          .draft);
}

importer::RunLog log_of(i64 rank, importer::RankPeak peak) {
  importer::RunLog log;
  add_peak(log, rank, peak);
  return log;
}

TEST(MemoryGap, ComparesTheRankWithTheHighestPeak) {
  const rankwright::plan::TrainingConfig config = small();
  importer::RunLog log;
  add_peak(log, 1, {.allocated = 20.0_GB});
  add_peak(log, 5, {.allocated = 30.0_GB});  // order tp-dp-pp: ranks 4 to 7 are pp rank 1
  const std::optional<MemoryGap> gap = explain_memory_gap(config, catalog::get_calibration(), log);
  ASSERT_TRUE(gap.has_value());
  EXPECT_EQ(gap->rank, 5);
  EXPECT_EQ(gap->memory_estimate.pp_rank, 1);
  EXPECT_EQ(gap->predicted,
            cost::estimate_memory(config, 1, catalog::get_calibration()).allocated());
  EXPECT_FALSE(
      explain_memory_gap(config, catalog::get_calibration(), importer::RunLog{}).has_value());
}

TEST(MemoryGap, IdentifiesTheSettingOfTheRun) {
  const rankwright::plan::TrainingConfig config = small();
  const rules::Change changes[] = {
      rules::Change(config).recompute(plan::Recompute::full), rules::Change(config).zero(0),
      rules::Change(config).sequence_parallel(false), rules::Change(config).micro_batch(2)};
  for (const rules::Change& change : changes) {
    const cost::MemoryEstimate ran =
        cost::estimate_memory(change.config(), 0, catalog::get_calibration());
    const MemoryGap gap = *explain_memory_gap(config, catalog::get_calibration(),
                                              log_of(0, {.allocated = ran.allocated()}));
    ASSERT_FALSE(gap.explanations.empty());
    const MemoryExplanation& first = gap.explanations.front();
    EXPECT_THAT(first.name, ::testing::HasSubstr(change.edits().front().value));
    EXPECT_TRUE(first.likely());
  }
}

TEST(MemoryGap, ExplainsExcessReservedMemoryByFragmentation) {
  const rankwright::plan::TrainingConfig config = small();
  const cost::MemoryEstimate here = cost::estimate_memory(config, 0, catalog::get_calibration());
  const MemoryGap gap =
      *explain_memory_gap(config, catalog::get_calibration(),
                          log_of(0, {.reserved = here.reserved() + here[cost::Entry::reserve]}));
  EXPECT_EQ(gap.figure, MemoryFigure::reserved);
  const auto reserve =
      std::find_if(gap.explanations.begin(), gap.explanations.end(),
                   [](const MemoryExplanation& e) { return e.entry == cost::Entry::reserve; });
  ASSERT_NE(reserve, gap.explanations.end());
  EXPECT_NEAR(reserve->factor, 2, 1e-9);  // twice the prediction
}

importer::RunLog failed(Bytes wanted, importer::RunPhase phase, i64 rank) {
  importer::RunLog log;
  log.oom =
      importer::OutOfMemory{.wanted = wanted, .capacity = 79.1_GiB, .rank = rank, .phase = phase};
  return log;
}

TEST(OomGap, IdentifiesLogitsByTheirSize) {
  // 8192 tokens x 128,256 / 2 vocabulary rows x 4 bytes
  const Bytes logits = bytes(8192.0 * 64128, 4);
  const OomGap gap = *explain_oom(small(), catalog::get_calibration(),
                                  failed(logits, importer::RunPhase::loss, 7));
  EXPECT_EQ(gap.memory_estimate.pp_rank, 1);  // where the loss is
  EXPECT_EQ(gap.entry, cost::Entry::logits);
  ASSERT_FALSE(gap.alike.empty());
  golden::expect("validate/oom-logits.txt", gap.alike.front().name + "\n");
}

TEST(OomGap, IdentifiesTheGradientBufferDuringModelBuilding) {
  const rankwright::plan::TrainingConfig config = small();
  const Bytes buffer = bytes(count_rank_share(config, 0).dense, config.job.grad_bytes());
  const OomGap gap = *explain_oom(config, catalog::get_calibration(),
                                  failed(buffer, importer::RunPhase::building, 0));
  ASSERT_FALSE(gap.alike.empty());
  golden::expect("validate/oom-gradient-buffer.txt", gap.alike.front().name + "\n");
  EXPECT_THAT((std::vector{cost::Entry::gradients, cost::Entry::parameters}),
              ::testing::Contains(gap.entry));
}

TEST(OomGap, UsesThePhaseIfNoTensorHasTheSize) {
  const rankwright::plan::TrainingConfig config = small();
  const Bytes odd{123456789};
  EXPECT_EQ(
      explain_oom(config, catalog::get_calibration(), failed(odd, importer::RunPhase::optimizer, 0))
          ->entry,
      cost::Entry::optimizer);
  EXPECT_EQ(
      explain_oom(config, catalog::get_calibration(), failed(odd, importer::RunPhase::forward, 0))
          ->entry,
      cost::Entry::activations);
  EXPECT_FALSE(explain_oom(config, catalog::get_calibration(), importer::RunLog{}).has_value());
}

TEST(OomGap, ReportsFragmentationIfEnoughMemoryIsUnused) {
  importer::RunLog log = failed(2.0_GB, importer::RunPhase::forward, 0);
  log.oom->unallocated = 3.0_GB;
  EXPECT_EQ(explain_oom(small(), catalog::get_calibration(), log)->entry, cost::Entry::reserve);
}

TEST(OomGap, ProposesPlansThatFreeTheMissingMemory) {
  const rankwright::plan::TrainingConfig config = small();
  const Bytes before = cost::estimate_memory(config, 0, catalog::get_calibration()).total();
  importer::RunLog log = failed(4.0_GB, importer::RunPhase::forward, 0);
  log.oom->free = 1.0_GB;
  const OomGap gap = *explain_oom(config, catalog::get_calibration(), log);
  ASSERT_FALSE(gap.fits.empty());
  for (const rules::FittingChange& fit : gap.fits)
    EXPECT_LE(fit.estimate.memory.total(), before - 3.0_GB);
}

}  // namespace memory_gap_test
}  // namespace rankwright::validate
