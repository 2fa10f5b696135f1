#include "rankwright/validate/run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rankwright/cost/step.h"
#include "tests/support/golden.h"
#include "tests/support/runs.h"

namespace rankwright::validate {
namespace run_test {

using Cells = std::map<std::string, std::string>;

Runs read(const std::vector<Cells>& rows) { return *read_runs(run_table(rows), "own.csv"); }

Run one(const Cells& other = {}) {
  const Runs runs = read({with_cells(other)});
  EXPECT_EQ(runs.scored.size(), 1u) << (runs.excluded.empty() ? "" : runs.excluded[0].why);
  return runs.scored.at(0);
}

/// Returns why the row is excluded; empty if it is not.
std::string why(const Cells& other) {
  const Runs runs = read({with_cells(other)});
  return runs.excluded.empty() ? "" : runs.excluded[0].why;
}

/// Formats changed cells and why they exclude the row: "dp=16: ...".
std::string format_exclusion(const Cells& other) {
  std::string text;
  for (const auto& [column, cell] : other)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", column, cell);
  const std::string reason = why(other);
  EXPECT_NE(reason, "") << text;
  return fmt::format("{}: {}\n", text, reason);
}

TEST(Run, HasTheConfigOfItsRow) {
  const rankwright::validate::Run run = one();
  const rankwright::plan::TrainingConfig& s = run.config;
  EXPECT_EQ(run.family, "own");
  EXPECT_EQ(run.publication, "own");
  EXPECT_EQ(run.measured, Seconds{4});
  EXPECT_EQ(s.world, 128);
  EXPECT_EQ(s.model.layers(), 36);
  EXPECT_EQ(s.model.runs[0].layer.ffn.width, 4 * 4096);  // GPT's, because none is stated
  EXPECT_EQ(s.model.runs[0].layer.attention.head_dim, 128);
  EXPECT_EQ(s.cluster.device.name, "a100-80g");
  EXPECT_EQ(s.cluster.levels[0].arity, 8);
  EXPECT_EQ(s.cluster.levels[1].arity, 16);  // 128 / 8
  EXPECT_EQ(s.plan.tp, 4);
  EXPECT_EQ(s.plan.zero, 1);
  EXPECT_EQ(s.plan.recompute, plan::Recompute::full);
  EXPECT_EQ(s.software.name, "megatron-2021");
  EXPECT_FALSE(s.plan.overlap.grad_reduce);
  EXPECT_EQ(s.microbatches(), 32);  // 512 / (2 x 8)
}

const Cells kExperts{{"n_experts", "64"},
                     {"topk", "4"},
                     {"moe_ffn", "1024"},
                     {"ep", "8"},
                     {"framework", "Megatron-Core 0.15"}};

rankwright::plan::TrainingConfig with_notes(std::string notes) {
  Cells cells = kExperts;
  cells.insert({"notes", std::move(notes)});
  return one(cells).config;
}

TEST(Run, NotesStateHowExpertsRun) {
  const rankwright::plan::TrainingConfig s = with_notes(
      "release=26.06; dispatcher=hybridep 32 SM; cuda_graph=TE (attn,moe_router); a2a_overlap=1; "
      "grouped_mlp=cutedsl; permute_fusion=0; force_balance=1; recompute_modules=mlp,moe_act");
  EXPECT_EQ(s.plan.dispatcher, plan::Dispatcher::hybridep);
  EXPECT_EQ(s.software.launch, plan::Launch::partial_graphs);
  EXPECT_EQ(s.software.experts, plan::ExpertKernel::fused);
  EXPECT_TRUE(s.plan.overlap.ep);
  EXPECT_FALSE(s.software.fused_permute);
  EXPECT_EQ(s.job.expert_imbalance, 1);
  EXPECT_EQ(s.plan.modules,
            (plan::RecomputeModules{.core_attn = false, .mlp = true, .moe_act = true}));
}

TEST(Run, LatentAttentionWithoutQueryCompressionHasRankZero) {
  const auto rank = [](std::string attention) {
    return one({{"attn", std::move(attention)}}).config.model.runs[0].layer.attention.q_rank;
  };
  EXPECT_EQ(rank("MLA q_lora0 kv_lora512 nope128 rope64 v128"), 0);
  EXPECT_EQ(rank("MLA q_lora768 kv_lora512 nope128 rope64 v128"), 768);
  EXPECT_EQ(rank("MLA"), 1536);  // DeepSeek-V3's
}

TEST(Run, NotesStateTheStages) {
  // 36 layers on 4 pp ranks; a layout that does not fit the model is ignored.
  const auto stages = [](std::string layout) {
    Cells cells{{"tp", "4"}, {"pp", "4"}, {"dp", "8"}, {"vpp", "1"}, {"notes", "layout=" + layout}};
    return show_layout(one(cells).config.stages());
  };
  EXPECT_EQ(stages("Et*8|(t*10|)*2t*8L; mtp=0"),
            plan::show_layout(*plan::parse_layout("Et*8|(t*10|)*2t*8L")));
  EXPECT_EQ(stages("Et*8|(t*10|)*2t*9L"), plan::show_layout(plan::split_evenly(36, 4, 0)));
}

TEST(Run, MegatronLmOf2026IsNotThatOf2021) {
  EXPECT_EQ(one({{"framework", "Megatron-LM Jul/Aug 2026"}}).config.software.name, "megatron-core");
  EXPECT_EQ(one({{"framework", "Megatron-LM"}}).config.software.name, "megatron-2021");
}

TEST(Run, NotesStateWhatHasNoColumn) {
  EXPECT_EQ(with_notes("").job.moment_dtype, plan::Dtype::fp32);
  EXPECT_EQ(with_notes("fp8_param_gather=1; moments=bf16").job.moment_dtype, plan::Dtype::bf16);
  EXPECT_EQ(one({{"notes", "launch=blocking"}}).config.software.launch, plan::Launch::blocking);
  const plan::TrainingConfig stated =
      with_notes("see the card; qk_norm=1; expert_bias=1; group_limit=8/4; tuned=0");
  const model::Layer& layer = stated.model.runs.back().layer;
  EXPECT_TRUE(layer.attention.qk_norm);
  EXPECT_TRUE(layer.ffn.bias);
  EXPECT_EQ(layer.ffn.groups, 8);
  EXPECT_EQ(layer.ffn.active_groups, 4);
  EXPECT_FALSE(stated.software.tuned);
  const plan::TrainingConfig unstated = with_notes("");
  const model::Layer& plain = unstated.model.runs.back().layer;
  EXPECT_FALSE(plain.attention.qk_norm || plain.ffn.bias);
  EXPECT_EQ(plain.ffn.groups, 0);
}

TEST(Run, UnstatedFactsAboutExpertsAreThoseOfTheSoftware) {
  EXPECT_EQ(with_notes("dispatcher=see the recipe").plan.dispatcher, plan::Dispatcher::alltoall);
  EXPECT_EQ(with_notes("dispatcher=deepep via UCCL-EP over EFA").plan.dispatcher,
            plan::Dispatcher::uccl);
  EXPECT_EQ(with_notes("routing=token drop capacity 1").job.expert_capacity, 1);
  EXPECT_EQ(with_notes("force_balance=0 natural routing").job.expert_imbalance, 0);
  Cells bridge = kExperts;
  bridge["framework"] = "Megatron-Bridge";
  bridge["source"] = "docs/performance-summary.md (26.06 container)";
  bridge["gpu"] = "GB200";
  bridge["precision"] = "mxfp8";
  EXPECT_EQ(one(bridge).config.software.launch, plan::Launch::graphs);
  bridge["source"] = "docs/performance-summary.md (26.02 container)";
  EXPECT_EQ(one(bridge).config.software.launch, plan::Launch::partial_graphs);
}

TEST(Run, PatchReleasesHaveRecipesOfTheirOwn) {
  Cells bridge = kExperts;
  bridge["framework"] = "Megatron-Bridge 26.04.01";
  bridge["gpu"] = "B200";
  bridge["model"] = "deepseek-v3";
  bridge["precision"] = "mxfp8";
  EXPECT_EQ(one(bridge).config.plan.dispatcher, plan::Dispatcher::deepep);
  bridge["framework"] = "Megatron-Bridge 26.04";
  EXPECT_EQ(one(bridge).config.plan.dispatcher, plan::Dispatcher::hybridep);
  bridge["framework"] = "Megatron-Bridge 25.09";  // tokens are dropped, so layers are graphs
  bridge["model"] = "qwen3-30b-a3b";
  EXPECT_EQ(one(bridge).config.software.launch, plan::Launch::graphs);
}

TEST(Run, DerivesTheStepFromTokensPerSecond) {
  // 512 x 2,048 tokens on 128 GPUs at 2,048 tokens per second and GPU: 4 s.
  EXPECT_DOUBLE_EQ(
      one({{"measured_step_s", ""}, {"measured_tokens_per_s_per_gpu", "2048"}}).measured.value, 4);
}

TEST(Run, BlankCellsGiveAllChoices) {
  EXPECT_EQ(list_choices(one()).size(), 1u);
  const rankwright::validate::Run open =
      one({{"micro_batch", ""}, {"recompute", ""}, {"zero_stage", ""}});
  EXPECT_TRUE(open.open_micro_batch && open.open_recompute && open.open_zero);
  EXPECT_FALSE(open.open_chunks);
  EXPECT_EQ(list_choices(open).size(), 6u * 3 * 2);  // micro-batch 1 to 32, recompute, ZeRO 0 and 1
  // 36 layers on 4 pp ranks: 9 per rank, divisible into 3 or 9 chunks; 36 + 2 is not divisible
  // by 4.
  const rankwright::validate::Run chunks = one({{"vpp", ""}, {"schedule", "1f1b-interleaved"}});
  ASSERT_EQ(list_choices(chunks).size(), 2u);
  EXPECT_EQ(list_choices(chunks)[0].config.plan.virtual_stages, 3);
  EXPECT_EQ(list_choices(chunks)[1].config.plan.virtual_stages, 9);
}

TEST(Run, OnePpRankHasOneChunkAndIndivisibleLayersUseOneFOneB) {
  EXPECT_EQ(one({{"pp", "1"}, {"dp", "32"}, {"vpp", "4"}}).config.plan.virtual_stages, 1);
  // 37 layers: no number of chunks divides them, with or without embedding and loss.
  const std::vector<rankwright::validate::Run> plain =
      list_choices(one({{"layers", "37"}, {"vpp", ""}, {"schedule", "1f1b-interleaved"}}));
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_EQ(plain[0].config.plan.schedule, pipeline::Schedule::one_f_one_b);
}

TEST(Run, CountsEmbeddingAndLossAsLayersIfOnlyThatDivides) {
  // 38 layers on 4 ranks: (38 + 2) / 4 = 10, the first and the last one less.
  const plan::Stages stages = one({{"layers", "38"}}).config.stages();
  ASSERT_EQ(stages.size(), 4u);
  EXPECT_EQ(stages[0].layers, 9);
  EXPECT_EQ(stages[1].layers, 10);
  EXPECT_EQ(stages[3].layers, 9);
}

TEST(Run, MissingValuesExclude) {
  std::string text;
  for (const std::string column : {"layers", "hidden", "heads", "seq", "gpus", "tp", "pp", "dp",
                                   "global_batch_seqs", "measured_step_s"})
    text += format_exclusion({{column, ""}});
  golden::expect("validate/excluded-missing.txt", text + format_exclusion({{"gpu", "Abacus"}}));
  EXPECT_EQ(why({{"measured_step_s", ""}, {"measured_mem_gb", "40"}}), "");
}

TEST(Run, ImpossibleNumbersExclude) {
  std::string text =
      format_exclusion({{"heads", "0"}}) + format_exclusion({{"micro_batch", "0.5"}});
  for (const std::string column : {"layers", "hidden", "seq", "gpus", "tp", "global_batch_seqs",
                                   "measured_step_s", "vocab", "inter_link_GBps_per_gpu"})
    for (const std::string cell : {"-1", "1e300", "inf", "nan", "1e999"})
      text += format_exclusion({{column, cell}});
  EXPECT_EQ(why({{"vocab", "NA"}}), "");  // a word counts as blank
  text += format_exclusion({{"hidden", "16777216"}, {"ffn", "16777216"}});  // 2^48 per matrix
  text += format_exclusion(
      {{"measured_step_s", ""}, {"measured_tokens_per_s_per_gpu", "1e-6"}});  // 8 x 10^9 s
  golden::expect("validate/excluded-numbers.txt", text);
}

TEST(Run, ImpossibleLayoutsExclude) {
  const std::vector<Cells> layouts{
      {{"dp", "16"}},
      {{"micro_batch", "3"}},
      {{"tp", "64"}, {"pp", "1"}, {"dp", "2"}},
      {{"layers", "1"}},  // with embedding and loss three items for four stages
      {{"pp", "4096"}, {"gpus", "131072"}, {"vpp", "2"}},
      {{"schedule", "dualpipe"}, {"global_batch_seqs", "16"}},
      {{"n_experts", "8"}, {"topk", "2"}, {"ep", "16"}, {"pp", "1"}, {"dp", "32"}},
      {{"n_experts", "8"}, {"topk", "2"}, {"ep", "5"}}};
  std::string text;
  for (const Cells& layout : layouts) text += format_exclusion(layout);
  golden::expect("validate/excluded-layouts.txt", text);
}

/// Frameworks pad widths that tp does not divide; they are estimated with fractional shares.
TEST(Run, IndivisibleWidthsAreScored) {
  for (const Cells& other : {Cells{{"heads", "30"}, {"kv_heads", "6"}}, Cells{{"ffn", "16386"}},
                             Cells{{"cp", "2"}, {"dp", "4"}, {"seq", "2049"}}}) {
    const rankwright::validate::Run run = one(other);
    const double time =
        cost::estimate_step_time(run.config, catalog::get_calibration()).total().value;
    EXPECT_TRUE(time > 0 && std::isfinite(time));
  }
}

TEST(Runs, QualityCIsSkipped) {
  const Runs runs = read({with_cells({{"quality", "C"}}), with_cells({{"quality", ""}})});
  EXPECT_EQ(runs.scored.size(), 1u);
  EXPECT_TRUE(runs.excluded.empty());
}

TEST(Runs, SingleNodeTableIsFromVTrain) {
  const Csv table = *parse_csv(
      "id,gpu,gpus,global_batch,micro_batch,hidden,heads,layers,seq,tp,dp,pp,recompute,schedule,"
      "measured_step_s\nv1,A100,4,16,4,2048,16,24,1024,1,2,2,full,1f1b,0.41\n",
      "single.csv");
  const Runs runs = *read_runs(table, "single.csv");
  ASSERT_EQ(runs.scored.size(), 1u);
  EXPECT_EQ(runs.scored[0].family, "vtrain single");
  EXPECT_EQ(runs.scored[0].publication, "vtrain");
  EXPECT_EQ(runs.scored[0].model, "GPT 24 x 2048, 16 heads");
  EXPECT_EQ(runs.scored[0].config.software.name, "megatron-deepspeed");
}

TEST(Runs, NeedTheirColumns) {
  const Result<Runs> runs = read_runs(*parse_csv("id,layers\na,1\n", "own.csv"), "own.csv");
  ASSERT_FALSE(runs);
  EXPECT_EQ(runs.error().code, "RW0917");
  golden::expect("validate/missing-column.txt", runs.error().detail + "\n");  // "hidden"
}

}  // namespace run_test
}  // namespace rankwright::validate
