// States of settings that save memory: adapters, quantized weights, narrow and offloaded states.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/memory/states.h"
#include "rankwright/cost/step.h"
#include "tests/support/sample.h"

namespace rankwright::cost {
namespace saving_test {

constexpr double kParameters = 8'030'261'248;  // of llama-3.1-8b
constexpr double kAdapters = 41'943'040;       // of rank 16 on all linear layers

plan::TrainingConfig llama(const plan::Plan& plan = {}) {
  plan::TrainingConfig config = sample::config_of(*catalog::find_model("llama-3.1-8b"), plan);
  config.job.grad_dtype = plan::Dtype::fp32;
  return config;
}

TEST(SavingStates, Lora_KeepsWeightsAndTrainsAdapters) {
  plan::TrainingConfig config = llama();
  config.job.lora_rank = 16;
  const States s = compute_states(config, 0);
  EXPECT_DOUBLE_EQ(s.parameters.value, 2 * kParameters + 4 * kAdapters);
  EXPECT_DOUBLE_EQ(s.gradients.value, 4 * kAdapters);
  EXPECT_DOUBLE_EQ(s.optimizer.value, 8 * kAdapters);
}

// Embedding, head and norms stay in 16 bits: 2 x 128,256 x 4096 + 65 x 4096 parameters. A weight of
// NF4 takes 4 bits, 8 bits per 64 weights and 32 bits per 64 x 256.
TEST(SavingStates, Qlora_QuantizesTheMatricesOfLayers) {
  plan::TrainingConfig config = llama();
  config.job.lora_rank = 16;
  config.job.base_dtype = plan::BaseDtype::nf4;
  const double plain = 2 * 128'256.0 * 4096 + 65 * 4096;
  const double each = 0.5 + 1.0 / 64 + 4.0 / (64 * 256);
  EXPECT_NEAR(compute_states(config, 0).parameters.value,
              each * (kParameters - plain) + 2 * plain + 4 * kAdapters, 10'000);
}

// Weights that are loaded in fp32, embedding and head too: 4 bytes each.
TEST(SavingStates, LoraOnFp32Weights_KeepsFourBytesEach) {
  plan::TrainingConfig config = llama();
  config.job.lora_rank = 16;
  config.job.base_dtype = plan::BaseDtype::fp32;
  EXPECT_DOUBLE_EQ(compute_states(config, 0).parameters.value, 4 * kParameters + 4 * kAdapters);
  // Autocast keeps 16-bit copies for the backward pass: of all matrices, and not the embedding.
  for (const plan::Software& row : plan::frameworks())
    if (row.name == "transformers") config.software = row;
  const MemoryEstimate memory = estimate_memory(config, 0, select_calibration(config));
  EXPECT_NEAR(memory[Entry::weight_copies].value, 2 * (kParameters - 128'256.0 * 4096), 2e6);
}

void use_framework(plan::TrainingConfig& config, std::string_view name) {
  for (const plan::Software& row : plan::frameworks())
    if (row.name == name) config.software = row;
}

// FSDP that does not synchronize between two microbatches adds up 2 bytes per parameter, also of
// frozen ones.
TEST(SavingStates, Litgpt_AccumulatesWholeGradients) {
  plan::TrainingConfig config = llama({.dp = 2, .zero = 3, .recompute = plan::Recompute::full});
  config.job.lora_rank = 16;
  const auto gradients = [&](std::string_view framework, i64 batch) {
    use_framework(config, framework);
    config.job.global_batch = batch;
    return estimate_memory(config, 0, select_calibration(config))[Entry::gradients].value;
  };
  EXPECT_EQ(gradients("litgpt-2024", 2), gradients("transformers", 2));
  EXPECT_NEAR(gradients("transformers", 4), 4 * kAdapters / 2, 1);
  EXPECT_NEAR(gradients("litgpt-2024", 4), 2 * kParameters, 2 * kAdapters);
}

// Hugging Face's Trainer adds up whole gradients, too, of what is trained: 2 bytes per parameter,
// where shards of 16 ranks take 4 / 16. With LoRA these are the adapters.
TEST(SavingStates, Transformers_AccumulateWholeGradientsOfWhatIsTrained) {
  plan::TrainingConfig config = llama({.dp = 16, .zero = 3, .recompute = plan::Recompute::full});
  const auto gradients = [&](std::string_view framework, i64 batch) {
    use_framework(config, framework);
    config.job.grad_dtype = default_grad_dtype(config.software, config.job.param_dtype);
    config.job.global_batch = batch;
    return estimate_memory(config, 0, select_calibration(config))[Entry::gradients].value;
  };
  EXPECT_LT(gradients("transformers", 16), 4 * kParameters / 16 + 1);
  for (const std::string_view framework : {"transformers", "transformers-2024"})
    EXPECT_NEAR(gradients(framework, 32), 2 * kParameters, 1) << framework;
  EXPECT_NEAR(gradients("torchtitan", 32), 4 * kParameters / 16, 1);
  EXPECT_LT(gradients("deepspeed", 32), 4 * kParameters / 16 + 1);
  config.job.lora_rank = 16;
  EXPECT_LT(gradients("transformers", 32), 4 * kAdapters);
}

// They are reduced before the update, so they do not exist beside its temporaries: all states in 16
// bits, shards of two ranks. Before the reduction 1 + 2 + 2 bytes per parameter exist, in the
// update 1 + 1 + 2 and temporaries of 1.
TEST(SavingStates, WholeGradients_AreReducedBeforeTheUpdate) {
  plan::TrainingConfig config = llama({.dp = 2, .zero = 3, .recompute = plan::Recompute::full});
  use_framework(config, "transformers-2024");
  config.job.grad_dtype = config.job.moment_dtype = config.job.master_dtype = plan::Dtype::bf16;
  const MemoryEstimate several = estimate_memory(config, 0, select_calibration(config));
  EXPECT_NE(several.instant, Instant::update);
  EXPECT_NEAR(several.states().value, 5 * kParameters, 1);
  EXPECT_EQ(several[Entry::optimizer_temporaries], Bytes{});
  config.job.global_batch = 2;
  const MemoryEstimate one = estimate_memory(config, 0, select_calibration(config));
  EXPECT_EQ(one.instant, Instant::update);
  EXPECT_NEAR((one.states() + one[Entry::optimizer_temporaries]).value, 5 * kParameters, 1);
}

// M41: with 14 bytes per logit the loss is the peak. The blocks of a layer's backward, which is the
// peak without logits, are reserved beside it. With DeepSpeed, which has buffers of its own, they
// are not.
TEST(Reserve, HasTheTensorsOfOtherInstants) {
  plan::TrainingConfig config = llama({.recompute = plan::Recompute::full});
  config.job.lora_rank = 16;
  config.job.global_batch = 4;  // gradients exist at all instants
  const cluster::Calibration& calibration = select_calibration(config);
  const auto estimate = [&](std::string_view framework, plan::Loss loss) {
    use_framework(config, framework);
    config.software.loss = loss;
    return estimate_memory(config, 0, calibration);
  };
  const auto count_share = [&](const MemoryEstimate& m) {
    return calibration[cluster::Constant::reserve] * (m.allocated() - m.states()).value;
  };
  for (const std::string_view framework : {"transformers", "deepspeed"}) {
    const MemoryEstimate layer = estimate(framework, plan::Loss::fused_linear);
    const MemoryEstimate loss = estimate(framework, plan::Loss::eager);
    ASSERT_EQ(layer.instant, Instant::backward);
    ASSERT_EQ(loss.instant, Instant::loss);
    const double kept = framework == "transformers"
                            ? (layer[Entry::recomputed_layer] + layer[Entry::layer_gradients]).value
                            : 0;
    EXPECT_NEAR(loss[Entry::reserve].value, count_share(loss) + kept, 1) << framework;
    EXPECT_NEAR(layer[Entry::reserve].value, count_share(layer), 1) << framework;
  }
}

// 16 layers of 218,112,000 parameters, the last norm and the head of 128,256 x 4096 are trained:
// 4 + 12 bytes each; every weight takes 2.
TEST(SavingStates, FrozenParts_HaveWeightsOnly) {
  plan::TrainingConfig config = llama();
  freeze(config.model, {.embedding = true, .end = 16});
  const double trained = 16 * 218'112'000.0 + 4096 + 128'256.0 * 4096;
  const States s = compute_states(config, 0);
  EXPECT_DOUBLE_EQ(s.parameters.value, 2 * kParameters);
  EXPECT_DOUBLE_EQ(s.gradients.value, 4 * trained);
  EXPECT_DOUBLE_EQ(s.optimizer.value, 12 * trained);
  const MemoryEstimate estimate = estimate_memory(config, 0, select_calibration(config));
  EXPECT_DOUBLE_EQ(estimate.states().value, s.total().value);
}

// Layers that only run forward keep nothing; half of 32 layers halve what layers keep.
TEST(SavingStates, FrozenFirstLayers_KeepNoActivations) {
  plan::TrainingConfig config = llama();
  const auto held = [&] {
    return estimate_memory(config, 0, select_calibration(config))[Entry::activations];
  };
  const Bytes all = held();
  freeze(config.model, {.embedding = true, .end = 16});
  EXPECT_DOUBLE_EQ(held() / all, 0.5);
  freeze(config.model, {.end = 16});  // the embedding's gradient passes through them
  EXPECT_GT(held(), 0.5 * all);
  EXPECT_LT(held(), all);
}

// Forward takes a third of a layer's matmul FLOPs: 16 of 32 layers without backward leave two
// thirds. Without what makes gradients slower than that (L1: the rate of backward, tiles that a
// matmul loses, and memory traffic, which is more where gradients are accumulated), so does time.
TEST(SavingStates, FrozenFirstLayers_RunForwardOnly) {
  plan::TrainingConfig config = llama();
  config.cluster = *catalog::find_cluster("dgx-h100");
  cluster::Calibration c = select_calibration(config);
  c[cluster::Constant::backward] = 1;
  c[cluster::Constant::wave] = c[cluster::Constant::matmul_bytes] = 0;
  const StepTime full = estimate_step_time(config, c);
  freeze(config.model, {.embedding = true, .end = 16});
  const StepTime half = estimate_step_time(config, c);
  EXPECT_NEAR(half[Item::matmul] / full[Item::matmul], 2.0 / 3, 1e-12);
  EXPECT_LT(half[Item::optimizer], full[Item::optimizer]);
}

plan::TrainingConfig preferences(const plan::Plan& plan) {
  plan::TrainingConfig config = llama(plan);
  config.job.method = plan::Method::dpo;
  config.job.ref_model = true;
  return config;
}

Bytes reference_bytes(const plan::TrainingConfig& config) {
  return estimate_memory(config, 0, select_calibration(config))[Entry::reference];
}

// A second copy of the weights in 2 bytes, which ZeRO-3 divides by 8. Under LoRA the reference is
// the model itself, with its adapters off.
TEST(ReferenceModel, IsASecondCopyOfTheWeights) {
  EXPECT_DOUBLE_EQ(reference_bytes(preferences({})).value, 2 * kParameters);
  EXPECT_DOUBLE_EQ(reference_bytes(preferences({.dp = 8, .zero = 3})).value, 2 * kParameters / 8);
  EXPECT_DOUBLE_EQ(reference_bytes(preferences({.dp = 8, .zero = 1})).value, 2 * kParameters);
  plan::TrainingConfig lora = preferences({});
  lora.job.lora_rank = 16;
  EXPECT_EQ(reference_bytes(lora), Bytes{});
}

// Forward is one of the three passes of equal work; the reference runs it once more.
TEST(ReferenceModel, RunsForwardOnEveryMicrobatch) {
  plan::TrainingConfig config = preferences({});
  config.cluster = *catalog::find_cluster("dgx-h100");
  const cluster::Calibration& c = select_calibration(config);
  const StepTime with = estimate_step_time(config, c);
  config.job.ref_model = false;
  const StepTime without = estimate_step_time(config, c);
  EXPECT_EQ(without[Item::reference], Seconds{});
  EXPECT_EQ(with[Item::matmul], without[Item::matmul]);
  EXPECT_NEAR(with[Item::reference] / (without.compute() - without[Item::optimizer]), 1.0 / 3,
              0.03);
}

// 16 bytes of each of 8,192 x 128,256 logits, or none if they are never all in memory.
TEST(ReferenceModel, LogProbabilities_TakeSixteenBytesPerLogit) {
  plan::TrainingConfig config = preferences({});
  config.job.sequence = 8192;
  config.software.loss = plan::Loss::log_probs;
  const cluster::Calibration& c = select_calibration(config);
  EXPECT_DOUBLE_EQ(estimate_memory(config, 0, c)[Entry::logits].value, 16.0 * 8192 * 128'256);
  config.software.loss = plan::Loss::fused_linear;
  EXPECT_EQ(estimate_memory(config, 0, c)[Entry::logits], Bytes{});
}

// 2 + 4 + 4 (copy) + 2 x (1 + 4/256)
TEST(SavingStates, EightBitAdam) {
  plan::TrainingConfig config = llama();
  config.job.optimizer = plan::Optimizer::adam_8bit;
  EXPECT_NEAR(compute_states(config, 0).total().value / kParameters, 12.03125, 1e-9);
}

TEST(SavingStates, SixteenBitStates_EightBytes) {
  plan::TrainingConfig config = llama();
  config.job.master_dtype = config.job.moment_dtype = config.job.grad_dtype = plan::Dtype::bf16;
  EXPECT_DOUBLE_EQ(compute_states(config, 0).total().value, 8 * kParameters);
}

// Muon keeps one moment; embedding and head have Adam's two.
TEST(SavingStates, Muon) {
  plan::TrainingConfig config = llama();
  config.job.optimizer = plan::Optimizer::muon;
  EXPECT_DOUBLE_EQ(compute_states(config, 0).optimizer.value,
                   8 * kParameters + 4 * 2 * 128'256.0 * 4096);
}

TEST(SavingStates, OffloadedOptimizer_IsOnTheHostWithFp32Gradients) {
  plan::TrainingConfig config = llama({.dp = 8, .zero = 2});
  config.plan.offload.optimizer = 0.5;
  const States s = compute_states(config, 0);
  EXPECT_DOUBLE_EQ(s.optimizer.value, 12 * kParameters / 8 / 2);
  EXPECT_DOUBLE_EQ(s.host.value, (12 + 4) * kParameters / 8 / 2);
  EXPECT_DOUBLE_EQ(s.gradients.value, 4 * kParameters / 8);  // Megatron-LM keeps them
  config.software.offloads_gradients = true;
  EXPECT_DOUBLE_EQ(compute_states(config, 0).gradients.value, 4 * kParameters / 8 / 2);
}

RC_GTEST_PROP(SavingStates, OffloadAndAdapters_NeverNeedMoreOfTheDevice, ()) {
  plan::TrainingConfig config =
      llama({.dp = *rc::gen::element<i64>(1, 2, 8), .zero = *rc::gen::inRange(0, 4)});
  config.plan.recompute = *rc::gen::element(plan::Recompute::none, plan::Recompute::full);
  config.job.global_batch = config.plan.dp;
  const cluster::Calibration& calibration = catalog::get_calibration();
  const Bytes before = estimate_memory(config, 0, calibration).states();
  const States all = compute_states(config, 0);
  config.plan.offload.optimizer = *rc::gen::inRange(0, 5) / 4.0;
  const States offloaded = compute_states(config, 0);
  RC_ASSERT(offloaded.total() <= all.total());
  RC_ASSERT(offloaded.total() + offloaded.host >= all.total() - all.gradients);
  config.job.lora_rank = *rc::gen::inRange<i64>(1, 64);
  RC_ASSERT(estimate_memory(config, 0, calibration).states() <= before);
}

// Gradients exist from a layer's backward to the update, so the loss of a step's only micro-batch
// sees none of them.
TEST(SavingStates, FreedGradients_AreNotThereAtTheLoss) {
  plan::TrainingConfig config = llama();
  for (const plan::Software& software : plan::frameworks())
    if (software.name == "transformers") config.software = software;
  config.plan.recompute = plan::Recompute::full;
  config.job = {.global_batch = 8, .sequence = 8192};
  config.plan.micro_batch = 8;
  const MemoryEstimate once = estimate_memory(config, 0, catalog::get_calibration());
  EXPECT_EQ(once.instant, Instant::loss);
  EXPECT_EQ(once[Entry::gradients], 0.0_B);
  config.job.global_batch = 16;  // gradients of the first micro-batch wait for the second
  const MemoryEstimate twice = estimate_memory(config, 0, catalog::get_calibration());
  EXPECT_DOUBLE_EQ(twice[Entry::gradients].value, 4 * kParameters);
}

// Autocast casts fp32 weights to 16 bits. Those of recomputed feed-forwards, 32 x 3 x 4096 x 14336
// x 2 bytes, are gone when the loss makes the last two of its 12 bytes per logit, which are fewer.
TEST(SavingStates, CastsOfRecomputedWeights_AreNotThereAtTheLoss) {
  plan::TrainingConfig config = llama();
  for (const plan::Software& software : plan::frameworks())
    if (software.name == "transformers") config.software = software;
  config.job = {.global_batch = 2, .sequence = 8192};
  config.plan.recompute = plan::Recompute::selective;
  const auto count_logits = [&](const plan::RecomputeModules& modules) {
    config.plan.modules = modules;
    return estimate_memory(config, 0, catalog::get_calibration())[Entry::logits].value;
  };
  const double all = 8192.0 * 128'256 * 12;
  EXPECT_DOUBLE_EQ(count_logits({.core_attn = false, .layernorm = true}), all);
  EXPECT_DOUBLE_EQ(count_logits({.core_attn = false, .mlp = true}), all * 10 / 12);
}

}  // namespace saving_test
}  // namespace rankwright::cost
