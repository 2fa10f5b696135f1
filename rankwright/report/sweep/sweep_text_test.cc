#include "rankwright/report/sweep/sweep_text.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "rankwright/base/format.h"
#include "rankwright/report/render/table.h"
#include "rankwright/report/sweep/sweep_sentences.h"
#include "tests/support/golden.h"

namespace rankwright::report {
namespace sweep_text_test {

using ::testing::HasSubstr;

const std::string kPlan =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 4\njob: {global_batch: 64, sequence: 4096}\n"
    "parallelism: {tp_size: 2, pp_size: 4, dp_size: 4, zero_stage: 1}\n";

planner::SweepAnswer answer_of(const std::string& sweep, const std::string& plan = kPlan) {
  planner::Outcome<planner::SweepAnswer> answer =
      planner::explain_sweep({.plan = {"plan.yaml", plan}}, sweep);
  EXPECT_TRUE(answer.has_value()) << sweep;
  return std::move(*answer);
}

TEST(SweepText, HasALinePerValue) {
  golden::expect("sweep/microbatches.txt",
                 render_sweep_text(answer_of("microbatches=1..64"), {}, 120));
  golden::expect("sweep/tp.txt", render_sweep_text(answer_of("tp=1,2,3,8,16"), {}, 120));
  golden::expect("sweep/zero.txt", render_sweep_text(answer_of("zero"), {}, 120));
}

TEST(SweepText, NoValueFits_NamesTheLeanest) {
  golden::expect("sweep/none-fits.txt",
                 render_sweep_text(answer_of("zero",
                                             "model: llama-3.1-70b\ncluster: dgx-h100\n"
                                             "parallelism: {tp_size: 8}\n"),
                                   {}, 120));
}

TEST(SweepText, NarrowTerminal_LeavesOutFiguresButNoValue) {
  for (const planner::SweepKey& key : planner::list_sweep_keys()) {
    const planner::SweepAnswer answer = answer_of(std::string(key.name));
    for (const std::size_t width : {60, 80, 120}) {
      std::istringstream lines(render_sweep_text(answer, {}, width));
      for (std::string line; std::getline(lines, line);)
        EXPECT_LE(display_width(line), width) << key.name << " at " << width << ": " << line;
      const std::string text = render_sweep_text(answer, {}, width);
      for (const planner::SweepRow& row : answer.view.rows)
        EXPECT_THAT(text, HasSubstr(" " + format_bare_value(key, row.value) + " "))
            << key.name << " at " << width;
    }
  }
}

TEST(SweepText, SameInput_GivesTheSameBytes) {
  const planner::SweepAnswer a = answer_of("pp=1..8"), b = answer_of("pp=1..8");
  EXPECT_EQ(render_sweep_text(a, {}, 80), render_sweep_text(b, {}, 80));
  EXPECT_EQ(make_sweep_json(a), make_sweep_json(b));
}

TEST(SweepMarkdown, HasTheTableWithoutBars) {
  golden::expect("sweep/tp.md", render_sweep_markdown(answer_of("tp=1,2,3,8")));
}

TEST(SweepJson, HasEveryRow) {
  const planner::SweepAnswer answer = answer_of("tp=1,2,3");
  const nlohmann::json json = nlohmann::json::parse(make_sweep_json(answer));
  EXPECT_EQ(json["schema"], "rankwright.sweep/1");
  EXPECT_EQ(json["key"], "tp");
  EXPECT_EQ(json["now"], 2);
  ASSERT_EQ(json["rows"].size(), 3u);
  EXPECT_EQ(json["rows"][1]["step_seconds"], answer.view.rows[1].estimate.time().value);
  EXPECT_TRUE(json["rows"][1]["own"].get<bool>());
  EXPECT_EQ(json["rows"][2]["impossible"], answer.view.rows[2].impossible);
}

}  // namespace sweep_text_test
}  // namespace rankwright::report
