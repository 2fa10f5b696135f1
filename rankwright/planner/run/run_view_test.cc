#include "rankwright/planner/run/run_view.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/traffic_cost.h"
#include "rankwright/program/expand.h"
#include "rankwright/report/run/run_json.h"
#include "rankwright/report/run/run_text.h"
#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace run_view_test {

constexpr char kPlan[] = R"(
world_size: 8
parallelism: {tp_size: 2, pp_size: 2, dp_size: 2, order: tp-cp-ep-dp-pp}
model: {architecture: gpt2, hidden: 32, layers: 2, heads: 2, ffn: 64, vocab: 256, positions: 16}
cluster:
  device: {name: cpu, memory: 8 GB, memory_bandwidth: 10 GB/s, bf16: 50 GFLOP/s}
  levels: [{name: memory, arity: 8, bandwidth: 2 GB/s, latency: 5 us}]
job: {global_batch: 8, sequence: 16, param_dtype: fp32, grad_dtype: fp32}
)";

/// Returns traffic that equals the prediction on every rank.
std::vector<std::vector<Sent>> predicted_traffic(const rankwright::plan::TrainingConfig& config) {
  std::vector<std::vector<Sent>> all;
  for (i64 rank = 0; rank < config.plan.ranks(); ++rank) {
    all.emplace_back();
    const i64 pp_rank = config.plan.meshes().dense.coordinate(rank, mesh::Axis::pp);
    for (const cost::TrafficCost& one : cost::estimate_traffic(config, pp_rank))
      all.back().push_back({one.traffic, one.level, 2.0_ms});
  }
  return all;
}

const TrafficComparison& row_of(const std::vector<TrafficComparison>& rows,
                                plan::TrafficKind kind) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const TrafficComparison& one) { return one.kind == kind; });
  EXPECT_NE(found, rows.end());
  return *found;
}

TEST(SentRows, PredictedTraffic_IsSummedAndEqual) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const std::vector<TrafficComparison> rows = compare_traffic(config, predicted_traffic(config));
  for (const TrafficComparison& one : rows) {
    EXPECT_TRUE(one.equal()) << row(one.kind).label;
    EXPECT_EQ(one.calls, one.predicted_calls);
    EXPECT_EQ(one.sent, one.predicted);
    EXPECT_DOUBLE_EQ(one.waited.value, 2e-3);  // each rank waited that long
  }
  // 8 / dp 2 / micro_batch 1 = 4 microbatches. Each of the 4 ranks of pp rank 0 sends one forward
  // activation per microbatch, 16 tokens x 32 hidden x 4 bytes.
  const TrafficComparison& sends = row_of(rows, plan::TrafficKind::pp_forward);
  EXPECT_EQ(sends.calls, 4 * 4);
  EXPECT_EQ(sends.level, 0);
}

TEST(SentRows, RanksWithOtherTraffic_AreCounted) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  std::vector<std::vector<Sent>> sent = predicted_traffic(config);
  sent[3].pop_back();                         // less than predicted
  sent[5].front().traffic.total += Bytes{8};  // more
  sent[6].front().level = 1;                  // on another level
  const plan::TrafficKind missing = sent[2].back().traffic.kind,
                          other = sent[5].front().traffic.kind;
  const std::vector<TrafficComparison> rows = compare_traffic(config, sent);
  EXPECT_EQ(row_of(rows, missing).ranks_off, 1);
  EXPECT_EQ(row_of(rows, other).ranks_off, 2);
  EXPECT_EQ(row_of(rows, other).sent - row_of(rows, other).predicted, Bytes{8});
  EXPECT_EQ(row_of(rows, other).level, 0);  // as predicted
}

TEST(SentRows, RanksThatOnlyReceive_CountTheirWaits) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  std::vector<std::vector<Sent>> sent = predicted_traffic(config);
  const plan::Traffic nothing{plan::TrafficKind::pp_forward, plan::Op::send_recv,
                              mesh::GroupKind::pp};
  for (std::size_t rank = 4; rank < 8; ++rank) sent[rank].push_back({nothing, -1, 4.0_ms});
  const std::vector<TrafficComparison> rows = compare_traffic(config, sent);
  const TrafficComparison& sends = row_of(rows, plan::TrafficKind::pp_forward);
  EXPECT_TRUE(sends.equal());
  EXPECT_DOUBLE_EQ(sends.waited.value, 3e-3);  // four ranks 2 ms, four 4 ms
}

