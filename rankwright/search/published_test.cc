// Layouts that people published, held against what the search finds for the same job, machine and
// software. Where they differ by more than 5 % the test says what makes the difference;
// docs/explanation/published_layouts.md says why.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "rankwright/catalog/catalog.h"
#include "rankwright/import/plan/plan_file.h"
#include "rankwright/search/answer.h"

namespace rankwright::search {
namespace published_test {

/// As its authors ran it.
EvaluatedPlan as_published(const std::string& example) {
  std::ifstream stream(std::string(RANKWRIGHT_SOURCE_DIR "/examples/") + example);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  const importer::PlanFile file = importer::read_plan(text, example, importer::refuse_file);
  EXPECT_TRUE(file.findings.empty());
  const rankwright::plan::TrainingConfig config = resolve(file.draft);
  EXPECT_FALSE(find_first_violation(config));
  return evaluate_plan(make_problem(config), config.plan, catalog::get_calibration());
}

/// The fastest for the same job, machine, software and overlap.
EvaluatedPlan fastest(const EvaluatedPlan& published, const Limits& limits) {
  const Problem one = make_problem(published.config, limits);
  const SearchResult found = search(one, catalog::get_calibration());
  EXPECT_TRUE(found.space.best);
  return evaluate_plan(one, found.space.best->plan, catalog::get_calibration());
}

/// Of the time that the published layout takes longer, what these items make.
double share_of(const EvaluatedPlan& published, const EvaluatedPlan& best,
                std::initializer_list<cost::Item> items) {
  Seconds sum{};
  for (const cost::Item item : items)
    sum += published.estimate.step[item] - best.estimate.step[item];
  return sum / (published.time() - best.time());
}

Range just(i64 degree) { return {degree, degree}; }

/// Megatron-LM of 2021: full recompute, tp in the node, 1F1B, no sharding.
Limits of_2021() {
  Limits limits;
  limits.tp = just(8);
  limits.cp = just(1);
  limits.zero = just(0);
  limits.recompute = plan::Recompute::full;
  limits.schedule = pipeline::Schedule::one_f_one_b;
  limits.sequence_parallel = false;
  return limits;
}

TEST(Published, Gpt3IsWithinFivePercentOfWhatCouldBeRunIn2021) {
  const EvaluatedPlan published = as_published("gpt3-175b-1024.yaml");
  EXPECT_TRUE(published.estimate.fits());
  EXPECT_LT(published.time() / fastest(published, of_2021()).time(), 1.05);
}

/// What has come since: recompute of attention alone, schedules with less bubble, smaller tp with
/// what sequence parallelism and ZeRO save.
TEST(Published, Gpt3IsSlowerThanTodayByRecomputeBubbleAndTp) {
  const EvaluatedPlan published = as_published("gpt3-175b-1024.yaml");
  const EvaluatedPlan best = fastest(published, {});
  EXPECT_GT(published.time() / best.time(), 1.05);
  EXPECT_LT(best.config.plan.tp, 8);
  EXPECT_NE(best.config.plan.recompute, plan::Recompute::full);
  EXPECT_GT(share_of(published, best, {cost::Item::recompute, cost::Item::bubble, cost::Item::tp}),
            0.6);
}

/// By the ledger it is a little too large: its authors did run it.
TEST(Published, Llama405bFitsWithinTheLedgersError) {
  const cost::Estimate estimate = as_published("llama-3.1-405b-16384.yaml").estimate;
  EXPECT_LT(estimate.memory.total(), (1 + estimate.memory_band.within) * estimate.capacity);
  EXPECT_FALSE(estimate.sure());
}

TEST(Published, Llama405bIsWithinFivePercentOfTheFastestOnItsSchedule) {
  const EvaluatedPlan published = as_published("llama-3.1-405b-16384.yaml");
  const EvaluatedPlan best = fastest(published, {.schedule = pipeline::Schedule::interleaved});
  EXPECT_LT(published.time() / best.time(), 1.05);
}

/// A schedule that fills the bubble with weight gradients, and tp 4 with cp 4 instead of tp 8.
TEST(Published, Llama405bIsSlowerThanTheFastestByBubbleAndTp) {
  const EvaluatedPlan published = as_published("llama-3.1-405b-16384.yaml");
  const EvaluatedPlan best = fastest(published, {});
  EXPECT_GT(published.time() / best.time(), 1.05);
  EXPECT_LT(published.time() / best.time(), 1.15);
  EXPECT_TRUE(row(best.config.plan.schedule).splits_backward);
  EXPECT_GT(share_of(published, best, {cost::Item::bubble, cost::Item::tp}), 0.8);
}

/// DeepSeek-V3's degrees with DualPipe and what it hides, where the example has 1F1B.
EvaluatedPlan deepseek_v3() {
  const EvaluatedPlan example = as_published("deepseek-v3-2048.yaml");
  plan::Plan plan = example.config.plan;
  plan.schedule = pipeline::Schedule::dualpipe;
  plan.overlap.pp = true;
  return evaluate_plan(make_problem(example.config), plan, catalog::get_calibration());
}

TEST(Published, DeepseekV3IsWithinFivePercentOfTheFastestWithItsDegrees) {
  const EvaluatedPlan published = deepseek_v3();
  EXPECT_TRUE(published.estimate.fits());
  const Limits limits{.tp = just(1),
                      .cp = just(1),
                      .pp = just(16),
                      .ep = just(64),
                      .recompute = plan::Recompute::full};
  EXPECT_LT(published.time() / fastest(published, limits).time(), 1.05);
}

/// Its authors recompute less than whole layers, and their all-to-alls cost them nothing: neither
/// is modelled.
TEST(Published, DeepseekV3IsSlowerThanTheFastestByRecomputeAndBubble) {
  const EvaluatedPlan published = deepseek_v3();
  const EvaluatedPlan best = fastest(published, {.tp = just(1), .cp = {1, 2}});
  EXPECT_GT(published.time() / best.time(), 1.05);
  EXPECT_LT(best.config.plan.ep, 64);
  EXPECT_NE(best.config.plan.recompute, plan::Recompute::full);
  EXPECT_GT(share_of(published, best, {cost::Item::recompute, cost::Item::bubble}), 0.6);
}

}  // namespace published_test
}  // namespace rankwright::search
