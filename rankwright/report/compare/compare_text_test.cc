#include "rankwright/report/compare/compare_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/report/compare/compare_json.h"
#include "rankwright/report/compare/compare_sentences.h"
#include "rankwright/report/render/table.h"
#include "tests/support/golden.h"
#include "tests/support/timed_configs.h"
#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace compare_text_test {

/// Returns Llama 8B on two nodes; `parallelism` as in a plan file.
rankwright::plan::TrainingConfig make_two_node_config(const std::string& parallelism) {
  return config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
      "parallelism: {" +
      parallelism + "}\n");
}
const std::string kPlan = "tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1";

TEST(CompareText, SamePlan_SaysThatNoKeyDiffers) {
  const rankwright::plan::TrainingConfig plan = make_two_node_config(kPlan);
  const planner::CompareView view = planner::make_compare_view(plan, plan);
  // There are no causes to list.
  golden::expect("compare/same-plan.txt",
                 render_compare_text({"a", plan}, {"b", plan}, view, {}, 80));
}

TEST(CompareText, SaysWhatFitsBeforeWhichIsFaster) {
  const rankwright::plan::TrainingConfig fits = make_two_node_config(kPlan);
  rankwright::plan::TrainingConfig full = fits;
  full.cluster.device.memory = 0.5 * cost::fullest(full, catalog::get_calibration()).total();
  const planner::CompareView view = planner::make_compare_view(fits, full);
  const CompareSentences words = describe_comparison(fits, full, view);
  const std::string text = render_compare_text({"a", fits}, {"b", full}, view, {}, 120);
  const std::size_t verdict = text.find(words.verdict.substr(0, 10));
  ASSERT_NE(verdict, std::string::npos);
  EXPECT_LT(text.find(words.fit.substr(0, 10)), verdict);
}

TEST(CompareText, PlanThatFillsTheGpu_ExplainsWhyItHasNoReserve) {
  const rankwright::plan::TrainingConfig fits = make_two_node_config(kPlan);
  rankwright::plan::TrainingConfig full = fits;
  full.cluster.device.memory = 0.5 * cost::fullest(full, catalog::get_calibration()).total();
  const auto text = [](const rankwright::plan::TrainingConfig& a,
                       const rankwright::plan::TrainingConfig& b) {
    return render_compare_text({"a", a}, {"b", b}, planner::make_compare_view(a, b), {}, 120);
  };
  EXPECT_NE(text(fits, full).find("reserve: the tensors of B"), std::string::npos);
  EXPECT_NE(text(full, fits).find("reserve: the tensors of A"), std::string::npos);
  EXPECT_EQ(text(full, full).find("reserve: the tensors"), std::string::npos);
}

RC_GTEST_PROP(CompareText, SentenceAndTableStateOneChange, ()) {
  const rankwright::plan::TrainingConfig a = sample::random_timed_config(),
                                         b = sample::random_timed_config();
  const planner::CompareView view = planner::make_compare_view(a, b);
  const std::string verdict = describe_comparison(a, b, view).verdict;
  if (verdict.find(" % less ") == std::string::npos &&
      verdict.find(" % more ") == std::string::npos)
    return;  // a factor, no difference, or a plan that cannot run
  const std::string figure = fmt::format("{:.1f} %", 100 * std::abs(view.change()));
  RC_ASSERT(verdict.find(figure) != std::string::npos);
  const std::string text = render_compare_text({"a", a}, {"b", b}, view, {}, 100);
  RC_ASSERT(text.find((view.change() > 0 ? "+" : "-") + figure) != std::string::npos);
}

RC_GTEST_PROP(CompareText, FitsItsWidth, ()) {
  const rankwright::plan::TrainingConfig a = sample::random_timed_config(),
                                         b = sample::random_timed_config();
  const planner::CompareView view = planner::make_compare_view(a, b);
  // Keys are not broken: a stage layout may be long.
  std::string text = render_compare_text({"a", a}, {"b", b}, view, {}, 100);
  const std::size_t keys = text.find("\n  differs");
  if (keys != std::string::npos) text.erase(keys, text.find("\n\n", keys) - keys);
  RC_ASSERT(!text.empty());
  for (const std::string& line : golden::lines(text)) {
    RC_ASSERT(display_width(line) <= 100u);
    RC_ASSERT(!line.ends_with(' '));
  }
}

TEST(CompareJson, AgreesWithTheText) {
  const rankwright::plan::TrainingConfig a = make_two_node_config(kPlan),
                                         b = make_two_node_config("tp_size: 8, dp_size: 2");
  const planner::CompareView view = planner::make_compare_view(a, b);
  const nlohmann::json json = nlohmann::json::parse(make_compare_json({"a", a}, {"b", b}, view));
  EXPECT_EQ(json["schema"], "rankwright.compare/1");
  EXPECT_EQ(json["verdict"]["text"], describe_comparison(a, b, view).verdict);
  EXPECT_EQ(json["verdict"]["tie"], view.tie());
  EXPECT_EQ(json["time"]["items"].size(), view.items.size());
  EXPECT_EQ(json["memory"].size(), view.entries.size());
  EXPECT_EQ(json["differs"].size(), view.keys.size());
  EXPECT_EQ(json["a"]["tokens_per_step"], 32 * 4096);
  EXPECT_TRUE(nlohmann::json::parse(make_compare_json(
      {"a", a}, {"a", a}, planner::make_compare_view(a, a)))["verdict"]["faster"]
                  .is_null());
}

}  // namespace compare_text_test
}  // namespace rankwright::report
