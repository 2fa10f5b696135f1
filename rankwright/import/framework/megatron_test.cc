#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "rankwright/import/framework/megatron_model.h"
#include "rankwright/import/plan/plan_format.h"
#include "rankwright/import/script/script_flags.h"
#include "rankwright/model/parameters.h"
#include "rankwright/rules/rule.h"
#include "tests/support/finding_lines.h"
#include "tests/support/golden.h"
#include "tests/support/left_out.h"

namespace rankwright::importer {
namespace megatron_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;

PlanFile read(std::string text, std::string name = "train.sh") {
  return read_any_plan(std::move(text), std::move(name), refuse_file);
}

/// Reads a file of tests/data/import.
PlanFile sample_file(const std::string& name) {
  const Result<std::string> text = read_file(RANKWRIGHT_SOURCE_DIR "/tests/data/import/" + name);
  EXPECT_TRUE(text.has_value()) << name;
  PlanFile plan = read(text.value_or(""), name);
  EXPECT_EQ(plan.format->name, "megatron") << name;
  EXPECT_FALSE(has_errors(plan.findings)) << name;
  return plan;
}

constexpr std::string_view kShapes =
    "--num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 "
    "--max-position-embeddings 2048 --micro-batch-size 1 --global-batch-size 64 "
    "--tokenizer-type GPT2BPETokenizer --attention-dropout 0 ";

Draft draft_of(const std::string& flags) {
  const PlanFile plan = read("python pretrain_gpt.py " + std::string(kShapes) + flags + "\n");
  EXPECT_FALSE(has_errors(plan.findings)) << plan.findings[0].detail;
  return plan.draft;
}

const std::string kExperts =
    "--num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 1024 --bf16 ";

TEST(MegatronImport, ReadsOverlappedExpertsAndDelayedWeightGradients) {
  const std::string overlapped =
      kExperts + "--expert-model-parallel-size 8 --overlap-moe-expert-parallel-comm ";
  EXPECT_THAT(draft_of(overlapped).overlap_ep, Optional(true));
  EXPECT_FALSE(resolve(draft_of(overlapped)).plan.overlap.wgrad);
  EXPECT_THAT(draft_of(overlapped + "--delay-wgrad-compute").overlap_wgrad, Optional(true));
}

TEST(MegatronImport, ReadsRecomputeModules) {
  const std::string selective = kExperts + "--recompute-granularity selective ";
  EXPECT_EQ(draft_of(selective + "--recompute-modules moe_act layernorm").recompute_modules,
            (plan::RecomputeModules{.core_attn = false, .layernorm = true, .moe_act = true}));
  EXPECT_EQ(resolve(draft_of(selective)).plan.modules, plan::RecomputeModules{});
  // A module that plans do not have is counted as kept, and reported.
  const PlanFile plan = read("python pretrain_gpt.py " + std::string(kShapes) + selective +
                             "--recompute-modules core_attn mhc\n");
  EXPECT_EQ(std::count_if(plan.findings.begin(), plan.findings.end(),
                          [](const Diagnostic& found) {
                            return found.code == "RW0601" &&
                                   found.detail.find("mhc") != std::string::npos;
                          }),
            1);
  EXPECT_EQ(plan.draft.recompute_modules, plan::RecomputeModules{});
}

TEST(MegatronImport, ReadsHowExpertsRun) {
  const Draft plain = draft_of(kExperts);  // without the flags Megatron-LM fuses nothing
  EXPECT_EQ(plain.expert_kernel, plan::ExpertKernel::sequential);
  EXPECT_EQ(plain.fused_permute, false);
  EXPECT_EQ(plain.expert_capacity, std::nullopt);
  const Draft fused = draft_of(kExperts +
                               "--moe-grouped-gemm --moe-permute-fusion "
                               "--moe-token-dispatcher-type flex --moe-flex-dispatcher-backend "
                               "hybridep --moe-expert-capacity-factor 1.5 "
                               "--moe-pad-expert-input-to-capacity");
  EXPECT_EQ(fused.expert_kernel, plan::ExpertKernel::grouped);
  EXPECT_EQ(fused.fused_permute, true);
  EXPECT_EQ(fused.dispatcher, plan::Dispatcher::hybridep);
  EXPECT_EQ(fused.expert_capacity, 1.5);
}

TEST(MegatronImport, MissingFlagsAreOff) {
  const rankwright::plan::TrainingConfig s = resolve(draft_of("--tensor-model-parallel-size 2"));
  EXPECT_FALSE(s.plan.sequence_parallel);
  EXPECT_EQ(s.plan.zero, 0);
  EXPECT_EQ(s.plan.overlap, (plan::Overlap{.grad_reduce = false, .param_gather = false}));
  EXPECT_EQ(s.job.param_dtype, plan::Dtype::fp32);
  EXPECT_EQ(s.plan.order, mesh::kDefaultOrder);
  EXPECT_EQ(s.plan.etp, 2);
}

TEST(MegatronImport, ZeroRecomputedLayersAndOneExpert_AreAccepted) {
  EXPECT_THAT(draft_of("--recompute-num-layers 0").recompute, Optional(plan::Recompute::none));
  const Draft one = draft_of("--num-experts 1");
  ASSERT_TRUE(one.model.has_value());
  EXPECT_FALSE(one.model->sparse());
  const Draft visited = draft_of("--num-experts 1 --moe-router-topk 1");
  ASSERT_TRUE(visited.model.has_value());
  EXPECT_TRUE(visited.model->sparse());
}

TEST(MegatronImport, SwitchesBeforeAnUnknownVariable_TakeNoValue) {
  const Draft fused = draft_of(kExperts + "--moe-grouped-gemm $EXTRA --moe-permute-fusion $MORE");
  EXPECT_EQ(fused.expert_kernel, plan::ExpertKernel::grouped);
  EXPECT_EQ(fused.fused_permute, true);
}

TEST(MegatronModel, Llama2Tokenizer_Has32000Rows) {
  const PlanFile plan = read(
      "python pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 "
      "--seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 "
      "--tokenizer-type Llama2Tokenizer --tokenizer-model tok.model --bf16\n");
  EXPECT_TRUE(plan.findings.empty());
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->vocab, 32000);
}

