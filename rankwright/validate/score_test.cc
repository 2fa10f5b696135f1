#include "rankwright/validate/score.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/validate/calculon.h"
#include "tests/support/runs.h"

namespace rankwright::validate {
namespace score_test {

TEST(Spearman, SharesTheRanksOfTies) {
  // Ranks 0 1.5 1.5 3 and 0 1 2 3, mean 1.5: (2.25 + 0 + 0 + 2.25) / sqrt(4.5 x 5).
  EXPECT_DOUBLE_EQ(spearman({1, 2, 2, 3}, {10, 20, 30, 40}), 4.5 / std::sqrt(4.5 * 5));
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3}, {9, 8, 7}), -1);
  EXPECT_EQ(spearman({1, 1, 1}, {1, 2, 3}), 0);  // nothing to rank
}

RC_GTEST_PROP(Spearman, DependsOnlyOnTheOrder, (const std::vector<int>& values)) {
  std::vector<double> a, b;
  for (const int v : values) {
    a.push_back(v);
    b.push_back(std::exp(v / 1e9));  // monotonic
  }
  const double rho = spearman(a, b);
  RC_ASSERT(rho == 0 || std::abs(rho - 1) < 1e-9);
}

TEST(ErrorStats, NameTheWorstRow) {
  std::vector<Error> ten;
  for (int i = 1; i <= 10; ++i)
    ten.push_back({"r" + std::to_string(i), i % 2 == 0 ? 0.01 * i : -0.01 * i});
  const ErrorStats e = compute_error_stats("ten", ten);
  EXPECT_EQ(e.rows, 10);
  EXPECT_DOUBLE_EQ(e.mean_absolute, 0.055);  // mean of 1 to 10 %
  EXPECT_NEAR(e.bias, 0.005, 1e-12);         // (30 - 25) / 10 %
  EXPECT_DOUBLE_EQ(e.p90, 0.09);             // nine of ten are within 9 %
  EXPECT_DOUBLE_EQ(e.worst, 0.10);
  EXPECT_EQ(e.worst_id, "r10");
  EXPECT_EQ(compute_error_stats("none", {}).rows, 0);
  EXPECT_DOUBLE_EQ(compute_error_stats("one", {{"a", -0.3}}).p90, 0.3);
}

TEST(ErrorStats, OnATieTheFirstRowIsTheWorst) {
  const ErrorStats e = compute_error_stats("tie", {{"a", 0.1}, {"b", -0.2}, {"c", 0.2}});
  EXPECT_DOUBLE_EQ(e.worst, -0.2);
  EXPECT_EQ(e.worst_id, "b");
}

TEST(AverageFamilies, WeighsEachFamilyEqually) {
  const ErrorStats few = compute_error_stats("few", {{"a", 0.3}});
  const ErrorStats many = compute_error_stats("many", {{"b", 0.1}, {"c", 0.1}, {"d", -0.1}});
  const ErrorStats e = average_families("all", {few, many});
  EXPECT_EQ(e.rows, 2);
  EXPECT_DOUBLE_EQ(e.mean_absolute, 0.2);
  EXPECT_DOUBLE_EQ(e.worst, 0.3);
  EXPECT_EQ(e.worst_id, "few");
}

/// Rows of one model on one cluster, each with its layout, prediction and measurement.
struct Rows {
  std::vector<Run> runs{};
  std::vector<ScoredRun> scored{};

  explicit Rows(const std::vector<std::pair<double, double>>& times) {
    runs.resize(times.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      runs[i].id = "r" + std::to_string(i);
      runs[i].family = runs[i].publication = "own";
      runs[i].layout = std::to_string(i);
      runs[i].measured = {times[i].second};
      scored.push_back({.run = &runs[i], .config = &runs[i].config, .step = {times[i].first}});
    }
  }
};

TEST(Slowdown, IsRightInSignAndWithinAFactor) {
  EXPECT_TRUE((Slowdown{"a", 2, 1.4}).right_sign());
  EXPECT_TRUE((Slowdown{"a", 2, 1.4}).within_factor());   // 2 / 1.4 = 1.43
  EXPECT_FALSE((Slowdown{"a", 2, 1.3}).within_factor());  // 1.54
  EXPECT_FALSE((Slowdown{"a", 2, 3.1}).within_factor());
  EXPECT_FALSE((Slowdown{"a", 1.1, 1}).right_sign());
  EXPECT_TRUE((Slowdown{"a", 1.01, 1}).right_sign());  // noise
}

