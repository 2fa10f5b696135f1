#include "rankwright/report/explain/waterfall_text.h"

#include <gtest/gtest.h>

#include "rankwright/planner/explain/explain_view.h"
#include "tests/support/golden.h"
#include "tests/support/typed_configs.h"

namespace rankwright::report {
namespace waterfall_text_test {

const std::string kPlan =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 32, sequence: 4096}\n"
    "parallelism: {tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1}\n";

TEST(WaterfallText, MergesSmallItemsIntoOther) {
  planner::Waterfall fall{.total = 1000.0_s};
  fall.bars = {{.name = "big", .time = 998.0_s, .share = 0.998},
               {.name = "one", .time = 1.0_s, .share = 0.001},
               {.name = "two", .time = 1.0_s, .share = 0.001}};
  golden::expect("report/waterfall-small-items.txt", render_waterfall_text(fall, {}, 100));
  EXPECT_EQ(make_waterfall_table(fall).rows.size(), 3u);
}

TEST(BandText, SaysWhenTheErrorIsAssumed) {
  EXPECT_EQ(format_band({0.134, 599}), "±13 %");
  EXPECT_EQ(format_band({0.35, 0}), "±35 % assumed");
}

TEST(Figures, OmitMemoryWithoutAModel) {
  const auto write = [](const std::string& plan) {
    const rankwright::plan::TrainingConfig config = config_of(plan);
    return figures(config, planner::make_explain_view(config).estimate) + "\n";
  };
  golden::expect("report/figures.txt",
                 "llama-3.1-8b: " + write(kPlan) + "no model: " +
                     write("cluster: dgx-h100 x 8\nparallelism: {tp_size: 8, dp_size: 8}\n"));
}

}  // namespace waterfall_text_test
}  // namespace rankwright::report
