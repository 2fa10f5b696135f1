// Boundary cases of single target rules that the examples do not cover.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/support/golden.h"
#include "tests/support/typed_plans.h"

namespace rankwright::rules {
namespace targets_test {

using testing::Contains;
using testing::Not;
using typed_plans::diagnose;

std::set<std::string> found(Target target, const std::string& text) {
  return typed_plans::codes(diagnose(text, target));
}

std::vector<Edit> fix_of(std::string_view code, Target target, const std::string& text) {
  for (const Diagnostic& d : diagnose(text, target))
    if (d.code == code) return d.fix;
  return {};
}

TEST(Orders, DifferOnlyInUnsplitAxes_AreEqual) {
  // cp and ep are 1, so dp before or after them gives the same numbering.
  const std::string plan =
      "world_size: 16\nmodel: llama-3.1-8b\n"
      "parallelism: {tp_size: 2, pp_size: 4, dp_size: 2, order: ";
  EXPECT_THAT(found(Target::megatron, plan + "tp-dp-cp-ep-pp}\n"), Not(Contains("RW0501")));
  EXPECT_THAT(found(Target::megatron, plan + "tp-pp-dp-cp-ep}\n"), Not(Contains("RW0501")));
  EXPECT_THAT(found(Target::megatron, plan + "pp-tp-cp-ep-dp}\n"), Contains("RW0501"));
  // Only Megatron-LM has the second order.
  EXPECT_THAT(found(Target::torchtitan, plan + "tp-pp-dp-cp-ep}\n"), Contains("RW0522"));
  EXPECT_THAT(found(Target::nanotron, plan + "tp-dp-cp-ep-pp}\n"), Not(Contains("RW0564")));
}

TEST(MegatronOverlap, RecomputedExperts_AreRefused) {
  const std::string plan =
      "world_size: 16\nmodel: qwen3-30b-a3b\n"
      "parallelism: {tp_size: 1, dp_size: 16, ep_size: 8, zero_stage: 1, overlap: {ep: true}";
  EXPECT_THAT(found(Target::megatron, plan + "}\n"), Not(Contains("RW0555")));
  EXPECT_THAT(found(Target::megatron, plan + ", recompute: {modules: [moe_act]}}\n"),
              Not(Contains("RW0555")));
  EXPECT_THAT(found(Target::megatron, plan + ", recompute: {modules: [layernorm, moe]}}\n"),
              Contains("RW0555"));
}

TEST(MegatronRelease, LacksWhatCameLater) {
  const std::string plan =
      "world_size: 16\nmodel: qwen3-30b-a3b\n"
      "parallelism: {tp_size: 1, dp_size: 16, ep_size: 8, zero_stage: 1, dispatcher: deepep, "
      "overlap: {ep: true}}\nsoftware: {release: ";
  EXPECT_THAT(found(Target::megatron, plan + "0.14}\n"), Not(Contains("RW0534")));
  EXPECT_THAT(found(Target::megatron, plan + "0.13}\n"), Contains("RW0534"));
  EXPECT_THAT(found(Target::megatron, plan + "0.14, expert_kernel: fused}\n"), Contains("RW0534"));
  EXPECT_THAT(found(Target::megatron, plan + "0.18, expert_kernel: fused}\n"),
              Not(Contains("RW0534")));
  EXPECT_THAT(found(Target::megatron, plan + "2021}\n"), Contains("RW0128"));
}

TEST(MegatronDelayedGradients, NeedOverlapAndNoGraphsOfBiases) {
  const auto plan = [](std::string_view model, std::string_view overlap, std::string_view launch) {
    return fmt::format(
        "world_size: 16\nmodel: {}\n"
        "parallelism: {{tp_size: 1, dp_size: 16, ep_size: 8, zero_stage: 1, overlap: {}}}\n"
        "software: {{launch: {}}}\n",
        model, overlap, launch);
  };
  const char both[] = "{ep: true, wgrad: true}";
  EXPECT_THAT(found(Target::megatron, plan("qwen3-30b-a3b", "{wgrad: true}", "eager")),
              Contains("RW0574"));
  EXPECT_THAT(found(Target::megatron, plan("qwen3-30b-a3b", both, "partial_graphs")),
              Not(Contains("RW0574")));
  EXPECT_THAT(found(Target::megatron, plan("gpt-oss-20b", both, "eager")), Not(Contains("RW0574")));
  EXPECT_THAT(found(Target::megatron, plan("gpt-oss-20b", both, "partial_graphs")),
              Contains("RW0574"));
}

TEST(MegatronLayers, GetTheEvenLayoutAsAFix) {
  // 30 layers on 4 stages: 7 8 8 7.
  const std::string plan = "world_size: 4\nmodel: megatron-3.6b\nparallelism: {pp_size: 4}\n";
  EXPECT_EQ(fix_of("RW0503", Target::megatron, plan),
            (std::vector<Edit>{{"parallelism.stages", "Et*7|t*8|t*8|t*7L"}}));
}

TEST(MegatronLayers, ReferenceModel_IsNotReported) {
  // 80 layers of the reference model on 3 stages.
  EXPECT_THAT(found(Target::megatron, "world_size: 3\nparallelism: {pp_size: 3}\n"),
              Not(Contains("RW0503")));
}

TEST(MegatronConnections, BlackwellNeedsNoSetting) {
  const std::string plan = "model: llama-3.2-1b\nparallelism: {tp_size: 2, dp_size: 4}\ncluster: ";
  EXPECT_THAT(found(Target::megatron, plan + "dgx-h100\n"), Contains("RW0511"));
  EXPECT_THAT(found(Target::megatron, plan + "dgx-b200\n"), Not(Contains("RW0511")));
}

TEST(MegatronVocabulary, IsPaddedToAMultipleOf128TimesTp) {
  // gpt2: 50,257 rows; 128 x 4 = 512; 99 x 512 = 50,688, which is 431 more.
  std::string details;
  for (const Diagnostic& d : diagnose("world_size: 4\nmodel: gpt2\njob: {sequence: 1024}\n"
                                      "parallelism: {tp_size: 4}\n",
                                      Target::megatron))
    if (d.code == "RW0514") details += d.detail + "\n";
  golden::expect("rules/padded-vocabulary.txt", details);
}

/// A pipeline of 4 ranks with 2 chunks each and this many microbatches.
std::string interleaved(int microbatches) {
  return "world_size: 4\nmodel: llama-3.1-8b\nparallelism: {pp_size: 4, virtual_stages: 2}\n"
         "job: {global_batch: " +
         std::to_string(microbatches) + "}\n";
}

TEST(TorchtitanRounds, MustBeEqualButNotMultiplesOfPp) {
  // rounds = M div 4: 10 = 2 x 5 works, 9 and 11 do not; below 8 there is one round.
  for (const int good : {4, 7, 8, 10, 12})
    EXPECT_THAT(found(Target::torchtitan, interleaved(good)), Not(Contains("RW0527"))) << good;
  for (const int bad : {9, 11, 13})
    EXPECT_THAT(found(Target::torchtitan, interleaved(bad)), Contains("RW0527")) << bad;
}

TEST(MegatronGroups, FixIsTheSmallestGroupThatDividesTheMicrobatches) {
  EXPECT_THAT(found(Target::megatron, interleaved(12)), Not(Contains("RW0505")));
  // 10 = 5 + 5; a group of 4 would leave 2.
  EXPECT_EQ(fix_of("RW0505", Target::megatron, interleaved(10)),
            (std::vector<Edit>{{"parallelism.microbatch_group", "5"}}));
  // Three microbatches are too few for any group: the fix is a batch of 4.
  EXPECT_EQ(fix_of("RW0505", Target::megatron, interleaved(3)),
            (std::vector<Edit>{{"job.global_batch", "4"}}));
}

/// As interleaved(), with an explicit group size.
std::string grouped(int microbatches, int group) {
  return "world_size: 4\nmodel: llama-3.1-8b\nparallelism: {pp_size: 4, virtual_stages: 2, "
         "microbatch_group: " +
         std::to_string(group) + "}\njob: {grad_dtype: bf16, sequence: 2048, global_batch: " +
         std::to_string(microbatches) + "}\n";
}

TEST(MegatronGroups, StatedGroupSize_IsChecked) {
  for (const int good : {4, 6, 8, 12})  // 12 = 3 x 4 = 2 x 6 = 8 + 4 = 12
    EXPECT_THAT(found(Target::megatron, grouped(12, good)), Not(Contains("RW0505"))) << good;
  for (const int bad : {5, 9, 13})  // 2 or 3 left over; more than all
    EXPECT_THAT(found(Target::megatron, grouped(12, bad)), Contains("RW0505")) << bad;
  EXPECT_EQ(fix_of("RW0505", Target::megatron, grouped(12, 5)),
            (std::vector<Edit>{{"parallelism.microbatch_group", "4"}}));
  // Three microbatches are too few for any group: the fix is a batch of 4 in groups of 4.
  EXPECT_EQ(fix_of("RW0505", Target::megatron, grouped(3, 3)),
            (std::vector<Edit>{{"job.global_batch", "4"}, {"parallelism.microbatch_group", "4"}}));
  // Only Megatron-LM has this rule.
  EXPECT_TRUE(found(Target::any, grouped(12, 5)) == found(Target::any, grouped(12, 4)));
}

TEST(Groups, SmallerThanPp_AreAnErrorForEveryTarget) {
  EXPECT_THAT(found(Target::any, grouped(12, 3)), Contains("RW0121"));
  EXPECT_EQ(fix_of("RW0121", Target::any, grouped(12, 3)),
            (std::vector<Edit>{{"parallelism.microbatch_group", "4"}}));
}

/// DualPipe on `pp` ranks with a global batch of `batch`.
std::string dualpipe(int pp, int batch, int micro_batch = 1) {
  return "world_size: " + std::to_string(pp) +
         "\nmodel: llama-3.1-8b\nparallelism: {schedule: dualpipe, pp_size: " + std::to_string(pp) +
         ", micro_batch: " + std::to_string(micro_batch) +
         "}\njob: {global_batch: " + std::to_string(batch) + "}\n";
}

TEST(DualPipe, FixIsTheNextSupportedBatch) {
  EXPECT_EQ(fix_of("RW0123", Target::any, dualpipe(4, 9)),
            (std::vector<Edit>{{"job.global_batch", "10"}}));
  // 3 is both odd and too few.
  EXPECT_EQ(fix_of("RW0123", Target::any, dualpipe(4, 3)),
            (std::vector<Edit>{{"job.global_batch", "8"}}));
  EXPECT_EQ(fix_of("RW0124", Target::any, dualpipe(4, 6)),
            (std::vector<Edit>{{"job.global_batch", "8"}}));
  // 17 sequences in pairs would be 9 microbatches, which is odd: 10.
  EXPECT_EQ(fix_of("RW0110", Target::any, dualpipe(4, 17, 2)),
            (std::vector<Edit>{{"job.global_batch", "20"}}));
}

TEST(DualPipe, OddWorldSize_FixIs1F1B) {
  // tp 3 does not divide the heads, and dp 3 does not divide the batch.
  EXPECT_EQ(fix_of("RW0122", Target::any, dualpipe(3, 8)),
            (std::vector<Edit>{{"parallelism.schedule", "1f1b"}}));
}

TEST(NanotronMicrobatches, MayBeOneFewerThanTheStages) {
  const std::string plan =
      "world_size: 4\nmodel: llama-3.1-8b\nparallelism: {pp_size: 4}\njob: {global_batch: ";
  EXPECT_THAT(found(Target::nanotron, plan + "3}\n"), Not(Contains("RW0565")));
  EXPECT_THAT(found(Target::nanotron, plan + "2}\n"), Contains("RW0565"));
}

TEST(NanotronPlacement, WholeHostsMayBePermuted) {
  const std::string plan =
      "node_shape: 2_nodes_x_2_gpus\nmodel: llama-3.2-1b\nparallelism: {dp_size: 4}\nplacement: ";
  EXPECT_THAT(found(Target::nanotron, plan + "{hosts: [1, 0]}\n"), Not(Contains("RW0567")));
  EXPECT_THAT(found(Target::nanotron, plan + "{ranks: [1, 0, 2, 3]}\n"), Contains("RW0567"));
  EXPECT_THAT(found(Target::nanotron, plan + "cyclic\n"), Contains("RW0567"));
}

TEST(CyclicPlacement, PartialHost_IsValid) {
  // 12 ranks on hosts of 8 need two hosts; with one the groups could not be placed.
  EXPECT_THAT(found(Target::any,
                    "world_size: 12\nmodel: llama-3.2-1b\nplacement: cyclic\n"
                    "parallelism: {dp_size: 12}\n"),
              Not(Contains("RW0119")));
}

TEST(Fixes, KeepDegreesThatAlreadyMultiplyToTheDevices) {
  EXPECT_EQ(fix_of("RW0101", Target::any,
                   "world_size: 16\ncluster: dgx-h100\nmodel: llama-3.2-1b\n"
                   "parallelism: {tp_size: 2, dp_size: 4}\n"),
            (std::vector<Edit>{{"world_size", "8"}}));
}

TEST(Fixes, MoreStagesThanLayers_HasNoFix) {
  // 4,194,304 x 4,096 stages would not fit in memory, let alone in a file.
  const std::string plan =
      "model: llama-3.2-1b\n"
      "parallelism: {pp_size: 4194304, virtual_stages: 4096, stages: [8, 8]}\n";
  EXPECT_THAT(found(Target::any, plan), Contains("RW0112"));
  EXPECT_TRUE(fix_of("RW0112", Target::any, plan).empty());
}

}  // namespace targets_test
}  // namespace rankwright::rules
