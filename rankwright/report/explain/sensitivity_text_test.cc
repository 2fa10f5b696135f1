#include "rankwright/report/explain/sensitivity_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace sensitivity_text_test {

const std::string kPlan =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
    "parallelism: {tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1}\n";

std::string write_sensitivity(const rankwright::plan::TrainingConfig& config) {
  return render_sensitivity_text(config, planner::make_sensitivity_view(config), {}, 120);
}

TEST(SensitivityText, SaysThatNoConstantChangesTheVerdict) {
  golden::expect("report/sensitivity.txt", write_sensitivity(config_of(kPlan)));
}

TEST(SensitivityText, NamesConstantsThatWouldChangeTheVerdict) {
  // A device 0.1 % larger than the plan needs, and one 0.1 % smaller.
  rankwright::plan::TrainingConfig config = config_of(kPlan);
  const Bytes needed = cost::fullest(config, catalog::get_calibration()).total();
  config.cluster.device.memory = 1.001 * needed;
  // The verdict is below the table of constants.
  const auto write_verdict = [&] {
    const std::string text = write_sensitivity(config);
    return text.substr(text.rfind("\n\n") + 1);
  };
  const std::string fits = write_verdict();
  config.cluster.device.memory = 0.999 * needed;
  golden::expect("report/sensitivity-verdict.txt",
                 "just fits:" + fits + "\njust does not fit:" + write_verdict());
}

TEST(SensitivityText, ShowsAtMostTwelveConstants) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const planner::SensitivityView view = planner::make_sensitivity_view(config);
  ASSERT_GT(view.constants.size(), 12u);
  const std::string text = render_sensitivity_text(config, view, {}, 400);
  const auto shown = [&](std::size_t at) {
    return text.find("\n  " + catalog::constants()[std::size_t(view.constants[at].constant)].name +
                     " ") != std::string::npos;
  };
  EXPECT_TRUE(shown(0) && shown(11));
  EXPECT_FALSE(shown(12));
}

TEST(RivalsText, NamesTheFasterPlan) {
  const rankwright::plan::TrainingConfig first = config_of(kPlan);
  rankwright::plan::TrainingConfig second = first;
  second.plan.recompute = plan::Recompute::full;
  const planner::RivalsView view = planner::make_rivals_view(first, second);
  golden::expect("report/rivals.txt",
                 render_rivals_text({"a", first}, {"b", second}, view, {}, 120));
  const nlohmann::json json =
      nlohmann::json::parse(make_rivals_json({"a", first}, {"b", second}, view));
  EXPECT_EQ(json["lead"].get<double>(), view.comparison.lead);
}

}  // namespace sensitivity_text_test
}  // namespace rankwright::report
