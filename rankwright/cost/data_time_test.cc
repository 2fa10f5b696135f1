#include "rankwright/cost/data_time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rankwright/catalog/catalog.h"
#include "tests/support/timed_configs.h"
#include "tests/support/typed_configs.h"

namespace rankwright::cost {
namespace data_time_test {

using K = plan::TrafficKind;
using G = mesh::GroupKind;
using plan::Op;

/// Returns a rank with a forward of `each` and a backward of twice that per microbatch.
RankWork work(const rankwright::plan::TrainingConfig& config, Seconds each) {
  return {.forward = each, .backward = 2 * each, .share = count_rank_share(config, 0), .layers = 8};
}

CommTime of(const rankwright::plan::TrainingConfig& config, Seconds each) {
  return estimate_data_time(config, work(config, each), make_data_shape(config, config.stages(), 0),
                            Links(config, catalog::get_calibration()), catalog::get_calibration());
}

/// Returns the time of one call.
Seconds one(const rankwright::plan::TrainingConfig& config, K kind, Op op, G group, Bytes size) {
  return Links(config, catalog::get_calibration()).time(kind, op, size, group);
}

/// Returns the time of a collective on `parameters` of `each` bytes in buckets of 40 million, the
/// default for up to 40 data-parallel ranks.
Seconds in_buckets(const rankwright::plan::TrainingConfig& config, K kind, Op op, G group,
                   i64 parameters, i64 each) {
  constexpr i64 kBucket = 40'000'000;
  Seconds sum = double(parameters / kBucket) * one(config, kind, op, group, bytes(kBucket, each));
  if (parameters % kBucket > 0)
    sum += one(config, kind, op, group, bytes(parameters % kBucket, each));
  return sum;
}

/// Returns the time to reduce all dense gradients of pp rank 0 once.
Seconds reduction(const rankwright::plan::TrainingConfig& config, Op op) {
  const K kind = op == Op::all_reduce ? K::dp_all_reduce : K::dp_reduce_scatter;
  return in_buckets(config, kind, op, G::dp_cp, count_rank_share(config, 0).dense,
                    config.job.grad_bytes());
}

/// Returns the time to gather all dense parameters of pp rank 0 once.
Seconds gather(const rankwright::plan::TrainingConfig& config) {
  return in_buckets(config, K::dp_all_gather, Op::all_gather, G::dp_cp,
                    count_rank_share(config, 0).dense, config.job.param_bytes());
}

/// Returns the time to add up the gradient norm: one number of 4 bytes over all ranks with ZeRO, or
/// over those of one replica.
Seconds norm(const rankwright::plan::TrainingConfig& config) {
  return one(config, K::gradient_norm, Op::all_reduce, config.plan.zero > 0 ? G::world : G::model,
             4.0_B);
}

/// Turns off the overlap of data-parallel traffic.
plan::Plan bare(plan::Plan plan) {
  plan.overlap.grad_reduce = plan.overlap.param_gather = false;
  return plan;
}

rankwright::plan::TrainingConfig experts(plan::Plan plan) {
  return sample::timed(sample::config_of(sample::model_of({{8, sample::sparse_layer()}}), plan));
}

TEST(DataTime, OneRankTakesNoTime) {
  const CommTime time = of(sample::timed(sample::dense_config({})), 1.0_s);
  EXPECT_EQ(time.exposed, Seconds{});
  EXPECT_EQ(time.overlapped, Seconds{});
}

TEST(DataTime, ExposesAtLeastAFixedFraction) {
  // ZeRO-0: one all-reduce per bucket. An hour of backward overlaps all but `dp_shown` of it. The
  // group of the gradient norm, tp x pp, has one rank.
  const rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config({.dp = 4}));
  const Seconds all = reduction(config, Op::all_reduce);
  const CommTime time = of(config, 3600.0_s);
  EXPECT_NEAR(time.exposed / (catalog::get_calibration()[cluster::Constant::dp_shown] * all), 1,
              1e-12);
  EXPECT_NEAR(time.total() / all, 1, 1e-12);
}

TEST(DataTime, EveryBucketHasItsLatency) {
  // 187,188,224 parameters in buckets of 187,188,224 / 4 = 46,797,056 are four all-reduces, each a
  // ring over 4 ranks with 2 x 3 hops of 5 us. One bucket for all has three of these latencies
  // less.
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config(bare({.dp = 4})));
  const i64 all = count_rank_share(config, 0).dense;
  ASSERT_EQ(all, 187'188'224);
  config.plan.bucket_size = all / 4;
  const Seconds four = of(config, 1.0_s).exposed;
  const Bytes quarter = bytes(all / 4, config.job.grad_bytes());
  EXPECT_NEAR(four / one(config, K::dp_all_reduce, Op::all_reduce, G::dp_cp, quarter), 4, 1e-12);
  config.plan.bucket_size = all;
  EXPECT_GE(four - of(config, 1.0_s).exposed, 3 * 6 * 5.0_us);
}

