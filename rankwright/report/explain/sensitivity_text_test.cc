#include "rankwright/report/explain/sensitivity_text.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace sensitivity_text_test {

using ::testing::HasSubstr;

const std::string kPlan =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
    "parallelism: {tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1}\n";

TEST(SensitivityText, SaysThatNoConstantChangesTheVerdict) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const std::string text =
      render_sensitivity_text(config, planner::make_sensitivity_view(config), {}, 120);
  EXPECT_THAT(text, HasSubstr("No constant changes that."));
}

TEST(SensitivityText, NamesConstantsThatWouldChangeTheVerdict) {
  rankwright::plan::TrainingConfig config = config_of(kPlan);
  config.cluster.device.memory = 1.001 * cost::fullest(config, catalog::get_calibration()).total();
  const std::string text =
      render_sensitivity_text(config, planner::make_sensitivity_view(config), {}, 120);
  EXPECT_THAT(text, HasSubstr("The verdict is another at one end of "));
  EXPECT_THAT(text, HasSubstr("communicator"));
  config.cluster.device.memory = 0.999 * cost::fullest(config, catalog::get_calibration()).total();
  EXPECT_THAT(render_sensitivity_text(config, planner::make_sensitivity_view(config), {}, 120),
              HasSubstr("The verdict is another at one end of "));
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
  const std::string text = render_rivals_text({"a", first}, {"b", second}, view, {}, 120);
  EXPECT_THAT(text, HasSubstr("a is the faster, whichever constant moves."));
  const nlohmann::json json =
      nlohmann::json::parse(make_rivals_json({"a", first}, {"b", second}, view));
  EXPECT_EQ(json["lead"].get<double>(), view.comparison.lead);
}

}  // namespace sensitivity_text_test
}  // namespace rankwright::report
