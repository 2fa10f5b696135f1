#include "rankwright/planner/concept/concept_facts.h"

#include <gtest/gtest.h>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/item_traffic.h"
#include "rankwright/plan/shares.h"
#include "rankwright/planner/concept/split_shapes.h"
#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace concept_facts_test {

const std::string kDense =
    "model: llama-3.1-70b\ncluster: dgx-h100 x 8\njob: {global_batch: 64, sequence: 8192}\n"
    "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}\n";
const std::string kZero3 =
    "model: llama-3.1-8b\ncluster: dgx-h100 x 2\njob: {global_batch: 64, sequence: 8192}\n"
    "parallelism: {dp_size: 16, zero_stage: 3}\n";
const std::string kExperts =
    "model: mixtral-8x7b\ncluster: dgx-h100 x 8\njob: {global_batch: 128, sequence: 4096}\n"
    "parallelism: {tp_size: 2, cp_size: 2, pp_size: 4, dp_size: 4, ep_size: 8, zero_stage: 1}\n";

/// A plan with its view.
struct Explained {
  plan::TrainingConfig config;
  ExplainView view;

  explicit Explained(const std::string& text)
      : config(config_of(text)), view(make_explain_view(config)) {}

  ConceptFacts facts(std::string_view word) const {
    return list_facts(*find_concept(word), config, view);
  }
};

/// Returns the fact with a label. Fails the test if there is none.
ConceptFact fact_of(const ConceptFacts& facts, const std::string& label) {
  for (const ConceptFact& fact : facts.facts)
    if (fact.label == label) return fact;
  ADD_FAILURE() << "no fact " << label;
  return {};
}

TEST(SplitShapes, Llama70B_OnEightRanks_MatchesTheWorkedExample) {
  // 64 heads of 128 and 8 kv heads: QKV has (64 + 2 x 8) x 128 = 10,240 rows, 1,280 per rank.
  const ConceptFacts facts = Explained(kDense).facts("tp");
  EXPECT_EQ(fact_of(facts, "heads").text, "64 -> 8 per rank");
  EXPECT_EQ(fact_of(facts, "kv heads").text, "8 -> 1 per rank");
  EXPECT_EQ(fact_of(facts, "ffn width").text, "28,672 -> 3,584 per rank");
  EXPECT_EQ(fact_of(facts, "QKV").text, "10,240 x 8,192 -> 1,280 x 8,192");
  EXPECT_EQ(fact_of(facts, "down").text, "8,192 x 28,672 -> 8,192 x 3,584");
}

TEST(SplitShapes, WeightsOfALayer_AddUpToItsShare) {
  for (const i64 tp : {1, 2, 4, 8}) {
    const plan::TrainingConfig config =
        config_of("model: llama-3.1-70b\ncluster: dgx-h100 x 8\nparallelism: {tp_size: " +
                  std::to_string(tp) + ", pp_size: 4, zero_stage: 1}\n");
    i64 weights = 0;
    for (const SplitShape& shape : list_split_shapes(config))
      if (shape.weight) weights += shape.local_elements;
    const plan::Share share =
        count_layer_share(config.model, config.model.runs[0].layer, config.plan);
    const i64 norms = config.model.runs[0].layer.norms * config.model.hidden;
    EXPECT_EQ(weights + norms, share.dense) << "tp " << tp;
  }
}

TEST(SplitShapes, FewerKvHeadsThanRanks_RepeatOneHead) {
  // 8 kv heads on 16 ranks: each rank holds one, 4 of 64 query heads: (4 + 2) x 128 = 768 rows.
  const Explained of(
      "model: llama-3.1-70b\ncluster: dgx-h100 x 8\nparallelism: {tp_size: 16, zero_stage: 1}\n");
  EXPECT_EQ(fact_of(of.facts("tp"), "kv heads").text, "8 -> 1 per rank");
  EXPECT_EQ(fact_of(of.facts("tp"), "QKV").text, "10,240 x 8,192 -> 768 x 8,192");
}

