#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <toml++/toml.h>

#include "rankwright/export/exporter.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/program/cells.h"
#include "tests/support/round_trip.h"
#include "tests/support/typed_configs.h"

namespace rankwright::exporter {
namespace torchtitan_0_2_test {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

const Exporter& torchtitan() { return *find_exporter("torchtitan-0.2"); }

std::vector<ExportFile> export_files(const std::string& plan) {
  return export_plan(torchtitan(), config_of(plan));
}

TEST(TorchtitanExport, HybridSharding_WritesReplicasAndShards) {
  // 256 ranks = tp 8 x dp 32; shards of 8 ranks, so 4 replicas; 64 sequences = microbatch 1 x dp 32
  // x 2 accumulation steps.
  const std::vector<ExportFile> files = export_files(
      "model: llama-3.1-70b\ncluster: dgx-h100 x 32\n"
      "parallelism: {tp_size: 8, dp_size: 32, zero_stage: 3, shard_size: 8, recompute: full}\n"
      "job: {global_batch: 64, sequence: 8192, grad_dtype: fp32}\n");
  ASSERT_THAT(files, SizeIs(1));
  const toml::table config = toml::parse(files[0].text);
  EXPECT_EQ(config["model"]["name"].value_or(""), std::string("llama3"));
  EXPECT_EQ(config["model"]["flavor"].value_or(""), std::string("70B"));
  const auto parallelism = config["parallelism"];
  EXPECT_EQ(parallelism["data_parallel_replicate_degree"].value_or(0), 4);
  EXPECT_EQ(parallelism["data_parallel_shard_degree"].value_or(0), 8);
  EXPECT_EQ(parallelism["fsdp_reshard_after_forward"].value_or(""), std::string("always"));
  EXPECT_EQ(config["training"]["local_batch_size"].value_or(0), 1);
  EXPECT_EQ(config["training"]["global_batch_size"].value_or(0), 64);
  EXPECT_EQ(config["activation_checkpoint"]["mode"].value_or(""), std::string("full"));
}

TEST(TorchtitanExport, UnevenStages_ListTheirModules) {
  const std::string plan =
      "model: llama-3.1-8b\nworld_size: 8\n"
      "parallelism: {pp_size: 4, dp_size: 2, zero_stage: 2, stages: ";
  // torchtitan counts the embedding and the output as one layer each: 34 over 4 stages is 9 9 8 8,
  // minus one at each end: 8 9 8 7.
  EXPECT_THAT(export_files(plan + "[8, 9, 8, 7]}\n")[0].text, Not(HasSubstr("module_fqns")));
  const toml::table config = toml::parse(export_files(plan + "[7, 9, 9, 7]}\n")[0].text);
  const toml::array& parts = *config["parallelism"]["module_fqns_per_model_part"].as_array();
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[0].as_array()->size(), 8u);  // the embedding and 7 layers
  EXPECT_EQ((*parts[0].as_array())[0].value_or(""), std::string("tok_embeddings"));
  EXPECT_EQ((*parts[3].as_array())[8].value_or(""), std::string("output"));  // 7 layers, norm
}

TEST(TorchtitanExport, ScheduleWithoutTorchClass_WritesCells) {
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-8b\nworld_size: 8\n"
      "parallelism: {pp_size: 4, dp_size: 2, zero_stage: 2, schedule: zb-h1}\n"
      "job: {global_batch: 16}\n");
  const std::vector<ExportFile> files = export_plan(torchtitan(), config);
  ASSERT_THAT(files, SizeIs(2));
  EXPECT_THAT(files[0].text, HasSubstr("pipeline_parallel_schedule = \"PipelineScheduleSingle\"\n"
                                       "pipeline_parallel_schedule_csv = "
                                       "\"torchtitan_schedule.csv\"\n"));
  EXPECT_EQ(files[1].name, "torchtitan_schedule.csv");
  const Result<program::WrittenSchedule> read = program::parse_cells(files[1].text, files[1].name);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->ranks, pipeline::cells(make_pipeline_shape(config)));
}

TEST(TorchtitanExport, TooManyCells_AreALoss) {
  // 8 ranks x 2^22 microbatches x 3 cells would be a file of 800 MB.
  const rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-8b\nworld_size: 8\nparallelism: {pp_size: 8, schedule: zb-2p}\n"
      "job: {global_batch: 4194304}\n");
  EXPECT_THAT(export_plan(torchtitan(), config), SizeIs(1));
  EXPECT_THAT(find_unsupported(torchtitan(), config),
              Contains(Field(&UnsupportedSetting::key, "parallelism.schedule")));
}

TEST(TorchtitanExport, OtherMicrobatchGroup_WritesCells) {
  // 16 microbatches on pp 4 are 4 rounds of 4 in torch's schedule; groups of 8 need explicit cells.
  const std::string plan =
      "model: llama-3.1-8b\nworld_size: 8\njob: {global_batch: 32}\n"
      "parallelism: {pp_size: 4, dp_size: 2, zero_stage: 2, virtual_stages: 2";
  EXPECT_THAT(export_files(plan + "}\n"), SizeIs(1));
  const std::vector<ExportFile> files = export_files(plan + ", microbatch_group: 8}\n");
  ASSERT_THAT(files, SizeIs(2));
  EXPECT_THAT(files[0].text, HasSubstr("\"PipelineScheduleMulti\""));
}

TEST(TorchtitanExport, DualPipeV_StatesWhetherDispatchesOverlap) {
  // The framework's default is true; elsewhere it has no overlap.
  const std::string plan =
      "model: deepseek-v2-lite\nworld_size: 8\njob: {global_batch: 32}\n"
      "parallelism: {pp_size: 2, dp_size: 4, ep_size: 4, zero_stage: 2, virtual_stages: 2, ";
  EXPECT_THAT(export_files(plan + "schedule: dualpipe-v}\n")[0].text,
              HasSubstr("pipeline_parallel_expert_parallel_overlap = false\n"));
  const std::string overlapped = "overlap: {ep: true}}\n";
  EXPECT_THAT(export_files(plan + "schedule: dualpipe-v, " + overlapped)[0].text,
              HasSubstr("pipeline_parallel_expert_parallel_overlap = true\n"));
  EXPECT_THAT(
      find_unsupported(torchtitan(), config_of(plan + "schedule: interleaved-1f1b, " + overlapped)),
      Contains(Field(&UnsupportedSetting::key, "parallelism.overlap.ep")));
}

RC_GTEST_PROP(TorchtitanExport, RandomPlan_ReadsBackExceptForListedLosses, ()) {
  round_trip::hold(torchtitan());
}

}  // namespace torchtitan_0_2_test
}  // namespace rankwright::exporter