TEST(MegatronLog, FirstDump_IsKept) {
  const PlanFile plan = read(
      "using world size: 64, data-parallel size: 8, tensor-model-parallel size: 4\n"
      "  tensor_model_parallel_size ...................... 4\n"
      "  pipeline_model_parallel_size .................... 2\n"
      "  micro_batch_size ................................ 1\n"
      "  global_batch_size ............................... 128\n"
      "  seq_length ...................................... 4096\n"
      "[config.py:1003:print]   world_size ................... 1\n"
      "[config.py:1003:print]   pipeline_model_parallel_size .... 1\n",
      "run.log");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_THAT(plan.draft.world, Optional(64));
  EXPECT_THAT(plan.draft.pp, Optional(2));
}

TEST(MegatronLog, OddValue_DoesNotRefuseTheLog) {
  const PlanFile plan = read(
      "  tensor_model_parallel_size ...................... 4\n"
      "  moe_token_dispatcher_type ....................... somehow\n"
      "  seq_length ...................................... 4096\n",
      "run.log");
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_EQ(plan.findings.size(), 1u);
  EXPECT_THAT(plan.draft.tp, Optional(4));
}

TEST(MegatronImport, TwoTrainingRuns_AreNotMixed) {
  const std::string run = "torchrun --nproc-per-node 8 pretrain_gpt.py " + std::string(kShapes);
  const PlanFile plan = read(run + "--tensor-model-parallel-size 2\n" + run +
                             "--tensor-model-parallel-size 4 --sequence-parallel\n");
  EXPECT_THAT(plan.draft.tp, Optional(2));
  EXPECT_THAT(plan.draft.sequence_parallel, Optional(false));
  EXPECT_EQ(std::count_if(plan.findings.begin(), plan.findings.end(),
                          [](const Diagnostic& found) { return found.code == "RW0615"; }),
            1);
  // Printing a command is not a second run.
  EXPECT_THAT(
      read("echo train --tensor-model-parallel-size 8\n" + run + "--tensor-model-parallel-size 4\n")
          .findings,
      IsEmpty());
}

TEST(MegatronImport, UnknownConditions_AreNotedOnce) {
  std::string script;
  for (int i = 0; i < 19; ++i)
    script += "if [ \"$MODE\" = fast ]; then\n  A" + std::to_string(i) + "=1\nfi\n";
  const PlanFile plan = read(script + "python pretrain_gpt.py " + std::string(kShapes) + "\n");
  EXPECT_EQ(std::count_if(plan.findings.begin(), plan.findings.end(),
                          [](const Diagnostic& found) { return found.code == "RW0615"; }),
            1);
}

TEST(MegatronImport, FlagsInASourcedFile_AreRead) {
  const PlanFile plan = read_any_plan(
      "#!/bin/bash\nsource params.sh\ntorchrun --nproc-per-node 8 pretrain_gpt.py ${ARGS[@]}\n",
      "jobs/train.sh", [](const std::string& path) -> Result<std::string> {
        if (path != "jobs/params.sh") return refuse_file(path);
        return "ARGS=(" + std::string(kShapes) + " --tensor-model-parallel-size 4)\n";
      });
  EXPECT_EQ(plan.format->name, "megatron");
  EXPECT_THAT(plan.draft.tp, Optional(4));
  EXPECT_TRUE(plan.draft.model.has_value());
}

