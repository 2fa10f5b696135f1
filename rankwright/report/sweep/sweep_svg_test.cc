#include "rankwright/report/sweep/sweep_svg.h"

#include <gmock/gmock.h>

#include "rankwright/base/format.h"
#include "tests/support/parsed_svg.h"

namespace rankwright::report {
namespace sweep_svg_test {

const std::string kPlan =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 4\njob: {global_batch: 64, sequence: 4096}\n"
    "parallelism: {tp_size: 2, pp_size: 4, dp_size: 4, zero_stage: 1}\n";

planner::SweepAnswer answer_of_sweep(const std::string& sweep) {
  planner::Outcome<planner::SweepAnswer> answer =
      planner::explain_sweep({.plan = {"plan.yaml", kPlan}}, sweep);
  EXPECT_TRUE(answer.has_value()) << sweep;
  return std::move(*answer);
}

TEST(SweepSvg, EveryKey_DrawsACompletePicture) {
  for (const planner::SweepKey& key : planner::list_sweep_keys()) {
    const planner::SweepAnswer answer = answer_of_sweep(std::string(key.name));
    const parsed_svg::Picture picture(draw_sweep_svg(answer));
    EXPECT_EQ(picture.fault(), "") << key.name;
    for (const planner::SweepRow& row : answer.view.rows)
      EXPECT_EQ(picture.texts_that_are(format_sweep_value(key, row.value)).size(), 1u)
          << key.name << " " << row.value;
  }
}

TEST(SweepSvg, Timelines_ShareOneTimeScale) {
  // Forward cells of PP 4 with 1 and 2 micro-batches: 4 x 1 + 4 x 2, equally long on each rank.
  const planner::SweepAnswer answer = answer_of_sweep("microbatches=1,2");
  const parsed_svg::Picture picture(draw_sweep_svg(answer));
  const std::vector<parsed_svg::Box> forward = picture.rects_of("f0of1");
  ASSERT_EQ(forward.size(), 13u);  // and the legend's sample
  std::vector<double> ends;
  for (const parsed_svg::Box& box : picture.rects_of("b")) ends.push_back(box.right);
  ASSERT_EQ(ends.size(), 9u);  // and the legend's sample
  const double ratio = answer.view.rows[0].estimate.time() / answer.view.rows[1].estimate.time();
  const double left = picture.rects_of("b").front().left;
  EXPECT_NEAR((ends[0] - left) / (ends[4] - left), ratio, 0.01);
}

TEST(SweepSvg, ManyCells_AreDrawnAsColumns) {
  // 4 ranks x 2 x 4,096 micro-batches are more than 20,000 cells.
  const std::string svg = draw_sweep_svg(answer_of_sweep("microbatches=8,4096"));
  EXPECT_EQ(parsed_svg::Picture(svg).fault(), "");
  EXPECT_LT(svg.size(), 1'000'000u);
}

TEST(SweepSvg, MoreCellsThanCanBeSimulated_AreCounted) {
  // 2 x 4 x 100,000 = 800,000.
  const parsed_svg::Picture picture(draw_sweep_svg(answer_of_sweep("microbatches=8,100000")));
  EXPECT_EQ(picture.texts_that_are("800,000 actions are too many to draw").size(), 1u);
}

}  // namespace sweep_svg_test
}  // namespace rankwright::report
