// Compares memory estimates with published figures: those computed in a paper, and measured peaks
// of training runs, each with its source.
#include <gtest/gtest.h>

#include <cstdio>

#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/memory/rank_load.h"
#include "tests/support/sample.h"

namespace rankwright::cost {
namespace memory_published_test {

plan::Software software(std::string_view name) {
  for (const plan::Software& row : plan::frameworks())
    if (row.name == name) return row;
  ADD_FAILURE() << "no such framework: " << name;
  return {};
}

/// Returns a GPT model with learned positions and an ungated feed-forward of 4h.
model::Model gpt(i64 layers, i64 hidden, i64 heads, i64 vocab, i64 positions) {
  const model::Layer layer{
      .attention = {.heads = heads, .kv_heads = heads, .head_dim = hidden / heads},
      .ffn = {.width = 4 * hidden, .matrices = 2}};
  return {.hidden = hidden, .vocab = vocab, .positions = positions, .runs = {{layers, layer}}};
}

model::Model llama(i64 layers, i64 hidden, i64 heads, i64 ffn) {
  const model::Layer layer{.attention = {.heads = heads, .kv_heads = 8, .head_dim = hidden / heads},
                           .ffn = {.width = ffn}};
  return {.hidden = hidden, .vocab = 128256, .runs = {{layers, layer}}};
}

rankwright::plan::TrainingConfig run(model::Model model, plan::Plan plan, i64 sequence,
                                     i64 microbatches, const plan::Software& software) {
  rankwright::plan::TrainingConfig config =
      sample::config_of(std::move(model), std::move(plan), microbatches);
  config.job.sequence = sequence;
  config.job.grad_dtype = plan::Dtype::fp32;
  config.software = software;
  return config;
}

/// Expects the computed value within `percent` of the measured one and prints both.
void expect_measured(const char* what, Bytes computed, double measured_gb, double percent) {
  const double error = 100 * (computed.value / 1e9 / measured_gb - 1);
  std::printf("%s: measured %.2f GB, computed %.2f GB, %+.1f %%\n", what, measured_gb,
              computed.value / 1e9, error);
  EXPECT_LT(std::abs(error), percent) << what;
}

double gib_of_the_first(const rankwright::plan::TrainingConfig& config) {
  return RankLoads(config).of(0).held / 1.0_GiB;
}

// Korthikanti et al. 2022, "Reducing activation recomputation in large transformer models", counts
// the activations of the first stage: sbh(10 + 24/t + 5as/(ht)) per layer without its techniques,
// sbh 34/t with both.

TEST(Korthikanti, ActivationsOf22BMatch) {
  // 48 layers, h 6144, 64 heads, s 2048, b 4, t 8: 59.25 and 9.56 GiB
  const plan::Software megatron = software("megatron-2021");
  const model::Model model = gpt(48, 6144, 64, 51200, 2048);
  plan::Plan plan{.tp = 8, .micro_batch = 4};
  EXPECT_NEAR(gib_of_the_first(run(model, plan, 2048, 1, megatron)), 59.25, 0.02);
  plan.sequence_parallel = true;
  plan.recompute = plan::Recompute::selective;
  EXPECT_NEAR(gib_of_the_first(run(model, plan, 2048, 1, megatron)), 9.56, 0.01);
}

TEST(Korthikanti, ActivationsOf175BMatch) {
  // 96 layers, h 12288, 96 heads, s 2048, b 1, t 8, 8 pp ranks of 3 chunks: 66.84 and 12.35 GiB
  const plan::Software megatron = software("megatron-2021");
  const model::Model model = gpt(96, 12288, 96, 51200, 2048);
  plan::Plan plan{
      .tp = 8, .pp = 8, .virtual_stages = 3, .schedule = pipeline::Schedule::interleaved};
  EXPECT_NEAR(gib_of_the_first(run(model, plan, 2048, 64, megatron)), 66.84, 0.01);
  plan.sequence_parallel = true;
  plan.recompute = plan::Recompute::selective;
  EXPECT_NEAR(gib_of_the_first(run(model, plan, 2048, 64, megatron)), 12.35, 0.01);
}

// Measured peaks. The configs follow the sources; assumptions about unstated settings are noted.

TEST(Measured, MegatronOf7B) {
  // NVIDIA/Megatron-LM functional tests gpt3_7b_*_memory_speed on 8 H100, peak of PyTorch's
  // allocated bytes on the last pp rank; distributed optimizer, dropout on, loss unfused.
  plan::Software megatron = software("megatron-core");
  megatron.loss = plan::Loss::unfused;
  megatron.dropout = true;
  model::Model model = llama(32, 4096, 32, 16384);
  model.runs.front().layer.ffn.matrices = 2;
  model.vocab = 131200;  // 131,073 padded to a multiple of 128
  model.positions = 8192;
  const plan::Plan deep{.dp = 2,
                        .pp = 4,
                        .zero = 1,
                        .virtual_stages = 8,
                        .schedule = pipeline::Schedule::interleaved};
  expect_measured(
      "7B tp 1 pp 4 x 8 chunks",
      estimate_memory(run(model, deep, 8192, 4, megatron), 3, catalog::get_calibration())
          .allocated(),
      60.72, 2);
  model.vocab = 131584;  // padded for 4 tp ranks
  const plan::Plan wide{.tp = 4, .dp = 2, .zero = 1, .micro_batch = 2};
  expect_measured(
      "7B tp 4 pp 1",
      estimate_memory(run(model, wide, 8192, 2, megatron), 0, catalog::get_calibration())
          .allocated(),
      57.14, 1);
}

TEST(Measured, SimuMaxLlamas) {
  // MooreThreads/SimuMax docs/b200/b200_release_v1.2_summary.json: models with fewer layers on 8
  // B200, Megatron-Core, peak allocated on the fullest rank.
  const plan::Software megatron = software("megatron-core");
  const model::Model l70 = llama(12, 8192, 64, 28672);
  const auto peak = [&](const model::Model& model, const plan::Plan& plan, i64 sequence) {
    return fullest(run(model, plan, sequence, 4, megatron), catalog::get_calibration()).allocated();
  };
  expect_measured("70B of 12 layers, pp 2", peak(l70, {.dp = 4, .pp = 2, .zero = 1}, 4096), 71.46,
                  1);
  expect_measured("70B of 12 layers, tp 8",
                  peak(l70, {.tp = 8, .zero = 1, .sequence_parallel = true}, 4096), 30.38, 1);
  expect_measured("70B of 12 layers, tp 2 cp 4, 131,072 tokens",
                  peak(l70, {.tp = 2, .cp = 4, .zero = 1, .sequence_parallel = true}, 131072),
                  120.98, 1);
  expect_measured("405B of 4 layers, pp 2",
                  peak(llama(4, 16384, 128, 53248), {.dp = 4, .pp = 2, .zero = 1}, 4096), 93.5, 1);
}

TEST(Measured, SimuMaxDeepseek) {
  // Same source as above: DeepSeek-V3 with 4 layers, the first dense, ep 4 on 2 pp ranks.
  const model::Attention latent{.kind = model::Attention::Kind::latent,
                                .heads = 128,
                                .q_rank = 1536,
                                .kv_rank = 512,
                                .nope_dim = 128,
                                .rope_dim = 64,
                                .value_dim = 128};
  const model::Layer dense{.attention = latent, .ffn = {.width = 18432}};
  const model::Layer sparse{
      .attention = latent,
      .ffn = {.experts = 256, .active = 8, .expert_width = 2048, .shared_width = 2048}};
  const model::Model model{.hidden = 7168, .vocab = 129280, .runs = {{1, dense}, {3, sparse}}};
  const plan::Plan plan{.dp = 4, .pp = 2, .ep = 4, .zero = 1};
  expect_measured(
      "DeepSeek-V3 of 4 layers, ep 4 pp 2",
      fullest(run(model, plan, 4096, 4, software("megatron-core")), catalog::get_calibration())
          .allocated(),
      122.41, 1);
}

TEST(Measured, ZeroBubble) {
  // Qi et al. 2024, table 4, 1.5B on 8 A100: 22 layers, first and last stage one less, b 6, 24
  // microbatches; fp16 with 16-bit gradients. The vocabulary is not stated; GPT-2's is assumed.
  const plan::Software megatron = software("megatron-2021");
  plan::Plan plan{.pp = 8, .micro_batch = 6};
  plan.stages = plan::make_listed_stages({2, 3, 3, 3, 3, 3, 3, 2}, 0);
  const auto peak = [&](pipeline::Schedule schedule) {
    plan.schedule = schedule;
    rankwright::plan::TrainingConfig config =
        run(gpt(22, 2304, 24, 50304, 1024), plan, 1024, 24, megatron);
    config.job.grad_dtype = plan::Dtype::fp16;
    return fullest(config, catalog::get_calibration()).allocated();
  };
  expect_measured("1.5B 1f1b", peak(pipeline::Schedule::one_f_one_b), 30, 7);
  expect_measured("1.5B zb-h1", peak(pipeline::Schedule::zb_h1), 32, 7);
  expect_measured("1.5B zb-2p", peak(pipeline::Schedule::zb_2p), 59, 7);
}

TEST(Measured, Bloom) {
  // bigscience-workshop/bigscience train/tr11-176B-ml/chronicles-prequel.md, 2022-02-25: 181B,
  // tp 8 pp 8 dp 6, b 4, fp16, ZeRO-1, recompute; the figure of nvidia-smi on an A100 (85.2 GB).
  const plan::Plan plan{
      .tp = 8, .dp = 6, .pp = 8, .zero = 1, .micro_batch = 4, .recompute = plan::Recompute::full};
  rankwright::plan::TrainingConfig config =
      run(gpt(72, 14336, 64, 250880, 0), plan, 2048, 84, software("megatron-deepspeed"));
  config.job.param_dtype = config.job.grad_dtype = plan::Dtype::fp16;
  config.cluster.device.memory = 85.2_GB;
  expect_measured("BLOOM 181B tp 8 pp 8", fullest(config, catalog::get_calibration()).total(), 52,
                  7);
}

TEST(Measured, Torchtitan) {
  // pytorch/torchtitan benchmarks/llama3_h100_202412_torchtitan.md: 8B, FSDP on 8 H100 of 96 GB,
  // b 2, selective recompute, eager; peak reserved, converted from GiB. The loss was eager in 2024.
  plan::Software titan = software("torchtitan-2024");
  titan.loss = plan::Loss::eager;
  const plan::Plan plan{
      .dp = 8, .zero = 3, .micro_batch = 2, .recompute = plan::Recompute::selective};
  rankwright::plan::TrainingConfig config = run(llama(32, 4096, 32, 14336), plan, 8192, 1, titan);
  config.cluster.device.memory = 101.9_GB;
  expect_measured("Llama-3 8B FSDP", fullest(config, catalog::get_calibration()).reserved(), 88.5,
                  3);
}

}  // namespace memory_published_test
}  // namespace rankwright::cost
