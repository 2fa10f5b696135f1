#include "rankwright/lab/worksheet/free_text.h"

#include <gtest/gtest.h>

#include "rankwright/lab/worksheet/words.h"

namespace rankwright::lab {
namespace free_text_test {

// Law: the risk that `explain` prints has all parts, for every kind of communication.
TEST(RiskParts, TextOfExplain_HasAllParts) {
  for (const plan::TrafficKindRow& kind : plan::list_traffic_kinds()) {
    EXPECT_FALSE(risk_parts(kind.kind).empty()) << kind.label;
    for (const AnswerPart& part : risk_parts(kind.kind))
      EXPECT_TRUE(mentions(normalize_answer(kind.risk), part.stems))
          << kind.label << ": " << part.asks;
  }
}

TEST(ReasonParts, ZeroStage_AddsOneStateEach) {
  plan::Plan plan{.dp = 2};
  const std::size_t off = reason_parts("FSDP/ZeRO", plan).size();
  EXPECT_EQ(off, 1u);
  for (plan.zero = 1; plan.zero <= 3; ++plan.zero)
    EXPECT_EQ(reason_parts("FSDP/ZeRO", plan).size(), std::size_t(plan.zero) + 1);
}

TEST(ReasonParts, UnusedAxis_AsksForOtherWords) {
  const plan::Plan plan{.tp = 8};
  EXPECT_EQ(reason_parts("TP", plan).size(), 2u);
  EXPECT_EQ(reason_parts("PP", plan).size(), 1u);
}

TEST(ConsistencyParts, EachCollectiveIsAPart) {
  EXPECT_EQ(consistency_parts("DP all-reduce").size(), 1u);
  EXPECT_EQ(consistency_parts("TP collectives, PP send/recv").size(), 2u);
  EXPECT_TRUE(consistency_parts("").empty());
}

}  // namespace free_text_test
}  // namespace rankwright::lab
