#include "rankwright/cost/sensitivity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/timed_configs.h"
#include "tests/support/typed_configs.h"

namespace rankwright::cost {
namespace sensitivity_test {

const std::string kPlan =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
    "parallelism: {tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1}\n";

TEST(BoundsOf, VaryFittedConstantsByATenthAndOthersToTheirBounds) {
  catalog::ConstantRow row;
  row.value = 2, row.low = 1.9, row.high = 3;
  row.found = catalog::Found::fitted;
  EXPECT_DOUBLE_EQ(find_bounds(row).low, 1.9);  // not 1.8
  EXPECT_DOUBLE_EQ(find_bounds(row).high, 2.2);
  row.found = catalog::Found::assumed;
  EXPECT_EQ(find_bounds(row).low, 1.9);
  EXPECT_EQ(find_bounds(row).high, 3);
}

TEST(Sensitivity, MatchesANewEstimate) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const Estimate now = estimate_plan(config, catalog::get_calibration());
  const std::vector<Sensitivity> found = find_sensitivities(config, catalog::get_calibration());
  std::size_t matters = 0;
  for (const catalog::ConstantRow& row : catalog::constants()) {
    double moves = 0;
    bool fills = false;
    for (const double value : {find_bounds(row).low, find_bounds(row).high}) {
      cluster::Calibration c = catalog::get_calibration();
      c[row.constant] = value;
      const Estimate then = estimate_plan(config, c);
      moves = std::max(moves, std::abs(then.time() / now.time() - 1));
      fills = fills || std::abs(then.memory.total() / now.memory.total() - 1) > 1e-9;
    }
    const auto at = std::find_if(found.begin(), found.end(),
                                 [&](const Sensitivity& s) { return s.constant == row.constant; });
    EXPECT_EQ(at != found.end(), moves > 1e-9 || fills) << row.name;
    if (at == found.end()) continue;
    ++matters;
    EXPECT_NEAR(at->moves, moves, 1e-12) << row.name;  // sums of the same terms
  }
  EXPECT_GT(matters, 0u);
  EXPECT_EQ(matters, found.size());
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
}

TEST(Sensitivity, OmitsUnusedConstants) {
  // A dense model on Hopper does not depend on constants of experts or of Ampere.
  const std::vector<Sensitivity> all =
      find_sensitivities(config_of(kPlan), catalog::get_calibration());
  ASSERT_FALSE(all.empty());
  for (const Sensitivity& s : all) {
    EXPECT_NE(s.constant, cluster::Constant::imbalance_experts);
    EXPECT_NE(s.constant, cluster::Constant::matmul_ampere);
  }
}

TEST(Sensitivity, FindsConstantsThatDecideWhetherItFits) {
  // A device with slightly more memory than the plan needs.
  rankwright::plan::TrainingConfig config = config_of(kPlan);
  const Bytes total = fullest(config, catalog::get_calibration()).total();
  config.cluster.device.memory = 1.001 * total;
  const auto flipping = [&] {
    std::vector<cluster::Constant> all;
    for (const Sensitivity& s : find_sensitivities(config, catalog::get_calibration()))
      if (s.flips) all.push_back(s.constant);
    return all;
  };
  const std::vector<cluster::Constant> near = flipping();
  EXPECT_NE(std::find(near.begin(), near.end(), cluster::Constant::communicator), near.end());
  config.cluster.device.memory = 0.999 * total;  // slightly less: a lower constant makes it fit
  const std::vector<cluster::Constant> below = flipping();
  EXPECT_NE(std::find(below.begin(), below.end(), cluster::Constant::communicator), below.end());
  config.cluster.device.memory = 2 * total;
  EXPECT_TRUE(flipping().empty());
}

TEST(Compare, EqualPlansHaveNoRivals) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const Comparison same = compare(config, config, catalog::get_calibration());
  EXPECT_EQ(same.lead, 0);
  EXPECT_TRUE(same.rivals.empty());
}

/// Computes the time per token directly.
double token_time(const rankwright::plan::TrainingConfig& s, cluster::Constant constant,
                  double value) {
  cluster::Calibration c = catalog::get_calibration();
  c[constant] = value;
  return estimate_step_time(s, c).total().value / double(s.job.global_batch) /
         double(s.job.sequence);
}

TEST(Compare, ComparesTimePerToken) {
  // Twice the batch takes less than twice as long: a longer step, but less time per token.
  const rankwright::plan::TrainingConfig first = config_of(kPlan);
  rankwright::plan::TrainingConfig second = first;
  second.job.global_batch *= 2;
  const double lead = compare(first, second, catalog::get_calibration()).lead;
  const double value = catalog::get_calibration()[cluster::Constant::reserve];
  EXPECT_LT(lead, 0);
  EXPECT_NEAR(lead,
              token_time(second, cluster::Constant::reserve, value) /
                      token_time(first, cluster::Constant::reserve, value) -
                  1,
              1e-12);
}

TEST(Compare, FindsConstantsThatSwapClosePlans) {
  // The second plan has exposed gradients, but its devices are just fast enough for a tiny lead.
  // Constants that make gradients slower or computation faster put the first plan ahead.
  const rankwright::plan::TrainingConfig first = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
      "parallelism: {dp_size: 16, zero_stage: 1}\n");
  rankwright::plan::TrainingConfig second = first;
  second.plan.overlap.grad_reduce = false;
  const auto faster = [&](double times) {
    second.cluster.device.bf16 = times * first.cluster.device.bf16;
    second.cluster.device.watts = times * first.cluster.device.watts;
    return compare(first, second, catalog::get_calibration()).lead < 0;
  };
  double low = 1, high = 4;
  ASSERT_TRUE(!faster(low) && faster(high));
  for (int k = 0; k < 40; ++k) (faster((low + high) / 2) ? high : low) = (low + high) / 2;
  ASSERT_TRUE(faster(high));
  const Comparison near = compare(first, second, catalog::get_calibration());
  ASSERT_GT(near.lead, -1e-6);
  ASSERT_FALSE(near.rivals.empty());
  EXPECT_TRUE(near.rivals.front().swaps);
  for (const Rivalry& r : near.rivals) {
    const bool at_low =
        token_time(first, r.constant, r.low) < token_time(second, r.constant, r.low);
    const bool at_high =
        token_time(first, r.constant, r.high) < token_time(second, r.constant, r.high);
    EXPECT_EQ(r.swaps, at_low || at_high) << catalog::constants()[std::size_t(r.constant)].name;
  }
}

}  // namespace sensitivity_test
}  // namespace rankwright::cost
