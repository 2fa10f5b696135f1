// One verdict on memory: every call that judges a plan gives the verdict of cost::judge_memory(),
// and finds an error if and only if the plan does not fit.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/export/plan_file.h"
#include "rankwright/planner/check.h"
#include "rankwright/planner/compare.h"
#include "rankwright/planner/explain.h"
#include "rankwright/planner/plan.h"
#include "rankwright/planner/plan/plan_options.h"
#include "rankwright/planner/report.h"
#include "tests/support/sanitized.h"
#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace memory_verdict_test {

using V = cost::MemoryVerdict;

/// Returns the config on devices whose memory is the estimate / `share`.
plan::TrainingConfig with_memory(plan::TrainingConfig config, double share) {
  config.cluster.device.memory = cost::fullest(config, select_calibration(config)).total() / share;
  config.cluster.name = "own";
  config.cluster.device.name = "own";
  return config;
}

PlanSource source_of(const plan::TrainingConfig& config) {
  return {.plan = {"plan.yaml", exporter::write_plan_yaml(config)}};
}

/// Returns the options that leave a search only the plan of the config.
OptionTexts only_plan_of(const plan::TrainingConfig& config) {
  const plan::Plan& p = config.plan;
  OptionTexts texts{{"for", "any"},
                    {"tp", std::to_string(p.tp)},
                    {"cp", std::to_string(p.cp)},
                    {"pp", std::to_string(p.pp)},
                    {"dp", std::to_string(p.dp)},
                    {"zero", std::to_string(p.zero)},
                    {"micro-batch", std::to_string(p.micro_batch)},
                    {"recompute", std::string(name(p.recompute))},
                    {"order", show(p.order)},
                    {"even-stages", "true"},
                    {"no-hybrid", "true"}};
  if (p.pp > 1) texts["schedule"] = name(p.schedule);
  if (p.pp > 1) texts["chunks"] = std::to_string(p.virtual_stages);
  if (p.tp > 1) texts["sequence-parallel"] = p.sequence_parallel ? "true" : "false";
  if (config.model.sparse()) texts["ep"] = std::to_string(p.ep);
  if (config.model.sparse()) texts["etp"] = std::to_string(p.etp);
  return texts;
}

PlanAnswer search_only(const plan::TrainingConfig& config, OptionTexts more = {}) {
  more.merge(only_plan_of(config));
  PlanRequest request = read_plan_options(more).value();
  request.plan_file = source_of(config).plan;
  return find_plan(request).value();
}

bool finds(const Diagnostics& findings, std::string_view code) {
  for (const Diagnostic& d : findings)
    if (d.code == code) return true;
  return false;
}

void expect_findings(V verdict, const Diagnostics& findings) {
  EXPECT_EQ(finds(findings, "RW0201"), verdict == V::does_not_fit);
  EXPECT_EQ(finds(findings, "RW0202"), verdict == V::tight || verdict == V::over_within_error);
}

/// Checks all calls that judge the memory of a plan. Returns the verdict.
V expect_one_verdict(const plan::TrainingConfig& config) {
  const PlanSource source = source_of(config);
  const CheckAnswer checked = check_plan({.plan = source}).value();
  const V verdict = checked.estimate.value().verdict();
  EXPECT_EQ(verdict, judge_memory(checked.estimate->memory, config));
  expect_findings(verdict, checked.findings);
  const ExplainAnswer explained = explain_plan(source).value();
  EXPECT_EQ(explained.explain_view.estimate.verdict(), verdict);
  expect_findings(verdict, explained.plan.findings);
  EXPECT_EQ(explain_sensitivity(source).value().view.now.verdict(), verdict);
  const CompareAnswer compared = compare_plans({.a = source, .b = source}).value();
  EXPECT_EQ(compared.view.a.verdict(), verdict);
  EXPECT_EQ(compared.view.b.verdict(), verdict);
  const PlanReport report = report_plan({.plan = source, .search = false}).value();
  EXPECT_EQ(report.explain_view.estimate.verdict(), verdict);
  expect_findings(verdict, report.findings);

  const PlanAnswer found = search_only(config);
  EXPECT_EQ(found.answer.best.has_value(), verdict != V::does_not_fit);
  if (found.answer.best) {
    EXPECT_EQ(found.best().estimate.verdict(), verdict);
  }
  EXPECT_EQ(found.own.value().evaluated.value().estimate.verdict(), verdict);
  const PlanAnswer fitted = search_only(config, {{"fit", "true"}});
  EXPECT_EQ(fitted.answer.best.has_value(), verdict != V::does_not_fit);
  if (fitted.answer.best) {
    EXPECT_EQ(fitted.fewest.value().gpus, config.world);
    EXPECT_EQ(fitted.best().estimate.verdict(), verdict);
  }
  return verdict;
}

