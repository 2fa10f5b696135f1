#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "rankwright/catalog/catalog.h"

namespace rankwright::catalog {
namespace calibration_test {

TEST(Constants, AreInTheOrderOfTheirEnum) {
  ASSERT_EQ(constants().size(), cluster::kConstants);
  EXPECT_EQ(constants()[std::size_t(cluster::Constant::matmul_ampere)].name, "matmul_ampere");
  EXPECT_EQ(constants()[std::size_t(cluster::Constant::unfused_bytes)].name, "unfused_bytes");
  EXPECT_EQ(constants()[std::size_t(cluster::Constant::launch_floor)].name, "launch_floor");
  EXPECT_EQ(constants()[std::size_t(cluster::Constant::dp_window)].name, "dp_window");
  EXPECT_EQ(constants()[std::size_t(cluster::Constant::reserve)].name, "reserve");
}

TEST(Constants, AreWithinTheirRangeAndHaveAnOrigin) {
  std::set<std::string> names;
  for (const ConstantRow& row : constants()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_LE(row.low, row.value) << row.name;
    EXPECT_GE(row.high, row.value) << row.name;
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    EXPECT_FALSE(row.origin.empty()) << row.name;
    EXPECT_EQ(get_calibration()[row.constant], row.value);
    const bool fitted = row.found == Found::fitted;
    EXPECT_EQ(fitted, row.data != FitData::none) << row.name;
    EXPECT_EQ(fitted, row.spread > 0) << row.name << ": a fit begins somewhere";
    EXPECT_TRUE(!fitted || (row.low <= row.prior && row.prior <= row.high)) << row.name;
  }
  EXPECT_FALSE(names.empty());
}

TEST(Constants, ProbedConstants_OverrideOnlyTheirRows) {
  std::set<cluster::Constant> changed;
  for (const ProbedConstant& row : probed_constants()) {
    EXPECT_TRUE(changed.insert(row.constant).second) << "twice";
    EXPECT_FALSE(row.why.empty());
    EXPECT_EQ(probed_calibration()[row.constant], row.value);
  }
  EXPECT_FALSE(changed.empty());
  EXPECT_LT(changed.size(), constants().size());
  for (const ConstantRow& row : constants())
    if (!changed.contains(row.constant)) {
      EXPECT_EQ(probed_calibration()[row.constant], row.value) << row.name;
    }
}

TEST(Constants, ProbedConstants_UseMeasuredFiguresInFull) {
  for (const cluster::Constant share :
       {cluster::Constant::link_share, cluster::Constant::nic_share,
        cluster::Constant::nic_training, cluster::Constant::matmul_measured,
        cluster::Constant::memory_share})
    EXPECT_EQ(probed_calibration()[share], 1);
}

TEST(Constants, AtMost45AreFitted) {
  EXPECT_LE(std::count_if(constants().begin(), constants().end(),
                          [](const ConstantRow& row) { return row.found == Found::fitted; }),
            45);
}

TEST(Constants, MatmulsOfAGenerationDoNotExceedTheBestMeasuredShape) {
  // best_matmul is measured in bf16. A fit above it would attribute to matmuls what other work
  // gains, on any device of the generation that was measured.
  struct Row {
    std::string_view generation;
    cluster::Constant constant;
  };
  constexpr Row kRows[] = {{"ampere", cluster::Constant::matmul_ampere},
                           {"hopper", cluster::Constant::matmul_hopper},
                           {"blackwell", cluster::Constant::matmul_blackwell}};
  for (const Row& row : kRows) {
    double max = 0;
    for (const cluster::Device& device : devices()) {
      if (device.generation != row.generation || device.best_matmul.value == 0) continue;
      const double best = device.best_matmul / device.bf16;
      EXPECT_LE(get_calibration()[row.constant], best) << device.name;
      max = std::max(max, best);
    }
    // A refit stays within [low, high].
    EXPECT_LE(constants()[std::size_t(row.constant)].high, max) << row.generation;
    EXPECT_GT(max, 0) << row.generation << ": no device was measured";
  }
}

}  // namespace calibration_test
}  // namespace rankwright::catalog