TEST(MegatronImport, ReadsNumberFormats) {
  EXPECT_EQ(draft_of("--bf16").grad_dtype, plan::Dtype::fp32);
  EXPECT_EQ(draft_of("--bf16 --grad-reduce-in-bf16").grad_dtype, plan::Dtype::bf16);
  EXPECT_EQ(draft_of("--fp16").grad_dtype, plan::Dtype::fp16);
  EXPECT_EQ(draft_of("--fp16 --accumulate-allreduce-grads-in-fp32").grad_dtype, plan::Dtype::fp32);
  EXPECT_THAT(draft_of("--bf16 --fp8-format hybrid").matmul, Optional(plan::Matmul::fp8));
  EXPECT_THAT(draft_of("--fp8-format e4m3 --fp8-recipe mxfp8").matmul,
              Optional(plan::Matmul::mxfp8));
}

TEST(MegatronImport, ReadsTheZeroStage) {
  EXPECT_THAT(draft_of("--use-distributed-optimizer").zero, Optional(1));
  const std::string fsdp = "--use-megatron-fsdp --data-parallel-sharding-strategy ";
  EXPECT_THAT(draft_of(fsdp + "optim").zero, Optional(1));
  EXPECT_THAT(draft_of(fsdp + "optim_grads").zero, Optional(2));
  EXPECT_THAT(draft_of(fsdp + "optim_grads_params").zero, Optional(3));
  EXPECT_THAT(draft_of("--use-torch-fsdp2").zero, Optional(3));
}

TEST(MegatronImport, OptimizerInstances_DetermineTheShardSize) {
  // 64 ranks / (tp 2 x pp 2) = 16 data ranks including cp, in 4 instances of 4.
  const PlanFile plan =
      read("torchrun --nnodes 8 --nproc-per-node 8 pretrain_gpt.py " + std::string(kShapes) +
           "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 "
           "--context-parallel-size 2 --use-distributed-optimizer "
           "--num-distributed-optimizer-instances 4\n");
  EXPECT_THAT(plan.draft.shard_size, Optional(4));
}

TEST(MegatronImport, SplitsLayersAsMegatronDoes) {
  const std::string pp = "--pipeline-model-parallel-size 4 ";
  EXPECT_THAT(draft_of(pp + "--num-layers-per-virtual-pipeline-stage 2").virtual_stages,
              Optional(3));  // 24 / 4 / 2
  EXPECT_THAT(draft_of(pp + "--num-virtual-stages-per-pipeline-rank 2").virtual_stages,
              Optional(2));
  // 24 - 4 - 2 = 18 layers over the two middle ranks.
  EXPECT_THAT(draft_of(pp + "--decoder-first-pipeline-num-layers 4 "
                            "--decoder-last-pipeline-num-layers 2")
                  .stage_layers,
              Optional(ElementsAre(4, 9, 9, 2)));
  // 22 layers, the embedding and the loss are 24: 6 each.
  const PlanFile counted = read(
      "pretrain_gpt.py --num-layers 22 --hidden-size 1024 --num-attention-heads 16 --bf16 "
      "--tensor-model-parallel-size 1 --pipeline-model-parallel-size 4 --vocab-size 1000 "
      "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split\n");
  EXPECT_THAT(counted.draft.stage_layers, Optional(ElementsAre(5, 6, 6, 5)));
  const Draft layout = draft_of(pp + "--pipeline-model-parallel-layout 'Et*5|t*7|t*7|t*5L'");
  ASSERT_TRUE(layout.stages.has_value());
  EXPECT_EQ(show_layers(*layout.stages), "5 7 7 5");
}

TEST(MegatronImport, ReadsRecompute) {
  const std::string full = "--recompute-granularity full --recompute-method ";
  EXPECT_EQ(draft_of(full + "uniform --recompute-num-layers 1").recompute_layers, std::nullopt);
  // The method "block" counts layers per virtual stage, as a plan does.
  const Draft block = draft_of(full +
                               "block --recompute-num-layers 3 --pipeline-model-parallel-size 4 "
                               "--num-virtual-stages-per-pipeline-rank 2");
  EXPECT_THAT(block.recompute_layers, Optional(3));
  EXPECT_THAT(draft_of("--recompute-activations").recompute, Optional(plan::Recompute::selective));
}

TEST(Megatron, LayersOfLinearAttentionInASpec_AreReported) {
  const auto reports = [](const std::string& spec) {
    const PlanFile plan = read("torchrun pretrain_gpt.py --num-layers 8 --hidden-size 512 --spec " +
                               spec + " get_spec --bf16\n");
    return std::count_if(plan.findings.begin(), plan.findings.end(),
                         [](const Diagnostic& one) { return one.code == "RW0601"; });
  };
  EXPECT_EQ(reports("plugins.qwen3_5"), 1);
  EXPECT_EQ(reports("plugins.qwen3_next"), 1);
  EXPECT_EQ(reports("plugins.qwen3"), 0);
}