const std::string kDense =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
    "parallelism: {tp_size: 2, pp_size: 2, dp_size: 4, zero_stage: 1}\n";

// The estimate is within +-8.7 % of measurements (catalog/bands.csv), so the boundaries of the
// verdicts are 91.3 %, 100 % and 108.7 % of the device.
TEST(MemoryVerdict, OneExamplePerVerdict) {
  const plan::TrainingConfig config = config_of(kDense);
  EXPECT_EQ(expect_one_verdict(with_memory(config, 0.85)), V::fits_with_margin);
  EXPECT_EQ(expect_one_verdict(with_memory(config, 0.95)), V::tight);
  EXPECT_EQ(expect_one_verdict(with_memory(config, 1.05)), V::over_within_error);
  EXPECT_EQ(expect_one_verdict(with_memory(config, 1.15)), V::does_not_fit);
}

/// Returns a random plan file on 16 GPUs.
std::string random_plan() {
  const i64 tp = i64{1} << *rc::gen::inRange(0, 4), pp = i64{1} << *rc::gen::inRange(0, 3);
  RC_PRE(tp * pp <= 16);
  const i64 dp = 16 / tp / pp;
  const bool sparse = *rc::gen::arbitrary<bool>();
  const std::string recompute = *rc::gen::element<std::string>("none", "selective", "full");
  const i64 zero = dp > 1 ? *rc::gen::inRange<i64>(0, 4) : 0;
  std::string text = sparse ? "model: mixtral-8x7b\n" : "model: llama-3.1-8b\n";
  text +=
      "cluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\nparallelism: {tp_size: " +
      std::to_string(tp) + ", pp_size: " + std::to_string(pp) + ", dp_size: " + std::to_string(dp) +
      ", zero_stage: " + std::to_string(zero) + ", recompute: " + recompute;
  if (sparse) text += ", ep_size: " + std::to_string(std::min<i64>(8, 16 / pp));
  if (pp > 1 && *rc::gen::arbitrary<bool>()) text += ", virtual_stages: 2";
  return text + "}\n";
}

RC_GTEST_PROP(MemoryVerdict, AllCallsAgreeNearTheLimit, ()) {
  const plan::TrainingConfig config = config_of(random_plan());
  const double share = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(80, 121)) / 100.0;
  const V verdict = expect_one_verdict(with_memory(config, share));
  RC_ASSERT(!testing::Test::HasFailure());
  RC_TAG(std::string(name(verdict)));
}

// 405B on up to 64 nodes: --fit names the fewest GPUs that leave a margin, and `plan` on that count
// gives the same verdict. A smaller count is named as tight, not as one on which it fits.
TEST(MemoryVerdict, FitAnswersWithTheVerdictOfPlan) {
  if (kSanitized) GTEST_SKIP() << "a dozen searches, minutes each with sanitizers";
  OptionTexts texts{{"model", "llama-3.1-405b"},
                    {"cluster", "dgx-h100 x 64"},
                    {"for", "any"},
                    {"global-batch", "512"},
                    {"seq", "8192"},
                    {"fit", "true"}};
  const PlanAnswer fitted = find_plan(read_plan_options(texts).value()).value();
  ASSERT_TRUE(fitted.answer.best && fitted.fewest);
  EXPECT_EQ(fitted.best().estimate.verdict(), V::fits_with_margin);
  ASSERT_TRUE(fitted.fewest_tight);
  EXPECT_LT(fitted.fewest_tight->gpus, fitted.fewest->gpus);
  EXPECT_EQ(fitted.fewest_tight->plan->estimate.verdict(), V::tight);
  texts.erase("fit");
  texts["gpus"] = std::to_string(fitted.fewest_tight->gpus);
  const PlanAnswer tight = find_plan(read_plan_options(texts).value()).value();
  EXPECT_EQ(tight.best().estimate.verdict(), V::tight);
  EXPECT_EQ(tight.best().config.plan, fitted.fewest_tight->plan->config.plan);
}

// --max-memory limits the search. The verdict stays that of the device.
TEST(MemoryVerdict, MaxMemoryDoesNotMoveTheVerdict) {
  const plan::TrainingConfig config = with_memory(config_of(kDense), 0.85);
  const Bytes total = cost::fullest(config, select_calibration(config)).total();
  const auto limit = [&](double share) {
    return search_only(config, {{"max-memory", fmt::format("{:.0f}B", share * total.value)}});
  };
  EXPECT_EQ(limit(1.01).best().estimate.verdict(), V::fits_with_margin);
  EXPECT_FALSE(limit(0.99).answer.best);
}

}  // namespace memory_verdict_test
}  // namespace rankwright::planner
