#include "rankwright/report/page/report_json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "rankwright/catalog/catalog.h"
#include "rankwright/report/explain/explain_json.h"
#include "rankwright/report/render/labels.h"
#include "rankwright/report/timeline/timeline_json.h"
#include "tests/support/sample.h"
#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace report_json_test {

using nlohmann::json;

/// Returns the only plan of a report as JSON.
json parse_report(const planner::PlanReport& plan) {
  const Report report{.version = "1", .command = "rankwright report", .plans = {plan}};
  const json document = json::parse(make_report_json(report));
  EXPECT_EQ(document["schema"], "rankwright.report/1");
  EXPECT_TRUE(document["compare"].is_null());
  return document["plans"][0];
}

TEST(ReportJson, ContainsWhatOtherCommandsPrint) {
  const rankwright::plan::TrainingConfig config = config_of(
      "{model: llama-3.1-8b, cluster: dgx-h100 x 2, parallelism: {tp_size: 2, pp_size: 4, "
      "dp_size: 2}, job: {global_batch: 32, sequence: 4096}}");
  const planner::PlanReport report = planner::build_plan_report("plan.yaml", config, {});
  const json plan = parse_report(report);
  EXPECT_EQ(plan["explain"], json::parse(make_explain_json(config, report.explain_view)));
  EXPECT_EQ(plan["timeline"]["summary"],
            json::parse(make_timeline_json(report.step->simulated, report.step->summary,
                                           format_headline(config))));
  ASSERT_EQ(plan["memory"].size(), 4u);
  double max = 0;
  for (const json& stage : plan["memory"]) {
    double sum = 0;
    for (const json& entry : stage["entries"]) sum += double(entry["bytes"]);
    EXPECT_NEAR(sum, double(stage["total_bytes"]), 1);
    max = std::max(max, double(stage["total_bytes"]));
  }
  EXPECT_EQ(max, double(plan["explain"]["estimate"]["memory"]["total_bytes"]));
  EXPECT_TRUE(plan["why_not"].is_null());
}