TEST(DataTime, TiedEmbeddingAddsAReductionBetweenFirstAndLastStage) {
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config({.pp = 2}));
  EXPECT_EQ(of(config, 1.0_s).exposed, norm(config));
  config.model.tied = true;
  const Bytes size =
      bytes(plan::count_embedding_share(config.model, 1).dense, config.job.grad_bytes());
  EXPECT_EQ(of(config, 1.0_s).exposed,
            one(config, K::tied_embedding_grad, Op::all_reduce, G::edges, size) + norm(config));
  // In a V order, head and embedding are on the same pp rank.
  config.plan.schedule = pipeline::Schedule::zb_v;
  config.plan.virtual_stages = 2;
  EXPECT_EQ(of(config, 1.0_s).exposed, norm(config));
}

TEST(DataTime, RanksBetweenWaitForTheTiedEmbedding) {
  // The first and the last of 4 pp ranks hold the vocabulary weight. All four finish the step
  // together, so the second waits for the reduction that it has no part in.
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config({.pp = 4}));
  config.model.tied = true;
  const cluster::Calibration& c = catalog::get_calibration();
  const plan::DataShape shape = make_data_shape(config, config.stages(), 1);
  ASSERT_FALSE(shape.vocabulary);
  const Bytes size = bytes(32'000 * 1024, config.job.grad_bytes());
  EXPECT_EQ(estimate_data_time(config, work(config, 1.0_s), shape, Links(config, c), c).exposed,
            norm(config) + one(config, K::tied_embedding_grad, Op::all_reduce, G::edges, size));
}

TEST(DataTime, SequenceParallelismSumsNormGradientsOverTp) {
  // 8 layers with 2 norms, and the norm before the head: 17 x 1,024 parameters.
  const rankwright::plan::TrainingConfig config =
      sample::timed(sample::dense_config({.tp = 2, .sequence_parallel = true}));
  const Bytes size = bytes(17 * 1024, config.job.grad_bytes());
  EXPECT_EQ(of(config, 1.0_s).exposed,
            one(config, K::tp_norm_grads, Op::all_reduce, G::tp, size) + norm(config));
}

TEST(DataTime, HybridShardingReducesEachShardOverItsReplicas) {
  // 8 ranks in shard groups of 2: reduce-scatter in pairs, all-reduce of half over 4 replicas, then
  // all-gather.
  const rankwright::plan::TrainingConfig config =
      sample::timed(sample::dense_config(bare({.dp = 8, .zero = 1, .shard_size = 2})));
  const i64 each = config.job.grad_bytes();
  const i64 all = count_rank_share(config, 0).dense;
  ASSERT_EQ(all / 40'000'000, 4);
  const Seconds copies = 4 * one(config, K::replica_all_reduce, Op::all_reduce, G::replicate,
                                 bytes(20'000'000, each)) +
                         one(config, K::replica_all_reduce, Op::all_reduce, G::replicate,
                             bytes(all - 160'000'000, each) / 2);
  const Seconds expected =
      in_buckets(config, K::dp_reduce_scatter, Op::reduce_scatter, G::shard, all, each) + copies +
      in_buckets(config, K::dp_all_gather, Op::all_gather, G::shard, all, 2) + norm(config);
  EXPECT_GT(copies, Seconds{});
  EXPECT_NEAR(of(config, 1.0_s).exposed / expected, 1, 1e-12);
}

TEST(DataTime, Zero1AllReducesIfTheSoftwareDoes) {
  rankwright::plan::TrainingConfig config =
      sample::timed(sample::dense_config(bare({.dp = 4, .zero = 1})));
  const Seconds rest = gather(config) + norm(config);
  EXPECT_NEAR(of(config, 1.0_s).exposed / (reduction(config, Op::reduce_scatter) + rest), 1, 1e-12);
  config.software.all_reduces = true;
  EXPECT_NEAR(of(config, 1.0_s).exposed / (reduction(config, Op::all_reduce) + rest), 1, 1e-12);
}