// One checkpoint for several layers keeps less and recomputes as much.
TEST(Megatron, LayersRecomputedAtOnce_AreReported) {
  const auto reports = [](const std::string& flags) {
    const PlanFile plan =
        read("torchrun pretrain_gpt.py --num-layers 8 --hidden-size 512 " + flags + "\n");
    return std::count_if(plan.findings.begin(), plan.findings.end(),
                         [](const Diagnostic& one) { return one.code == "RW0601"; });
  };
  const std::string full = "--recompute-granularity full --recompute-method ";
  EXPECT_EQ(reports(full + "uniform --recompute-num-layers 4"), 1);
  EXPECT_EQ(reports(full + "uniform --recompute-num-layers 1"), 0);
  EXPECT_EQ(reports(full + "block --recompute-num-layers 4"), 0);
  EXPECT_EQ(reports("--checkpoint-activations --checkpoint-num-layers 4"), 1);
}

TEST(MegatronImport, ConflictingRecomputeFlags_AreReported) {
  const PlanFile plan =
      read("run " + std::string(kShapes) + "\\\n  --recompute-granularity full\n");
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].code, "RW0616");
  EXPECT_EQ(plan.findings[0].where.line, 2);
}

TEST(MegatronImport, UnknownVariable_IsReported) {
  const PlanFile plan = read("run " + std::string(kShapes) +
                             " --data-path $DATA \\\n  --tensor-model-parallel-size $TP\n");
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].code, "RW0614");
  EXPECT_EQ(plan.findings[0].where.line, 2);
  EXPECT_EQ(plan.draft.tp, std::nullopt);
  const PlanFile command =
      read("run " + std::string(kShapes) + "--pipeline-model-parallel-size $(wc -l < hosts)\n");
  ASSERT_EQ(command.findings.size(), 1u);
  EXPECT_EQ(command.draft.pp, std::nullopt);
  golden::expect("import/megatron-unknown-values.txt",
                 format_findings(plan.findings) + format_findings(command.findings));
}

TEST(MegatronImport, LaterFlagsOverrideEarlierOnes) {
  EXPECT_THAT(draft_of("--tensor-model-parallel-size 2 --tensor-model-parallel-size=4").tp,
              Optional(4));
}

TEST(MegatronImport, FlagsNotPassedToACommand_AreIgnored) {
  const PlanFile plan = read("MOE=(--num-experts 8 --expert-model-parallel-size 8)\nrun " +
                             std::string(kShapes) + "\n");
  EXPECT_EQ(plan.draft.ep, std::nullopt);
}

TEST(MegatronImport, ClaimsOnlyMegatronFiles) {
  EXPECT_TRUE(claims_megatron("a.sh", "x --tensor-model-parallel-size 2"));
  EXPECT_TRUE(claims_megatron("-", "x --num-layers 2 --hidden-size 3"));
  EXPECT_TRUE(claims_megatron("a.log", "0:   tensor_model_parallel_size ........ 2"));
  EXPECT_FALSE(claims_megatron("a.sh", "torchrun -m torchtitan.train --job.config_file a.toml"));
  EXPECT_FALSE(claims_megatron("a.sh", "deepspeed train.py --deepspeed ds.json --num-layers 4"));
  EXPECT_FALSE(claims_megatron("plan.yaml", "# --tensor-model-parallel-size"));
}

TEST(MegatronImport, SpellsEditsAsFlags) {
  const PlanFormat& format = *find_plan_format("megatron");
  EXPECT_EQ(spell_edits(format,
                        {{"parallelism.tp_size", "8"}, {"parallelism.sequence_parallel", "true"}}),
            "--tensor-model-parallel-size 8, --sequence-parallel");
  EXPECT_EQ(spell_edits(format, {{"parallelism.stages", "Et|tL"}}),
            "--pipeline-model-parallel-layout 'Et|tL'");
  EXPECT_EQ(spell_edits(format, {{"cluster", "dgx-h100"}}), "--cluster \"dgx-h100\"");
}

TEST(MegatronModel, ParsesExpertLayerPatterns) {
  using Pattern = std::vector<bool>;
  EXPECT_EQ(parse_layer_pattern("([0]*2+[1]*2)", 4), (Pattern{false, false, true, true}));
  EXPECT_EQ(parse_layer_pattern("[0, 1]*2", 4), (Pattern{false, true, false, true}));
  EXPECT_EQ(parse_layer_pattern("2", 4), (Pattern{true, false, true, false}));
  EXPECT_EQ(parse_layer_pattern("[1]*99999999999", 4), std::nullopt);
  EXPECT_EQ(parse_layer_pattern("[2]", 4), std::nullopt);
  EXPECT_EQ(parse_layer_pattern("([1]", 4), std::nullopt);
}

TEST(MegatronModel, MatchesPublishedParameterCounts) {
  // Mixtral-8x7B as published; DeepSeek-V3 without its MTP module (formulas P1..P5).
  const Draft mixtral = sample_file("megatron_mixtral_ep.sh").draft;
  ASSERT_TRUE(mixtral.model.has_value());
  EXPECT_EQ(count_parameters(*mixtral.model).total(), 46702792704);
  model::Model deepseek = *sample_file("megatron_deepseek_v3.sh").draft.model;
  deepseek.mtp_layers = 0;
  EXPECT_EQ(count_parameters(deepseek).total(), 671026419200);
}