planner::PlanReport example(const std::string& name) {
  std::ifstream file(std::string(RANKWRIGHT_SOURCE_DIR) + "/examples/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return planner::build_plan_report(name, config_of(text.str()), {});
}

/// Returns the collectives of a pp rank's ranks, by their names in the communication table.
std::set<std::string> list_collectives(const json& plan, i64 pp_rank) {
  std::set<std::string> names;
  for (const json& device : plan["ranks"]["devices"])
    if (device["pp"] == pp_rank)
      for (const json& k : device["collectives"])
        names.insert(plan["explain"]["communication"][std::size_t(k)]["communication"]);
  return names;
}

// The embedding is on the first of four pp ranks, head and loss are on the last.
TEST(ReportJson, ListsTheCollectivesOfEachRank) {
  const json plan = parse_report(example("course-64.yaml"));
  const std::string embedding(row(plan::TrafficKind::tp_embedding).label);
  const std::string loss(row(plan::TrafficKind::tp_cross_entropy).label);
  const std::string layers(row(plan::TrafficKind::tp_all_gather).label);
  const std::string sends(row(plan::TrafficKind::pp_forward).label);
  for (i64 r = 0; r < 4; ++r) {
    EXPECT_EQ(list_collectives(plan, r).count(embedding), r == 0 ? 1u : 0u) << r;
    EXPECT_EQ(list_collectives(plan, r).count(loss), r == 3 ? 1u : 0u) << r;
    EXPECT_EQ(list_collectives(plan, r).count(layers), 1u) << r;
    EXPECT_EQ(list_collectives(plan, r).count(sends), 1u) << r << " sends or receives";
  }
}

// The three dense layers are alone on the first pp rank, which sends no tokens to experts.
TEST(ReportJson, DenseStagesHaveNoExpertCollectives) {
  const planner::PlanReport report = example("deepseek-v3-2048.yaml");
  const json plan = parse_report(report);
  const std::string experts(row(plan::TrafficKind::ep_all_to_all).label);
  i64 without = 0;
  for (i64 r = 0; r < report.config.plan.pp; ++r) {
    bool sent = false;
    for (const plan::Traffic& of : list_traffic(report.config, r))
      sent |= of.kind == plan::TrafficKind::ep_all_to_all;
    if (!sent) ++without;
    EXPECT_EQ(list_collectives(plan, r).count(experts), sent ? 1u : 0u) << r;
  }
  EXPECT_GT(without, 0);
}

// 4 pp ranks and 16 microbatches of one forward and one backward each: 128 cells, which do not
// overlap on a rank.
TEST(ReportJson, ListsEveryCellInTicks) {
  const rankwright::plan::TrainingConfig config = config_of(
      "{world_size: 4, parallelism: {pp_size: 4}, job: {global_batch: 16, sequence: 4096}}");
  const json timeline =
      parse_report(planner::build_plan_report("plan.yaml", config, {}))["timeline"];
  const double tick = timeline["tick_seconds"];
  EXPECT_NEAR(double(timeline["end"]) * tick, double(timeline["summary"]["step_seconds"]), tick);
  EXPECT_GE(double(timeline["end"]), 1e6);
  EXPECT_LT(double(timeline["end"]), 1e7 + 1);
  i64 cells = 0;
  ASSERT_EQ(timeline["rows"].size(), 4u);
  for (const json& row : timeline["rows"]) {
    i64 free = 0;
    for (const json& event : row["events"]) {
      ASSERT_EQ(event.size(), 6u);
      if (event[4] == -1) continue;
      EXPECT_GE(i64(event[0]), free);
      free = i64(event[0]) + i64(event[1]);
      ++cells;
    }
    EXPECT_LE(free, i64(timeline["end"]));
  }
  EXPECT_EQ(cells, 128);
  EXPECT_EQ(cells, i64(timeline["summary"]["cells"]));
}

// 2 x 16 x 1,024 = 32,768 cells are more than a page shows individually.
TEST(ReportJson, ListsColumnsIfThereAreTooManyCells) {
  const rankwright::plan::TrainingConfig config = config_of(
      "{world_size: 16, parallelism: {pp_size: 16}, job: {global_batch: 1024, sequence: 4096}}");
  const json timeline =
      parse_report(planner::build_plan_report("plan.yaml", config, {}))["timeline"];
  const json& columns = timeline["columns"];
  ASSERT_EQ(columns["rows"].size(), 16u);
  ASSERT_GT(i64(columns["count"]), 0);
  for (const json& row : columns["rows"]) {
    ASSERT_EQ(row.size(), std::size_t(columns["count"]));
    for (const json& shares : row) {
      i64 sum = 0;
      for (const json& share : shares) sum += i64(share);
      EXPECT_LE(sum, 103);  // six shares, each rounded
    }
  }
  ASSERT_EQ(timeline["rows"].size(), 16u);
  for (const json& row : timeline["rows"]) EXPECT_TRUE(row["events"].empty());
}

RC_GTEST_PROP(ReportJsonLaw, IsDeterministicAndAddsUp, ()) {
  rankwright::plan::TrainingConfig config = sample::random_config(sample::random_known_model());
  config.cluster =
      catalog::find_cluster(fmt::format("dgx-h100 x {}", ceil_div(config.world, i64{8}))).value();
  const planner::PlanReport report = planner::build_plan_report("plan.yaml", config, {});
  const Report whole{.plans = {report}};
  RC_ASSERT(make_report_json(whole) ==
            make_report_json({.plans = {planner::build_plan_report("plan.yaml", config, {})}}));
  const json plan = json::parse(make_report_json(whole))["plans"][0];
  double sum = 0;
  for (const json& item : plan["explain"]["estimate"]["step"]["items"])
    sum += double(item["seconds"]);
  const double step = plan["explain"]["estimate"]["step"]["seconds"];
  RC_ASSERT(std::abs(sum - step) <= 1e-9 * step);
  RC_ASSERT(plan["ranks"]["devices"].size() <= std::size_t(planner::kMaxMapDevices));
}

}  // namespace report_json_test
}  // namespace rankwright::report
