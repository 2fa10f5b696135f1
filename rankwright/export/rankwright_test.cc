#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/export/exporter.h"
#include "tests/support/round_trip.h"

namespace rankwright::exporter {
namespace rankwright_test {

RC_GTEST_PROP(RankwrightExport, RandomPlan_ReadsBack, ()) {
  round_trip::hold(*find_exporter("rankwright"));
}

TEST(RankwrightExport, RuntimeFeatures_AreAllWritten) {
  rankwright::plan::TrainingConfig config = sample::config_of(
      *catalog::find_model("tinyllama-1.1b"), {.dp = 4, .zero = 1, .bucket_size = 1'000'000}, 4);
  config.job.grad_dtype = plan::Dtype::fp32;
  const Exporter& exporter = *find_exporter("rankwright");
  EXPECT_TRUE(find_unsupported(exporter, config).empty());
  const std::vector<ExportFile> files = export_plan(exporter, config);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "plan.yaml");
  EXPECT_NE(files[0].text.find("bucket_size: 1000000\n"), std::string::npos);
  EXPECT_NE(files[0].text.find("framework: rankwright\n"), std::string::npos);
}

}  // namespace rankwright_test
}  // namespace rankwright::exporter