TEST(MegatronModel, AssumedVocabulary_IsReported) {
  const PlanFile plan = sample_file("megatron_llama3_8b_cp.sh");
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].code, "RW0615");
  EXPECT_EQ(plan.findings[0].severity, Severity::note);
  EXPECT_EQ(plan.draft.model->vocab, 128256);  // Llama-3's
}

struct Degrees {
  std::string file;
  i64 world, tp, cp, pp, dp, ep, chunks;
  int zero;
};

TEST(MegatronSamples, HaveTheExpectedDegrees) {
  const Degrees all[] = {{"megatron_gpt3_175b.sh", 1024, 8, 1, 16, 8, 1, 6, 1},
                         {"megatron_llama3_8b_cp.sh", 32, 2, 4, 1, 4, 1, 1, 1},
                         {"megatron_mixtral_ep.sh", 64, 1, 1, 4, 16, 8, 1, 1},
                         {"megatron_deepseek_v3.sh", 1024, 1, 1, 16, 64, 64, 2, 1},
                         {"megatron_8b.log", 64, 4, 1, 4, 4, 1, 2, 1}};
  for (const Degrees& one : all) {
    SCOPED_TRACE(one.file);
    PlanFile file = sample_file(one.file);
    assume_world(file);  // two of the scripts leave the number of nodes to Slurm
    const rankwright::plan::TrainingConfig s = resolve(file.draft);
    const plan::Plan& p = s.plan;
    EXPECT_EQ(s.world, one.world);
    EXPECT_EQ((std::vector<i64>{p.tp, p.cp, p.pp, p.dp, p.ep, p.virtual_stages}),
              (std::vector<i64>{one.tp, one.cp, one.pp, one.dp, one.ep, one.chunks}));
    EXPECT_EQ(p.zero, one.zero);
    EXPECT_THAT(find_violations(s), IsEmpty());
  }
}

TEST(MegatronSamples, FaultsAreReportedWithTheirLines) {
  struct Fault {
    std::string file;
    std::string code;
    int line;
  };
  // The first two ran in Megatron-LM without a message (issues 468 and 1304).
  const Fault all[] = {{"megatron_fault_80_as_64.sh", "RW0113", 6},
                       {"megatron_fault_30_on_pp4.sh", "RW0503", 7},
                       {"megatron_fault_microbatches.sh", "RW0505", 10},
                       {"megatron_mixtral_ep.sh", "RW0403", 68}};
  for (const Fault& one : all) {
    SCOPED_TRACE(one.file);
    const PlanFile plan = sample_file(one.file);
    const Diagnostics found = lint(resolve(plan.draft), rules::Target::megatron);
    const auto fault = std::find_if(found.begin(), found.end(),
                                    [&](const Diagnostic& d) { return d.code == one.code; });
    ASSERT_NE(fault, found.end());
    EXPECT_EQ(plan.where(fault->key).line, one.line);
  }
}

TEST(MegatronImport, ReadsFlagNamesOfForksAndOlderVersions) {
  PlanFile plan{.name = "a.sh",
                .text =
                    "mpirun -np 64 --npernode 8 python pretrain.py --model-parallel-size 2 "
                    "--pipe-parallel-size 4 --batch-size 4 --gas 16 --checkpoint-activations "
                    "--zero-stage 1 --num-layers 24 --hidden-size 1024 "
                    "--num-attention-heads 16 --num-key-value-heads 4 --seq-length 2048 "
                    "--merge-file m --vocab-file v --fp16\n"};
  read_megatron(plan, refuse_file);
  ASSERT_FALSE(has_errors(plan.findings));
  const rankwright::plan::TrainingConfig config = resolve(plan.draft);
  EXPECT_EQ(config.world, 64);
  EXPECT_EQ(config.plan.tp, 2);
  EXPECT_EQ(config.plan.pp, 4);
  EXPECT_EQ(config.plan.zero, 1);
  EXPECT_EQ(config.plan.recompute, plan::Recompute::full);
  EXPECT_EQ(config.job.global_batch, 512);  // 4 x 16 x dp 8
  EXPECT_EQ(config.model.layer(0).attention.kv_heads, 4);
  EXPECT_EQ(config.model.vocab, 50257);
}

TEST(Megatron, OlderFlags_AreRead) {
  const PlanFile plan = read_any_plan(
      "python pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 "
      "--seq-length 1024 --micro-batch-size 4 --activations-checkpoint-method uniform "
      "--transformer-impl local --cpu-optimizer --fp32-residual-connection\n",
      "run.sh", refuse_file);
  EXPECT_EQ(plan.draft.recompute, plan::Recompute::full);
  EXPECT_EQ(plan.draft.attention, plan::AttentionKernel::unfused);
  EXPECT_EQ(plan.draft.offload_optimizer, 1);
  EXPECT_EQ(std::count_if(plan.findings.begin(), plan.findings.end(),
                          [](const Diagnostic& found) { return found.code == "RW0601"; }),
            1);
}