TEST(ConceptFacts, EveryConcept_HasTheFiguresOfTheView) {
  for (const std::string& text : {kDense, kZero3, kExperts}) {
    const Explained of(text);
    const cost::StepTime& step = of.view.estimate.step;
    for (const ConceptPage& page : axis_pages()) {
      const ConceptFacts facts = of.facts(page.term);
      ASSERT_FALSE(facts.facts.empty()) << page.term;
      if (facts.facts.size() == 1) continue;  // the plan does not use the axis
      EXPECT_EQ(fact_of(facts, "exposed").value, step.comm(*page.item).exposed.value);
      EXPECT_EQ(fact_of(facts, "overlapped").value, step.comm(*page.item).overlapped.value);
      i64 calls = 0;
      for (const CommunicationRow& row : facts.communication)
        if (row.pp_rank == cost::sum_item_traffic(of.config, *page.item).pp_rank)
          calls += row.evaluated.traffic.calls;
      EXPECT_LE(calls, cost::sum_item_traffic(of.config, *page.item).calls) << page.term;
    }
    EXPECT_EQ(fact_of(of.facts("tp"), "memory").value, of.view.estimate.memory.total().value);
  }
}

TEST(ConceptFacts, Traffic_OfAllCollectivesIsTheWholeTable) {
  for (const std::string& text : {kDense, kZero3, kExperts}) {
    const Explained of(text);
    std::size_t rows = 0;
    for (const ConceptPage& page : collective_pages())
      rows += of.facts(page.term).communication.size();
    EXPECT_EQ(rows, of.view.communication.size());
  }
}

TEST(ConceptFacts, AxisThatIsNotUsed_SaysSo) {
  const Explained of(kDense);
  EXPECT_EQ(of.facts("ep").facts.size(), 1u);
  EXPECT_EQ(of.facts("cp").facts.size(), 1u);
  EXPECT_TRUE(of.facts("ep").communication.empty());
}

TEST(ConceptFacts, Bubble_IsThatOfTheStepAndOfTheFormula) {
  const Explained of(kDense);
  const ConceptFacts facts = of.facts("bubble");
  // 64 sequences / (2 x 1) = 32 micro-batches: 3 / 35, and 3 / 67 with twice as many.
  EXPECT_EQ(fact_of(facts, "m").value, 32);
  EXPECT_DOUBLE_EQ(fact_of(facts, "ideal").value.value(), 3.0 / 35);
  EXPECT_DOUBLE_EQ(fact_of(facts, "2 m").value.value(), 3.0 / 67);
  EXPECT_EQ(fact_of(facts, "bubble").value, of.view.estimate.step[cost::Item::bubble].value);
}

TEST(ConceptFacts, Mfu_IsItsOwnArithmetic) {
  const Explained of(kDense);
  const ConceptFacts facts = of.facts("mfu");
  const double mfu = fact_of(facts, "work").value.value() /
                     (fact_of(facts, "step").value.value() * fact_of(facts, "peak").value.value());
  EXPECT_NEAR(fact_of(facts, "MFU").value.value(), mfu, 1e-12);
  EXPECT_EQ(fact_of(facts, "MFU").value, cost::mfu(of.config, of.view.estimate.time()));
  EXPECT_DOUBLE_EQ(
      fact_of(facts, "work").value.value(),
      fact_of(facts, "per token").value.value() * fact_of(facts, "tokens").value.value());
}

TEST(ConceptFacts, ZeroStages_NeedLessAndLessMemory) {
  const Explained of(kZero3);
  const ConceptFacts facts = of.facts("zero");
  double last = fact_of(facts, "ZeRO-0").value.value();
  for (const char* stage : {"ZeRO-1", "ZeRO-2", "ZeRO-3"}) {
    EXPECT_LT(fact_of(facts, stage).value.value(), last) << stage;
    last = fact_of(facts, stage).value.value();
  }
  EXPECT_EQ(last, of.view.estimate.memory.total().value);
}

TEST(ChangedMemory, PlanThatCannotExist_HasNone) {
  plan::TrainingConfig config = config_of(kDense);
  EXPECT_EQ(estimate_changed_memory(config)->total(),
            make_explain_view(config).estimate.memory.total());
  config.plan.tp = 3;  // does not divide 64 heads
  EXPECT_FALSE(estimate_changed_memory(config).has_value());
}

TEST(ChangedMemory, WithoutAnAxis_IsMore) {
  const Explained of(kDense);
  for (const char* axis : {"tp", "pp", "sp"})
    EXPECT_GT(fact_of(of.facts(axis), "without it").value.value(),
              of.view.estimate.memory.total().value)
        << axis;
}

}  // namespace concept_facts_test
}  // namespace rankwright::planner
