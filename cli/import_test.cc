#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "rankwright/import/plan/plan_format.h"
#include "tests/support/run_command.h"

namespace rankwright::cli {
namespace import_test {

using ::testing::HasSubstr;

constexpr const char* kNanotron =
    "general: {project: x, run: y}\n"
    "parallelism: {dp: 4, tp: 2, pp: 1}\n"
    "optimizer: {zero_stage: 1}\n"
    "tokens:\n  micro_batch_size: 8\n  batch_accumulation_per_replica: 16\n"
    "  sequence_length: 2048\n";

TEST(Import, WrittenPlan_ReadsBack) {
  const CommandResult said = run_command({"import", "-", "--from", "nanotron"}, kNanotron);
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("  tp_size: 2\n"));
  EXPECT_THAT(said.out, HasSubstr("  global_batch: 512\n"));  // 8 x 16 x dp 4
  EXPECT_THAT(said.err, HasSubstr("passed over, as no matter of layout: 2 keys: general.project, "
                                  "general.run\n"));
  const importer::PlanFile again =
      importer::read_plan(said.out, "plan.yaml", importer::refuse_file);
  EXPECT_TRUE(again.findings.empty());
  EXPECT_EQ(resolve(again.draft).job.global_batch, 512);
}

TEST(Import, Pipe_IsReadOnce) {
  const Scratch pipe("import-test.sh");
  ASSERT_EQ(mkfifo(pipe.path().c_str(), 0600), 0);
  const std::string script = "pretrain_gpt.py --tensor-model-parallel-size 2 --num-layers 4\n";
  std::thread writer([&] { std::ofstream(pipe.path()) << script; });
  const CommandResult said = run_command({"import", pipe.path(), "--from", "megatron"});
  writer.join();
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("tp_size: 2"));
}

TEST(Import, Json_HasPlanAndFormat) {
  const CommandResult said =
      run_command({"import", "-", "--from", "nanotron", "--json"}, kNanotron);
  const nlohmann::json json = nlohmann::json::parse(said.out);
  EXPECT_EQ(json["schema"], "rankwright.import/1");
  EXPECT_EQ(json["format"], "nanotron");
  EXPECT_EQ(json["ignored"][0], "general.project");
  EXPECT_TRUE(
      importer::read_plan(json["plan"], "plan.yaml", importer::refuse_file).findings.empty());
}

TEST(Import, WrongFormat_IsRefused) {
  const CommandResult said = run_command({"import", "-", "--from", "nanotron"}, "world_size: 8\n");
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("error[RW0603]: a file of no known format"));
  EXPECT_THAT(run_command({"import", "README.md"}).err, HasSubstr("error[RW0603]"));
  const CommandResult log = run_command({"import", "tests/data/import/torchtitan.log"});
  EXPECT_THAT(log.err, HasSubstr("rankwright compare PLAN --log tests/data/import/torchtitan.log"));
}

TEST(Import, UnknownParallelismKey_IsAWarning) {
  const CommandResult said =
      render_check_text(std::string(kNanotron) + "extra: {sequence_parallel_size: 4}\n");
  EXPECT_THAT(said.out, HasSubstr("warning[RW0617]"));
  EXPECT_THAT(said.out, HasSubstr("extra.sequence_parallel_size is ignored"));
}

TEST(Import, WorldFlag_SetsTheWorldSize) {
  const CommandResult said =
      run_command({"import", "-", "--from", "nanotron", "--world", "16"},
                  "parallelism: {tp: 2, pp: 2}\ntokens: {micro_batch_size: 1}\n");
  EXPECT_THAT(said.out, HasSubstr("  dp_size: 4  # assumed: what the other degrees leave\n"));
}

TEST(Import, BadValue_ErrorPointsAtTheColumn) {
  const CommandResult said =
      run_command({"import", "-", "--from", "nanotron"}, "parallelism: {tp: two}\n");
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr("-:1:19"));
}

TEST(Import, MissingWorld_IsAssumedFromDegreesAndBatch) {
  const std::string open = "{\"train_micro_batch_size_per_gpu\": 2, \"zero_optimization\": {}}";
  EXPECT_THAT(run_command({"import", "-", "--from", "deepspeed"}, open).out,
              HasSubstr("world_size: 8\n"));
  const std::string small = "{\"train_batch_size\": 4, \"zero_optimization\": {\"stage\": 3}}";
  EXPECT_THAT(run_command({"import", "-", "--from", "deepspeed"}, small).out,
              HasSubstr("world_size: 4\n"));
  EXPECT_THAT(render_check_text(small).out, HasSubstr("how many ranks there are: 4\n"));
}

TEST(Import, UnknownFormat_SuggestsTheNearest) {
  EXPECT_EQ(run_command({"import", "-", "--from", "nanotrn"}).err,
            "rankwright import: there is no format 'nanotrn'\n  help: did you mean nanotron?\n");
  EXPECT_EQ(run_command({"import"}).code, 64);
  const CommandResult said = run_command({"import", "--list"});
  for (const importer::PlanFormat& format : importer::plan_formats())
    EXPECT_THAT(said.out, HasSubstr(std::string(format.name)));
}

// A framework's file is linted for that framework, with its own lines and keys.
TEST(Check, FrameworkFile_IsLintedWithItsOwnLines) {
  const CommandResult said =
      render_check_text(std::string(kNanotron) +
                        "model:\n  model_config:\n    hidden_size: 96\n"
                        "    intermediate_size: 256\n    num_hidden_layers: 2\n"
                        "    num_attention_heads: 3\n    vocab_size: 256\n");
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.out, HasSubstr("error[RW0104]"));  // 3 heads, tp 2
  EXPECT_THAT(said.out, HasSubstr("-:2:26"));
  EXPECT_THAT(said.out, HasSubstr("help: parallelism.tp: 1, parallelism.pp: 2\n"));
}

}  // namespace import_test
}  // namespace rankwright::cli
