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