TEST(SentRows, UnpredictedTraffic_HasARow) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  std::vector<std::vector<Sent>> sent = predicted_traffic(config);
  const plan::Traffic extra{plan::TrafficKind::ep_all_to_all, plan::Op::all_to_all,
                            mesh::GroupKind::ep, 2, Bytes{64}};
  sent[0].push_back({extra, 0, {}});
  const std::vector<TrafficComparison> rows = compare_traffic(config, sent);
  const TrafficComparison& found = row_of(rows, plan::TrafficKind::ep_all_to_all);
  EXPECT_EQ(found.predicted_calls, 0);
  EXPECT_EQ(found.calls, 2);
  EXPECT_EQ(found.ranks_off, 1);
}

TEST(RunMemory, EachPpRank_ReportsItsFullestRank) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);  // ranks 0 to 3 are pp rank 0
  std::vector<Bytes> peaks(8, Bytes{100});
  peaks[2] = Bytes{300};
  peaks[7] = Bytes{200};
  const std::vector<RunMemory> memory = compare_run_memory(config, peaks);
  ASSERT_EQ(memory.size(), 2u);
  EXPECT_EQ(memory[0].rank, 2);
  EXPECT_EQ(memory[0].peak, Bytes{300});
  EXPECT_EQ(memory[1].rank, 7);
  EXPECT_EQ(memory[1].predicted,
            cost::estimate_memory(config, 1, select_calibration(config)).allocated());
}

TEST(IdleShare, SimulatedEvents_EqualTheTimelinesShare) {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  const program::Program program = program::expand(config);
  const program::Durations times = make_equal_durations(program, 3.0_ms, 2.0_ms, 1.0_ms);
  const program::Timeline timeline = simulate(program, times);
  Seconds busy{}, end{};
  for (i64 r = 0; r < program.pp(); ++r) {
    const std::vector<program::Event> of_rank = events(program, times, timeline, r);
    busy += sum_cell_time(of_rank);
    end = std::max(end, find_end(of_rank));
  }
  EXPECT_NEAR(idle_share(busy, end, program.pp()), timeline.idle_share(), 1e-12);
  EXPECT_EQ(idle_share({}, {}, 4), 0);  // an empty step
}

TEST(PredictRun, UnmeasuredLinks_GiveNoPrediction) {
  rankwright::plan::TrainingConfig config = config_of(kPlan);
  const program::Program program = program::expand(config);
  EXPECT_FALSE(predict_run(config, program).has_value());
  config.cluster.levels[0].origin = cluster::Origin::measured;
  const std::optional<RunPrediction> found = predict_run(config, program);
  ASSERT_TRUE(found.has_value());
  EXPECT_GT(found->step, Seconds{});
  EXPECT_GT(found->outside_cells, 0);
  EXPECT_LT(found->outside_cells, 1);
}

TrainedStep step_of(i64 number, double loss, double seconds) {
  return {.step = number,
          .loss = loss,
          .gradient_norm = 1,
          .time = Seconds{seconds},
          .outside_cells = 0.25};
}

RunSummary sample_summary() {
  const rankwright::plan::TrainingConfig config = config_of(kPlan);
  RunSummary s{.wanted = 4, .pp = 2, .ranks = 8, .tokens = 128, .level_names = {"memory"}};
  s.steps = {step_of(1, 5.5, 9), step_of(2, 5.25, 1), step_of(3, 5, 2), step_of(4, 4.75, 4)};
  s.sent = compare_traffic(config, predicted_traffic(config));
  s.memory = compare_run_memory(config, std::vector<Bytes>(8, Bytes{1024}));
  return s;
}

TEST(RunSummary, StepTime_IsTheMedianAfterTheFirstStep) {
  RunSummary s = sample_summary();
  EXPECT_EQ(s.step_time(), Seconds{2});  // of 1, 2, 4
  EXPECT_DOUBLE_EQ(s.tokens_per_second(), 64);
  s.steps.pop_back();
  EXPECT_EQ(s.step_time(), Seconds{1.5});  // of 1, 2
  s.steps.resize(1);
  EXPECT_EQ(s.step_time(), Seconds{9});
  EXPECT_EQ(RunSummary{}.step_time(), Seconds{});
}

