#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "rankwright/export/exporter.h"
#include "tests/support/golden.h"
#include "tests/support/round_trip.h"
#include "tests/support/typed_configs.h"

namespace rankwright::exporter {
namespace nanotron_test {

using ::testing::HasSubstr;

const Exporter& nanotron() { return *find_exporter("nanotron"); }

std::string export_text(const std::string& plan) {
  return export_plan(nanotron(), config_of(plan)).front().text;
}

TEST(NanotronExport, PipelinePlan_WritesItsSections) {
  // 64 ranks = tp 8 x pp 4 x dp 2; 128 sequences = microbatch 1 x dp 2 x 64 accumulation steps.
  const std::string text = export_text(
      "model: llama-3.1-70b\ncluster: dgx-h100 x 8\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1}\n"
      "job: {global_batch: 128, sequence: 8192}\n");
  EXPECT_THAT(text, HasSubstr("parallelism:\n  dp: 2\n  pp: 4\n  tp: 8\n"));
  EXPECT_THAT(text, HasSubstr("  batch_accumulation_per_replica: 64\n"));
  golden::expect("export/nanotron-pipeline.txt", text);
}

TEST(NanotronExport, UnsupportedSettings_AreListedInTheHead) {
  const std::string text = export_text(
      "model: mixtral-8x7b\ncluster: dgx-h100\nworld_size: 8\nplacement: cyclic\n"
      "parallelism: {ep_size: 8, dp_size: 8}\njob: {optimizer: lion}\n");
  // It lists job.optimizer and model among others.
  golden::expect("export/nanotron-unsupported.txt", text);
}

RC_GTEST_PROP(NanotronExport, RandomPlan_ReadsBackExceptForListedLosses, ()) {
  round_trip::hold(nanotron());
}

}  // namespace nanotron_test
}  // namespace rankwright::exporter
