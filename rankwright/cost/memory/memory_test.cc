#include "rankwright/cost/memory/memory.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>

#include "rankwright/cost/memory/states.h"
#include "tests/support/sample.h"

namespace rankwright::cost {
namespace memory_test {

/// Parameters of the sample model: 8 layers of 15,206,400, embedding and head of 32,768,000 each, a
/// norm of 1024.
constexpr double kParameters = 8 * 15'206'400.0 + 2 * 32'768'000.0 + 1024;

/// 2048 tokens x 2 bytes x (norms 4h, queries to context 2560, feed-forward 3 x 4096), and 4 bytes
/// for each of 16 heads.
constexpr double kLayer = 2048 * (2 * (4 * 1024 + 2560 + 3 * 4096) + 4 * 16.0);

constexpr double kRows = 2 * 32000 * 1024.0;  // the vocabulary in 16 bits

/// Estimates memory with the constants of the worked examples instead of the fitted ones.
cluster::Calibration stated() {
  cluster::Calibration c = catalog::get_calibration();
  c[cluster::Constant::workspace] = 0.09;
  c[cluster::Constant::communicator] = 0.54;
  c[cluster::Constant::reserve] = 0.057;
  return c;
}

MemoryEstimate of(const rankwright::plan::TrainingConfig& config, i64 pp_rank = 0) {
  return estimate_memory(config, pp_rank, stated());
}

TEST(Entries, HaveNamesMeaningsAndFormulas) {
  std::set<std::string_view> names;
  for (std::size_t e = 0; e < kEntries; ++e) {
    const EntryRow& r = row(Entry(e));
    EXPECT_EQ(r.entry, Entry(e));
    EXPECT_TRUE(names.insert(r.name).second) << r.name;
    EXPECT_FALSE(r.meaning.empty()) << r.name;
    EXPECT_EQ(r.formula.front(), 'M') << r.name;
  }
}

TEST(MemoryEstimate, EightBitWeightsAreKeptBesideTheStoredOnes) {
  // 8 layers of 15,206,400 parameters, not the vocabulary. Hopper keeps two layouts, Blackwell one;
  // MXFP8 scales both ways, with a byte per 32 elements.
  rankwright::plan::TrainingConfig config = sample::dense_config({});
  config.cluster.device.fp8 = 1.0_TFLOPS;
  config.cluster.device.generation = "hopper";
  EXPECT_EQ(of(config)[Entry::weight_copies], Bytes{});
  config.job.matmul = plan::Matmul::fp8;
  const double layers = 8 * 15'206'400.0;
  EXPECT_NEAR(of(config)[Entry::weight_copies].value / (2 * layers), 1, 1e-3);
  config.cluster.device.generation = "blackwell";
  EXPECT_NEAR(of(config)[Entry::weight_copies].value / layers, 1, 1e-3);
  config.job.matmul = plan::Matmul::mxfp8;
  EXPECT_NEAR(of(config)[Entry::weight_copies].value / (2.0625 * layers), 1, 1e-3);
  config.job.param_dtype = plan::Dtype::fp8;  // one of the two is the parameter
  EXPECT_NEAR(of(config)[Entry::weight_copies].value / (1.0625 * layers), 1, 1e-3);
  config.software.fsdp = true;
  EXPECT_EQ(of(config)[Entry::weight_copies], Bytes{});
}

TEST(MemoryEstimate, GraphsKeepAPoolOfTensors) {
  rankwright::plan::TrainingConfig config = sample::dense_config({});
  EXPECT_EQ(of(config)[Entry::graph_pool], Bytes{});
  config.software.launch = plan::Launch::graphs;
  const MemoryEstimate whole = of(config);
  EXPECT_DOUBLE_EQ(whole[Entry::graph_pool].value,
                   stated()[cluster::Constant::graph_pool] * whole[Entry::activations].value);
  config.software.launch = plan::Launch::partial_graphs;
  EXPECT_DOUBLE_EQ(of(config)[Entry::graph_pool].value, whole[Entry::graph_pool].value / 6);
}

TEST(MemoryEstimate, OneDeviceMatchesTheWorkedExample) {
  const MemoryEstimate l = of(sample::dense_config({}));
  EXPECT_EQ(l.instant, Instant::loss);
  EXPECT_DOUBLE_EQ(l.states().value, 16 * kParameters);
  EXPECT_DOUBLE_EQ(l[Entry::activations].value, 8 * kLayer);
  EXPECT_DOUBLE_EQ(l[Entry::logits].value, 4 * 2048 * 32000.0);
  EXPECT_DOUBLE_EQ(l[Entry::head_gradient].value, kRows);
  // one attention 1024 x 2560 and one feed-forward 3 x 1024 x 4096
  const double empty = 2 * (1024 * 2560 + 3 * 1024 * 4096.0);
  EXPECT_DOUBLE_EQ(l[Entry::empty_gradients].value, empty);
  const double tensors = 8 * kLayer + 4 * 2048 * 32000.0 + kRows + empty + 0.09e9;
  EXPECT_DOUBLE_EQ(l.allocated().value, 16 * kParameters + tensors);
  // the allocator's share of everything but states; context; one rank has no communicator
  EXPECT_DOUBLE_EQ(l.reserved().value, 16 * kParameters + 1.057 * tensors);
  EXPECT_DOUBLE_EQ(l.total().value, 16 * kParameters + 1.057 * tensors + 0.5e9);
}

TEST(MemoryEstimate, PeaksInBackwardWithoutALoss) {
  // The first of two pp ranks has two microbatches of 4 layers; inside the feed-forward 3 x 4096 +
  // 1024.
  const MemoryEstimate l = of(sample::dense_config({.pp = 2}));
  EXPECT_EQ(l.instant, Instant::backward);
  EXPECT_DOUBLE_EQ(l[Entry::activations].value, 2 * 4 * kLayer);
  EXPECT_DOUBLE_EQ(l[Entry::layer_gradients].value, 2 * 2048 * (3 * 4096 + 1024.0));
  EXPECT_EQ(l[Entry::logits], Bytes{});
}

TEST(MemoryEstimate, PeaksAtTheEmbeddingIfItsGradientIsLargest) {
  // The activations of 16 tokens are negligible next to 2 x 32000 x 1024 bytes.
  rankwright::plan::TrainingConfig config = sample::dense_config({.pp = 2});
  config.job.sequence = 16;
  const MemoryEstimate l = of(config);
  EXPECT_EQ(l.instant, Instant::embedding);
  EXPECT_DOUBLE_EQ(l[Entry::embedding_gradient].value, kRows);
  EXPECT_DOUBLE_EQ(l[Entry::activations].value, 4 * kLayer * 16 / 2048);  // the other microbatch's
}

TEST(MemoryEstimate, FullRecomputeRestoresOneLayer) {
  const MemoryEstimate l = of(sample::dense_config({.pp = 2, .recompute = plan::Recompute::full}));
  EXPECT_DOUBLE_EQ(l[Entry::activations].value, 2 * 4 * 2048 * 1024 * 2.0);
  EXPECT_DOUBLE_EQ(l[Entry::recomputed_layer].value, kLayer);
}

TEST(MemoryEstimate, SequenceParallelismGathersInputAndGradient) {
  const MemoryEstimate l = of(sample::dense_config({.tp = 2, .sequence_parallel = true}));
  EXPECT_DOUBLE_EQ(l[Entry::sequence_gather].value, 2 * 2048 * 1024 * 2.0);
  EXPECT_EQ(of(sample::dense_config({.tp = 2}))[Entry::sequence_gather], Bytes{});
  EXPECT_EQ(of(sample::dense_config({.sequence_parallel = true}))[Entry::sequence_gather], Bytes{});
}

rankwright::plan::TrainingConfig fsdp(plan::Plan plan) {
  rankwright::plan::TrainingConfig config = sample::dense_config(std::move(plan));
  for (const plan::Software& software : plan::frameworks())
    if (software.name == "torchtitan-2024") config.software = software;
  return config;
}

TEST(MemoryEstimate, RotaryTablesAreKeptPerLayerWithoutCompilation) {
  // 2,048 positions x 32 pairs of elements of a head of 64 x 8 bytes, in each of 8 layers
  rankwright::plan::TrainingConfig config = fsdp({.dp = 8, .zero = 3});
  EXPECT_EQ(of(config)[Entry::rotary_tables], Bytes{});
  config.software.eager_ops = true;
  EXPECT_DOUBLE_EQ(of(config)[Entry::rotary_tables].value,
                   double(config.model.layers()) * 2048 * 32 * 8);
}

TEST(MemoryEstimate, FsdpKeepsFp32WeightsAndGathersIn16Bits) {
  // 4 + 4 + 8 bytes over 8 ranks. At the loss, a layer of 15,206,400, embedding, head and norm are
  // gathered in 16 bits, and no gradient is reduced.
  plan::TrainingConfig config = fsdp({.dp = 8, .zero = 3});
  const MemoryEstimate l = of(config);
  EXPECT_DOUBLE_EQ(l[Entry::parameters].value, 4 * kParameters / 8);
  EXPECT_DOUBLE_EQ(l[Entry::optimizer].value, 8 * kParameters / 8);
  EXPECT_EQ(l.instant, Instant::loss);
  EXPECT_DOUBLE_EQ(l[Entry::gathered_units].value, 2 * (15'206'400.0 + 2 * 32'768'000.0 + 1024));
  EXPECT_EQ(l[Entry::reduce_scatter], Bytes{});
  EXPECT_EQ(l[Entry::empty_gradients] + l[Entry::head_gradient], Bytes{});

  // With a vocabulary of 1,024 the backward pass is fuller: the next layer is gathered, too, and
  // the gradients of a layer exist in 16 and in 32 bits.
  config.model.vocab = 1024;
  const MemoryEstimate few = of(config);
  EXPECT_EQ(few.instant, Instant::backward);
  EXPECT_DOUBLE_EQ(few[Entry::gathered_units].value,
                   2 * (2 * 15'206'400.0 + 2 * 1024 * 1024 + 1024));
  EXPECT_DOUBLE_EQ(few[Entry::reduce_scatter].value, 6 * 15'206'400.0);
}

TEST(MemoryEstimate, ShardedGradients_AreComputedOneUnitAtATime) {
  // Megatron-FSDP, 16-bit gradients: the head with the last norm is the largest unit
  const MemoryEstimate l = of(sample::dense_config({.dp = 8, .zero = 2}));
  EXPECT_DOUBLE_EQ(l[Entry::reduce_scatter].value, 2 * (32'768'000.0 + 1024));
  EXPECT_EQ(of(sample::dense_config({.dp = 8, .zero = 1}))[Entry::reduce_scatter], Bytes{});
}

TEST(MemoryEstimate, FsdpInAPipelineHoldsFullWeightsAndGradients) {
  const double stage = 4 * 15'206'400.0 + 32'768'000.0;
  const MemoryEstimate l = of(fsdp({.dp = 8, .pp = 2, .zero = 2}));
  EXPECT_DOUBLE_EQ(l[Entry::parameters].value, 4 * stage / 8);
  EXPECT_DOUBLE_EQ(l[Entry::gradients].value, 4 * stage);
  EXPECT_DOUBLE_EQ(l[Entry::gathered_units].value, 2 * stage);
}

TEST(MemoryEstimate, DeepspeedCopiesGradientsOrHoldsThemTwice) {
  rankwright::plan::TrainingConfig config = sample::dense_config({.dp = 4, .zero = 1});
  config.software.fp32_gradients = true;
  const double share = stated()[cluster::Constant::reserve];
  const auto slack = [&](const MemoryEstimate& l) {
    return share * (l.allocated() - l.states()).value;
  };
  const MemoryEstimate half = of(config);  // 16-bit gradients: 4 bytes per parameter of the shard
  EXPECT_NEAR(half[Entry::reserve].value, slack(half) + 4 * kParameters / 4, 1);
  config.job.grad_dtype = plan::Dtype::fp32;  // fp32 accumulation in addition to 16-bit gradients
  const MemoryEstimate full = of(config);
  EXPECT_NEAR(full[Entry::reserve].value, slack(full), 1);
  EXPECT_DOUBLE_EQ(full[Entry::gradients].value, 6 * kParameters);
}

TEST(MemoryEstimate, ReservesNoMoreThanTheDeviceHas) {
  rankwright::plan::TrainingConfig config = sample::dense_config({});
  const MemoryEstimate open = of(config);
  config.cluster.device.memory = (open.allocated() + 0.5 * open[Entry::reserve]) / 0.97;
  EXPECT_NEAR(of(config).reserved().value, 0.97 * config.cluster.device.memory.value, 1);
  config.cluster.device.memory = 0.5 * open.allocated();  // does not fit: returns what is needed
  EXPECT_DOUBLE_EQ(of(config).reserved().value, open.allocated().value);
}

TEST(MemoryEstimate, CountsCommunicators) {
  // the world, tp, dp; two for pp
  const MemoryEstimate l = of(sample::dense_config({.tp = 2, .dp = 2, .pp = 2}));
  EXPECT_DOUBLE_EQ(l[Entry::communicators].value, 5 * 0.54e9);
}

TEST(MemoryEstimate, HybridEpBuffersHoldTheTokensOfAllRanks) {
  // 4 ranks x 2,048 tokens, received and sent: 1,024 elements of 2 bytes and a probability of 4
  // bytes for each of 8 experts. All are in one domain; in domains of 2, half of the experts are.
  rankwright::plan::TrainingConfig config =
      sample::config_of(sample::model_of({{8, sample::sparse_layer()}}), {.dp = 4, .ep = 4});
  config.job.sequence = 2048;
  config.cluster.levels = {{.name = "nvlink", .arity = 4}};
  EXPECT_EQ(of(config)[Entry::dispatch_buffers], Bytes{0});
  config.plan.dispatcher = plan::Dispatcher::hybridep;
  EXPECT_DOUBLE_EQ(of(config)[Entry::dispatch_buffers].value, 2.0 * 4 * 2048 * (2048 + 4 * 8));
  config.cluster.levels = {{.name = "nvlink", .arity = 2}, {.name = "network", .arity = 2}};
  EXPECT_DOUBLE_EQ(of(config)[Entry::dispatch_buffers].value, 2.0 * 4 * 2048 * (2048 + 4 * 4));
}

// A quarter of 2,048 tokens has logits of 4 bytes; the layers keep as much as before.
TEST(MemoryEstimate, LogitsOfSomeTokens) {
  plan::TrainingConfig config = sample::dense_config({});
  const MemoryEstimate whole = of(config);
  config.job.loss_tokens = config.job.sequence / 4;
  const MemoryEstimate part = of(config);
  EXPECT_DOUBLE_EQ(part[Entry::logits].value, 4 * 512 * 32000.0);
  EXPECT_EQ(part[Entry::activations], whole[Entry::activations]);
}

TEST(MemoryEstimate, MtpModuleAddsLogits) {
  rankwright::plan::TrainingConfig config = sample::dense_config({});
  config.model.mtp_layers = 1;
  EXPECT_DOUBLE_EQ(of(config)[Entry::logits].value, 2 * 4 * 2048 * 32000.0);
  // a ninth layer, and the inputs of its projection: 4h
  EXPECT_DOUBLE_EQ(of(config)[Entry::activations].value, 9 * kLayer + 2048 * 2 * 4 * 1024.0);
}

TEST(MemoryEstimate, LargestBatchAndSequenceAreFinite) {
  rankwright::plan::TrainingConfig config = sample::dense_config({.micro_batch = plan::kMaxBatch});
  config.job.global_batch = plan::kMaxBatch;
  config.job.sequence = i64{1} << 30;
  config.software.attention = plan::AttentionKernel::unfused;
  EXPECT_TRUE(std::isfinite(of(config).total().value));
  EXPECT_GT(of(config).total().value, 1e27);
}

/// A config on this project's runtime, with fp32 gradients.
rankwright::plan::TrainingConfig runtime(plan::Plan plan) {
  rankwright::plan::TrainingConfig config = sample::dense_config(std::move(plan));
  for (const plan::Software& software : plan::frameworks())
    if (software.name == "rankwright") config.software = software;
  config.job.grad_dtype = plan::Dtype::fp32;
  return config;
}

/// kLayer with the scores of 16 heads kept in the format of the activations.
constexpr double kUnfusedLayer = 2048 * 2 * (4 * 1024 + 2560 + 3 * 4096) + 2048 * 2048 * 16 * 2.0;
constexpr double kLogits = 2048 * 32000.0;
constexpr double kHeadInputs =
    2 * 2048 * 1024.0;  // elements: the inputs of the last norm and of the head

TEST(MemoryEstimate, RuntimeCountsOnlyTensors) {
  const MemoryEstimate l = of(runtime({}));
  EXPECT_EQ(l.instant, Instant::loss);
  EXPECT_DOUBLE_EQ(l.states().value, 18 * kParameters);
  // fp32 logits are kept like an activation; the bf16 logits they come from are temporary
  const double kept = 8 * kUnfusedLayer + 4 * kLogits + 2 * kHeadInputs;
  EXPECT_DOUBLE_EQ(l[Entry::activations].value, kept);
  EXPECT_DOUBLE_EQ(l[Entry::logits].value, 2 * kLogits);
  EXPECT_DOUBLE_EQ(l.total().value, 18 * kParameters + kept + 2 * kLogits);
}

TEST(MemoryEstimate, RuntimeKeepsLogitsOfEveryMicrobatchInFlight) {
  // gpipe holds all four microbatches on the last stage; fp64 logits and layers have 8 bytes per
  // element
  rankwright::plan::TrainingConfig config =
      runtime({.pp = 2, .schedule = pipeline::Schedule::gpipe});
  config.job.param_dtype = config.job.grad_dtype = plan::Dtype::fp64;
  EXPECT_DOUBLE_EQ(of(config, 0)[Entry::activations].value, 4 * 4 * 4 * kUnfusedLayer);
  EXPECT_DOUBLE_EQ(of(config, 1)[Entry::activations].value,
                   4 * (4 * 4 * kUnfusedLayer + 8 * kLogits + 8 * kHeadInputs));
  EXPECT_EQ(of(config, 1)[Entry::logits], Bytes{});
}

TEST(MemoryEstimate, RuntimeHoldsABucketOrUnitDuringReduction) {
  const MemoryEstimate two = of(runtime({.dp = 4, .zero = 2, .bucket_size = 1'000'000}));
  EXPECT_DOUBLE_EQ(two[Entry::gradients].value, 4 * kParameters / 4);
  EXPECT_DOUBLE_EQ(two[Entry::buckets].value, 4 * 1e6);
  // the head with the last norm is the largest unit and the first in the backward
  const double unit = 32'768'000 + 1024;
  EXPECT_DOUBLE_EQ(two[Entry::reduce_scatter].value, 4 * (1e6 / 4 + unit));
  rankwright::plan::TrainingConfig config = runtime({.dp = 4, .zero = 3});
  EXPECT_DOUBLE_EQ(of(config)[Entry::reduce_scatter].value, 4 * (unit + unit / 4));
  EXPECT_DOUBLE_EQ(of(config)[Entry::gathered_units].value, 2 * 2 * unit);
  config.plan.overlap.param_gather = false;  // no prefetch
  EXPECT_DOUBLE_EQ(of(config)[Entry::gathered_units].value, 2 * unit);
}

rankwright::plan::TrainingConfig torchtitan(plan::Plan plan) {
  rankwright::plan::TrainingConfig config = sample::dense_config(plan);
  for (const plan::Software& row : plan::frameworks())
    if (row.name == "torchtitan") config.software = row;
  config.job.grad_dtype = plan::Dtype::fp32;
  return config;
}

TEST(ChunkedLoss, ReducesTheHeadOrComputesAChunk) {
  constexpr double kHead = 32'768'000;
  rankwright::plan::TrainingConfig config = torchtitan({.dp = 4, .zero = 3});
  const MemoryEstimate reduced = of(config);
  EXPECT_EQ(reduced.instant, Instant::loss);
  // the fp32 gradient of the head, the copy that is reduced, and a fourth of it
  EXPECT_DOUBLE_EQ(reduced[Entry::reduce_scatter].value, (4 + 4 + 1) * kHead);
  EXPECT_DOUBLE_EQ(reduced[Entry::gathered_units].value, 2 * kHead);
  // 256 tokens: their logits in bf16 and their input; fp32 gradients of all hidden states
  EXPECT_DOUBLE_EQ(reduced[Entry::logits].value, 2 * 256 * 32000.0 + 4 * 2048 * 1024);
  EXPECT_DOUBLE_EQ(reduced[Entry::sequence_gather].value, 2 * 256 * 1024);

  // 8,192 tokens at a time: 14 bytes for each of their logits are more than 5 of the head
  config.job.sequence = 65536;
  const MemoryEstimate computed = of(config);
  EXPECT_EQ(computed.instant, Instant::loss);
  EXPECT_DOUBLE_EQ(computed[Entry::reduce_scatter].value, 4 * kHead);
  EXPECT_DOUBLE_EQ(computed[Entry::logits].value, 14 * 8192 * 32000.0 + 4.0 * 65536 * 1024);
}

TEST(ChunkedLoss, BackwardOfALayerHoldsItsWeightsAndGradients) {
  constexpr double kLayerParameters = 15'206'400;
  rankwright::plan::TrainingConfig config = torchtitan({.dp = 4, .zero = 3});
  config.model.vocab = 1000;
  const MemoryEstimate l = of(config);
  EXPECT_EQ(l.instant, Instant::backward);
  // two gradients of the feed-forward's width and one of the hidden states
  EXPECT_DOUBLE_EQ(l[Entry::layer_gradients].value, 2048 * 2 * (2 * 4096 + 1024));
  EXPECT_DOUBLE_EQ(l[Entry::gathered_units].value, 2 * kLayerParameters);
  EXPECT_DOUBLE_EQ(l[Entry::reduce_scatter].value, 4 * kLayerParameters);
  config.job.sequence = 256;  // while the layer is reduced, more is held
  const MemoryEstimate few = of(config);
  EXPECT_DOUBLE_EQ(few[Entry::reduce_scatter].value, 8 * kLayerParameters);
  EXPECT_EQ(few[Entry::layer_gradients], Bytes{});
}

TEST(LogitBytes, InPlaceLossUsesTheParameterFormat) {
  const auto logit = [](plan::Dtype dtype) {
    return bytes_per_logit(plan::Loss::in_place, {.param_dtype = dtype});
  };
  EXPECT_EQ(logit(plan::Dtype::fp32), 4);
  EXPECT_EQ(logit(plan::Dtype::bf16), 6);
  EXPECT_EQ(logit(plan::Dtype::fp64), 8);
  EXPECT_EQ(bytes_per_logit(plan::Loss::eager, {.param_dtype = plan::Dtype::fp64}), 14);
}

// Laws.

plan::TrainingConfig random_config() {
  plan::TrainingConfig config = sample::random_config();
  config.software =
      plan::frameworks()[std::size_t(*rc::gen::inRange<i64>(0, i64(plan::frameworks().size())))];
  config.cluster.device.memory = {double(sample::one_of({0, 1, 40, 80})) * 1e9};
  return config;
}

RC_GTEST_PROP(MemoryEstimate, HasNoNegativeEntriesAndAddsUp, ()) {
  const plan::TrainingConfig config = random_config();
  const std::vector<MemoryEstimate> all =
      estimate_memory_per_pp_rank(config, catalog::get_calibration());
  RC_ASSERT(i64(all.size()) == config.plan.pp);
  for (const MemoryEstimate& l : all) {
    Bytes sum, allocated;
    for (const EntryRow& r : entries()) {
      RC_ASSERT(l[r.entry] >= Bytes{});
      sum += l[r.entry];
      if (r.entry < Entry::graph_pool) allocated += l[r.entry];
    }
    RC_ASSERT(l.allocated() == allocated);
    RC_ASSERT(l.total() == sum);
    RC_ASSERT(l.states() <= l.allocated() && l.allocated() <= l.reserved());
  }
}

RC_GTEST_PROP(MemoryEstimate, StatesMatchModelStates, ()) {
  plan::TrainingConfig config = random_config();
  config.software.fsdp = config.software.fp32_gradients = config.software.frees_gradients = false;
  for (i64 r = 0; r < config.plan.pp; ++r) {
    const States expected = compute_states(config, r);
    const MemoryEstimate l = estimate_memory(config, r, catalog::get_calibration());
    RC_ASSERT(l[Entry::parameters] == expected.parameters);
    RC_ASSERT(l[Entry::gradients] == expected.gradients);
    RC_ASSERT(l[Entry::optimizer] == expected.optimizer);
    RC_ASSERT(l[Entry::gathered_units] == expected.gathered);
  }
}

RC_GTEST_PROP(MemoryEstimate, StatesNeverGrowWithTheZeroStage, ()) {
  plan::TrainingConfig config = random_config();
  config.software.accumulation = plan::Accumulation::shards;  // M40: frozen weights have gradients
  const auto held = [&](int zero) {
    config.plan.zero = zero;
    return estimate_memory(config, 0, catalog::get_calibration()).states();
  };
  for (int zero = 0; zero < 3; ++zero) RC_ASSERT(held(zero + 1) <= held(zero));
}

RC_GTEST_PROP(Fullest, MatchesBruteForce, ()) {
  const plan::TrainingConfig config = random_config();
  const MemoryEstimate max = fullest(config, catalog::get_calibration());
  const std::vector<MemoryEstimate> all =
      estimate_memory_per_pp_rank(config, catalog::get_calibration());
  RC_ASSERT(i64(all.size()) == config.plan.pp);
  for (i64 r = 0; r < config.plan.pp; ++r) {
    RC_ASSERT(all[std::size_t(r)] == estimate_memory(config, r, catalog::get_calibration()));
    RC_ASSERT(all[std::size_t(r)].total() <= max.total());
  }
  RC_ASSERT(max == all[std::size_t(max.pp_rank)]);
}

/// Finds the largest total over all pp ranks by brute force.
Bytes largest(const rankwright::plan::TrainingConfig& config) {
  Bytes max{};
  for (const MemoryEstimate& l : estimate_memory_per_pp_rank(config, catalog::get_calibration()))
    max = std::max(max, l.total());
  return max;
}

TEST(Fullest, HandlesChunksWithDifferentRecomputation) {
  // The first layers of a pp rank are recomputed: its first chunk keeps little, its last
  // everything, and the chunks in flight differ between ranks.
  for (const pipeline::Schedule schedule :
       {pipeline::Schedule::zb_v, pipeline::Schedule::dualpipe_v, pipeline::Schedule::interleaved})
    for (i64 layers = 1; layers < 4; ++layers) {
      const rankwright::plan::TrainingConfig config =
          sample::dense_config({.pp = 2,
                                .virtual_stages = 2,
                                .schedule = schedule,
                                .recompute = plan::Recompute::full,
                                .recompute_layers = layers},
                               8);
      EXPECT_EQ(fullest(config, catalog::get_calibration()).total(), largest(config))
          << name(schedule) << layers;
    }
}

RC_GTEST_PROP(Fullest, MatchesBruteForceForAnyStagesAndRecompute, ()) {
  const pipeline::ScheduleRow kind = *rc::gen::elementOf(std::vector<pipeline::ScheduleRow>(
      pipeline::schedules().begin(), pipeline::schedules().end()));
  plan::Plan plan{.pp = *rc::gen::inRange<i64>(1, 9), .schedule = kind.schedule};
  plan.virtual_stages = std::clamp(*rc::gen::inRange<i64>(1, 5), kind.min_chunks, kind.max_chunks);
  plan.recompute =
      *rc::gen::element(plan::Recompute::none, plan::Recompute::selective, plan::Recompute::full);
  plan.recompute_layers = *rc::gen::inRange<i64>(0, 6);
  rankwright::plan::TrainingConfig config =
      sample::dense_config(plan, *rc::gen::inRange<i64>(1, 31));
  std::vector<i64> layers(std::size_t(plan.pp * plan.virtual_stages), 0);
  for (i64 k = 0; k < config.model.layers(); ++k)
    ++layers[*rc::gen::inRange<std::size_t>(0, layers.size())];
  config.plan.stages = plan::make_listed_stages(layers, 0);
  RC_PRE(!find_shape_fault(make_pipeline_shape(config)));
  RC_ASSERT(fullest(config, catalog::get_calibration()).total() == largest(config));
}

TEST(Fullest, HandlesUnevenStages) {
  rankwright::plan::TrainingConfig config =
      sample::dense_config({.pp = 2, .virtual_stages = 2, .schedule = pipeline::Schedule::zb_v}, 8);
  config.plan.stages = plan::make_listed_stages({1, 1, 3, 3}, 0);
  EXPECT_EQ(fullest(config, catalog::get_calibration()).total(), largest(config));
}

}  // namespace memory_test
}  // namespace rankwright::cost
