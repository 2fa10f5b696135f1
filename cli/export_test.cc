#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "rankwright/export/exporter.h"
#include "tests/support/run_command.h"

namespace rankwright::cli {
namespace export_test {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kPlan = RANKWRIGHT_SOURCE_DIR "/examples/course-64.yaml";

TEST(Export, OneFile_GoesToStandardOutput) {
  const CommandResult said = run_command({"export", kPlan, "--to", "nanotron"});
  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, StartsWith("# Written by rankwright for nanotron 0.4.\n"));
  EXPECT_THAT(said.out, HasSubstr("parallelism:\n  dp: 2\n  pp: 4\n  tp: 8\n"));
}

TEST(Export, List_ShowsEveryExporter) {
  const CommandResult said = run_command({"export", "--list"});
  EXPECT_EQ(said.code, 0);
  for (const exporter::Exporter* exporter : exporter::exporters())
    EXPECT_THAT(said.out, HasSubstr(std::string(row(exporter->target).checked)));
}

TEST(Export, UnknownTarget_SuggestsTheNearest) {
  EXPECT_EQ(run_command({"export", kPlan, "--to", "nanotrn"}).err,
            "rankwright export: there is no target 'nanotrn'\n  help: did you mean nanotron?\n");
  EXPECT_THAT(run_command({"export", kPlan}).err,
              StartsWith("rankwright export: --to is missing\n"));
  EXPECT_EQ(run_command({"export", kPlan}).code, 64);
  EXPECT_EQ(run_command({"export"}).code, 64);
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
  const CommandResult said = run_command({"export", "-", "--to", "nanotron"}, kLossy);
  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.err, HasSubstr("warning[RW0602]: nanotron cannot say this"));
  EXPECT_THAT(said.err, HasSubstr("job.optimizer: it has adamW and sgd"));
  EXPECT_THAT(said.out, HasSubstr("#   job.optimizer: it has adamW and sgd\n"));
  const CommandResult strict = run_command({"export", "-", "--to", "nanotron", "--strict"}, kLossy);
  EXPECT_EQ(strict.code, 2);
  EXPECT_EQ(strict.out, "");
  EXPECT_THAT(strict.err, HasSubstr("error[RW0602]"));
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

TEST(Export, TooFewHosts_ReportsBothCounts) {
  const CommandResult said =
      run_command({"export", "-", "--to", "openmpi", "--hosts", "n0"}, kTwoNodes);
  EXPECT_EQ(said.code, kUsage);
  EXPECT_THAT(said.err, HasSubstr("the plan needs 2 hosts, and there is 1 name"));
  EXPECT_EQ(said.out, "");
}

TEST(Export, HostsForAFramework_IsAUsageError) {
  const CommandResult said =
      run_command({"export", "-", "--to", "nanotron", "--hosts", "n[0-1]"}, kTwoNodes);
  EXPECT_EQ(said.code, kUsage);
  EXPECT_THAT(said.err, HasSubstr("nanotron starts no ranks"));
}

}  // namespace export_test
}  // namespace rankwright::cli
