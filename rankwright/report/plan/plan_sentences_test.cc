#include "rankwright/report/plan/plan_sentences.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/import/plan/plan_file.h"
#include "rankwright/report/plan/counts_text.h"
#include "rankwright/report/plan/search_sentences.h"
#include "tests/support/golden.h"

namespace rankwright::report {
namespace plan_sentences_test {

rankwright::plan::TrainingConfig config_of(const std::string& plan) {
  return resolve(importer::read_plan("model: llama-3.1-8b\ncluster: dgx-h100 x 2\n" + plan,
                                     "p.yaml", importer::refuse_file)
                     .draft);
}

planner::PlanAnswer make_view(const rankwright::plan::TrainingConfig& config) {
  planner::PlanAnswer view{.problem = search::make_problem(config)};
  view.answer.best = evaluate_plan(view.problem, config.plan, catalog::get_calibration());
  return view;
}

TEST(Brief, ListsOnlyNonDefaultSettings) {
  std::string text;
  for (const char* plan :
       {"world_size: 1\nparallelism: {dp_size: 1}", "parallelism: {dp_size: 16}",
        "parallelism: {tp_size: 2, pp_size: 2, dp_size: 4, virtual_stages: 4, zero_stage: 1, "
        "shard_size: 2, micro_batch: 2, recompute: full, order: tp-pp-dp}"})
    text += brief(config_of(plan)) + "\n";
  golden::expect("report/plan-briefs.txt", text);
}

TEST(Details, ListWhatTheDegreeTagsLeaveOut) {
  std::string text;
  for (const char* plan :
       {"parallelism: {dp_size: 16}",
        "parallelism: {tp_size: 2, cp_size: 2, pp_size: 2, dp_size: 2, stages: [17, 15], "
        "zero_stage: 1, shard_size: 2, order: tp-cp-pp-dp}"})
    text += details(config_of(plan)) + "\n";
  golden::expect("report/plan-details.txt", text);
}

TEST(Difference, HasASign) {
  EXPECT_EQ(format_difference(Seconds{1.05}, Seconds{1}), "+5.0 %");
  EXPECT_EQ(format_difference(Seconds{0.9}, Seconds{1}), "-10.0 %");
  EXPECT_EQ(format_difference(Seconds{1.0001}, Seconds{1}), "=");
}

TEST(ViolationTexts, AreInTheOrderOfTheEnum) {
  for (int k = 0; k <= int(plan::ConstraintViolation::Why::buckets); ++k)
    EXPECT_FALSE(words(plan::ConstraintViolation::Why(k)).empty());
  EXPECT_EQ(name(plan::ConstraintViolation::Why::heads), "heads");
  EXPECT_EQ(name(plan::ConstraintViolation::Why::batch), "batch");
  EXPECT_EQ(name(plan::ConstraintViolation::Why::shard), "shard");
}

TEST(Preference, NamesAnExtrapolation_BesideTheMargin) {
  const auto make = [](const std::string& parallelism) {
    return resolve(importer::read_plan("model: qwen3-30b-a3b\ncluster: dgx-h100 x 2\n"
                                       "job: {global_batch: 512, sequence: 4096}\n" +
                                           parallelism,
                                       "p.yaml", importer::refuse_file)
                       .draft);
  };
  planner::PlanAnswer view =
      make_view(make("parallelism: {dp_size: 16, ep_size: 16, zero_stage: 1, recompute: full}"));
  view.answer.fastest = evaluate_plan(
      view.problem,
      make("parallelism: {dp_size: 16, zero_stage: 3, micro_batch: 8, recompute: full}").plan,
      catalog::get_calibration());
  view.answer.min = view.answer.fastest->time();
  view.answer.far_band = 0.458;
  const std::string text = describe_preference(view, "This one");
  EXPECT_NE(text.find("Its estimate may be off by 45.8 %, as no published run is near it. This one "
                      "is near published runs."),
            std::string::npos)
      << text;
  // A tie needs no such reason.
  view.answer.band = 10;
  EXPECT_EQ(describe_preference(view, "This one").find("off by"), std::string::npos);
}

TEST(Why, NamesWhatGrewAndWhyAPlanIsRefused) {
  const rankwright::plan::TrainingConfig best =
      config_of("job: {global_batch: 64}\nparallelism: {tp_size: 8}");
  planner::PlanAnswer view = make_view(best);
  // tp 16 spans more than one node: its collectives take longer. 1,000 GiB of optimizer states do
  // not fit. 3 does not divide the 32 attention heads.
  search::Neighbor slower{
      .kind = search::Neighbor::Kind::tp,
      .searched = true,
      .degree = 16,
      .verdict = search::Neighbor::Verdict::evaluated,
      .config = config_of("job: {global_batch: 64}\nparallelism: {tp_size: 16}")};
  slower.step = cost::estimate_step_time(slower.config, catalog::get_calibration());
  slower.time = slower.step.total();
  search::Neighbor full{.kind = search::Neighbor::Kind::zero,
                        .verdict = search::Neighbor::Verdict::memory,
                        .config = best};
  full.memory[cost::Entry::optimizer] = 1000.0_GiB;
  search::Neighbor broken{
      .kind = search::Neighbor::Kind::tp,
      .searched = true,
      .degree = 3,
      .verdict = search::Neighbor::Verdict::violation,
      .config = config_of("world_size: 3\njob: {global_batch: 64}\nparallelism: {tp_size: 3}")};
  broken.violation = find_first_violation(broken.config);
  view.neighbors = {full, slower, broken};
  complete_figures(view);
  const std::vector<WhyRow> rows = make_why_rows(view);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].change, "TP 16");  // axes come first
  EXPECT_EQ(rows[0].neighbour, 1u);
  EXPECT_EQ(rows[1].change, "TP 3");
  std::string text;
  for (const WhyRow& row : rows)
    text += fmt::format("{} | {} | {}\n", row.change, row.difference, row.because);
  golden::expect("report/why-rows.txt", text);
}

