// Real framework files under tests/data/import: they are read unedited, and silent mistakes in them
// are reported with their location.
#include <gmock/gmock.h>

#include <cstdlib>

#include "rankwright/import/plan/plan_format.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace foreign_test {

/// tp, cp, pp, dp, ZeRO stage, microbatch, global batch.
struct Layout {
  i64 tp, cp, pp, dp, zero, micro_batch, batch;

  friend bool operator==(const Layout&, const Layout&) = default;
  friend void PrintTo(const Layout& l, std::ostream* out) {
    *out << "tp " << l.tp << " cp " << l.cp << " pp " << l.pp << " dp " << l.dp << " zero "
         << l.zero << " micro_batch " << l.micro_batch << " batch " << l.batch;
  }
};

std::string in_data(const std::string& name) {
  return RANKWRIGHT_SOURCE_DIR "/tests/data/import/" + name;
}

Layout layout_of(const std::string& name, std::optional<i64> world = {}) {
  importer::PlanFile file = importer::read_any_plan(*importer::read_file(in_data(name)),
                                                    in_data(name), importer::read_file);
  EXPECT_TRUE(file.findings.empty()) << file.findings.front().detail;
  EXPECT_NE(file.format->target, rules::Target::any) << name;
  if (world) file.draft.world = world;
  const rankwright::plan::TrainingConfig s = resolve(file.draft);
  return {s.plan.tp,   s.plan.cp,          s.plan.pp,         s.plan.dp,
          s.plan.zero, s.plan.micro_batch, s.job.global_batch};
}

TEST(ForeignFiles, UneditedFiles_GiveTheExpectedLayout) {
  // 256 = tp 8 x dp 32, 4 sequences each.
  EXPECT_EQ(layout_of("torchtitan-llama3-70b.toml", 256), (Layout{8, 1, 1, 32, 3, 4, 128}));
  // dp 2 x 4; 16 sequences per data rank in 8 microbatches of 2.
  EXPECT_EQ(layout_of("torchtitan-pipeline.toml"), (Layout{2, 1, 4, 8, 2, 2, 128}));
  EXPECT_EQ(layout_of("deepspeed-zero2.json"),
            (Layout{1, 1, 1, 16, 2, 4, 256}));  // 256 = 4 x 4 x 16
  // No batch given: 4 Mi tokens / 8,192.
  EXPECT_EQ(layout_of("deepspeed-trainer-auto.json", 8), (Layout{1, 1, 1, 8, 3, 1, 512}));
  EXPECT_EQ(layout_of("nanotron-tinyllama.yaml"), (Layout{2, 1, 2, 4, 1, 4, 128}));  // 4 x 8 x 4
  EXPECT_EQ(layout_of("accelerate-fsdp2.yaml"), (Layout{2, 1, 1, 8, 3, 1, 512}));
}

TEST(ForeignFiles, SilentMistakes_AreErrorsAtTheirLine) {
  Transcript transcript;
  const std::string folder = "tests/data/import/";
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"check", folder + "torchtitan-few-microbatches.toml"},      // 2 for 4 stages
           {"check", folder + "deepspeed-batch.json", "--world", "8"},  // 8 x 4 x 8 ranks: 256
           {"check", folder + "deepspeed-pipeline-zero3.json", "--world", "8"}})
    EXPECT_EQ(transcript.run(args).code, kRefused) << args[1];
  transcript.expect("cli/check-foreign-files.txt");
}

TEST(ForeignFiles, AssumedValues_AreNoGroundOfErrors) {
  Transcript transcript;
  const std::string script = "tests/data/import/megatron_open.sh";
  // TP 4 x PP 4 = 16 ranks; the script's default is one node of 8.
  EXPECT_EQ(transcript.run({"check", script}).code, kOk);
  EXPECT_EQ(transcript.run({"check", script, "--set", "SLURM_NNODES=4", "--set", "TP=2"}).code,
            kOk);
  // Three nodes are stated, and 16 does not divide 24 ranks.
  EXPECT_EQ(
      transcript.run({"check", script, "--set", "SLURM_NNODES=3", "--set", "TP=4", "--set", "PP=4"})
          .code,
      kRefused);
  EXPECT_EQ(transcript.run({"check", script, "--set", "NODES=4", "--quiet"}).code, kOk);
  EXPECT_EQ(transcript.run({"check", script, "--set", "NODES"}).code, kUnreadable);
  transcript.expect("cli/check-open-values.txt");
}

TEST(ForeignFiles, Environment_FillsVariablesOfScripts) {
  ASSERT_EQ(setenv("SLURM_NNODES", "4", 1), 0);
  const std::string script = "tests/data/import/megatron_open.sh";
  const CommandResult imported = run_command({"import", script});
  const CommandResult checked = run_command({"check", script});
  unsetenv("SLURM_NNODES");
  EXPECT_THAT(imported.out, ::testing::HasSubstr("node_shape: 4_nodes_x_8_gpus"));
  EXPECT_THAT(checked.out, ::testing::HasSubstr("SLURM_NNODES"));
}

TEST(ForeignFiles, ScriptWithoutAModel_GivesItsDegrees) {
  Transcript transcript;
  transcript.run({"check", "tests/data/import/megatron_no_model.sh"});
  EXPECT_EQ(
      transcript.run({"check", "tests/data/import/megatron_no_model.sh", "--world", "64"}).code,
      kOk);
  transcript.expect("cli/check-no-model.txt");
  // No model of the catalog has a multiple of 17 heads: there is no estimate, and no error.
  const CommandResult odd = run_command(
      {"check", "-"},
      "torchrun pretrain_gpt.py --micro-batch-size 1 --bf16 --tensor-model-parallel-size 17\n");
  EXPECT_EQ(odd.code, kOk) << odd.out << odd.err;
}

}  // namespace foreign_test
}  // namespace rankwright::cli
