#include "rankwright/validate/fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/step.h"
#include "tests/support/runs.h"

namespace rankwright::validate {
namespace fit_test {

cluster::Calibration priors() {
  cluster::Calibration values = catalog::get_calibration();
  for (const catalog::ConstantRow& row : catalog::constants())
    if (catalog::is_fitted_to_runs(row.data)) values[row.constant] = row.prior;
  return values;
}

/// Returns A100 runs of published shapes with step times predicted by the model with `values`.
std::vector<Case> as_if(const cluster::Calibration& values) {
  std::vector<Case> cases;
  for (Run& run : published("runs.csv").scored) {
    if (run.family != "vtrain" && run.family != "ptdp21") continue;
    Case one = make_case(run);
    one.options.resize(1);
    one.run.measured = cost::estimate_step_time(one.options[0], values).total();
    one.run.measured_memory = {};
    cases.push_back(std::move(one));
  }
  return cases;
}

std::vector<const Case*> pointers(const std::vector<Case>& cases) {
  std::vector<const Case*> all;
  for (const Case& one : cases) all.push_back(&one);
  return all;
}

TEST(Fit, NoRowsGiveThePriors) { EXPECT_EQ(fit({}), priors()); }

double mean_error(const std::vector<Case>& cases, const cluster::Calibration& values) {
  double sum = 0;
  for (const Case& one : cases)
    sum += std::abs(std::log(predict(one, values).step / one.run.measured));
  return sum / double(cases.size());
}

/// Constants trade off against each other and against their priors, so none is recovered exactly.
/// The step times are, and the constants move toward those of the synthetic rows.
TEST(Fit, RecoversTheConstantsOfSyntheticRows) {
  cluster::Calibration made = priors();
  made[cluster::Constant::matmul_ampere] = 0.68;  // prior 0.82, spread 6 %
  made[cluster::Constant::nic_training] = 0.55;   // prior 0.84, spread 12 %
  const std::vector<Case> cases = as_if(made);
  ASSERT_GT(cases.size(), 90u);
  const cluster::Calibration found = fit(pointers(cases));
  for (const cluster::Constant c :
       {cluster::Constant::matmul_ampere, cluster::Constant::nic_training}) {
    EXPECT_LT(found[c], 0.3 * made[c] + 0.7 * priors()[c]);
    EXPECT_GT(found[c], 0.97 * made[c]);
  }
  EXPECT_GT(mean_error(cases, priors()), 0.1);
  EXPECT_LT(mean_error(cases, found), mean_error(cases, priors()) / 5);
}

TEST(Fit, KeepsThePriorIfNoRowDetermines) {
  cluster::Calibration made = priors();
  made[cluster::Constant::matmul_ampere] = 0.75;
  const std::vector<Case> cases = as_if(made);  // only A100, without memory
  const cluster::Calibration found = fit(pointers(cases));
  for (const cluster::Constant c :
       {cluster::Constant::matmul_hopper, cluster::Constant::matmul_blackwell_fp8,
        cluster::Constant::flash3_hopper, cluster::Constant::reserve,
        cluster::Constant::communicator})
    EXPECT_DOUBLE_EQ(found[c], priors()[c]);
  for (const catalog::ConstantRow& row : catalog::constants()) {
    if (catalog::is_fitted_to_runs(row.data)) continue;
    EXPECT_EQ(found[row.constant], row.value) << row.name;
  }
}

TEST(Fit, RowsWithExpertsDoNotMoveTheConstantsOfOthers) {
  // Contradicting rows: one half implies 0.68, the other the prior. The fit is that of the first
  // half alone if the others are MoE models.
  cluster::Calibration made = priors();
  made[cluster::Constant::matmul_ampere] = 0.68;
  std::vector<Case> cases = as_if(made);
  const std::vector<Case> others = as_if(priors());
  const std::size_t half = cases.size();
  cases.insert(cases.end(), others.begin(), others.end());
  const double alone = fit(pointers(as_if(made)))[cluster::Constant::matmul_ampere];
  EXPECT_GT(fit(pointers(cases))[cluster::Constant::matmul_ampere], 1.01 * alone);
  for (std::size_t k = half; k < cases.size(); ++k) cases[k].run.sparse = true;
  EXPECT_DOUBLE_EQ(fit(pointers(cases))[cluster::Constant::matmul_ampere], alone);
}

TEST(Case, KeepsTheSmallestOptionIfNoneFits) {
  // 7.5 B parameters per GPU do not fit with any micro-batch size or recomputation.
  const Runs runs = *read_runs(run_table({with_cells({{"gpus", "8"},
                                                      {"tp", "1"},
                                                      {"pp", "1"},
                                                      {"zero_stage", "0"},
                                                      {"micro_batch", ""},
                                                      {"recompute", ""}})}),
                               "own.csv");
  const Case one = make_case(runs.scored.at(0));
  ASSERT_EQ(one.options.size(), 1u);
  ASSERT_GT(list_choices(one.run).size(), 1u);
  const Bytes held = cost::fullest(one.options[0], catalog::get_calibration()).total();
  for (const rankwright::validate::Run& choice : list_choices(one.run))
    EXPECT_LE(held, cost::fullest(choice.config, catalog::get_calibration()).total());
}

TEST(Case, KeepsTheOptionsThatFit) {
  // 7.5 B parameters on A100-80: with micro-batch 32 and no recompute the activations do not fit.
  const Runs runs = *read_runs(
      run_table({with_cells({{"micro_batch", ""}, {"recompute", ""}}),
                 with_cells({{"gpus", "8"}, {"tp", "1"}, {"pp", "1"}, {"zero_stage", "0"}})}),
      "own.csv");
  ASSERT_EQ(runs.scored.size(), 2u);
  const Case open = make_case(runs.scored[0]);
  EXPECT_GT(open.options.size(), 1u);
  EXPECT_LT(open.options.size(), list_choices(runs.scored[0]).size());
  // 16 bytes per parameter are 120 GB: nothing fits, and the row is estimated anyway.
  EXPECT_EQ(make_case(runs.scored[1]).options.size(), 1u);
}

TEST(Predict, UsesTheFastestOption) {
  const Runs runs = *read_runs(run_table({with_cells({{"micro_batch", ""}})}), "own.csv");
  const Case open = make_case(runs.scored.at(0));
  const Prediction best = predict(open, catalog::get_calibration());
  ASSERT_GT(open.options.size(), 1u);
  for (const rankwright::plan::TrainingConfig& option : open.options)
    EXPECT_LE(best.step, cost::estimate_step_time(option, catalog::get_calibration()).total());
  EXPECT_EQ(
      best.step,
      cost::estimate_step_time(open.options[best.option], catalog::get_calibration()).total());
}

}  // namespace fit_test
}  // namespace rankwright::validate
