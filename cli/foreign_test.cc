// Real framework files under tests/data/import: they are read unedited, and silent mistakes in them
// are reported with their location.
#include <gmock/gmock.h>

#include "rankwright/import/plan/plan_format.h"
#include "tests/support/run_command.h"

namespace rankwright::cli {
namespace foreign_test {

using ::testing::HasSubstr;

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
  // No batch given: one microbatch of one sequence.
  EXPECT_EQ(layout_of("deepspeed-trainer-auto.json", 8), (Layout{1, 1, 1, 8, 3, 1, 8}));
  EXPECT_EQ(layout_of("nanotron-tinyllama.yaml"), (Layout{2, 1, 2, 4, 1, 4, 128}));  // 4 x 8 x 4
  EXPECT_EQ(layout_of("accelerate-fsdp2.yaml"), (Layout{2, 1, 1, 8, 3, 1, 8}));
}

TEST(ForeignFiles, FewerMicrobatchesThanStages_IsAnError) {
  const CommandResult said =
      run_command({"check", "tests/data/import/torchtitan-few-microbatches.toml"});
  EXPECT_EQ(said.code, kRefused);
  EXPECT_THAT(said.out, HasSubstr("error[RW0524]"));
  EXPECT_THAT(said.out, HasSubstr("torchtitan-few-microbatches.toml:7:"));
  EXPECT_THAT(said.out, HasSubstr("2 microbatches for 4 stages"));
}

TEST(ForeignFiles, BatchThatDoesNotMultiply_IsAnError) {
  // 8 x 4 x 8 data ranks are 256.
  const CommandResult said =
      run_command({"check", "tests/data/import/deepspeed-batch.json", "--world", "8"});
  EXPECT_EQ(said.code, kRefused);
  EXPECT_THAT(said.out, HasSubstr("error[RW0604]"));
  EXPECT_THAT(said.out, HasSubstr("deepspeed-batch.json:2:"));
}

TEST(ForeignFiles, ZeroWithPipeline_IsAnError) {
  const CommandResult said =
      run_command({"check", "tests/data/import/deepspeed-pipeline-zero3.json", "--world", "8"});
  EXPECT_EQ(said.code, kRefused);
  EXPECT_THAT(said.out, HasSubstr("error[RW0541]"));
  EXPECT_THAT(said.out, HasSubstr("deepspeed-pipeline-zero3.json:9:"));
  EXPECT_THAT(said.out, HasSubstr("zero_optimization.stage: 1"));
}

}  // namespace foreign_test
}  // namespace rankwright::cli
