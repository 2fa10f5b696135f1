#include "rankwright/report/validation/collectives_text.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "rankwright/catalog/catalog.h"
#include "tests/support/golden.h"

namespace rankwright::report {
namespace collectives_text_test {

using testing::HasSubstr;
using testing::Not;

validate::CollectiveScore make_score(const std::string& rows) {
  const Result<Csv> table =
      parse_csv("system,nranks,collective,bytes,time_us,cluster,skip\n" + rows, "c.csv");
  return score_collectives(*validate::read_collectives(*table, "c.csv"),
                           catalog::get_calibration());
}

const char* const kTwo =
    "node,8,all_gather,800000000,2000,dgx-h100,\n"
    "other,8,all_reduce,1000,20,dgx-a100,\n"
    "mesh,8,all_reduce,1000,20,dgx-1-v100,a mesh of links\n";
const char* const kOne = "a,8,all_reduce,1000,20,dgx-h100,\n";

TEST(CollectivesText, HasARowPerSystemAndSizeClassAndListsUnscoredRows) {
  // 800 MB is a large and a huge message of "node", 1,000 B a small one of "other".
  golden::expect("validation/collectives.txt", render_collectives_text(make_score(kTwo)));
}

TEST(CollectivesText, AllRowsScored_ListsNoUnscoredRows) {
  golden::expect("validation/collectives-one-system.txt",
                 render_collectives_text(make_score(kOne)));
}

TEST(CollectivesText, EscapesControlCharacters) {
  const std::string text =
      render_collectives_text(make_score("a\033[31m,8,all_reduce,9,2,dgx-h100,\n"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
}

TEST(CollectivesText, OneSystem_HasNothingHeldOut) {
  EXPECT_THAT(render_collectives_markdown(make_score(kOne)), HasSubstr("| - | - | - |"));
}

TEST(CollectivesJson, ListsEveryPrediction) {
  const validate::CollectiveScore score = make_score(kTwo);
  const nlohmann::json json = nlohmann::json::parse(make_collectives_json(score));
  EXPECT_EQ(json["schema"], "rankwright.collectives/1");
  ASSERT_EQ(json["rows"].size(), 2u);
  EXPECT_EQ(json["rows"][0]["algorithm"], "ring");
  EXPECT_DOUBLE_EQ(json["rows"][0]["predicted_seconds"], score.predictions[0].predicted.value);
  EXPECT_EQ(json["given"]["from_1_mb"]["rows"], 1);
  EXPECT_EQ(json["systems"][1]["held_out"]["below_1_mb"]["rows"], 1);
  EXPECT_EQ(json["unscored"][0]["reason"], "a mesh of links");
  EXPECT_EQ(json["constants"].size(), 4u);
}

}  // namespace collectives_text_test
}  // namespace rankwright::report