// Flash attention and cuDNN's have 16-bit formats only; Megatron-LM before 2023, which had
// --DDP-impl, runs flash attention only if told to.
TEST(MegatronImport, AttentionWithoutAFusedKernel_WritesItsScores) {
  EXPECT_EQ(draft_of("").attention, plan::AttentionKernel::unfused);
  EXPECT_EQ(draft_of("--bf16").attention, std::nullopt);
  EXPECT_EQ(draft_of("--fp16 --DDP-impl local").attention, plan::AttentionKernel::unfused);
  EXPECT_EQ(draft_of("--fp16 --DDP-impl local --use-flash-attn").attention,
            plan::AttentionKernel::flash2);
}

TEST(MegatronImport, OldFlags_MeanAttentionWithoutAFusedKernel) {
  for (const char* const flag :
       {"--data-impl mmap", "--checkpoint-activations", "--layernorm-epsilon 1e-6",
        "--no-query-key-layer-scaling", "--activations-checkpoint-method uniform"}) {
    const std::string flags = std::string("--fp16 ") + flag;
    EXPECT_EQ(draft_of(flags).attention, plan::AttentionKernel::unfused) << flag;
    EXPECT_EQ(draft_of(flags + " --use-flash-attn").attention, plan::AttentionKernel::flash2);
    EXPECT_EQ(draft_of(flags + " --transformer-impl transformer_engine").attention, std::nullopt);
    EXPECT_EQ(draft_of(flags + " --use-mcore-models").attention, std::nullopt);
  }
}

// Dropout in unfused attention keeps a mask and the dropped scores (0.1 by default).
TEST(MegatronImport, DropoutInUnfusedAttention_IsReported) {
  const auto findings = [](const std::string& more) {
    return read_any_plan(
               "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 "
               "--num-attention-heads 16 --micro-batch-size 8 --seq-length 1024 --bf16 "
               "--max-position-embeddings 1024 --tokenizer-type GPT2BPETokenizer " +
                   more + "\n",
               "run.sh", refuse_file)
        .findings;
  };
  const std::string local = "--transformer-impl local ";
  EXPECT_THAT(findings(local), left_out("attention-dropout 0.1, by default"));
  EXPECT_THAT(findings(local + "--attention-dropout 0.2"), left_out("attention-dropout 0.2"));
  EXPECT_THAT(findings(local + "--attention-dropout 0.0"), Not(left_out("attention-dropout")));
  EXPECT_THAT(findings(local + "--recompute-activations"), Not(left_out("attention-dropout")));
  EXPECT_THAT(findings(""), Not(left_out("attention-dropout")));
}

TEST(MegatronImport, FlagsWithUnderscoresAlone_AreRead) {
  const PlanFile plan = read_any_plan(
      "python -m torch.distributed.launch --nproc_per_node 8 pretrain_gpt.py --num_layers 24 "
      "--hidden_size 1024 --num_attention_heads 16 --micro_batch_size 8 --global_batch_size 64 "
      "--seq_length 1024 --max_position_embeddings 1024 --fp16\n",
      "run.sh", refuse_file);
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_EQ(plan.draft.micro_batch, 8);
}

// A wrapper: it runs the script with the flags, with arguments, and sources files by their path
// from the root of the repository.
TEST(MegatronImport, ScriptThatRunsAnotherOne_IsFollowed) {
  const FileReader files = [](const std::string& path) -> Result<std::string> {
    if (path == "jobs/sub/run.sh")
      return "source models/m.sh\npretrain_gpt.py --num-layers $1 $SHAPES --seq-length 2048 "
             "--micro-batch-size 2 --global-batch-size $GBS --bf16\n";
    if (path == "jobs/../models/m.sh")
      return "SHAPES='--hidden-size 2048 --num-attention-heads 16'\n";
    return refuse_file(path);
  };
  const PlanFile plan =
      read_any_plan("source .env\nexport GBS=64\nbash sub/run.sh 24\n", "jobs/wrap.sh", files);
  EXPECT_FALSE(has_errors(plan.findings));
  EXPECT_EQ(plan.draft.global_batch, 64);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layers(), 24);
  const PlanFile alone =
      read_any_plan("source .env\nbash sub/run.sh 24\n", "jobs/wrap.sh", refuse_file);
  ASSERT_EQ(alone.findings.size(), 1u);
  EXPECT_EQ(alone.findings[0].hint, "rankwright check sub/run.sh");
}

