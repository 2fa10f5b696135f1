#include "rankwright/planner/input/assumptions.h"

#include <gmock/gmock.h>

#include "rankwright/planner/check.h"
#include "rankwright/rules/rule.h"

namespace rankwright::planner {
namespace assumptions_test {

using ::testing::Contains;
using ::testing::HasSubstr;

const Diagnostic* find_code(const Diagnostics& findings, std::string_view code) {
  for (const Diagnostic& found : findings)
    if (found.code == code) return &found;
  return nullptr;
}

PlanSource script(const std::string& text) { return {.plan = {"train.sh", text}}; }

const std::string kDense8b =
    "--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 "
    "--group-query-attention --num-query-groups 8 --swiglu --disable-bias-linear "
    "--normalization RMSNorm --position-embedding-type rope --vocab-size 128256 "
    "--untie-embeddings-and-output-weights --seq-length 8192 --max-position-embeddings 8192 "
    "--micro-batch-size 1 --bf16 ";

TEST(Assumptions, ScriptWithoutAModel_GivesItsDegreesWithoutErrors) {
  // EP 16 on a dense placeholder, and TP 6, which divides the heads of no usual model.
  for (const std::string degrees :
       {"--tensor-model-parallel-size 2 --expert-model-parallel-size 16",
        "--tensor-model-parallel-size 6 --pipeline-model-parallel-size 7"}) {
    const PlanInput input =
        read_input(script("torchrun pretrain_gpt.py --micro-batch-size 1 --bf16 " + degrees));
    ASSERT_TRUE(input.config.has_value()) << degrees;
    EXPECT_TRUE(input.config->reference_model);
    EXPECT_FALSE(has_errors(list_findings(input))) << degrees;
  }
}

TEST(Assumptions, PlaceholderModel_IsOneThatTheExpertDegreesDivide) {
  const PlanInput input =
      read_input(script("torchrun pretrain_gpt.py --micro-batch-size 1 --bf16 --sequence-parallel "
                        "--tensor-model-parallel-size 2 --expert-model-parallel-size 16"));
  ASSERT_TRUE(input.config.has_value());
  EXPECT_TRUE(input.config->model.sparse());
  EXPECT_EQ(input.config->plan.ep, 16);
  EXPECT_TRUE(find_violations(*input.config).empty());
}

TEST(Assumptions, StatedModel_StillRaisesErrors) {
  const PlanInput input =
      read_input(script("torchrun --nproc-per-node 8 pretrain_gpt.py " + kDense8b +
                        "--global-batch-size 64 --tensor-model-parallel-size 1 "
                        "--expert-model-parallel-size 8"));
  const Diagnostics findings = list_findings(input);
  const Diagnostic* const found = find_code(findings, "RW0108");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->severity, Severity::error);
}

// 2 micro-batches on 4 stages would need groups of 4 only if there are virtual stages, which a
// variable of the script decides.
TEST(Assumptions, OpenVirtualStages_AreNoGroundOfAnError) {
  const auto severity = [](const std::string& layers) {
    PlanSource source = script("torchrun --nproc-per-node 4 pretrain_gpt.py " + kDense8b +
                               "--global-batch-size 6 --pipeline-model-parallel-size 4 "
                               "--num-layers-per-virtual-pipeline-stage " +
                               layers);
    source.plan.text = "VPP=${VPP:-2}\n" + source.plan.text;
    const Diagnostics findings = list_findings(read_input(source));
    const Diagnostic* const found = find_code(findings, "RW0505");
    return found == nullptr ? std::nullopt : std::optional(found->severity);
  };
  EXPECT_EQ(severity("2"), Severity::error);
  EXPECT_EQ(severity("$VPP"), Severity::note);
}

TEST(Assumptions, OpenWorld_IsTheSmallestThatFits) {
  // 18 bytes for each of 71 B parameters are 160 GB on each of 8 ranks.
  const PlanInput input =
      read_input(script("torchrun pretrain_gpt.py " + kDense8b +
                        "--num-layers 320 --global-batch-size 1024 --use-megatron-fsdp "
                        "--data-parallel-sharding-strategy optim_grads_params "
                        "--recompute-granularity full --recompute-method uniform "
                        "--recompute-num-layers 1 --tensor-model-parallel-size 1"));
  ASSERT_TRUE(input.config.has_value());
  const Diagnostics findings = list_findings(input);
  EXPECT_FALSE(has_errors(findings));
  EXPECT_EQ(find_code(findings, "RW0201"), nullptr);
  EXPECT_GT(input.config->world, 8);
  const Diagnostic* const note = find_code(findings, "RW0615");
  ASSERT_NE(note, nullptr);
  EXPECT_EQ(note->severity, Severity::note);
  // A stated number of ranks is kept.
  PlanSource stated = script("torchrun pretrain_gpt.py " + kDense8b + "--global-batch-size 1024");
  stated.world = 8;
  EXPECT_EQ(read_input(stated).config->world, 8);
}

TEST(Assumptions, AssumedHardware_MakesOutOfMemoryAWarning) {
  const std::string plan =
      "model: llama-3.1-70b\nworld_size: 8\nparallelism: {dp_size: 8}\njob: {sequence: 4096}\n";
  const Diagnostics open = list_findings(read_input({.plan = {"plan.yaml", plan}}));
  ASSERT_NE(find_code(open, "RW0201"), nullptr);
  EXPECT_EQ(find_code(open, "RW0201")->severity, Severity::warning);
  EXPECT_THAT(find_code(open, "RW0201")->notes, Contains(HasSubstr("dgx-h100")));
  const Diagnostics stated =
      list_findings(read_input({.plan = {"plan.yaml", plan + "cluster: dgx-h100 x 1\n"}}));
  ASSERT_NE(find_code(stated, "RW0201"), nullptr);
  EXPECT_EQ(find_code(stated, "RW0201")->severity, Severity::error);
}

TEST(Assumptions, AssumedSequence_IsNoGroundIfTheStatesAloneDoNotFit) {
  const std::string head = "cluster: dgx-h100 x 1\nworld_size: 8\nparallelism: {dp_size: 8}\n";
  // 18 bytes per parameter of 70 B are 1.2 TiB, whatever the sequence.
  const Diagnostics states =
      list_findings(read_input({.plan = {"plan.yaml", head + "model: llama-3.1-70b\n"}}));
  ASSERT_NE(find_code(states, "RW0201"), nullptr);
  EXPECT_EQ(find_code(states, "RW0201")->severity, Severity::error);
  // 1.2 B parameters fit; the activations of a micro-batch of 64 x 8,192 tokens do not.
  const Diagnostics activations = list_findings(read_input(
      {.plan = {"plan.yaml",
                "cluster: dgx-h100 x 1\nworld_size: 8\nmodel: llama-3.2-1b\n"
                "parallelism: {dp_size: 8, micro_batch: 64}\njob: {global_batch: 512}\n"}}));
  ASSERT_NE(find_code(activations, "RW0201"), nullptr);
  EXPECT_EQ(find_code(activations, "RW0201")->severity, Severity::note);
}

TEST(Assumptions, DefaultOfAnUnsetVariable_IsNoGroundOfAnError) {
  const std::string text =
      "NNODES=${SLURM_NNODES:-1}\nTP=${TP:-8}\nGPUS_PER_NODE=8\n"
      "torchrun --nnodes $NNODES --nproc-per-node $GPUS_PER_NODE pretrain_gpt.py " +
      kDense8b +
      "--global-batch-size 64 --tensor-model-parallel-size $TP "
      "--pipeline-model-parallel-size 4 --use-distributed-optimizer\n";
  // TP 8 x PP 4 = 32 ranks, and the default is one node of 8.
  const PlanInput open = read_input(script(text));
  ASSERT_TRUE(open.config.has_value());
  EXPECT_EQ(open.config->world, 32);
  EXPECT_FALSE(has_errors(list_findings(open)));

  PlanSource set = script(text);
  set.variables.variables = {{"SLURM_NNODES", "8"}, {"TP", "4"}};
  const PlanInput filled = read_input(set);
  ASSERT_TRUE(filled.config.has_value());
  EXPECT_EQ(filled.config->world, 64);
  EXPECT_EQ(filled.config->plan.tp, 4);
  EXPECT_EQ(filled.config->plan.dp, 4);  // 64 / 4 / 4
  EXPECT_TRUE(filled.file.open.empty());

  set.variables.variables = {{"SLURM_NNODES", "3"}};  // 24 ranks: stated, and wrong
  EXPECT_EQ(read_input(set).config->world, 24);
  const PlanSource by_environment = [&] {
    PlanSource source = script(text);
    source.variables.environment = [](const std::string& name) {
      return name == "SLURM_NNODES" ? std::optional<std::string>("16") : std::nullopt;
    };
    return source;
  }();
  EXPECT_EQ(read_input(by_environment).config->world, 128);
}

TEST(Assumptions, GuessedBranch_IsNoGroundOfAnError) {
  // Whether one node runs it or Slurm is decided elsewhere.
  const PlanInput input = read_input(script(
      "ARGS=\"" + kDense8b +
      "--global-batch-size 64 --tensor-model-parallel-size 8 --pipeline-model-parallel-size 4\"\n"
      "if [[ $BATCH -eq 0 ]]; then\n  torchrun --nproc-per-node 8 pretrain_gpt.py $ARGS\nelse\n"
      "  srun python pretrain_gpt.py $ARGS\nfi\n"));
  ASSERT_TRUE(input.config.has_value());
  EXPECT_EQ(input.config->world, 32);
  EXPECT_FALSE(has_errors(list_findings(input)));
}

TEST(Assumptions, ErrorsHaveGrounds) {
  int rows = 0;
  for (const rules::Page* page : rules::pages()) {
    if (list_grounds(page->code).empty() || page->severity != Severity::error) continue;
    ++rows;
  }
  EXPECT_GT(rows, 40);
  EXPECT_TRUE(list_grounds("RW9999").empty());
}

}  // namespace assumptions_test
}  // namespace rankwright::planner