TEST(DescribeSearch, CountsAddUpAndCompletenessIsStated) {
  search::Answer answer;
  answer.stats.candidates = 60;
  answer.stats.duplicates = 10;
  answer.stats.memory = 20;
  answer.stats.evaluated = 30;
  const std::string complete = describe_search(answer);
  // 60 + 180 undecided are 240, of which 60 are 25 %.
  answer.complete = false;
  answer.undecided = 180;
  golden::expect("report/search.txt", complete + "\n" + describe_search(answer) + "\n");
}

TEST(DescribeHosts, SaysHowManyAreIdleAndWhy) {
  planner::HostUse out{.count = 1, .listed = {3}, .left = 7, .used = 7};
  std::string text = "all used: " + describe_hosts(out, 8) + "\n";
  // 4 hosts of 8 GPUs are 32; 7 - 4 = 3 stay idle.
  out.used = 4;
  out.counts_tried = 2;
  out.broken = {{plan::ConstraintViolation::Why::batch, 8}};
  text += "some idle: " + describe_hosts(out, 8) + "\n";
  out.listed.clear();
  text += "hosts not named: " + describe_hosts(out, 8) + "\n";
  golden::expect("report/hosts.txt", text);
}

TEST(CountsText, EveryCountMissesTheDeadline_NamesTheShortest) {
  const rankwright::plan::TrainingConfig config =
      config_of("job: {global_batch: 64}\nparallelism: {dp_size: 16}");
  planner::PlansByCount answer{.problem = search::make_problem(config)};
  answer.rows.push_back(
      {.gpus = 16, .plan = search::EvaluatedPlan{.config = config}, .leanest = {}});
  answer.rows[0].plan->estimate.step[cost::Item::matmul] = 8.0_s;
  // 64 x 4,096 tokens per step: 10 steps take 80 s, which is more than 30 s.
  answer.training = {.tokens = 10 * 64 * 4096.0, .price = {}, .deadline = Seconds{30}};
  choose_count(answer);
  golden::expect("report/counts-deadline.txt", render_counts_text(answer, {}, 120));
}

}  // namespace plan_sentences_test
}  // namespace rankwright::report