TEST(DataTime, ExpertsReduceOverTheirDataParallelRanks) {
  // 8 ranks with 4 of the 8 experts each: 4 ranks hold the same experts.
  const rankwright::plan::TrainingConfig config = experts(bare({.dp = 8, .ep = 2}));
  const Links links(config, catalog::get_calibration());
  ASSERT_EQ(links.span(G::edp).size, 4);
  const Seconds routed = in_buckets(config, K::expert_dp_all_reduce, Op::all_reduce, G::edp,
                                    count_rank_share(config, 0).expert, config.job.grad_bytes());
  EXPECT_NEAR(of(config, 1.0_s).exposed / (reduction(config, Op::all_reduce) + routed), 1, 1e-12);
}

TEST(DataTime, OverlapsOtherChunksToo) {
  // 2 chunks on 4 pp ranks, 2 microbatches: the window is 1 + (2 - 1) (2 - 1) / 2 = 1.5 backwards.
  // A backward of half the traffic's time, times the window of 1.5, overlaps 1.5 / 2 of it. The
  // chunks of one layer, the first with the embedding, are smaller than a bucket.
  rankwright::plan::TrainingConfig config = sample::timed(sample::dense_config(
      {.dp = 2, .pp = 4, .virtual_stages = 2, .schedule = pipeline::Schedule::looped_bfs}, 2));
  config.plan.bucket_size = 100'000'000;
  const i64 layer = count_layer_share(config.model, sample::dense_layer(), config.plan).dense;
  const i64 each = config.job.grad_bytes();
  const Seconds all =
      one(config, K::dp_all_reduce, Op::all_reduce, G::dp_cp, bytes(layer + 32'000 * 1024, each)) +
      one(config, K::dp_all_reduce, Op::all_reduce, G::dp_cp, bytes(layer, each));
  const Seconds backward = 0.5 / catalog::get_calibration()[cluster::Constant::dp_window] * all;
  EXPECT_NEAR((of(config, 0.5 * backward).exposed - norm(config)) / all, 0.25, 1e-12);
}

TEST(DataTime, WeightGathersOverlapForward) {
  // The forward overlaps a quarter of the gather; the backward is twice as long and overlaps twice
  // as much of the reduce-scatter.
  const rankwright::plan::TrainingConfig config =
      sample::timed(sample::dense_config({.dp = 4, .zero = 1}));
  const Seconds scattered = reduction(config, Op::reduce_scatter), gathered = gather(config);
  const Seconds forward =
      0.25 / catalog::get_calibration()[cluster::Constant::dp_window] * gathered;
  const Seconds expected = (scattered - 0.5 * gathered) + 0.75 * gathered + norm(config);
  EXPECT_NEAR(of(config, forward).exposed / expected, 1, 1e-12);
}

TEST(DataTime, FsdpReducesEveryMicrobatchUnlessInAPipeline) {
  // 4 microbatches with ZeRO-2: 4 reduce-scatters and a gather; in a pipeline one for all
  // microbatches.
  for (const i64 pp : {1, 2}) {
    rankwright::plan::TrainingConfig config =
        sample::timed(sample::dense_config(bare({.dp = 4, .pp = pp, .zero = 2})));
    config.software.fsdp = true;
    const Seconds expected =
        (pp == 1 ? 4 : 1) * reduction(config, Op::reduce_scatter) + gather(config) + norm(config);
    EXPECT_NEAR(of(config, 1.0_s).exposed / expected, 1, 1e-12) << "pp=" << pp;
  }
}

/// Returns the time of one call on each of the ten units of the sample model: 8 layers, the
/// embedding, and the output head with the norm before it.
Seconds on_units(const rankwright::plan::TrainingConfig& config, K kind, Op op, i64 each) {
  const i64 layer = count_layer_share(config.model, sample::dense_layer(), config.plan).dense;
  const auto call = [&](i64 elements) {
    return one(config, kind, op, G::dp_cp, bytes(elements, each));
  };
  return 8 * call(layer) + call(32'000 * 1024) + call(32'000 * 1024 + 1024);
}

TEST(DataTime, Zero3GathersTwiceAndReducesOncePerMicrobatch) {
  // Ten units with a gather and a reduce-scatter each, g and s together, 4 microbatches. Without
  // computation all of 4 (2 g + s) is exposed; next to an hour of computation only the slowdown
  // that it causes, and the ends: a mean gather g / 10 and a mean reduction s / 10.
  rankwright::plan::TrainingConfig config =
      sample::timed(sample::dense_config({.dp = 4, .zero = 3}));
  const Seconds g = on_units(config, K::dp_all_gather, Op::all_gather, 2);
  const Seconds s =
      on_units(config, K::dp_reduce_scatter, Op::reduce_scatter, config.job.grad_bytes());
  const Seconds all = 4 * (2 * g + s), last = norm(config);
  const CommTime none = of(config, Seconds{}), hour = of(config, 3600.0_s);
  EXPECT_NEAR(none.exposed / (all + last), 1, 1e-12);
  const Seconds slowdown = catalog::get_calibration()[cluster::Constant::zero3_contention] * all;
  EXPECT_NEAR(hour.exposed / (slowdown + (g + s) / 10 + last), 1, 1e-12);
  EXPECT_NEAR(hour.total() / (all + last), 1, 1e-12);
  config.software.gathers_fp8 = true;
  config.job.matmul = plan::Matmul::fp8;
  const Seconds less = g - on_units(config, K::dp_all_gather, Op::all_gather, 1);
  EXPECT_NEAR((none.exposed - of(config, Seconds{}).exposed) / (4 * 2 * less), 1, 1e-9);
}

TEST(DataTime, FsdpInAPipelineGathersAfterForwardPassesAndReducesOnce) {
  // The first of 2 pp ranks has 4 layers and the embedding. 4 microbatches gather 5 times; next to
  // an hour of computation, the first gather and all reductions are exposed.
  rankwright::plan::TrainingConfig config =
      sample::timed(sample::dense_config({.dp = 4, .pp = 2, .zero = 3}));
  config.software.fsdp = true;
  const i64 layer = count_layer_share(config.model, sample::dense_layer(), config.plan).dense;
  const auto on_rank = [&](K kind, Op op, i64 each) {
    const auto call = [&](i64 elements) {
      return one(config, kind, op, G::dp_cp, bytes(elements, each));
    };
    return 4 * call(layer) + call(32'000 * 1024);
  };
  const Seconds g = on_rank(K::dp_all_gather, Op::all_gather, 2);
  const Seconds s = on_rank(K::dp_reduce_scatter, Op::reduce_scatter, config.job.grad_bytes());
  const Seconds last = norm(config);
  EXPECT_NEAR(of(config, Seconds{}).exposed / (5 * g + s + last), 1, 1e-12);
  const Seconds slowdown = catalog::get_calibration()[cluster::Constant::zero3_contention] * 5 * g;
  EXPECT_NEAR(of(config, 3600.0_s).exposed / (slowdown + g / 5 + s + last), 1, 1e-12);
}

TEST(DataTime, MirroredStagesReduceAllGradients) {
  // DualPipe on 2 pp ranks: each holds both stages and thus all parameters, including experts. The
  // first stage has 4 layers and the embedding, the second 4 layers and the head.
  const rankwright::plan::TrainingConfig config =
      experts({.pp = 2, .schedule = pipeline::Schedule::dualpipe});
  const plan::Share layer = count_layer_share(config.model, sample::sparse_layer(), config.plan);
  ASSERT_EQ(8 * layer.expert, count_rank_share(config, 0).expert);
  const auto reduced = [&](i64 parameters) {
    return in_buckets(config, K::mirror_grad, Op::all_reduce, G::mirror, parameters,
                      config.job.grad_bytes());
  };
  const i64 embedding = 32'000 * 1024;
  const Seconds expected = reduced(4 * layer.dense + embedding) +
                           reduced(4 * layer.dense + embedding + 1024) +
                           2 * reduced(4 * layer.expert) + norm(config);
  EXPECT_NEAR(of(config, 1.0_s).exposed / expected, 1, 1e-12);
}

TEST(DataTime, SingleRailSoftwareUsesOneNic) {
  rankwright::plan::TrainingConfig config = config_of(
      "model: llama-3.1-8b\ncluster: dgx-h100 x 2\nparallelism: {dp_size: 16, zero_stage: 0}\n");
  config.plan.overlap.grad_reduce = false;
  const Seconds eight = reduction(config, Op::all_reduce);
  EXPECT_NEAR(of(config, 1.0_s).exposed / eight, 1, 1e-12);
  config.software.single_rail = true;
  EXPECT_GT(reduction(config, Op::all_reduce), 4 * eight);
  EXPECT_NEAR(of(config, 1.0_s).exposed / reduction(config, Op::all_reduce), 1, 1e-12);
}

RC_GTEST_PROP(DataTime, NeverDecreasesWithLessComputation, ()) {
  const rankwright::plan::TrainingConfig config = sample::random_timed_config();
  const Seconds each{double(*rc::gen::inRange(1, 1000)) * 1e-3};
  const CommTime more = of(config, 2 * each), less = of(config, each);
  RC_ASSERT(less.overlapped.value >= 0);
  // With ZeRO-2 and ZeRO-3, overlapped traffic slows the computation, so more computation may
  // expose more.
  RC_ASSERT(config.plan.zero >= 2 || less.exposed.value >= more.exposed.value * (1 - 1e-12));
}

}  // namespace data_time_test
}  // namespace rankwright::cost