TEST(Sweep, ComputesTheRegretOfThePick) {
  // r1 is predicted fastest and took 12 s; r2 took 10: 20 % longer. Ranks 1 0 2 3 and 2 1 0 3.
  const Rows rows({{8, 14}, {7, 12}, {9, 10}, {20, 20}});
  const Score s = compute_score(rows.scored);
  ASSERT_EQ(s.sweeps.size(), 1u);
  EXPECT_DOUBLE_EQ(s.sweeps[0].regret, 0.2);
  EXPECT_EQ(s.sweeps[0].picked, "r1");
  EXPECT_EQ(s.sweeps[0].fastest, "r2");
  // 1 - 6 sum d^2 / (n (n^2 - 1)), d = 1 1 2 0: 1 - 36 / 60
  EXPECT_DOUBLE_EQ(s.sweeps[0].spearman, 0.4);
}

TEST(Sweep, NeedsFourLayouts) {
  EXPECT_TRUE(compute_score(Rows({{1, 1}, {2, 2}, {3, 3}}).scored).sweeps.empty());
  Rows same({{1, 1}, {2, 2}, {3, 3}, {4, 4}});
  same.runs[3].layout = same.runs[0].layout;
  EXPECT_TRUE(compute_score(same.scored).sweeps.empty());
}

TEST(Pairs, GroupByModelGpuWorldAndSequence) {
  // 1.1 against 0.8: 1.375. The other rows have a unique sequence, world size or shape.
  Rows rows({{11, 10}, {8, 10}, {9, 10}, {9, 10}, {9, 10}, {15, 10}});
  rows.runs[1].config.job.global_batch = 8;
  rows.runs[2].config.job.sequence = 8192;
  rows.runs[3].config.world = 16;
  rows.runs[4].config.model.hidden = 128;
  rows.runs[5].sparse = true;
  const Score s = compute_score(rows.scored);
  EXPECT_EQ(s.dense_pairs.pairs, 1);
  EXPECT_NEAR(s.dense_pairs.median, 0.375, 1e-12);
  EXPECT_EQ(s.sparse_pairs, PairErrors{});
  rows.runs[0].sparse = rows.runs[1].sparse = true;  // 1.1, 0.8 and 1.5: 1.3636, 1.375, 1.875
  EXPECT_NEAR(compute_score(rows.scored).sparse_pairs.median, 0.375, 1e-12);
  EXPECT_NEAR(compute_score(rows.scored).sparse_pairs.p90, 0.875, 1e-12);
}

TEST(Score, SeparatesDenseAndSparse) {
  Rows rows({{11, 10}, {8, 10}, {15, 10}});
  rows.runs[2].sparse = true;
  const Score s = compute_score(rows.scored);
  EXPECT_NEAR(s.dense.mean_absolute, 0.15, 1e-12);
  EXPECT_NEAR(s.sparse.mean_absolute, 0.5, 1e-12);
  EXPECT_NEAR(s.all.mean_absolute, 0.8 / 3, 1e-12);
  ASSERT_EQ(s.families.size(), 2u);
  EXPECT_NEAR(s.over_families.mean_absolute, 0.325, 1e-12);
}

TEST(Score, ListsMoeRowsByMechanism) {
  Rows rows({{11, 10}, {8, 10}, {15, 10}, {30, 10}});
  for (std::size_t i = 0; i < 3; ++i) rows.runs[i].sparse = true;  // the last is dense
  rows.runs[0].config.plan.ep = rows.runs[1].config.plan.ep = 8;
  rows.runs[1].config.plan.dispatcher = plan::Dispatcher::deepep;
  std::map<std::string, double> errors;
  for (const MechanismErrors& m : compute_score(rows.scored).sparse_mechanisms)
    if (m.mechanism == "dispatcher") errors[m.errors.name] = m.errors.bias;
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_NEAR(errors["alltoall"], 0.1, 1e-12);
  EXPECT_NEAR(errors["deepep"], -0.2, 1e-12);
  EXPECT_NEAR(errors["none"], 0.5, 1e-12);
}

