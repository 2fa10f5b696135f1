#include "rankwright/model/flops.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/model/architecture.h"
#include "rankwright/model/parameters.h"

namespace rankwright::model {
namespace flops_test {

constexpr FlopsConvention kCausal = FlopsConvention::megatron_causal;
constexpr FlopsConvention kFull = FlopsConvention::palm_full;

const Shapes kLlama8B{.architecture = "llama",
                      .hidden = 4096,
                      .layers = 32,
                      .heads = 32,
                      .kv_heads = 8,
                      .ffn = 14336,
                      .vocab = 128256};

const Shapes kDeepSeekV3{.architecture = "deepseek_v3",
                         .hidden = 7168,
                         .layers = 61,
                         .heads = 128,
                         .ffn = 18432,
                         .vocab = 129280,
                         .experts = 256,
                         .active_experts = 8,
                         .expert_ffn = 2048,
                         .shared_ffn = 2048,
                         .first_dense = 3,
                         .q_rank = 1536,
                         .kv_rank = 512,
                         .nope_dim = 128,
                         .rope_dim = 64,
                         .value_dim = 128};

TEST(TrainingFlops, Llama3At8K_MatchesTheWorkedExample) {
  const Model model = *build(kLlama8B);
  // Matmul weights: 32 * (2*4096*4096 + 2*4096*1024 + 3*4096*14336) + 128256*4096 = 7,504,658,432.
  // 6 * that + 6 * 32 * 4096 * 8192 (causal) = 45.03 + 6.44 GFLOP
  const double matmuls = 6.0 * 7'504'658'432;
  EXPECT_DOUBLE_EQ(training_flops_per_token(model, 8192, kCausal).value,
                   matmuls + 6.0 * 32 * 4096 * 8192);
  EXPECT_NEAR(training_flops_per_token(model, 8192, kCausal).value / 1e9, 51.5, 0.05);
  // Full: twice the attention, and 65 norms of 4096 count as parameters.
  EXPECT_DOUBLE_EQ(training_flops_per_token(model, 8192, kFull).value,
                   matmuls + 6.0 * 65 * 4096 + 12.0 * 32 * 4096 * 8192);
  EXPECT_NEAR(training_flops_per_token(model, 8192, kFull).value / 1e9, 57.9, 0.05);
}

TEST(TrainingFlops, DeepSeekV3_CountsActiveExpertsAndMtp) {
  // Matmul weights per token, with 9 of 257 experts:
  //   attention  7168*1536 + 1536*128*192 + 7168*576 + 512*128*256 + 128*128*7168 = 187,105,280
  //   61 * 187,105,280 + 3 * 3*7168*18432 + 58 * 9*3*7168*2048 + 129280*7168  =  36,518,166,528
  // Attention products, causal: 61 * 4096 * 128 * (192 + 128) / 2               =   5,117,050,880
  const double weights = 36'518'166'528, products = 5'117'050'880;
  const Model model = *build(kDeepSeekV3);
  const Flops ours = training_flops_per_token(model, 4096, kCausal);
  EXPECT_DOUBLE_EQ(ours.value, 6 * (weights + products));  // 249.81 GFLOP
  // Published for Megatron: 249.7, and 260 with the MTP module, where ours is 259.99. Routers
  // (0.64), norms (below 0.001) and a padded vocabulary would all make ours larger, so it is
  // unknown which term 249.7 omits.
  EXPECT_NEAR(ours.value / 249.7e9, 1, 1e-3);
  Shapes with_mtp = kDeepSeekV3;
  with_mtp.mtp_layers = 1;
  EXPECT_NEAR(training_flops_per_token(*build(with_mtp), 4096, kCausal).value / 260e9, 1, 1e-3);
}

TEST(TrainingFlops, MtpModule_IsALayerAProjectionAndTheHead) {
  Shapes with_mtp = kDeepSeekV3;
  with_mtp.mtp_layers = 2;
  const Model model = *build(with_mtp);
  // Matmul weights of a layer with experts: 187,105,280 attention + 9 * 3*7168*2048.
  const double weights = 187'105'280 + 9.0 * 3 * 7168 * 2048 + 2.0 * 7168 * 7168 + 129280.0 * 7168;
  const double products = 4096.0 * 128 * (192 + 128);
  for (const FlopsConvention convention : {kCausal, kFull}) {
    const Flops extra = training_flops_per_token(model, 4096, convention) -
                        training_flops_per_token(*build(kDeepSeekV3), 4096, convention);
    const double share = convention == kCausal ? 0.5 : 1;
    EXPECT_NEAR(extra.value, 2 * 6 * (weights + share * products), 1e3);
  }
}

TEST(TrainingFlops, Gpt_FollowsMegatronsFormula) {
  // Narayanan et al. 2021 without recomputation: 72 L h^2 (1 + s/(6h) + V/(12 L h)) per token, full
  // attention; GPT-3: 72*96*12288^2 * (1 + 2048/73728 + 51200/(12*96*12288)).
  const Shapes gpt3{.architecture = "gpt",
                    .hidden = 12288,
                    .layers = 96,
                    .heads = 96,
                    .vocab = 51200,
                    .positions = 2048};
  const double h = 12288;
  const double paper = 72 * 96 * h * h * (1 + 2048 / (6 * h) + 51200 / (12 * 96 * h));
  const double full = training_flops_per_token(*build(gpt3), 2048, kFull).value;
  // The full convention also counts biases and norms as parameters: 13 L h + 2 h of them.
  EXPECT_NEAR(full - 6 * (13 * 96 * h + 2 * h), paper, 1e-9 * paper);
}

TEST(TrainingFlops, TiedHead_CostsTheSame) {
  Shapes tied = kLlama8B;
  tied.tied = true;
  for (const FlopsConvention convention : {kCausal, kFull})
    EXPECT_EQ(training_flops_per_token(*build(tied), 8192, convention),
              training_flops_per_token(*build(kLlama8B), 8192, convention));
}

TEST(ForwardFlops, LayerAndHead_MatchTheWorkedExample) {
  const Model model = *build(kLlama8B);
  // 2 * (41,943,040 attention + 176,160,768 feed-forward) + 2 * 8192/2 * (4096 + 4096)
  EXPECT_DOUBLE_EQ(forward_flops(model, model.layer(0), 8192).value,
                   2.0 * 218'103'808 + 8192.0 * 8192);
  EXPECT_DOUBLE_EQ(head_forward_flops(model).value, 2.0 * 128256 * 4096);
}

TEST(ForwardFlops, Biases_DoNotCount) {
  Shapes biased = kLlama8B;
  biased.qkv_bias = biased.out_bias = biased.ffn_bias = true;
  const Model plain = *build(kLlama8B);
  EXPECT_EQ(forward_flops(*build(biased), build(biased)->layer(0), 8192),
            forward_flops(plain, plain.layer(0), 8192));
}

TEST(ForwardFlops, SparseLayer_CountsActiveAndSharedExperts) {
  // Qwen1.5-MoE-A2.7B: 4 * 2048^2 attention + 4 * 3*2048*1408 + 3*2048*5632, without the router and
  // the gate of the shared expert. At one token: 2 * 1/2 * (2048 + 2048) of attention.
  const Model model = *build({.architecture = "qwen2_moe",
                              .hidden = 2048,
                              .layers = 24,
                              .heads = 16,
                              .vocab = 151936,
                              .experts = 60,
                              .active_experts = 4,
                              .expert_ffn = 1408,
                              .shared_ffn = 5632});
  const double weights = 4.0 * 2048 * 2048 + 4.0 * 3 * 2048 * 1408 + 3.0 * 2048 * 5632;
  EXPECT_DOUBLE_EQ(forward_flops(model, model.layer(0), 1).value, 2 * weights + 4096);
  const LayerFlops parts = count_layer_flops(model, model.layer(0), 1);
  EXPECT_DOUBLE_EQ(parts.projections.value, 2 * 4.0 * 2048 * 2048);
  EXPECT_DOUBLE_EQ(parts.core.value, 4096);
  EXPECT_DOUBLE_EQ(parts.experts.value, 2 * 4.0 * 3 * 2048 * 1408);
  EXPECT_DOUBLE_EQ(parts.mlp.value, 2 * 3.0 * 2048 * 5632);
}

TEST(FlopsConvention, HasANameForReports) {
  EXPECT_EQ(name(kCausal), "Megatron, causal");
  EXPECT_EQ(name(kFull), "PaLM, full");
}

RC_GTEST_PROP(TrainingFlops, Causal_IsThreeTimesTheForwardOfAllLayers, ()) {
  Shapes shapes = *rc::gen::element(kLlama8B, kDeepSeekV3);
  shapes.layers = *rc::gen::inRange<i64>(4, 60);
  const i64 sequence = *rc::gen::inRange<i64>(1, 1 << 20);
  const Model model = *build(shapes);
  double forward = head_forward_flops(model).value;
  for (i64 i = 0; i < model.layers(); ++i)
    forward += forward_flops(model, model.layer(i), sequence).value;
  const double causal = training_flops_per_token(model, sequence, kCausal).value;
  RC_ASSERT(std::abs(causal - 3 * forward) < 1e-9 * causal);
  RC_ASSERT(training_flops_per_token(model, sequence, kFull).value > causal);
}

// CLIP ViT-L/14 on an image of 336 x 336, 24 x 24 = 576 patches. Per patch and layer 2 x (4 x
// 1024^2
// + 2 x 1024 x 4096) = 25,165,824 FLOPs in matmuls and 4 x 576 x 1024 = 2,359,296 in attention,
// which is not causal; 24 layers of 576 patches: 380,507,258,880. LLaVA's projector to 4096 has
// 1024 x 4096 + 4096^2 weights: 2 x 576 x 20,971,520 = 24,159,191,040.
TEST(EncoderFlops, MatchTheWorkedExample) {
  const Model model{.encoder_layers = 24,
                    .encoder = {.hidden = 1024,
                                .ffn = 4096,
                                .heads = 16,
                                .matrices = 2,
                                .merge = 1,
                                .projector = 1024 * 4096 + 4096 * 4096,
                                .image_tokens = 576}};
  EXPECT_EQ(encoder_forward_flops(model, 576).value, 380'507'258'880.0 + 24'159'191'040.0);
  EXPECT_EQ(encoder_forward_flops(Model{}, 576).value, 0);
}

// Four patches per token: four times the patches, and as many tokens through the projector.
TEST(EncoderFlops, CountPatchesBeforeTheyAreJoined) {
  Model model{.encoder_layers = 24, .encoder = {.hidden = 1024, .ffn = 4096, .matrices = 2}};
  model.encoder.merge = 4;
  const Flops joined = encoder_forward_flops(model, 144);
  model.encoder.merge = 1;
  EXPECT_EQ(joined, encoder_forward_flops(model, 576));
}

// Qwen2.5-VL: 28 of 32 layers have windows of 64 patches. On an image of 1,024 patches their
// attention takes 4 x 64 x 1,280 FLOPs per patch, that of the other layers 4 x 1,024 x 1,280.
TEST(EncoderFlops, Windows_CountTheirOwnPatches) {
  Model model{.encoder_layers = 32,
              .encoder = {.hidden = 1280, .ffn = 3420, .heads = 16, .matrices = 3, .merge = 4}};
  const Flops full = encoder_forward_flops(model, 256);
  model.encoder.window = 64;
  model.encoder.global_layers = 4;
  EXPECT_EQ((full - encoder_forward_flops(model, 256)).value, 28.0 * 1024 * 4 * 960 * 1280);
  model.encoder.window = 2048;  // larger than the image
  EXPECT_EQ(encoder_forward_flops(model, 256), full);
}

// Whisper's convolutions: each of 1,500 positions is multiplied with two windows of 3 x 128 x 1,280
// weights and one of 3 x 1,280^2.
TEST(EncoderFlops, CountWhatIsBeforeTheLayers) {
  Model model{.encoder_layers = 32,
              .encoder = {.hidden = 1280, .ffn = 5120, .heads = 20, .matrices = 2, .merge = 4}};
  const Flops layers = encoder_forward_flops(model, 375);
  model.encoder.stem = 2 * 3 * 128 * 1280 + 3 * 1280 * 1280;
  EXPECT_EQ((encoder_forward_flops(model, 375) - layers).value, 2.0 * 1500 * (983'040 + 4'915'200));
}

}  // namespace flops_test
}  // namespace rankwright::model
