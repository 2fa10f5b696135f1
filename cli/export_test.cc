#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "rankwright/export/exporter.h"
#include "tests/support/golden.h"
#include "tests/support/run_command.h"
#include "tests/support/transcript.h"

namespace rankwright::cli {
namespace export_test {

using ::testing::HasSubstr;

constexpr const char* kPlan = RANKWRIGHT_SOURCE_DIR "/examples/course-64.yaml";

TEST(Export, OneFile_GoesToStandardOutput) {
  const CommandResult said = run_command({"export", kPlan, "--to", "nanotron"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.err, "");
  golden::expect("cli/export-nanotron.yaml", said.out);  // 64 = tp 8 x pp 4 x dp 2
}

TEST(Export, List_ShowsEveryExporter) {
  const CommandResult said = run_command({"export", "--list"});
  EXPECT_EQ(said.code, 0);
  ASSERT_FALSE(exporter::exporters().empty());
  for (const exporter::Exporter* exporter : exporter::exporters())
    EXPECT_THAT(said.out, HasSubstr(std::string(row(exporter->target).checked)));
}

TEST(Export, PlanThatTheTargetRejects_IsRefused) {
  // 8 key-value heads are not divisible by 16.
  const CommandResult said =
      run_command({"export", "-", "--to", "nanotron"},
                  "model: llama-3.1-70b\ncluster: dgx-h100 x 2\nparallelism: {tp_size: 16}\n");
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr("error[RW0561]"));
}

TEST(Export, PlanThatDoesNotFit_IsWrittenWithAWarning) {
  // 70.6 B parameters of 16 bytes on each of 8 GPUs.
  const CommandResult said =
      run_command({"export", "-", "--to", "nanotron"},
                  "model: llama-3.1-70b\ncluster: dgx-h100\nparallelism: {dp_size: 8}\n");
  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.err, HasSubstr("error[RW0201]"));
  EXPECT_THAT(said.out, HasSubstr("  dp: 8\n"));
}

constexpr const char* kLossy =
    "model: llama-3.2-1b\ncluster: dgx-h100\nworld_size: 8\n"
    "parallelism: {dp_size: 8, zero_stage: 1}\njob: {optimizer: lion}\n";

TEST(Export, LossyExport_WarnsAndFailsWithStrict) {
  Transcript transcript;
  EXPECT_EQ(transcript.run({"export", "-", "--to", "nanotron"}, kLossy).code, 0);
  const CommandResult strict =
      transcript.run({"export", "-", "--to", "nanotron", "--strict"}, kLossy);
  EXPECT_EQ(strict.code, 2);
  EXPECT_EQ(strict.out, "");
  transcript.expect("cli/export-lossy.txt");
}

TEST(Export, Json_HasFilesAndLosses) {
  const CommandResult said = run_command({"export", "-", "--to", "nanotron", "--json"}, kLossy);
  const nlohmann::json json = nlohmann::json::parse(said.out);
  EXPECT_EQ(json["schema"], "rankwright.export/1");
  EXPECT_EQ(json["target"], "nanotron");
  EXPECT_EQ(json["files"][0]["name"], "nanotron.yaml");
  EXPECT_EQ(json["lost"][0]["key"], "job.optimizer");
}

constexpr const char* kTwoNodes =
    "world_size: 16\nmodel: llama-3.2-1b\ncluster: dgx-h100 x 2\nparallelism: {dp_size: 16}\n";

TEST(Export, Hosts_AreWrittenToTheScript) {
  const CommandResult said =
      run_command({"export", "-", "--to", "slurm", "--hosts", "gpu-[7-8]"}, kTwoNodes);
  EXPECT_EQ(said.code, kOk) << said.err;
  EXPECT_THAT(said.out, HasSubstr("#SBATCH --nodelist=gpu-[7-8]\n"));
}

TEST(Export, InvalidTargetOrHosts_IsAUsageErrorWithHelp) {
  Transcript transcript;
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"--to", "nanotrn"},                        // the nearest target
           {},                                         // --to is required
           {"--to", "openmpi", "--hosts", "n0"},       // 16 ranks on nodes of 8: two hosts
           {"--to", "nanotron", "--hosts", "n[0-1]"},  // a framework starts no ranks
       }) {
    std::vector<std::string> args{"export", "-"};
    args.insert(args.end(), flags.begin(), flags.end());
    const CommandResult said = transcript.run(args, kTwoNodes);
    EXPECT_EQ(said.code, kUsage);
    EXPECT_EQ(said.out, "");
  }
  EXPECT_EQ(transcript.run({"export"}).code, kUsage);
  transcript.expect("cli/export-usage.txt");
}

}  // namespace export_test
}  // namespace rankwright::cli