TEST(Score, SeparatesAllocatedAndReservedMemory) {
  Rows rows({{1, 1}, {1, 1}, {1, 1}});
  for (ScoredRun& row : rows.scored) row.memory = 11.0_GB;
  for (rankwright::validate::Run& run : rows.runs) run.measured_memory = 10.0_GB;
  rows.runs[1].memory_figure = MemoryFigure::reserved;
  rows.runs[2].measured_memory = {};
  const Score s = compute_score(rows.scored);
  EXPECT_EQ(s.memory.rows, 2);
  EXPECT_NEAR(s.allocated.mean_absolute, 0.1, 1e-12);
  EXPECT_EQ(s.reserved.worst_id, "r1");
}

/// Makes three rows that differ only in the measurement.
std::vector<Case> make_similar_cases() {
  const Runs runs = *read_runs(run_table({with_cells({{"id", "c"}, {"measured_step_s", "2"}}),
                                          with_cells({{"id", "a"}, {"measured_step_s", "4"}}),
                                          with_cells({{"id", "b"}, {"measured_step_s", "8"}})}),
                               "own.csv");
  return make_cases(runs.scored);
}

TEST(Baseline, UsesTheMedianOfTheOtherRows) {
  // The rates are 4 : 2 : 1. The medians of the others: 1.5, 2.5, 3.
  const std::vector<Case> cases = make_similar_cases();
  const Validation v = validate(cases, {}, {}, no_progress);
  EXPECT_NEAR(*v.rows[0].baseline, 4 / 1.5 - 1, 1e-12);
  EXPECT_NEAR(*v.rows[1].baseline, 2 / 2.5 - 1, 1e-12);
  EXPECT_NEAR(*v.rows[2].baseline, 1 / 3.0 - 1, 1e-12);
  EXPECT_EQ(v.score.baseline.ours.rows, 3u);
  const std::vector<Case> alone(cases.begin(), cases.begin() + 1);
  EXPECT_FALSE(validate(alone, {}, {}, no_progress).rows[0].baseline);
}

TEST(CalibrateOne, CorrectsTheOthersHalfWayAndIsNotScored) {
  const std::vector<Case> cases = make_similar_cases();
  const Validation plain = validate(cases, {}, {}, no_progress);
  const Validation moved = validate(cases, {}, {.calibrate_one = true}, no_progress);
  // The first row by id is a, with 4 s; all are multiplied by sqrt(4 / predicted).
  const double predicted = plain.rows[1].step.value;
  const double factor = std::sqrt(4 / predicted);
  EXPECT_TRUE(moved.rows[1].calibrates);
  EXPECT_NEAR(moved.rows[0].step.value, factor * plain.rows[0].step.value, 1e-12);
  EXPECT_EQ(moved.score.all.rows, 2u);
}

TEST(LeaveOneFamilyOut, UsesThePriorsIfNoRowIsLeft) {
  const std::vector<Case> cases = make_similar_cases();
  const ValidateOptions held_out{.mode = Mode::leave_one_family_out};
  const Validation v = validate(cases, {}, held_out, no_progress);
  EXPECT_EQ(v.at_priors, std::vector<std::string>{"own"});
  EXPECT_EQ(v.refits.at("own"), fit({}));
}

TEST(LeaveOneFamilyOut, UsesOtherRowsWithoutScoringThem) {
  const std::vector<Case> cases = make_similar_cases();
  std::vector<Case> also = make_similar_cases();
  for (Case& one : also) one.run.publication = one.run.family = "other";
  const ValidateOptions held_out{.mode = Mode::leave_one_family_out};
  const Validation v = validate(cases, also, held_out, no_progress);
  EXPECT_TRUE(v.at_priors.empty());
  EXPECT_EQ(v.rows.size(), 3u);
  EXPECT_NE(v.refits.at("own"), fit({}));
  // Rows of the publication itself are left out, also from the additional cases.
  EXPECT_EQ(validate(cases, cases, held_out, no_progress).at_priors.size(), 1u);
}