TEST(MegatronImport, SettingsThatTimesDoNotInclude_AreReported) {
  for (const char* const flag :
       {"--moe-shared-expert-overlap", "--disable-vision-class-token", "--vision-tower clip"}) {
    const PlanFile plan = read("run " + std::string(kShapes) + flag + " --bf16\n");
    ASSERT_FALSE(plan.findings.empty()) << flag;
    EXPECT_EQ(plan.findings[0].code, "RW0601") << flag;
  }
}

// TP 1 is only assumed: nothing says that sequence parallelism has no effect.
TEST(MegatronImport, UnknownTensorParallelism_AnswersSequenceParallelism) {
  const std::string text = "run " + std::string(kShapes) + "--sequence-parallel --bf16 ";
  const PlanFile open = read(text + "--tensor-model-parallel-size $TP\n");
  EXPECT_THAT(open.answered, testing::Contains("RW0403"));
  const PlanFile stated = read(text + "--tensor-model-parallel-size 1\n");
  EXPECT_THAT(stated.answered, testing::Not(testing::Contains("RW0403")));
}

TEST(MegatronImport, StatedPadding_AnswersItsNote) {
  const auto answers = [](const std::string& flags, std::string_view code) {
    const std::vector<std::string_view> found =
        read("run " + std::string(kShapes) + "--tensor-model-parallel-size 2 " + flags + "\n")
            .answered;
    return std::find(found.begin(), found.end(), code) != found.end();
  };
  EXPECT_TRUE(answers("--make-vocab-size-divisible-by 1", "RW0514"));
  EXPECT_TRUE(answers("--padded-vocab-size 151936", "RW0514"));
  EXPECT_FALSE(answers("--make-vocab-size-divisible-by 128", "RW0514"));
  EXPECT_FALSE(answers("--bf16", "RW0514"));
  EXPECT_TRUE(answers("--kv-head-repeat-before-uly-alltoall", "RW0513"));
  // Megatron-DeepSpeed's tensor parallelism is Megatron-LM's.
  EXPECT_TRUE(answers("--sequence-parallel --zero-stage 1 --deepspeed", "RW0553"));
}

TEST(MegatronImport, ShapesOfTheCheckpoint_AreReported) {
  EXPECT_THAT(
      read("run " + std::string(kShapes) + "--tensor-model-parallel-size 2 --use-checkpoint-args\n")
          .findings,
      left_out("checkpoint"));
}

TEST(MegatronImport, ConnectionsInAnEnvironmentOfRay_AreRead) {
  const std::string text =
      "run " + std::string(kShapes) + "--tensor-model-parallel-size 2 --bf16\n";
  const auto answers = [&](const std::string& line) {
    const std::vector<std::string_view> found = read(line + "\n" + text).answered;
    return std::find(found.begin(), found.end(), "RW0511") != found.end();
  };
  EXPECT_TRUE(answers("export CUDA_DEVICE_MAX_CONNECTIONS=1"));
  EXPECT_TRUE(answers("ENV=\"{\\\"CUDA_DEVICE_MAX_CONNECTIONS\\\": \\\"1\\\"}\""));
  EXPECT_FALSE(answers("export CUDA_DEVICE_MAX_CONNECTIONS=8"));
  EXPECT_FALSE(answers("echo CUDA_DEVICE_MAX_CONNECTIONS"));
}

TEST(MegatronImport, ReadsFp8SwitchesOf2023_AndWeightsThatAreNotResharded) {
  EXPECT_EQ(draft_of("--bf16 --fp8-hybrid").matmul, plan::Matmul::fp8);
  EXPECT_EQ(draft_of("--bf16").matmul, std::nullopt);
  EXPECT_EQ(draft_of("--use-torch-fsdp2 --bf16").zero, 3);
  EXPECT_EQ(draft_of("--use-torch-fsdp2 --torch-fsdp2-no-reshard-after-forward --bf16").zero, 2);
}

// The note names the variable and its own default, not the value that the flag gets.
TEST(MegatronImport, BranchThatADefaultDecides_IsOpen) {
  const PlanFile plan = read(
      "if [ ${RECOMPUTE:-1} -eq 1 ]; then A=\"--recompute-granularity full --recompute-method "
      "uniform --recompute-num-layers 1\"; fi\nrun " +
      std::string(kShapes) + "--bf16 $A\n");
  EXPECT_EQ(plan.draft.recompute, plan::Recompute::full);
  ASSERT_EQ(plan.findings.size(), 1u);
  EXPECT_EQ(plan.findings[0].code, "RW0615");
  EXPECT_EQ(plan.findings[0].detail,
            "defaults of variables that the script leaves open: RECOMPUTE = 1");
  ASSERT_FALSE(plan.open.empty());
  EXPECT_EQ(plan.open[0].key, "parallelism.recompute");
}

// The words of a list in YAML, without its brackets.
TEST(MegatronShapes, WindowsOfALists) {
  const PlanFile plan = read_any_plan(
      "num_layers: 4\nhidden_size: 1024\nnum_attention_heads: 16\nvocab_size: 1000\n"
      "tensor_model_parallel_size: 1\nseq_length: 4096\nwindow_size: [128, 0]\n"
      "window_attn_skip_freq: [1, 0, 1, 0]\n",
      "args.yaml", refuse_file);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->layer(0).attention.window, 129);
  EXPECT_EQ(plan.draft.model->layer(1).attention.window, 0);
}

