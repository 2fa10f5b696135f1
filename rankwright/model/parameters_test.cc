#include "rankwright/model/parameters.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/model/architecture.h"

namespace rankwright::model {
namespace parameters_test {

struct Published {
  Shapes shapes;
  i64 total;
};

// Models with their published counts; catalog/models_test.cc has the sources. Every architecture is
// compared with transformers in import/plan/hf_types_test.cc.
const Published kPublished[] = {
    {{.name = "Llama-3-8B",
      .architecture = "llama",
      .hidden = 4096,
      .layers = 32,
      .heads = 32,
      .kv_heads = 8,
      .ffn = 14336,
      .vocab = 128256},
     8'030'261'248},
    {{.name = "Llama-3.1-70B",
      .architecture = "llama",
      .hidden = 8192,
      .layers = 80,
      .heads = 64,
      .kv_heads = 8,
      .ffn = 28672,
      .vocab = 128256},
     70'553'706'496},
    {{.name = "Llama-3.1-405B",
      .architecture = "llama",
      .hidden = 16384,
      .layers = 126,
      .heads = 128,
      .kv_heads = 8,
      .ffn = 53248,
      .vocab = 128256},
     405'853'388'800},
    {{.name = "Mistral-7B-v0.1",
      .architecture = "mistral",
      .hidden = 4096,
      .layers = 32,
      .heads = 32,
      .kv_heads = 8,
      .ffn = 14336,
      .vocab = 32000},
     7'241'732'096},
    {{.name = "Mixtral-8x7B",
      .architecture = "mixtral",
      .hidden = 4096,
      .layers = 32,
      .heads = 32,
      .kv_heads = 8,
      .vocab = 32000,
      .experts = 8,
      .active_experts = 2,
      .expert_ffn = 14336},
     46'702'792'704},
    {{.name = "Qwen2.5-7B",
      .architecture = "qwen2",
      .hidden = 3584,
      .layers = 28,
      .heads = 28,
      .kv_heads = 4,
      .ffn = 18944,
      .vocab = 152064},
     7'615'616'512},
    {{.name = "Qwen3-8B",
      .architecture = "qwen3",
      .hidden = 4096,
      .layers = 36,
      .heads = 32,
      .kv_heads = 8,
      .head_dim = 128,
      .ffn = 12288,
      .vocab = 151936},
     8'190'735'360},
    {{.name = "Qwen1.5-MoE-A2.7B",
      .architecture = "qwen2_moe",
      .hidden = 2048,
      .layers = 24,
      .heads = 16,
      .kv_heads = 16,
      .vocab = 151936,
      .experts = 60,
      .active_experts = 4,
      .expert_ffn = 1408,
      .shared_ffn = 5632},
     14'315'784'192},
    {{.name = "Qwen3-30B-A3B",
      .architecture = "qwen3_moe",
      .hidden = 2048,
      .layers = 48,
      .heads = 32,
      .kv_heads = 4,
      .head_dim = 128,
      .vocab = 151936,
      .experts = 128,
      .active_experts = 8,
      .expert_ffn = 768},
     30'532'122'624},
    {{.name = "DeepSeek-V2-Lite",
      .architecture = "deepseek_v2",
      .hidden = 2048,
      .layers = 27,
      .heads = 16,
      .ffn = 10944,
      .vocab = 102400,
      .experts = 64,
      .active_experts = 6,
      .expert_ffn = 1408,
      .shared_ffn = 2 * 1408,
      .first_dense = 1,
      .kv_rank = 512,
      .nope_dim = 128,
      .rope_dim = 64,
      .value_dim = 128},
     15'706'484'224},
    {{.name = "DeepSeek-V3",
      .architecture = "deepseek_v3",
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
      .value_dim = 128,
      .mtp_layers = 1},
     671'026'419'200},
    {{.name = "GPT-2",
      .architecture = "gpt2",
      .hidden = 768,
      .layers = 12,
      .heads = 12,
      .vocab = 50257,
      .positions = 1024},
     124'439'808},
    {{.name = "GPT-NeoX-20B",
      .architecture = "gpt_neox",
      .hidden = 6144,
      .layers = 44,
      .heads = 64,
      .ffn = 24576,
      .vocab = 50432},
     20'554'567'680},
    {{.name = "Gemma-7B",
      .architecture = "gemma",
      .hidden = 3072,
      .layers = 28,
      .heads = 16,
      .kv_heads = 16,
      .head_dim = 256,
      .ffn = 24576,
      .vocab = 256000},
     8'537'680'896},
    {{.name = "Gemma2-9B",
      .architecture = "gemma2",
      .hidden = 3584,
      .layers = 42,
      .heads = 16,
      .kv_heads = 8,
      .head_dim = 256,
      .ffn = 14336,
      .vocab = 256000},
     9'241'705'984},
    {{.name = "Phi-2",
      .architecture = "phi",
      .hidden = 2560,
      .layers = 32,
      .heads = 32,
      .ffn = 10240,
      .vocab = 51200},
     2'779'683'840},
    {{.name = "Phi-3-mini",
      .architecture = "phi3",
      .hidden = 3072,
      .layers = 32,
      .heads = 32,
      .ffn = 8192,
      .vocab = 32064},
     3'821'079'552},
};

TEST(Parameters, EqualThePublishedTotalsExactly) {
  for (const Published& p : kPublished) {
    const Result<Model> model = build(p.shapes);
    ASSERT_TRUE(model) << p.shapes.name << ": " << model.error().detail;
    EXPECT_EQ(count_parameters(*model).total(), p.total) << p.shapes.name;
  }
}

const Shapes kGpt175B{.name = "gpt3-175b",
                      .architecture = "gpt",
                      .hidden = 12288,
                      .layers = 96,
                      .heads = 96,
                      .vocab = 51200,
                      .positions = 2048};

TEST(Parameters, Gpt_FollowsMegatronsFormula) {
  // Narayanan et al. 2021, eq. 2: P = 12 L h^2 (1 + 13/(12 h) + (V + s)/(12 L h)), here
  // 12*96*12288^2 + 13*96*12288 + (51200 + 2048)*12288; it omits the last norm's 2h.
  const i64 h = 12288;
  const i64 eq2 = 12 * 96 * h * h + 13 * 96 * h + (51200 + 2048) * h;
  EXPECT_EQ(count_parameters(*build(kGpt175B)).total(), eq2 + 2 * h);
  EXPECT_NEAR(double(eq2) / 1e9, 174.6, 0.05);  // as in the paper's Table 1
}

TEST(Parameters, AreCountedByKind) {
  // Qwen3-30B-A3B, one layer: A = 2*2048*4096 + 2*2048*512; router 2048*128; experts
  // 128 * 3*2048*768; norms 2*2048 + 2*128.
  const Model model = *build(kPublished[8].shapes);
  const Parameters layer = count_parameters(model, model.layer(0));
  EXPECT_EQ(
      layer,
      (Parameters{
          .attention = 18'874'368, .router = 262'144, .experts = 603'979'776, .norms = 4'352}));
  const Parameters all = count_parameters(model);
  EXPECT_EQ(all.embedding, 151936 * 2048);
  EXPECT_EQ(all.head, 151936 * 2048);
  EXPECT_EQ(all.norms, 48 * 4'352 + 2048);
}

TEST(Parameters, GptOss120B_MatchesItsModelCard) {
  // "gpt-oss-120b & gpt-oss-20b Model Card" (2025), table 1: 114.71 B of MLPs, 0.96 B of attention,
  // 1.16 B of embedding and head, 116.83 B in total, 5.13 B active without the embedding.
  const Model model = *build({.architecture = "gpt_oss",
                              .hidden = 2880,
                              .layers = 36,
                              .heads = 64,
                              .kv_heads = 8,
                              .head_dim = 64,
                              .vocab = 201088,
                              .window = 128,
                              .experts = 128,
                              .active_experts = 4,
                              .expert_ffn = 2880});
  const Parameters p = count_parameters(model);
  EXPECT_NEAR(double(p.experts + p.router), 114.71e9, 0.01e9);
  EXPECT_NEAR(double(p.attention), 0.96e9, 0.005e9);
  EXPECT_NEAR(double(p.embedding + p.head), 1.16e9, 0.005e9);
  EXPECT_NEAR(double(p.total()), 116.83e9, 0.005e9);
  EXPECT_NEAR(double(count_active_parameters(model) - p.embedding), 5.13e9, 0.005e9);
}

TEST(Parameters, ActiveParameters_CountOnlyActiveExperts) {
  // Mixtral leaves 6 of 8 experts idle: 46,702,792,704 - 32 * 6 * 3*4096*14336 = 12.88 B, the
  // "12.9 B active" of its report.
  EXPECT_EQ(count_active_parameters(*build(kPublished[4].shapes)), 12'879'925'248);
  // A dense model uses all parameters.
  EXPECT_EQ(count_active_parameters(*build(kPublished[0].shapes)), 8'030'261'248);
}

TEST(Parameters, MtpModule_SharesEmbeddingAndHead) {
  const Model model = *build(kPublished[10].shapes);
  // A layer with experts (187,107,328 attention and its norms, + 2*7168 norms, 7168*256 + 256
  // router, 257 * 3*7168*2048 experts) + 2*7168^2 projection + 3*7168 norms. DeepSeek-V3's README:
  // "11.5B unique parameters" of the MTP module.
  const i64 layer = 187'107'328 + 2 * 7168 + 7168 * 256 + 256 + 257 * i64{3 * 7168 * 2048};
  EXPECT_EQ(count_mtp_parameters(model).total(), layer + 2 * 7168 * 7168 + 3 * 7168);
  EXPECT_NEAR(double(count_mtp_parameters(model).total()), 11.5e9, 0.15e9);
  EXPECT_EQ(count_mtp_parameters(*build(kPublished[0].shapes)), Parameters{});
}

TEST(Parameters, Biases_CountIfStated) {
  Shapes shapes = kPublished[0].shapes;
  shapes.qkv_bias = shapes.out_bias = shapes.ffn_bias = true;
  // 32 layers * ((4096 + 2*1024) Q, K, V + 4096 out + 2*14336 + 4096 feed-forward)
  EXPECT_EQ(count_parameters(*build(shapes)).total(),
            8'030'261'248 + 32 * (6144 + 4096 + 2 * 14336 + 4096));
}

RC_GTEST_PROP(Parameters, Total_IsTheSumOfItsParts, ()) {
  const std::size_t index = *rc::gen::inRange<std::size_t>(0, std::size(kPublished));
  Shapes shapes = kPublished[index].shapes;
  shapes.layers = *rc::gen::inRange<i64>(3, 100);
  shapes.tied = *rc::gen::arbitrary<bool>();
  const Model model = *build(shapes);
  i64 sum = (model.vocab + model.positions) * model.hidden;
  if (!model.tied) sum += model.vocab * model.hidden;
  if (model.head_bias) sum += model.vocab;
  sum += model.norm_bias ? 2 * model.hidden : model.hidden;
  for (i64 i = 0; i < model.layers(); ++i) sum += count_parameters(model, model.layer(i)).total();
  RC_ASSERT(count_parameters(model).total() == sum);
  RC_ASSERT(count_active_parameters(model) <= sum);
  RC_ASSERT((count_active_parameters(model) == sum) == !model.sparse());
}

}  // namespace parameters_test
}  // namespace rankwright::model