TEST(LeaveOneFamilyOut, LeavesOutAPublicationUnderEveryFamily) {
  // A publication may have rows of several families; none of them may influence its own score.
  const std::vector<Case> cases = make_similar_cases();
  std::vector<Case> also = make_similar_cases();
  for (Case& one : also) one.run.family = "another";
  const ValidateOptions held_out{.mode = Mode::leave_one_family_out};
  EXPECT_EQ(validate(cases, also, held_out, no_progress).at_priors.size(), 1u);
}

TEST(CalibrateOne, ShowsWhatMediansLeave) {
  // Three rows of a group, predicted / measured 1.2, 1.2 and 1.5: without the median 1.2, the last
  // is off by 1.5 / 1.2 - 1 = 25 %, so the mean is 25 / 3 %.
  rankwright::validate::Run runs[3];
  std::vector<ScoredRun> rows;
  for (rankwright::validate::Run& one : runs) {
    one.sparse = true;
    one.measured = Seconds{10};
    rows.push_back({.run = &one, .config = &one.config, .step = Seconds{12}});
  }
  rows[2].step = Seconds{15};
  EXPECT_EQ(compute_score(rows).medians_removed.theirs.rows, 0);  // nothing was calibrated
  rankwright::validate::Run first;
  rows.push_back({.run = &first, .config = &first.config, .calibrates = true});
  const Score score = compute_score(rows);
  EXPECT_NEAR(score.medians_removed.theirs.mean_absolute, 0.25 / 3, 1e-12);
  EXPECT_NEAR(score.medians_removed.ours.mean_absolute, (0.2 + 0.2 + 0.5) / 3, 1e-12);
}

TEST(Calculon, HasErrorsForPublishedRunIds) {
  EXPECT_NEAR(*find_calculon_error("korth22_175B_full"), -0.0056, 1e-12);  // the value of its row
  EXPECT_FALSE(find_calculon_error("no such row"));
  std::size_t known = 0;
  for (const rankwright::validate::Run& run : published("runs.csv").scored)
    known += find_calculon_error(run.id) ? 1 : 0;
  EXPECT_EQ(known, 174u);  // 15 of its 189 rows are of quality C
}

TEST(Effects, AreOfDeviceTimePerToken) {
  rankwright::validate::Run one, two;
  one.id = "base", two.id = "more";
  one.measured = Seconds{6}, two.measured = Seconds{10};
  one.config.world = two.config.world = 8;
  one.config.job.global_batch = 8, two.config.job.global_batch = 16;
  const std::vector<ScoredRun> rows{{.run = &one, .step = Seconds{4}},
                                    {.run = &two, .step = Seconds{8}}};
  const std::vector<Effect> scored =
      score_effects({{"micro-batch", "base", "more"}, {"graphs", "base", "absent"}}, rows);
  ASSERT_EQ(scored.size(), 1U);
  EXPECT_DOUBLE_EQ(scored[0].measured, 1.2);  // 6 s for 8 sequences, 10 for 16
  EXPECT_DOUBLE_EQ(scored[0].predicted, 1);
}

TEST(Effects, OnMemoryAreOfPeaks) {
  rankwright::validate::Run one, two, none;
  one.id = "base", two.id = "more", none.id = "unmeasured";
  one.measured_memory = Bytes{40}, two.measured_memory = Bytes{30};
  const std::vector<ScoredRun> rows{{.run = &one, .memory = Bytes{50}},
                                    {.run = &two, .memory = Bytes{40}},
                                    {.run = &none, .memory = Bytes{40}}};
  const std::vector<Effect> scored =
      score_effects({{"precision", "base", "more", Figure::memory},
                     {"precision", "base", "unmeasured", Figure::memory},
                     {"precision", "base", "more"}},  // without step times
                    rows);
  ASSERT_EQ(scored.size(), 1U);
  EXPECT_DOUBLE_EQ(scored[0].measured, 0.75);
  EXPECT_DOUBLE_EQ(scored[0].predicted, 0.8);
}

}  // namespace score_test
}  // namespace rankwright::validate