// The options that a script prints are not set, nor are those that are not given.
TEST(MegatronScript, OptionsThatAreNotGiven_AreOff) {
  const PlanFile plan = read_any_plan(
      "usage () {\n  echo \" --fp8: Enables fp8\"\n  echo \" --bf16 <x>\"\n}\n"
      "while [[ $# -gt 0 ]]; do\n  case $1 in\n    --fp8) FP8=true; shift;;\n  esac\ndone\n"
      "ARGS=(--num-layers 2 --hidden-size 512 --num-attention-heads 8 --seq-length 128\n"
      "  --tensor-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 8)\n"
      "if [[ $FP8 = true ]]; then\n  ARGS+=(--fp8-format hybrid)\nfi\n"
      "CMD=\"${ARGS[@]}\"\n",
      "submit.sh", refuse_file);
  EXPECT_FALSE(plan.draft.matmul.has_value());
  EXPECT_EQ(plan.draft.param_dtype, plan::Dtype::fp32);
  for (const Diagnostic& found : plan.findings)
    EXPECT_EQ(found.detail.find("condition"), std::string::npos) << found.detail;
}

// A file of merges is one of GPT-2's tokenizer, wherever it is.
TEST(MegatronShapes, MergesInAnUnknownFolder) {
  const PlanFile plan = read_any_plan(
      "torchrun --nproc_per_node 1 --master_addr localhost $PROGRAM --num-layers 2 \\\n"
      "  --hidden-size 2048 --num-attention-heads 16 --seq-length 1024 \\\n"
      "  --max-position-embeddings 1024 --tensor-model-parallel-size 1 --micro-batch-size 1 \\\n"
      "  --global-batch-size 1 --merge-file $1/merges.txt\n",
      "run.sh", refuse_file);
  ASSERT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.model->vocab, 50257);
  for (const Diagnostic& found : plan.findings) EXPECT_NE(found.code, "RW0618") << found.detail;
}

// The decoder of a multimodal example is the language model of the other flags.
TEST(MegatronShapes, LanguageModelOfAMultimodalExample) {
  const PlanFile plan = read_any_plan(
      "torchrun --nproc_per_node 8 train.py --num-layers 32 --hidden-size 4096 \\\n"
      "  --num-attention-heads 32 --seq-length 576 --decoder-seq-length 2048 --vocab-size 32000 "
      "\\\n"
      "  --tensor-model-parallel-size 4 --micro-batch-size 1 --disable-vision-class-token\n",
      "run.sh", refuse_file);
  EXPECT_TRUE(plan.draft.model.has_value());
  EXPECT_EQ(plan.draft.sequence, 2048);
}

TEST(MegatronImport, GatedLayersOfT5_HaveAnotherName) {
  const std::string shapes =
      "--num-layers 4 --hidden-size 1024 --num-attention-heads 8 --ffn-hidden-size 4096 "
      "--vocab-size 1000 --disable-bias-linear ";
  const auto model = [&](const std::string& flag) { return draft_of(shapes + flag).model; };
  ASSERT_TRUE(model("--t5-swiglu").has_value());
  EXPECT_EQ(model("--t5-swiglu")->runs[0].layer.ffn.matrices, 3);
  EXPECT_EQ(model("")->runs[0].layer.ffn.matrices, 2);
}

// Ranks that only a running job knows are not those of one node.
TEST(MegatronImport, UnknownRanksOfMpi_AreOpen) {
  const PlanFile plan = read(
      "NNODES=$NHOSTS\nWORLD_SIZE=$((4*$NNODES))\n"
      "mpirun -np $WORLD_SIZE -npernode 4 python pretrain_gpt.py " +
      std::string(kShapes) + "--tensor-model-parallel-size 4 --pipeline-model-parallel-size 8\n");
  EXPECT_FALSE(plan.draft.world.has_value());
  EXPECT_FALSE(plan.draft.shape.has_value());
}

// Megatron-LM's length of all sequences is that of the encoder if it is not stated itself.
TEST(MegatronImport, LengthOfAnEncoder_IsThatOfTheSequences) {
  const std::string shapes =
      "pretrain_t5.py --encoder-num-layers 4 --num-layers 4 --hidden-size 256 --bf16 "
      "--num-attention-heads 4 --micro-batch-size 1 --encoder-seq-length 384 ";
  EXPECT_EQ(read_any_plan(shapes + "\n", "a.sh", refuse_file).draft.sequence, 384);
  EXPECT_EQ(read_any_plan(shapes + "--seq-length 128\n", "a.sh", refuse_file).draft.sequence, 128);
}

}  // namespace megatron_test
}  // namespace rankwright::importer
