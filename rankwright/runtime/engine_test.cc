#include "rankwright/runtime/engine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rankwright/runtime/checks/layouts.h"
#include "tests/support/plain_transformer.h"

namespace rankwright::runtime {
namespace engine_test {

/// Returns the batch of a step as [sequences, length + 1].
Tensor batch(const rankwright::plan::TrainingConfig& config, const Corpus& corpus, i64 step) {
  std::vector<std::int64_t> all;
  for (i64 i = 0; i < config.job.global_batch; ++i) {
    const std::vector<std::int64_t> one = corpus.sequence(step, i, config.job.sequence).value();
    all.insert(all.end(), one.begin(), one.end());
  }
  return torch::tensor(all, torch::kInt64).view({config.job.global_batch, -1});
}

class PlainParity : public testing::TestWithParam<LayoutCase> {};

/// Compares the engine on one rank, the reference of all layouts, with libtorch's own layers and
/// autograd.
TEST_P(PlainParity, OneRank_LossAndGradientsEqualPlainLibtorch) {
  const rankwright::plan::TrainingConfig config = config_of(GetParam());
  Engine engine(config, {.seed = 5}, 0, {});
  std::map<std::string, Tensor> weights;
  for (const Parameter& parameter : engine.shard().parameters)
    weights[parameter.name] = parameter.weight;
  PlainTransformer plain(config.model, weights);

  const Corpus corpus = Corpus::synthetic(config.model.vocab, 3);
  const Tensor tokens = batch(config, corpus, 0);
  const i64 s = config.job.sequence;
  const Tensor loss = plain.loss(tokens.narrow(1, 0, s), tokens.narrow(1, 1, s));
  loss.backward();

  std::map<std::string, Tensor> gradients;
  engine.executor().before_update = [&] {
    for (const Parameter& parameter : engine.shard().parameters)
      gradients[parameter.name] = engine.params().gradient_of(parameter);
  };
  engine.step(corpus, 0);

  EXPECT_NEAR(engine.executor().loss(), loss.item<double>(), 1e-12 * loss.item<double>());
  ASSERT_FALSE(plain.weights().empty());
  for (auto& [name, weight] : plain.weights()) {
    const double max = weight.grad().abs().max().item<double>();
    const double off = (gradients.at(name) - weight.grad()).abs().max().item<double>();
    EXPECT_LE(off, 1e-12 * max) << name;
    EXPECT_GT(max, 0) << name;
  }
}

/// Returns the weights of a model with adapters as autograd sees them: each matrix with an adapter
/// is W + B A, computed from leaves for A and B.
std::map<std::string, Tensor> merge_adapters(const model::Model& model,
                                             const std::map<std::string, Tensor>& leaves) {
  std::map<std::string, Tensor> merged = leaves;
  const auto delta = [&](const std::string& name, i64 rows, i64 columns) {
    const auto a = leaves.find(name + ".lora_a");
    if (a == leaves.end()) return torch::zeros({rows, columns}, torch::kFloat64);
    return torch::mm(leaves.at(name + ".lora_b"), a->second);
  };
  for (i64 i = 0; i < model.layers(); ++i) {
    const std::string name = "layers." + std::to_string(i);
    const rankwright::model::Attention& a = model.layer(i).attention;
    const i64 h = model.hidden, q = a.heads * a.head_dim, k = a.kv_heads * a.head_dim;
    const i64 f = model.layer(i).ffn.width;
    merged[name + ".qkv"] = leaves.at(name + ".qkv") +
                            torch::cat({delta(name + ".query", q, h), delta(name + ".key", k, h),
                                        delta(name + ".value", k, h)});
    merged[name + ".out"] = leaves.at(name + ".out") + delta(name + ".out", h, q);
    std::vector<Tensor> up{delta(name + ".up", f, h)};
    if (model.layer(i).ffn.matrices == 3) up.insert(up.begin(), delta(name + ".gate", f, h));
    merged[name + ".up"] = leaves.at(name + ".up") + torch::cat(up);
    merged[name + ".down"] = leaves.at(name + ".down") + delta(name + ".down", h, f);
  }
  return merged;
}

/// Returns whether a parameter is a matrix of an adapter.
bool is_adapter(const std::string& name) { return name.find(".lora_") != std::string::npos; }

/// Copies all weights; those of adapters are leaves with a gradient.
std::map<std::string, Tensor> copy_weights(Engine& engine) {
  std::map<std::string, Tensor> leaves;
  for (const Parameter& parameter : engine.shard().parameters)
    leaves[parameter.name] =
        parameter.weight.detach().clone().requires_grad_(is_adapter(parameter.name));
  return leaves;
}

class LoraParity : public testing::TestWithParam<LayoutCase> {};

/// Compares the gradients of adapters with autograd after a step, when B is no longer 0.
TEST_P(LoraParity, OneRank_LossAndAdapterGradientsEqualPlainLibtorch) {
  const rankwright::plan::TrainingConfig config = config_of(GetParam());
  Engine engine(config, {.seed = 5}, 0, {});
  const Corpus corpus = Corpus::synthetic(config.model.vocab, 3);
  engine.step(corpus, 0);

  std::map<std::string, Tensor> leaves = copy_weights(engine);
  PlainTransformer plain(config.model, leaves);
  plain.weights() = merge_adapters(config.model, leaves);
  const Tensor tokens = batch(config, corpus, 1);
  const i64 s = config.job.sequence;
  const Tensor loss = plain.loss(tokens.narrow(1, 0, s), tokens.narrow(1, 1, s));
  loss.backward();

  std::map<std::string, Tensor> gradients;
  engine.executor().before_update = [&] {
    for (const Parameter& parameter : engine.shard().parameters)
      gradients[parameter.name] = engine.params().gradient_of(parameter);
  };
  engine.step(corpus, 1);

  EXPECT_NEAR(engine.executor().loss(), loss.item<double>(), 1e-12 * loss.item<double>());
  i64 adapters = 0;
  for (auto& [name, weight] : leaves) {
    if (!is_adapter(name)) continue;
    ++adapters;
    const double max = weight.grad().abs().max().item<double>();
    EXPECT_LE((gradients.at(name) - weight.grad()).abs().max().item<double>(), 1e-12 * max) << name;
    EXPECT_GT(max, 0) << name;
  }
  EXPECT_GT(adapters, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Adapters, LoraParity,
    testing::Values(LayoutCase{.style = Style::gpt2, .lora = 3},
                    LayoutCase{.style = Style::llama, .tied = false, .lora = 4},
                    LayoutCase{.style = Style::llama,
                               .tied = false,
                               .recompute = plan::Recompute::full,
                               .lora = 2,
                               .modules = {true, false, true, false, false, false, true}}));

TEST(Lora, FrozenWeights_DoNotChange_AndAdaptersDo) {
  for (const int zero : {0, 1, 2, 3}) {
    const rankwright::plan::TrainingConfig config =
        config_of({.style = Style::llama, .zero = zero, .tied = false, .lora = 4});
    Engine engine(config, {.seed = 5}, 0, {});
    const Corpus corpus = Corpus::synthetic(config.model.vocab, 3);
    const std::vector<Tensor> before = engine.params().copy_frozen();
    std::vector<double> losses;
    for (i64 step = 0; step < 3; ++step) {
      engine.step(corpus, 0);  // the same batch, so that the loss falls
      losses.push_back(engine.executor().loss());
    }
    const std::vector<Tensor> after = engine.params().copy_frozen();
    ASSERT_FALSE(before.empty());
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_TRUE(torch::equal(before[i], after[i])) << "zero " << zero;
    EXPECT_LT(losses[2], losses[0]) << "zero " << zero;
  }
}

// B starts at 0, so adapters do not change the first loss.
TEST(Lora, FirstLoss_EqualsThatOfFullTraining) {
  LayoutCase layout{.style = Style::gpt2};
  const Corpus corpus = Corpus::synthetic(config_of(layout).model.vocab, 3);
  Engine full(config_of(layout), {.seed = 5}, 0, {});
  layout.lora = 8;
  Engine adapted(config_of(layout), {.seed = 5}, 0, {});
  full.step(corpus, 0);
  adapted.step(corpus, 0);
  EXPECT_EQ(adapted.executor().loss(), full.executor().loss());
}

LayoutCase with(LayoutCase layout, plan::Recompute recompute) {
  layout.recompute = recompute;
  return layout;
}

INSTANTIATE_TEST_SUITE_P(
    Both, PlainParity,
    testing::Values(LayoutCase{.style = Style::gpt2}, LayoutCase{.style = Style::llama},
                    LayoutCase{.style = Style::gpt2, .tied = false},
                    with({.style = Style::llama, .tied = false}, plan::Recompute::full),
                    with({.style = Style::gpt2}, plan::Recompute::selective)),
    [](const testing::TestParamInfo<LayoutCase>& given) {
      std::string text = show(given.param);
      std::replace(text.begin(), text.end(), ' ', '_');
      return text;
    });

}  // namespace engine_test
}  // namespace rankwright::runtime