TEST(RunSummary, Text_SaysWhetherBytesAreEqual) {
  RunSummary s = sample_summary();
  // 128 tokens in 2 s, the median of 1, 2 and 4: 64 tokens/s. There are no warnings.
  golden::expect("run/bytes-equal.txt", report::render_run_text(s, {}));
  s.sent.front().ranks_off = 2;
  s.sent.front().sent += Bytes{8};
  s.steps[2].loss = std::numeric_limits<double>::quiet_NaN();
  // 8 B more on 2 ranks, and a loss of NaN in step 3: two warnings.
  golden::expect("run/bytes-differ.txt", report::render_run_text(s, {}));
}

TEST(RunSummary, NoSteps_IsOneLine) {
  golden::expect("run/no-steps.txt", report::render_run_text({.wanted = 4, .stopped = true}, {}));
  EXPECT_EQ(
      nlohmann::json::parse(report::make_summary_json({.wanted = 4, .stopped = true}))["steps"], 0);
}

TEST(RunSummary, Json_IsOneLineWithEveryRow) {
  RunSummary s = sample_summary();
  s.predicted = RunPrediction{.step = Seconds{3}, .outside_cells = 0.125};
  const std::string text = report::make_summary_json(s);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(json["type"], "summary");
  EXPECT_EQ(json["schema"], "rankwright.run/1");
  EXPECT_EQ(json["sent"].size(), s.sent.size());
  EXPECT_EQ(json["bytes_equal"], true);
  EXPECT_EQ(json["bytes"], s.sent_bytes().value);
  EXPECT_EQ(json["predicted"]["step_seconds"], 3);
  EXPECT_EQ(json["memory"].size(), 2u);
}

TEST(TrainedStep, Json_HasExactValues) {
  const TrainedStep step = step_of(37, 2.9134, 0.5);
  const nlohmann::json json = nlohmann::json::parse(report::make_step_json(step, 4096));
  EXPECT_EQ(json["type"], "step");
  EXPECT_EQ(json["step"], 37);
  EXPECT_EQ(json["loss"], 2.9134);
  EXPECT_EQ(json["tokens_per_second"], 8192);
  EXPECT_EQ(report::format_csv_line(step), "37,2.9134,1,0.5\n");
}

TEST(ProgressText, AnyStep_IsOneLine) {
  const TrainedStep step{.step = 37, .loss = 2.9134, .time = Seconds{0.5}, .outside_cells = 0.18};
  report::RunProgress progress{.wanted = 100, .tokens = 4205, .pipelined = true};
  // 4,205 tokens in 0.5 s: 8,410 tokens/s.
  std::string text = format_progress(step, progress) + "\n";
  progress.predicted_outside_cells = 0.17;
  progress.left = Seconds{41.2};
  text += format_progress(step, progress) + "\n";
  progress.pipelined = false;
  text += format_progress(step, progress) + "\n";
  golden::expect("run/progress.txt", text);
}

TEST(ClockText, Seconds_AreHoursMinutesAndSeconds) {
  EXPECT_EQ(report::format_clock(Seconds{0}), "0:00");
  EXPECT_EQ(report::format_clock(Seconds{59.6}), "1:00");
  EXPECT_EQ(report::format_clock(Seconds{3723}), "1:02:03");
  EXPECT_EQ(report::format_clock(Seconds{-5}), "0:00");
  EXPECT_EQ(report::format_clock(Seconds{std::numeric_limits<double>::infinity()}),
            "2400000:00:00");
}

RC_GTEST_PROP(ClockText, RandomSeconds_ReadBack, ()) {
  const i64 seconds = *rc::gen::inRange<i64>(0, 1'000'000);
  const std::string text = report::format_clock(Seconds{double(seconds)});
  i64 back = 0;
  for (std::size_t at = 0; at != std::string::npos;) {
    back = 60 * back + std::stoll(text.substr(at));
    at = text.find(':', at);
    if (at != std::string::npos) ++at;
  }
  RC_ASSERT(back == seconds);
}

}  // namespace run_view_test
}  // namespace rankwright::planner
