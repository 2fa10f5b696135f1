#include "rankwright/cost/sensitivity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/timed_configs.h"
#include "tests/support/typed_configs.h"

namespace rankwright {
namespace sensitivity_test {

const std::string kPlan =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
    "parallelism: {tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1}\n";

TEST(BoundsOf, MoveFittedConstantsByATenthAndOthersToTheirBounds) {
  ConstantRow row;
  row.value = 2, row.low = 1.9, row.high = 3;
  row.found = Found::fitted;
  EXPECT_DOUBLE_EQ(bounds_of(row).low, 1.9);  // not 1.8
  EXPECT_DOUBLE_EQ(bounds_of(row).high, 2.2);
  row.found = Found::assumed;
  EXPECT_EQ(bounds_of(row).low, 1.9);
  EXPECT_EQ(bounds_of(row).high, 3);
}

TEST(Sensitivity, IsWhatPricingAgainGives) {
  const rankwright::TrainingConfig config = config_of(kPlan);
  const Estimate now = estimate(config, calibration());
  const std::vector<Sensitivity> found = sensitivity(config, calibration());
  std::size_t matters = 0;
  for (const ConstantRow& row : constants()) {
    double moves = 0;
    bool fills = false;
    for (const double value : {bounds_of(row).low, bounds_of(row).high}) {
      Calibration c = calibration();
      c[row.constant] = value;
      const Estimate then = estimate(config, c);
      moves = std::max(moves, std::abs(then.time() / now.time() - 1));
      fills = fills || std::abs(then.memory.total() / now.memory.total() - 1) > 1e-9;
    }
    const auto at = std::find_if(found.begin(), found.end(),
                                 [&](const Sensitivity& s) { return s.constant == row.constant; });
    EXPECT_EQ(at != found.end(), moves > 1e-9 || fills) << row.name;
    if (at == found.end()) continue;
    ++matters;
    EXPECT_DOUBLE_EQ(at->moves, moves) << row.name;
  }
  EXPECT_EQ(matters, found.size());
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
}

TEST(Sensitivity, LeavesOutWhatThePlanDoesNotUse) {
  // A dense model on Hopper hangs on no expert and on no Ampere.
  for (const Sensitivity& s : sensitivity(config_of(kPlan), calibration())) {
    EXPECT_NE(s.constant, Constant::imbalance_experts);
    EXPECT_NE(s.constant, Constant::matmul_ampere);
  }
}

TEST(Sensitivity, FindsWhatDecidesWhetherItFits) {
  // A device that has exactly what the plan needs, and a little more.
  rankwright::TrainingConfig config = config_of(kPlan);
  const Bytes total = fullest(config, calibration()).total();
  config.cluster.device.memory = 1.001 * total;
  const auto flipping = [&] {
    std::vector<Constant> all;
    for (const Sensitivity& s : sensitivity(config, calibration()))
      if (s.flips) all.push_back(s.constant);
    return all;
  };
  const std::vector<Constant> near = flipping();
  EXPECT_NE(std::find(near.begin(), near.end(), Constant::communicator), near.end());
  config.cluster.device.memory = 0.999 * total;  // a little less: a lower constant makes it fit
  const std::vector<Constant> below = flipping();
  EXPECT_NE(std::find(below.begin(), below.end(), Constant::communicator), below.end());
  config.cluster.device.memory = 2 * total;
  EXPECT_TRUE(flipping().empty());
}

TEST(Compare, FindsNothingBetweenAPlanAndItself) {
  const rankwright::TrainingConfig config = config_of(kPlan);
  const Comparison same = compare(config, config, calibration());
  EXPECT_EQ(same.lead, 0);
  EXPECT_TRUE(same.rivals.empty());
}

/// Time for a token, brute force.
double token_time(const rankwright::TrainingConfig& s, Constant constant, double value) {
  Calibration c = calibration();
  c[constant] = value;
  return step_time(s, c).total().value / double(s.job.global_batch) / double(s.job.sequence);
}

TEST(Compare, IsForATokenNotForAStep) {
  // Twice the batch takes less than twice as long: its step is longer, its token shorter.
  const rankwright::TrainingConfig first = config_of(kPlan);
  rankwright::TrainingConfig second = first;
  second.job.global_batch *= 2;
  const double lead = compare(first, second, calibration()).lead;
  const double value = calibration()[Constant::reserve];
  EXPECT_LT(lead, 0);
  EXPECT_NEAR(
      lead,
      token_time(second, Constant::reserve, value) / token_time(first, Constant::reserve, value) -
          1,
      1e-12);
}

TEST(Compare, FindsWhatSwapsTwoPlansThatAreNear) {
  // The second shows its gradients, but its devices are faster by just so much that it leads by a
  // hair: whatever makes gradients dearer or compute cheaper brings the first ahead.
  const rankwright::TrainingConfig first = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
      "parallelism: {dp_size: 16, zero_stage: 1}\n");
  rankwright::TrainingConfig second = first;
  second.plan.overlap.grad_reduce = false;
  const auto faster = [&](double times) {
    second.cluster.device.bf16 = times * first.cluster.device.bf16;
    second.cluster.device.watts = times * first.cluster.device.watts;
    return compare(first, second, calibration()).lead < 0;
  };
  double low = 1, high = 4;
  ASSERT_TRUE(!faster(low) && faster(high));
  for (int k = 0; k < 40; ++k) (faster((low + high) / 2) ? high : low) = (low + high) / 2;
  ASSERT_TRUE(faster(high));
  const Comparison near = compare(first, second, calibration());
  ASSERT_GT(near.lead, -1e-6);
  ASSERT_FALSE(near.rivals.empty());
  EXPECT_TRUE(near.rivals.front().swaps);
  for (const Rivalry& r : near.rivals) {
    const bool at_low =
        token_time(first, r.constant, r.low) < token_time(second, r.constant, r.low);
    const bool at_high =
        token_time(first, r.constant, r.high) < token_time(second, r.constant, r.high);
    EXPECT_EQ(r.swaps, at_low || at_high) << constants()[std::size_t(r.constant)].name;
  }
}

}  // namespace sensitivity_test
}  // namespace rankwright
