#include "rankwright/planner/explain/sweep_keys.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "tests/support/typed_configs.h"

namespace rankwright::planner {
namespace sweep_keys_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<i64> values_of(const std::string& text) {
  const Outcome<Sweep> sweep = read_sweep(text);
  EXPECT_TRUE(sweep.has_value()) << text;
  return sweep ? sweep->values : std::vector<i64>();
}

TEST(ReadSweep, Span_HasBothEndsAndThePowersOfTwoBetween) {
  EXPECT_THAT(values_of("microbatches=1..64"), ElementsAre(1, 2, 4, 8, 16, 32, 64));
  EXPECT_THAT(values_of("tp=3..20"), ElementsAre(3, 4, 8, 16, 20));
  EXPECT_THAT(values_of("zero=0..3"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(values_of("pp=6..6"), ElementsAre(6));
}

TEST(ReadSweep, ListAndStep_AreSortedAndDistinct) {
  EXPECT_THAT(values_of("microbatches=12,1,2,6,2"), ElementsAre(1, 2, 6, 12));
  EXPECT_THAT(values_of("pp=2..10:4"), ElementsAre(2, 6, 10));
  EXPECT_THAT(values_of("pp=2..9:4"), ElementsAre(2, 6));  // the next is 10
  EXPECT_THAT(values_of("tp=1..4,3"), ElementsAre(1, 2, 3, 4));
}

TEST(ReadSweep, CountsAreReadAsElsewhere) {
  EXPECT_THAT(values_of("sequence=4k..16k"), ElementsAre(4096, 8192, 16384));
  EXPECT_THAT(values_of("sequence=1_024"), ElementsAre(1024));
}

TEST(ReadSweep, NamedValues_AreReadByName) {
  EXPECT_THAT(values_of("recompute=full,none"), ElementsAre(0, 2));
  EXPECT_EQ(format_bare_value(*find_sweep_key("recompute"), 1), "selective");
  EXPECT_EQ(format_sweep_value(*find_sweep_key("recompute"), 2), "full recomputation");
  EXPECT_EQ(format_sweep_value(*find_sweep_key("recompute"), 0), "no recomputation");
  for (const std::string text : {"recompute=1", "recompute=some", "recompute=none..full:x"})
    EXPECT_FALSE(read_sweep(text).has_value()) << text;
}

TEST(ReadSweep, KeyAlone_SweepsItsUsualRange) {
  EXPECT_EQ(values_of("zero"), values_of("zero=0..3"));
  for (const SweepKey& key : list_sweep_keys())
    EXPECT_GT(values_of(std::string(key.name)).size(), 1u) << key.name;
}

TEST(ReadSweep, PlanFileKeysAndSpellings_NameTheSameKey) {
  EXPECT_EQ(find_sweep_key("tp_size"), find_sweep_key("TP"));
  EXPECT_EQ(find_sweep_key("micro-batch"), find_sweep_key("microbatch"));
  EXPECT_NE(find_sweep_key("microbatch"), find_sweep_key("microbatches"));
  EXPECT_EQ(find_sweep_key("virtual_stages"), find_sweep_key("chunks"));
  EXPECT_EQ(find_sweep_key(""), nullptr);
}

TEST(ReadSweep, MistypedKey_NamesTheNearest) {
  const Outcome<Sweep> sweep = read_sweep("micobatches=1..4");
  ASSERT_FALSE(sweep.has_value());
  EXPECT_EQ(sweep.error().kind, Refusal::Kind::usage);
  EXPECT_THAT(sweep.error().hint, HasSubstr("microbatches"));
}

TEST(ReadSweep, BadRange_NamesTheRangeAndWhatToType) {
  for (const std::string text : {"tp=", "tp=a", "tp=0", "tp=8..1", "tp=1..", "tp=..4", "tp=1..8:0",
                                 "tp=1..8:", "tp=1,024", "tp=-1", "zero=4", "zero=0..4",
                                 "tp=1..100:1", "tp=1..999999999999999999999", "tp=1..8..2"}) {
    const Outcome<Sweep> sweep = read_sweep(text);
    ASSERT_FALSE(sweep.has_value()) << text;
    EXPECT_EQ(sweep.error().kind, Refusal::Kind::usage) << text;
    EXPECT_THAT(sweep.error().message, HasSubstr("--sweep " + text)) << text;
    EXPECT_THAT(sweep.error().hint, HasSubstr("--sweep ")) << text;
  }
}

TEST(ReadSweep, AtMost64Values) {
  EXPECT_EQ(values_of("tp=1..64:1").size(), kMaxSweepValues);
  EXPECT_FALSE(read_sweep("tp=1..65:1").has_value());
  EXPECT_FALSE(read_sweep("tp=1..64:1,128").has_value());
}

RC_GTEST_PROP(ReadSweep, AnyText_IsRefusedOrGivesAscendingValuesOfTheKey,
              (const std::string& text)) {
  const std::string range =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789.,:k-_ =")));
  for (const std::string& sweep : {text, "microbatches=" + range}) {
    const Outcome<Sweep> read = read_sweep(sweep);
    if (!read) continue;
    RC_ASSERT(!read->values.empty() && read->values.size() <= kMaxSweepValues);
    for (std::size_t i = 0; i < read->values.size(); ++i) {
      RC_ASSERT(read->values[i] >= read->key->min && read->values[i] <= read->key->max);
      if (i > 0) RC_ASSERT(read->values[i - 1] < read->values[i]);
    }
  }
}

TEST(SweepValue, IsNamedAsInASentence) {
  EXPECT_EQ(format_sweep_value(*find_sweep_key("tp"), 8), "TP 8");
  EXPECT_EQ(format_sweep_value(*find_sweep_key("microbatches"), 1), "1 micro-batch");
  EXPECT_EQ(format_sweep_value(*find_sweep_key("microbatches"), 1024), "1,024 micro-batches");
  EXPECT_EQ(format_sweep_value(*find_sweep_key("zero"), 3), "ZeRO-3");
}

// --- Applying a value gives what reading the edited file gives.

struct Edited {
  std::string key;
  i64 value;
  std::string plan;  // the file, edited by hand
};

std::string plan_of(const std::string& degrees, const std::string& job) {
  return "model: llama-3.1-8b\ncluster: dgx-h100 x 2\nparallelism: {" + degrees + "}\njob: {" +
         job + "}\n";
}

const std::string kJob = "global_batch: 32, sequence: 4096";

TEST(ApplySweepValue, EqualsTheEditedFile) {
  const std::string base = plan_of("tp_size: 4, pp_size: 2, dp_size: 2", kJob);
  const importer::PlanFile file = importer::read_plan(base, "plan.yaml", importer::refuse_file);
  const rankwright::plan::TrainingConfig config = config_of(base);
  const Edited all[] = {
      {"tp", 2, plan_of("tp_size: 2, pp_size: 2, dp_size: 4", kJob)},
      {"tp", 1, plan_of("tp_size: 1, pp_size: 2, dp_size: 8", kJob)},
      {"pp", 4, plan_of("tp_size: 4, pp_size: 4, dp_size: 1", kJob)},
      {"dp", 1, "world_size: 8\n" + plan_of("tp_size: 4, pp_size: 2, dp_size: 1", kJob)},
      {"cp", 2, plan_of("tp_size: 4, pp_size: 2, cp_size: 2, dp_size: 1", kJob)},
      {"zero", 1, plan_of("tp_size: 4, pp_size: 2, dp_size: 2, zero_stage: 1", kJob)},
      {"chunks", 2, plan_of("tp_size: 4, pp_size: 2, dp_size: 2, virtual_stages: 2", kJob)},
      {"micro_batch", 4, plan_of("tp_size: 4, pp_size: 2, dp_size: 2, micro_batch: 4", kJob)},
      {"sequence", 8192,
       plan_of("tp_size: 4, pp_size: 2, dp_size: 2", "global_batch: 32, sequence: 8192")},
      // 4 micro-batches of 1 sequence on 2 replicas are a batch of 8.
      {"microbatches", 4,
       plan_of("tp_size: 4, pp_size: 2, dp_size: 2", "global_batch: 8, sequence: 4096")},
  };
  for (const Edited& edited : all) {
    const rankwright::plan::TrainingConfig expected = config_of(edited.plan);
    const rankwright::plan::TrainingConfig swept =
        apply_sweep_value(config, file.draft, *find_sweep_key(edited.key), edited.value);
    EXPECT_EQ(swept.plan, expected.plan) << edited.key;
    EXPECT_EQ(swept.job, expected.job) << edited.key;
    EXPECT_EQ(swept.world, expected.world) << edited.key;
  }
}

TEST(ApplySweepValue, AssumedBatch_StaysThatOfThePlan) {
  // No batch is stated: 4 Mi tokens / 8,192 = 512 sequences, which dp 3 would round up to 513.
  const std::string text = "world_size: 24\nmodel: llama-3.1-8b\nparallelism: {tp_size: 8}\n";
  const importer::PlanFile file = importer::read_plan(text, "plan.yaml", importer::refuse_file);
  const rankwright::plan::TrainingConfig config = config_of(text);
  for (const i64 tp : {1, 2, 4})
    EXPECT_EQ(apply_sweep_value(config, file.draft, *find_sweep_key("tp"), tp).job.global_batch,
              config.job.global_batch);
}

TEST(ApplySweepValue, StatedSplitAndSchedule_AreKeptOnlyWhereTheyFit) {
  const std::string text =
      plan_of("tp_size: 4, pp_size: 2, dp_size: 2, schedule: 1f1b, stages: [17, 15]", kJob);
  const importer::PlanFile file = importer::read_plan(text, "plan.yaml", importer::refuse_file);
  const rankwright::plan::TrainingConfig config = config_of(text);
  const SweepKey& chunks = *find_sweep_key("chunks");
  EXPECT_EQ(apply_sweep_value(config, file.draft, chunks, 1).plan, config.plan);
  const plan::Plan two = apply_sweep_value(config, file.draft, chunks, 2).plan;
  EXPECT_TRUE(two.stages.empty());
  EXPECT_EQ(two.schedule, pipeline::Schedule::interleaved);
}

}  // namespace sweep_keys_test
}  // namespace rankwright::planner
