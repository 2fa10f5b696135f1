// Where a role's own steps are placed among its cells, and the law that the totals of a Program
// equal Traffic.
#include "rankwright/program/expand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "rankwright/import/syntax/file.h"
#include "rankwright/program/body.h"
#include "rankwright/program/cells.h"
#include "rankwright/program/proof.h"
#include "tests/support/sample.h"
#include "tests/support/typed_configs.h"

namespace rankwright::program {
namespace expand_test {

using sample::dense_layer;
using sample::model_of;

/// Formats the actions of a pp rank: "0F0 0SEND_F0 ... [DP all-reduce 80 MB beside] ...".
std::string line(const Program& program, std::size_t pp_rank) {
  std::string text;
  for (const pipeline::Action& a : program.roles[pp_rank]) {
    text += text.empty() ? "" : " ";
    text += a.kind == pipeline::ActionKind::step
                ? "[" + show(program.steps[pp_rank][a.microbatch]) + "]"
                : show(a);
  }
  return text;
}

/// Four layers of 15.2 million parameters each, with dp 4.
plan::TrainingConfig four_layers(plan::Plan plan, i64 microbatches) {
  plan.dp = 4;
  return sample::config_of(model_of({{4, dense_layer()}}), plan, microbatches);
}

TEST(Expand, PlacesReductionsAfterTheLastBackwardOfTheirChunk) {
  const rankwright::plan::TrainingConfig config = four_layers(
      {.pp = 2, .zero = 1, .virtual_stages = 2, .schedule = pipeline::Schedule::looped_bfs}, 2);
  const Program program = expand(config);
  EXPECT_EQ(line(program, 1),
            "[FSDP/ZeRO all-gather 30.4 MB beside] [FSDP/ZeRO all-gather 80 MB beside] "
            "[FSDP/ZeRO all-gather 16 MB beside] "
            "1RECV_F0 1F0 1SEND_F0 1RECV_F1 1F1 1SEND_F1 3RECV_F0 3F0 3RECV_F1 3F1 "
            "3B1 3SEND_B1 1RECV_B1 3B0 3SEND_B0 "
            "[DP reduce-scatter 80 MB beside] [DP reduce-scatter 16 MB beside] 1RECV_B0 "
            "1B1 1SEND_B1 1B0 1SEND_B0 [DP reduce-scatter 30.4 MB beside] "
            "[gradient norm 4 B] [optimizer]");
}

TEST(Expand, OneStageRunsMicrobatchesReductionsAndOptimizer) {
  rankwright::plan::TrainingConfig config = four_layers({}, 2);
  config.plan.overlap.grad_reduce = false;
  // 4 x 15,206,400 + 2 x 32,768,000 + 1024 = 126,362,624: three buckets of 40 million and 6,362,624
  EXPECT_EQ(line(expand(config), 0),
            "0F0 0B0 0F1 0B1 [DP all-reduce 80 MB] [DP all-reduce 80 MB] [DP all-reduce 80 MB] "
            "[DP all-reduce 12.7 MB] [optimizer]");
}

struct Sum {
  i64 calls = 0;
  Bytes total{};
};
using Account = std::map<std::tuple<plan::TrafficKind, plan::Op, mesh::GroupKind>, Sum>;

void count(Account& account, const Body& body, i64 times) {
  for (const Step& step : body) {
    if (step.computes()) continue;
    Sum& sum = account[{step.kind, step.op, step.group}];
    sum.calls += times;
    sum.total += times * step.bytes;
  }
}

/// Adds up the traffic of one pp rank, action by action.
Account account_of(const plan::TrainingConfig& config, const Program& program,
                   std::size_t pp_rank) {
  Account account;
  std::map<std::pair<i64, pipeline::ActionKind>, i64> cells;
  for (const pipeline::Action& a : program.roles[pp_rank]) {
    if (is_cell(a.kind)) ++cells[{a.stage, a.kind}];
    if (a.kind == pipeline::ActionKind::step)
      count(account, {program.steps[pp_rank][a.microbatch]}, 1);
    if (!is_send(a.kind)) continue;
    const bool forward = is_activation(a.kind);
    const Step send{
        .kind = forward ? plan::TrafficKind::pp_forward : plan::TrafficKind::pp_backward,
        .op = plan::Op::send_recv,
        .group = mesh::GroupKind::pp,
        .bytes = count_transfer_bytes(config, boundary(a))};
    count(account, {send}, 1);
  }
  for (const auto& [cell, times] : cells)
    count(account, program.bodies[std::size_t(cell.first)][std::size_t(cell.second)], times);
  return account;
}

/// Describes the first difference between a Program and Traffic; empty if there is none.
std::string difference(const plan::TrainingConfig& config) {
  const Program program = expand(config);
  for (i64 r = 0; r < config.plan.pp; ++r) {
    Account account = account_of(config, program, std::size_t(r));
    const std::string where = " on pp rank " + std::to_string(r);
    for (const plan::Traffic& t : list_traffic(config, r)) {
      const auto found = account.find({t.kind, t.op, t.group});
      const std::string what = std::string(row(t.kind).label) + where;
      if (found == account.end()) return what + ": not in the program";
      const Sum sum = found->second;
      if (sum.calls != t.calls)
        return what + ": calls " + std::to_string(sum.calls) + " for " + std::to_string(t.calls);
      // A shard of a bucket may be a fraction of a byte; all other sizes are whole numbers.
      const double off = std::abs(sum.total.value - t.total.value);
      const bool shards = t.kind == plan::TrafficKind::replica_all_reduce ||
                          t.kind == plan::TrafficKind::mirror_grad;
      if (off > (shards ? 1e-9 * t.total.value : 0))
        return what + ": bytes " + std::to_string(sum.total.value) + " for " +
               std::to_string(t.total.value);
      account.erase(found);
    }
    for (const auto& [key, sum] : account)
      return std::string(row(std::get<0>(key)).label) + where + ": not in the traffic";
  }
  return "";
}

/// Returns a random config whose pipeline shape is valid for its schedule.
plan::TrainingConfig random_pipeline(const model::Model& model) {
  plan::TrainingConfig config = sample::random_config(model);
  config.plan.overlap = {sample::coin(), sample::coin(), sample::coin()};
  const pipeline::ScheduleRow& schedule = row(config.plan.schedule);
  const i64 rounds = config.microbatches() + schedule.rounds * config.plan.pp;
  config.job.global_batch =
      round_up(rounds, schedule.multiple) * config.plan.micro_batch * config.plan.dp;
  RC_PRE(!find_shape_fault(make_pipeline_shape(config)));
  return config;
}

RC_GTEST_PROP(Expand, TotalsEqualTraffic, ()) {
  const plan::TrainingConfig config = random_pipeline(sample::random_model());
  RC_ASSERT(difference(config) == "");
}

RC_GTEST_PROP(Expand, TotalsEqualTrafficOfCatalogModels, ()) {
  const plan::TrainingConfig config = random_pipeline(sample::random_known_model());
  RC_ASSERT(difference(config) == "");
}

RC_GTEST_PROP(Expand, TotalsEqualTrafficOfTorchtitan, ()) {
  plan::TrainingConfig config = random_pipeline(sample::random_known_model());
  for (const plan::Software& row : plan::frameworks())
    if (row.name == "torchtitan") config.software = row;
  RC_ASSERT(difference(config) == "");
}

// The runtime splits adapters over tp and gathers them over dp in its own way.
RC_GTEST_PROP(Expand, TotalsEqualTrafficWithLora, ()) {
  plan::TrainingConfig config = random_pipeline(sample::random_known_model());
  config.job.lora_rank = *rc::gen::inRange<i64>(1, 64);
  config.software.bare = sample::coin();
  for (const plan::LoraModuleRow& module : plan::lora_modules())
    config.job.lora_modules.*module.field = sample::coin();
  RC_ASSERT(difference(config) == "");
}

RC_GTEST_PROP(Expand, TotalsEqualTrafficWithFrozenPartsAndAnEncoder, ()) {
  model::Model model = sample::random_known_model();
  if (sample::coin()) {
    model.encoder_parameters = *rc::gen::inRange<i64>(1, 1'000'000);
    model.encoder_layers = *rc::gen::inRange<i64>(0, 40);
  }
  plan::TrainingConfig config = random_pipeline(model);
  const i64 first = sample::coin() ? 0 : *rc::gen::inRange<i64>(0, model.layers());
  freeze(config.model, {.encoder = sample::coin(),
                        .embedding = sample::coin(),
                        .first = first,
                        .end = *rc::gen::inRange<i64>(first, model.layers() + 1),
                        .head = sample::coin()});
  config.software.bare = sample::coin();
  if (sample::coin()) config.job.lora_rank = *rc::gen::inRange<i64>(1, 64);
  for (const plan::Software& row : plan::frameworks())
    if (row.name == "torchtitan" && sample::coin()) config.software = row;
  RC_ASSERT(difference(config) == "");
}

RC_GTEST_PROP(Expand, ProgramsRunToTheirEnd, ()) {
  const Program program = expand(random_pipeline(sample::random_model()));
  RC_ASSERT(prove(program).holds());
  // Every step occurs once in its role.
  for (std::size_t r = 0; r < program.roles.size(); ++r) {
    std::vector<i64> seen(program.steps[r].size(), 0);
    for (const pipeline::Action& a : program.roles[r])
      if (a.kind == pipeline::ActionKind::step) ++seen[a.microbatch];
    RC_ASSERT(std::count(seen.begin(), seen.end(), 1) == i64(seen.size()));
  }
}

/// Counts the memory of an expansion.
Bytes taken(const Program& program) {
  std::size_t actions = 0, steps = 0;
  for (const pipeline::Sequence& role : program.roles) actions += role.size();
  for (const Body& body : program.steps) steps += body.size();
  for (const std::array<Body, 4>& stage : program.bodies)
    for (const Body& body : stage) steps += body.size();
  return bytes(actions, sizeof(pipeline::Action)) + bytes(steps, sizeof(Step));
}

RC_GTEST_PROP(ExpansionBytes, BoundTheActualSize, ()) {
  plan::TrainingConfig config =
      random_pipeline(sample::coin() ? sample::random_model() : sample::random_known_model());
  RC_ASSERT(taken(expand(config)) <= bound_expansion_bytes(config));
}

TEST(ExpansionBytes, HugePipelinesExceedTheLimit) {
  rankwright::plan::TrainingConfig config = four_layers({.pp = 2}, 1);
  EXPECT_LT(bound_expansion_bytes(config), kMaxExpansion);
  config.job.global_batch = i64{1} << 40;
  EXPECT_GT(bound_expansion_bytes(config), kMaxExpansion);
  config = four_layers({}, 1);
  config.plan.cp = i64{1} << 40;
  EXPECT_GT(bound_expansion_bytes(config), kMaxExpansion);
  config = four_layers({}, 1);
  config.model.runs = {{i64{1} << 40, dense_layer()}};
  EXPECT_GT(bound_expansion_bytes(config), kMaxExpansion);
  config = four_layers({}, 1);
  config.model.vocab = i64{1} << 50;
  EXPECT_GT(bound_expansion_bytes(config), kMaxExpansion);
  config = four_layers({}, 1);
  config.plan.pp = i64{1} << 40;
  EXPECT_GT(bound_expansion_bytes(config), kMaxExpansion);
}

class Example : public testing::TestWithParam<std::string> {};

TEST_P(Example, TotalsEqualTrafficAndProgramRunsToItsEnd) {
  const std::string path = RANKWRIGHT_SOURCE_DIR "/examples/" + GetParam();
  const Result<std::string> text = importer::read_file(path);
  ASSERT_TRUE(text.has_value());
  const importer::PlanFile file = importer::read_plan(*text, GetParam(), importer::refuse_file);
  const rankwright::plan::TrainingConfig config = resolve(file.draft);
  ASSERT_TRUE(find_violations(config).empty());
  EXPECT_EQ(difference(config), "");
  EXPECT_TRUE(prove(expand(config)).holds());
}

INSTANTIATE_TEST_SUITE_P(Expand, Example,
                         testing::Values("course-64.yaml", "deepseek-v3-2048.yaml",
                                         "llama-3.1-405b-16384.yaml", "million-five-levels.yaml"));

}  // namespace expand_test
}  // namespace rankwright::program
