#include "rankwright/cost/memory.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>

#include "rankwright/cost/states.h"
#include "tests/sample.h"

namespace rankwright {
namespace memory_test {

/// Of the sample model: 8 layers of 15,206,400, twice 32,768,000 of vocabulary, a norm of 1024.
constexpr double kParameters = 8 * 15'206'400.0 + 2 * 32'768'000.0 + 1024;

/// 2048 tokens x 2 bytes x (norms 4h, queries to context 2560, feed-forward 3 x 4096), and 4 bytes
/// for each of 16 heads.
constexpr double kLayer = 2048 * (2 * (4 * 1024 + 2560 + 3 * 4096) + 4 * 16.0);

constexpr double kRows = 2 * 32000 * 1024.0;  // the vocabulary in 16 bits

/// With the constants that the examples are computed with, whatever a fit finds.
Calibration stated() {
  Calibration c = calibration();
  c[Constant::workspace] = 0.09;
  c[Constant::communicator] = 0.54;
  c[Constant::reserve] = 0.057;
  return c;
}

Ledger of(const rankwright::Setup& setup, i64 pp_rank = 0) {
  return ledger(setup, pp_rank, stated());
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

TEST(Ledger, OfOneDeviceIsAddedUpByHand) {
  const Ledger l = of(sample::dense_setup({}));
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
  // the allocator's share of all but states; context; the world's communicator
  EXPECT_DOUBLE_EQ(l.reserved().value, 16 * kParameters + 1.057 * tensors);
  EXPECT_DOUBLE_EQ(l.total().value, 16 * kParameters + 1.057 * tensors + 0.5e9 + 0.54e9);
}

TEST(Ledger, StandsAtTheBackwardOfALayerWhereThereIsNoLoss) {
  // First of two pp ranks: two microbatches of 4 layers; inside the feed-forward 3 x 4096 + 1024.
  const Ledger l = of(sample::dense_setup({.pp = 2}));
  EXPECT_EQ(l.instant, Instant::backward);
  EXPECT_DOUBLE_EQ(l[Entry::activations].value, 2 * 4 * kLayer);
  EXPECT_DOUBLE_EQ(l[Entry::layer_gradients].value, 2 * 2048 * (3 * 4096 + 1024.0));
  EXPECT_EQ(l[Entry::logits], Bytes{});
}

TEST(Ledger, StandsAtTheEmbeddingWhereItsGradientIsLargest) {
  // 16 tokens: their activations are nothing beside 2 x 32000 x 1024 bytes.
  rankwright::Setup setup = sample::dense_setup({.pp = 2});
  setup.job.sequence = 16;
  const Ledger l = of(setup);
  EXPECT_EQ(l.instant, Instant::embedding);
  EXPECT_DOUBLE_EQ(l[Entry::embedding_gradient].value, kRows);
  EXPECT_DOUBLE_EQ(l[Entry::activations].value, 4 * kLayer * 16 / 2048);  // the other microbatch's
}

TEST(Ledger, OfFullRecomputeBringsOneLayerBack) {
  const Ledger l = of(sample::dense_setup({.pp = 2, .recompute = Recompute::full}));
  EXPECT_DOUBLE_EQ(l[Entry::activations].value, 2 * 4 * 2048 * 1024 * 2.0);
  EXPECT_DOUBLE_EQ(l[Entry::recomputed_layer].value, kLayer);
}

TEST(Ledger, OfSequenceParallelismGathersABlocksInputAndItsGradient) {
  const Ledger l = of(sample::dense_setup({.tp = 2, .sequence_parallel = true}));
  EXPECT_DOUBLE_EQ(l[Entry::sequence_gather].value, 2 * 2048 * 1024 * 2.0);
  EXPECT_EQ(of(sample::dense_setup({.tp = 2}))[Entry::sequence_gather], Bytes{});
  EXPECT_EQ(of(sample::dense_setup({.sequence_parallel = true}))[Entry::sequence_gather], Bytes{});
}

rankwright::Setup fsdp(Plan plan) {
  rankwright::Setup setup = sample::dense_setup(std::move(plan));
  for (const Software& software : frameworks())
    if (software.name == "torchtitan") setup.software = software;
  return setup;
}

TEST(Ledger, OfFsdpKeepsFp32WeightsAndGathersIn16Bits) {
  // 4 + 4 + 8 bytes over 8; two layers of 15,206,400, embedding, head and norm whole in 16 bits
  const Ledger l = of(fsdp({.dp = 8, .zero = 3}));
  EXPECT_DOUBLE_EQ(l[Entry::parameters].value, 4 * kParameters / 8);
  EXPECT_DOUBLE_EQ(l[Entry::optimizer].value, 8 * kParameters / 8);
  EXPECT_DOUBLE_EQ(l[Entry::gathered_units].value,
                   2 * (2 * 15'206'400.0 + 2 * 32'768'000.0 + 1024));
  EXPECT_DOUBLE_EQ(l[Entry::reduce_scatter].value, 6 * 15'206'400.0);
  EXPECT_EQ(l[Entry::empty_gradients] + l[Entry::head_gradient], Bytes{});
}

TEST(Ledger, OfFsdpInAPipelineHoldsTheStageAndItsGradientsWhole) {
  const double stage = 4 * 15'206'400.0 + 32'768'000.0;
  const Ledger l = of(fsdp({.dp = 8, .pp = 2, .zero = 2}));
  EXPECT_DOUBLE_EQ(l[Entry::parameters].value, 4 * stage / 8);
  EXPECT_DOUBLE_EQ(l[Entry::gradients].value, 4 * stage);
  EXPECT_DOUBLE_EQ(l[Entry::gathered_units].value, 2 * stage);
}

TEST(Ledger, OfDeepspeedCopiesGradientsAtTheStepOrHoldsThemTwice) {
  rankwright::Setup setup = sample::dense_setup({.dp = 4, .zero = 1});
  setup.software.fp32_gradients = true;
  const double share = stated()[Constant::reserve];
  const auto slack = [&](const Ledger& l) { return share * (l.allocated() - l.states()).value; };
  const Ledger half = of(setup);  // 16-bit gradients: 4 bytes a parameter of the shard
  EXPECT_NEAR(half[Entry::reserve].value, slack(half) + 4 * kParameters / 4, 1);
  setup.job.grad_dtype = Dtype::fp32;  // sums in fp32 beside 16-bit gradients
  const Ledger full = of(setup);
  EXPECT_NEAR(full[Entry::reserve].value, slack(full), 1);
  EXPECT_DOUBLE_EQ(full[Entry::gradients].value, 6 * kParameters);
}

TEST(Ledger, ReservesNoMoreThanTheDeviceHas) {
  rankwright::Setup setup = sample::dense_setup({});
  const Ledger open = of(setup);
  setup.cluster.device.memory = (open.allocated() + 0.5 * open[Entry::reserve]) / 0.97;
  EXPECT_NEAR(of(setup).reserved().value, 0.97 * setup.cluster.device.memory.value, 1);
  setup.cluster.device.memory = 0.5 * open.allocated();  // does not fit: says what is needed
  EXPECT_DOUBLE_EQ(of(setup).reserved().value, open.allocated().value);
}

TEST(Ledger, CountsCommunicators) {
  // the world, tp, dp; two for pp
  const Ledger l = of(sample::dense_setup({.tp = 2, .dp = 2, .pp = 2}));
  EXPECT_DOUBLE_EQ(l[Entry::communicators].value, 5 * 0.54e9);
}

TEST(Ledger, OfMtpHasLogitsOnceMore) {
  rankwright::Setup setup = sample::dense_setup({});
  setup.model.mtp_layers = 1;
  EXPECT_DOUBLE_EQ(of(setup)[Entry::logits].value, 2 * 4 * 2048 * 32000.0);
  // a ninth layer, and what its projection reads: 4h
  EXPECT_DOUBLE_EQ(of(setup)[Entry::activations].value, 9 * kLayer + 2048 * 2 * 4 * 1024.0);
}

TEST(Ledger, OfTheLargestBatchAndSequenceIsFinite) {
  rankwright::Setup setup = sample::dense_setup({.micro_batch = kMaxBatch});
  setup.job.global_batch = kMaxBatch;
  setup.job.sequence = i64{1} << 30;
  setup.software.attention = AttentionKernel::unfused;
  EXPECT_TRUE(std::isfinite(of(setup).total().value));
  EXPECT_GT(of(setup).total().value, 1e27);
}

/// On the runtime of this project, gradients in fp32.
rankwright::Setup runtime(Plan plan) {
  rankwright::Setup setup = sample::dense_setup(std::move(plan));
  for (const Software& software : frameworks())
    if (software.name == "rankwright") setup.software = software;
  setup.job.grad_dtype = Dtype::fp32;
  return setup;
}

/// kLayer, where the scores of 16 heads are kept in the activations' format instead.
constexpr double kUnfusedLayer = 2048 * 2 * (4 * 1024 + 2560 + 3 * 4096) + 2048 * 2048 * 16 * 2.0;
constexpr double kLogits = 2048 * 32000.0;
constexpr double kHeadInputs =
    2 * 2048 * 1024.0;  // numbers: what enters the last norm and the head

TEST(Ledger, OfTheRuntimeIsItsTensorsAlone) {
  const Ledger l = of(runtime({}));
  EXPECT_EQ(l.instant, Instant::loss);
  EXPECT_DOUBLE_EQ(l.states().value, 18 * kParameters);
  // fp32 logits are kept like an activation; the bf16 ones that they come from are gone soon
  const double kept = 8 * kUnfusedLayer + 4 * kLogits + 2 * kHeadInputs;
  EXPECT_DOUBLE_EQ(l[Entry::activations].value, kept);
  EXPECT_DOUBLE_EQ(l[Entry::logits].value, 2 * kLogits);
  EXPECT_DOUBLE_EQ(l.total().value, 18 * kParameters + kept + 2 * kLogits);
}

TEST(Ledger, OfTheRuntimeKeepsLogitsOfEveryMicrobatchInFlight) {
  // gpipe holds all four on the last stage; fp64 logits and layers are 8 bytes a number
  rankwright::Setup setup = runtime({.pp = 2, .schedule = Schedule::gpipe});
  setup.job.param_dtype = setup.job.grad_dtype = Dtype::fp64;
  EXPECT_DOUBLE_EQ(of(setup, 0)[Entry::activations].value, 4 * 4 * 4 * kUnfusedLayer);
  EXPECT_DOUBLE_EQ(of(setup, 1)[Entry::activations].value,
                   4 * (4 * 4 * kUnfusedLayer + 8 * kLogits + 8 * kHeadInputs));
  EXPECT_EQ(of(setup, 1)[Entry::logits], Bytes{});
}

TEST(Ledger, OfTheRuntimeHoldsABucketOrAUnitOnItsWayToTheShards) {
  const Ledger two = of(runtime({.dp = 4, .zero = 2, .bucket_size = 1'000'000}));
  EXPECT_DOUBLE_EQ(two[Entry::gradients].value, 4 * kParameters / 4);
  EXPECT_DOUBLE_EQ(two[Entry::buckets].value, 4 * 1e6);
  // the head with the last norm is the largest unit, and what backward begins with
  const double unit = 32'768'000 + 1024;
  EXPECT_DOUBLE_EQ(two[Entry::reduce_scatter].value, 4 * (1e6 / 4 + unit));
  rankwright::Setup setup = runtime({.dp = 4, .zero = 3});
  EXPECT_DOUBLE_EQ(of(setup)[Entry::reduce_scatter].value, 4 * (unit + unit / 4));
  EXPECT_DOUBLE_EQ(of(setup)[Entry::gathered_units].value, 2 * 2 * unit);
  setup.plan.overlap.param_gather = false;  // nothing ahead
  EXPECT_DOUBLE_EQ(of(setup)[Entry::gathered_units].value, 2 * unit);
}

TEST(LogitBytes, InPlaceFollowTheParameters) {
  const auto logit = [](Dtype dtype) {
    return bytes_per_logit(Loss::in_place, {.param_dtype = dtype});
  };
  EXPECT_EQ(logit(Dtype::fp32), 4);
  EXPECT_EQ(logit(Dtype::bf16), 6);
  EXPECT_EQ(logit(Dtype::fp64), 8);
  EXPECT_EQ(bytes_per_logit(Loss::eager, {.param_dtype = Dtype::fp64}), 14);
}

// Laws.

Setup random_setup() {
  Setup setup = sample::random_setup();
  setup.software = frameworks()[std::size_t(*rc::gen::inRange<i64>(0, i64(frameworks().size())))];
  setup.cluster.device.memory = {double(sample::one_of({0, 1, 40, 80})) * 1e9};
  return setup;
}

RC_GTEST_PROP(Ledger, HasNoNegativeEntriesAndAddsUp, ()) {
  const Setup setup = random_setup();
  for (const Ledger& l : ledgers(setup, calibration())) {
    Bytes sum, allocated;
    for (const EntryRow& r : entries()) {
      RC_ASSERT(l[r.entry] >= Bytes{});
      sum += l[r.entry];
      if (r.entry < Entry::reserve) allocated += l[r.entry];
    }
    RC_ASSERT(l.allocated() == allocated);
    RC_ASSERT(l.total() == sum);
    RC_ASSERT(l.states() <= l.allocated() && l.allocated() <= l.reserved());
  }
}

RC_GTEST_PROP(Ledger, StatesAreThoseOfStates, ()) {
  Setup setup = random_setup();
  setup.software.fsdp = setup.software.fp32_gradients = false;
  for (i64 r = 0; r < setup.plan.pp; ++r) {
    const States expected = states(setup, r);
    const Ledger l = ledger(setup, r, calibration());
    RC_ASSERT(l[Entry::parameters] == expected.parameters);
    RC_ASSERT(l[Entry::gradients] == expected.gradients);
    RC_ASSERT(l[Entry::optimizer] == expected.optimizer);
    RC_ASSERT(l[Entry::gathered_units] == expected.gathered);
  }
}

RC_GTEST_PROP(Ledger, StatesNeverGrowWithTheZeroStage, ()) {
  Setup setup = random_setup();
  const auto held = [&](int zero) {
    setup.plan.zero = zero;
    return ledger(setup, 0, calibration()).states();
  };
  for (int zero = 0; zero < 3; ++zero) RC_ASSERT(held(zero + 1) <= held(zero));
}

RC_GTEST_PROP(Fullest, IsTheLargestByBruteForce, ()) {
  const Setup setup = random_setup();
  const Ledger most = fullest(setup, calibration());
  const std::vector<Ledger> all = ledgers(setup, calibration());
  RC_ASSERT(i64(all.size()) == setup.plan.pp);
  for (i64 r = 0; r < setup.plan.pp; ++r) {
    RC_ASSERT(all[std::size_t(r)] == ledger(setup, r, calibration()));
    RC_ASSERT(all[std::size_t(r)].total() <= most.total());
  }
  RC_ASSERT(most == all[std::size_t(most.pp_rank)]);
}

/// The largest of all pp ranks, one by one.
Bytes largest(const rankwright::Setup& setup) {
  Bytes most{};
  for (const Ledger& l : ledgers(setup, calibration())) most = std::max(most, l.total());
  return most;
}

TEST(Fullest, IsFoundWhereChunksKeepDifferently) {
  // The first layers of a pp rank run again: its first chunk keeps little, its last all, and which
  // of them is in flight differs from rank to rank.
  for (const Schedule schedule : {Schedule::zb_v, Schedule::dualpipe_v, Schedule::interleaved})
    for (i64 layers = 1; layers < 4; ++layers) {
      const rankwright::Setup setup = sample::dense_setup({.pp = 2,
                                                           .virtual_stages = 2,
                                                           .schedule = schedule,
                                                           .recompute = Recompute::full,
                                                           .recompute_layers = layers},
                                                          8);
      EXPECT_EQ(fullest(setup, calibration()).total(), largest(setup)) << name(schedule) << layers;
    }
}

RC_GTEST_PROP(Fullest, IsTheLargestHoweverStagesAndRecomputeLie, ()) {
  const ScheduleRow kind =
      *rc::gen::elementOf(std::vector<ScheduleRow>(schedules().begin(), schedules().end()));
  Plan plan{.pp = *rc::gen::inRange<i64>(1, 9), .schedule = kind.schedule};
  plan.virtual_stages = std::clamp(*rc::gen::inRange<i64>(1, 5), kind.min_chunks, kind.max_chunks);
  plan.recompute = *rc::gen::element(Recompute::none, Recompute::selective, Recompute::full);
  plan.recompute_layers = *rc::gen::inRange<i64>(0, 6);
  rankwright::Setup setup = sample::dense_setup(plan, *rc::gen::inRange<i64>(1, 31));
  std::vector<i64> layers(std::size_t(plan.pp * plan.virtual_stages), 0);
  for (i64 k = 0; k < setup.model.layers(); ++k)
    ++layers[*rc::gen::inRange<std::size_t>(0, layers.size())];
  setup.plan.stages = listed_stages(layers, 0);
  RC_PRE(!shape_fault(pipeline_shape(setup)));
  RC_ASSERT(fullest(setup, calibration()).total() == largest(setup));
}

TEST(Fullest, IsFoundAmongUnevenStages) {
  rankwright::Setup setup =
      sample::dense_setup({.pp = 2, .virtual_stages = 2, .schedule = Schedule::zb_v}, 8);
  setup.plan.stages = listed_stages({1, 1, 3, 3}, 0);
  EXPECT_EQ(fullest(setup, calibration()).total(), largest(setup));
}

}  // namespace memory_test
}  // namespace rankwright
