// Worked examples, at least one per kind of traffic. kHidden is the size of the hidden states of
// one microbatch of 2048 tokens in bf16.
#include "rankwright/plan/traffic.h"

#include <gtest/gtest.h>

#include "rankwright/plan/shares.h"
#include "tests/support/sample.h"

namespace rankwright::plan {
namespace traffic_test {

using K = TrafficKind;
using sample::config_of;
using sample::dense_config;
using sample::dense_layer;
using sample::model_of;
using sample::sparse_layer;

constexpr double kHidden = 2048.0 * 1024 * 2;  // tokens x width x 2 bytes

/// Returns the row of a kind; if there is none, a row without calls.
Traffic find(const TrainingConfig& config, i64 pp_rank, K kind) {
  for (const Traffic& t : list_traffic(config, pp_rank))
    if (t.kind == kind) return t;
  return {.kind = kind, .op = {}, .group = {}};
}

void expect(const Traffic& t, i64 calls, double each, Op op) {
  EXPECT_EQ(t.calls, calls) << row(t.kind).label;
  EXPECT_DOUBLE_EQ(t.total.value, double(calls) * each) << row(t.kind).label;
  EXPECT_EQ(t.op, op) << row(t.kind).label;
}

/// Makes a config with 8 dense layers and 4 microbatches.
TrainingConfig tensor_setup(bool sequence_parallel) {
  return dense_config({.tp = 2, .sequence_parallel = sequence_parallel});
}

TEST(TrafficKinds, AreInTheOrderOfTheirEnum) {
  ASSERT_FALSE(list_traffic_kinds().empty());
  for (const TrafficKindRow& kind : list_traffic_kinds()) EXPECT_EQ(&row(kind.kind), &kind);
}

TEST(TpTraffic, SequenceParallelism_IsSixGathersAndFourScattersPerLayer) {
  // forward 2 + 2, backward 4 + 2; x 8 layers x 4 microbatches
  expect(find(tensor_setup(true), 0, K::tp_all_gather), 6 * 8 * 4, kHidden, Op::all_gather);
  expect(find(tensor_setup(true), 0, K::tp_reduce_scatter), 4 * 8 * 4, kHidden, Op::reduce_scatter);
  EXPECT_EQ(find(tensor_setup(true), 0, K::tp_all_reduce).calls, 0);
}

TEST(TpTraffic, NoSequenceParallelism_IsFourAllReducesPerLayer) {
  // forward 2, backward 2; x 8 layers x 4 microbatches
  expect(find(tensor_setup(false), 0, K::tp_all_reduce), 4 * 8 * 4, kHidden, Op::all_reduce);
  EXPECT_EQ(find(tensor_setup(false), 0, K::tp_all_gather).calls, 0);
}

TEST(TpTraffic, FullRecompute_RepeatsTheForwardCalls) {
  TrainingConfig config = tensor_setup(true);
  config.plan.recompute = Recompute::full;
  // 2 more gathers and 2 more scatters per layer
  expect(find(config, 0, K::tp_all_gather), 8 * 8 * 4, kHidden, Op::all_gather);
  expect(find(config, 0, K::tp_reduce_scatter), 6 * 8 * 4, kHidden, Op::reduce_scatter);
  config.plan.recompute_layers = 3;  // of three layers only: (6 x 8 + 2 x 3) x 4
  expect(find(config, 0, K::tp_all_gather), 54 * 4, kHidden, Op::all_gather);
}

TEST(TpTraffic, SelectiveRecompute_EqualsNoRecompute) {
  TrainingConfig config = tensor_setup(true);
  config.plan.recompute = Recompute::selective;
  EXPECT_EQ(find(config, 0, K::tp_all_gather), find(tensor_setup(true), 0, K::tp_all_gather));
}

TEST(TpTraffic, ExpertLayers_AreAttentionAndTheSharedExpert) {
  TrainingConfig config = tensor_setup(true);
  config.model = model_of({{8, sparse_layer()}});
  EXPECT_EQ(find(config, 0, K::tp_all_gather).calls, 6 * 8 * 4);
  model::Layer without = sparse_layer();
  without.ffn.shared_width = 0;
  config.model = model_of({{8, without}});
  EXPECT_EQ(find(config, 0, K::tp_all_gather).calls, 3 * 8 * 4);  // only attention
}

TEST(TpTraffic, Embedding_IsOneCallPerMicrobatch) {
  expect(find(tensor_setup(true), 0, K::tp_embedding), 4, kHidden, Op::reduce_scatter);
  expect(find(tensor_setup(true), 0, K::tp_embedding_grad), 4, kHidden, Op::all_gather);
  expect(find(tensor_setup(false), 0, K::tp_embedding), 4, kHidden, Op::all_reduce);
  EXPECT_EQ(find(tensor_setup(false), 0, K::tp_embedding_grad).calls, 0);
}

TEST(TpTraffic, LearnedPositions_AllReduceTheEmbedding) {
  TrainingConfig config = tensor_setup(true);
  config.model.positions = 2048;
  expect(find(config, 0, K::tp_embedding), 4, kHidden, Op::all_reduce);
  expect(find(config, 0, K::tp_embedding_grad), 4, kHidden, Op::all_gather);
}

TEST(TpTraffic, Head_IsTwoGathersAndOneReduction) {
  // gathered forward and again for the weight gradient; the input gradient is scattered
  expect(find(tensor_setup(true), 0, K::tp_head_gather), 2 * 4, kHidden, Op::all_gather);
  expect(find(tensor_setup(true), 0, K::tp_head_reduce), 4, kHidden, Op::reduce_scatter);
  expect(find(tensor_setup(false), 0, K::tp_head_reduce), 4, kHidden, Op::all_reduce);
  EXPECT_EQ(find(tensor_setup(false), 0, K::tp_head_gather).calls, 0);
}

TEST(TpTraffic, CrossEntropy_IsThreeNumbersPerToken) {
  // maximum, target, sum of exponentials: 3 x 4 microbatches of 2048 fp32
  expect(find(tensor_setup(false), 0, K::tp_cross_entropy), 12, 2048 * 4, Op::all_reduce);
}

TEST(TpTraffic, SequenceParallelism_ReducesNormGradientsOncePerStep) {
  // 8 layers x 2 norms of 1024 and the final one, 2 bytes per gradient
  expect(find(tensor_setup(true), 0, K::tp_norm_grads), 1, 17 * 1024 * 2, Op::all_reduce);
  EXPECT_EQ(find(tensor_setup(false), 0, K::tp_norm_grads).calls, 0);
}

TEST(TpTraffic, Dtensor_ReducesTheGradientOfEachNorm) {
  TrainingConfig config = tensor_setup(true);
  config.software.dtensor = true;
  config.job.grad_dtype = Dtype::fp32;
  // 8 layers x 2 norms and the final one, of 1024; without ZeRO-2 once per step, in fp32
  expect(find(config, 0, K::tp_norm_grads), 17, 1024 * 4, Op::all_reduce);
  config.plan.zero = 3;  // with each of the 4 microbatches, in bf16
  expect(find(config, 0, K::tp_norm_grads), 4 * 17, 1024 * 2, Op::all_reduce);
  config.software.fsdp = true;
  config.plan.pp = 2;  // accumulated first; the second pp rank has the final norm
  expect(find(config, 0, K::tp_norm_grads), 8, 1024 * 4, Op::all_reduce);
  expect(find(config, 1, K::tp_norm_grads), 9, 1024 * 4, Op::all_reduce);
}

TEST(TpTraffic, ChunkedLoss_HasEightTimesAsManyCalls) {
  TrainingConfig config = tensor_setup(true);
  config.software.loss = Loss::chunked;
  // 3 x 8 chunks x 4 microbatches of 2048 / 8 tokens in fp32
  expect(find(config, 0, K::tp_cross_entropy), 3 * 8 * 4, 2048 / 8 * 4, Op::all_reduce);
}

TEST(TpTraffic, HeadNorms_AreReducedWithoutSequenceParallelismToo) {
  TrainingConfig config = tensor_setup(false);
  model::Layer layer = dense_layer();
  layer.attention.qk_norm = true;
  config.model = model_of({{8, layer}});
  // 8 layers x (queries 64 + keys 64) x 2 bytes
  expect(find(config, 0, K::tp_norm_grads), 1, 8 * 128 * 2, Op::all_reduce);
}

TEST(TpTraffic, Mtp_IsALayerAnEmbeddingAHeadAndAProjection) {
  TrainingConfig config = tensor_setup(true);
  config.model.mtp_layers = 1;
  expect(find(config, 0, K::tp_embedding), 2 * 4, kHidden, Op::reduce_scatter);
  expect(find(config, 0, K::tp_head_gather), 2 * 2 * 4, kHidden, Op::all_gather);
  expect(find(config, 0, K::tp_cross_entropy), 2 * 12, 2048 * 4, Op::all_reduce);
  // 9 layers of 6 gathers; the projection: input (2h) twice, output and its gradient once each
  const Traffic gathers = find(config, 0, K::tp_all_gather);
  EXPECT_EQ(gathers.calls, (6 * 9 + 4) * 4);
  EXPECT_EQ(gathers.total.value, (6 * 9 + 2 * 2 + 2) * 4 * kHidden);
  // 9 layers of 4 scatters; the gradients of the projection's output and of its input (2h)
  const Traffic scatters = find(config, 0, K::tp_reduce_scatter);
  EXPECT_EQ(scatters.calls, (4 * 9 + 2) * 4);
  EXPECT_EQ(scatters.total.value, (4 * 9 + 1 + 2) * 4 * kHidden);
}

TEST(TpTraffic, MtpWithoutLoss_EmbedsButHasNoCrossEntropy) {
  TrainingConfig config = dense_config({.tp = 2, .pp = 4, .sequence_parallel = true});
  config.model.mtp_layers = 1;
  config.plan.stages = *parse_layout("Et*4|t*4|m|L");
  EXPECT_EQ(find(config, 2, K::tp_embedding).calls, 4);  // its own embedding, of the next tokens
  EXPECT_EQ(find(config, 2, K::tp_cross_entropy).calls, 0);   // no loss here
  EXPECT_EQ(find(config, 3, K::tp_cross_entropy).calls, 24);  // 2 losses x 3 x 4 microbatches
}

/// Makes a config with cp 4: 512 tokens per rank and microbatch; keys and values are 256 wide each.
TrainingConfig context_setup(CpComm comm, Recompute recompute = Recompute::none) {
  return dense_config({.cp = 4, .cp_comm = comm, .recompute = recompute});
}
constexpr double kKeyValue = 512.0 * (256 + 256) * 2;

TEST(CpTraffic, Ring_IsThreeSendsForwardAndSixBackward) {
  // forward keys and values, backward those and their gradients: 3 x (cp - 1) per layer
  expect(find(context_setup(CpComm::p2p), 0, K::cp_ring), 9 * 8 * 4, kKeyValue, Op::send_recv);
}

TEST(CpTraffic, AllGather_IsTwoGathersAndAScatterOfKeysAndOfValues) {
  const TrainingConfig config = context_setup(CpComm::all_gather);
  expect(find(config, 0, K::cp_all_gather), 2 * 2 * 8 * 4, 2 * kKeyValue, Op::all_gather);
  expect(find(config, 0, K::cp_reduce_scatter), 2 * 8 * 4, 2 * kKeyValue, Op::reduce_scatter);
}

TEST(CpTraffic, EagerPyTorch_GathersOnce) {
  TrainingConfig config = context_setup(CpComm::all_gather);
  config.software.eager_ops = config.software.recomputes_ops = true;
  EXPECT_EQ(find(config, 0, K::cp_all_gather).calls, 2 * 8 * 4);
  config.plan.recompute = Recompute::selective;  // drops what was gathered
  EXPECT_EQ(find(config, 0, K::cp_all_gather).calls, 2 * 2 * 8 * 4);
}

TEST(CpTraffic, AllToAll_IsFourTensorsEachWay) {
  // query and output 1024 wide, key and value 256: 2560 numbers per token in 4 calls, twice per
  // layer
  const Traffic t = find(context_setup(CpComm::a2a), 0, K::cp_all_to_all);
  EXPECT_EQ(t.calls, 4 * 2 * 8 * 4);
  EXPECT_EQ(t.total.value, 2 * 8 * 4 * 512.0 * 2560 * 2);
}

TEST(CpTraffic, SelectiveRecompute_RepeatsAttention) {
  const TrainingConfig ring = context_setup(CpComm::p2p, Recompute::selective);
  EXPECT_EQ(find(ring, 0, K::cp_ring).calls, 12 * 8 * 4);  // 3 more sends
  const TrainingConfig gather = context_setup(CpComm::all_gather, Recompute::selective);
  EXPECT_EQ(find(gather, 0, K::cp_all_gather).calls, 2 * 3 * 8 * 4);
  EXPECT_EQ(find(gather, 0, K::cp_reduce_scatter).calls, 2 * 8 * 4);
}

TEST(CpTraffic, DifferentLayers_AreOneRow) {
  TrainingConfig config = context_setup(CpComm::p2p);
  config.model = model_of({{3, dense_layer()}, {5, sparse_layer()}});
  EXPECT_EQ(find(config, 0, K::cp_ring).calls, 9 * 8 * 4);
}

/// Makes a config with 2 of 8 experts per token.
TrainingConfig expert_setup(Plan plan) { return config_of(model_of({{8, sparse_layer()}}), plan); }

TEST(EpTraffic, Tokens_AreDispatchedAndCombinedForwardAndBackward) {
  const TrainingConfig config = expert_setup({.dp = 4, .ep = 4});
  // 4 per layer, each with 2 copies of every token
  expect(find(config, 0, K::ep_all_to_all), 4 * 8 * 4, 2 * kHidden, Op::all_to_all);
}

TEST(EpTraffic, FullRecompute_IsSixPerLayer) {
  const TrainingConfig config = expert_setup({.dp = 4, .ep = 4, .recompute = Recompute::full});
  EXPECT_EQ(find(config, 0, K::ep_all_to_all).calls, 6 * 8 * 4);
}

TEST(EpTraffic, Dtensor_ExchangesTokenCountsBeforeEachDispatch) {
  TrainingConfig config = expert_setup({.dp = 4, .ep = 4});
  EXPECT_EQ(find(config, 0, K::ep_token_counts).calls, 0);
  config.software.dtensor = true;
  // 8 layers x 4 microbatches, 8 bytes for each of 8 experts; recomputation dispatches again
  expect(find(config, 0, K::ep_token_counts), 8 * 4, 8 * 8, Op::all_to_all);
  config.plan.recompute = Recompute::full;
  expect(find(config, 0, K::ep_token_counts), 2 * 8 * 4, 8 * 8, Op::all_to_all);
}

TEST(EpTraffic, SequenceParallelism_SendsEachRanksOwnTokens) {
  const TrainingConfig config =
      expert_setup({.tp = 2, .dp = 4, .ep = 4, .sequence_parallel = true});
  expect(find(config, 0, K::ep_all_to_all), 4 * 8 * 4, 2 * kHidden / 2, Op::all_to_all);
}

TEST(EtpTraffic, GathersReceivedTokensAndScattersOutputs) {
  const TrainingConfig config =
      expert_setup({.tp = 2, .dp = 4, .ep = 4, .etp = 2, .sequence_parallel = true});
  // forward one of each, backward one of each; 2 copies of half the tokens from 2 ranks
  expect(find(config, 0, K::etp_all_gather), 2 * 8 * 4, 2 * kHidden, Op::all_gather);
  expect(find(config, 0, K::etp_reduce_scatter), 2 * 8 * 4, 2 * kHidden, Op::reduce_scatter);
}

TEST(EtpTraffic, DispatchIn8Bits_LeavesItInTheFormatOfActivations) {
  TrainingConfig config =
      expert_setup({.tp = 2, .dp = 4, .ep = 4, .etp = 2, .sequence_parallel = true});
  config.software.fp8_dispatch = true;
  config.job.matmul = Matmul::fp8;
  // 2 copies of half the tokens: dispatched in 1 + 4/128 bytes per element, combined in 2
  expect(find(config, 0, K::ep_all_to_all), 4 * 8 * 4, (1 + 4.0 / 128 + 2) / 4 * kHidden,
         Op::all_to_all);
  expect(find(config, 0, K::etp_all_gather), 2 * 8 * 4, 2 * kHidden, Op::all_gather);
}

TrainingConfig pipeline_setup(pipeline::Schedule schedule, i64 chunks) {
  return dense_config({.pp = 4, .virtual_stages = chunks, .schedule = schedule});
}

TEST(PpTraffic, OneStagePerRank_IsOneSendPerMicrobatch) {
  const TrainingConfig config = pipeline_setup(pipeline::Schedule::one_f_one_b, 1);
  expect(find(config, 1, K::pp_forward), 4, kHidden, Op::send_recv);
  expect(find(config, 1, K::pp_backward), 4, kHidden, Op::send_recv);
  EXPECT_EQ(find(config, 0, K::pp_backward).calls, 0);  // no stage before the first
  EXPECT_EQ(find(config, 3, K::pp_forward).calls, 0);   // no stage after the last
}

TEST(PpTraffic, Chunks_SendRoundRobin) {
  // rank 3 holds stages 3 and 7: 3 -> 4 is sent, after 7 there is nothing
  const TrainingConfig config = pipeline_setup(pipeline::Schedule::interleaved, 2);
  EXPECT_EQ(find(config, 0, K::pp_forward).calls, 2 * 4);
  EXPECT_EQ(find(config, 3, K::pp_forward).calls, 4);
  EXPECT_EQ(find(config, 0, K::pp_backward).calls, 4);
  EXPECT_EQ(find(config, 3, K::pp_backward).calls, 2 * 4);
}

TEST(PpTraffic, VShape_TurnsOnTheLastRankWithoutASend) {
  // rank 3 holds stages 3 and 4, rank 0 stages 0 and 7
  const TrainingConfig config = pipeline_setup(pipeline::Schedule::zb_v, 2);
  EXPECT_EQ(find(config, 3, K::pp_forward).calls, 4);   // 4 -> 5
  EXPECT_EQ(find(config, 0, K::pp_forward).calls, 4);   // 0 -> 1
  EXPECT_EQ(find(config, 1, K::pp_forward).calls, 8);   // 1 -> 2, 6 -> 7
  EXPECT_EQ(find(config, 3, K::pp_backward).calls, 4);  // 3 -> 2
}

TEST(PpTraffic, SequenceParallelism_SendsEachRanksPart) {
  TrainingConfig config = dense_config({.tp = 2, .pp = 2});
  expect(find(config, 0, K::pp_forward), 4, kHidden, Op::send_recv);
  config.plan.sequence_parallel = true;
  expect(find(config, 0, K::pp_forward), 4, kHidden / 2, Op::send_recv);
}

TEST(PpTraffic, AfterMtp_ItsOutputIsSentToTheLoss) {
  TrainingConfig config = dense_config({.pp = 4});
  config.model.mtp_layers = 1;
  config.plan.stages = *parse_layout("Et*4|t*4|m|L");
  expect(find(config, 1, K::pp_forward), 4, kHidden, Op::send_recv);
  expect(find(config, 2, K::pp_forward), 4, 2 * kHidden, Op::send_recv);
  expect(find(config, 3, K::pp_backward), 4, 2 * kHidden, Op::send_recv);
}

TEST(TiedEmbedding, IsReducedBetweenFirstAndLastRank) {
  TrainingConfig config = dense_config({.tp = 2, .pp = 4});
  EXPECT_EQ(find(config, 0, K::tied_embedding_grad).calls, 0);
  config.model.tied = true;
  // 32,000 / 2 rows of 1024, 2 bytes each
  expect(find(config, 0, K::tied_embedding_grad), 1, 16000 * 1024 * 2, Op::all_reduce);
  expect(find(config, 3, K::tied_embedding_grad), 1, 16000 * 1024 * 2, Op::all_reduce);
  EXPECT_EQ(find(config, 1, K::tied_embedding_grad).calls, 0);
}

TEST(TiedEmbedding, Zero2AndUp_ReducesOnlyAShard) {
  // 32,000 rows of 1024 over 4 data ranks; ZeRO-1 keeps whole gradients
  for (const int zero : {0, 1, 2, 3}) {
    TrainingConfig config = dense_config({.dp = 4, .pp = 4, .zero = zero});
    config.model.tied = true;
    const double whole = 32000 * 1024 * 2;
    expect(find(config, 3, K::tied_embedding_grad), 1, zero < 2 ? whole : whole / 4,
           Op::all_reduce);
  }
}

TEST(TiedEmbedding, Zero1AndUp_HasABucketOfItsOwn) {
  // Four layers of 15,206,400 and the weight of 32,768,000 fit into one bucket.
  TrainingConfig config = dense_config({.dp = 4, .pp = 2, .bucket_size = 200'000'000});
  config.model.tied = true;
  const double parameters = 4 * 15'206'400.0 + 32'768'000;
  expect(find(config, 0, K::dp_all_reduce), 1, 2 * parameters, Op::all_reduce);
  config.plan.zero = 1;
  expect(find(config, 0, K::dp_reduce_scatter), 2, parameters, Op::reduce_scatter);
  expect(find(config, 0, K::dp_all_gather), 2, parameters, Op::all_gather);
  config.plan.bucket_size = 1'000'000;  // 61 for the layers; the weight is not split
  EXPECT_EQ(find(config, 0, K::dp_all_gather).calls, 61 + 1);
  config.model.tied = false;  // 94 for all
  EXPECT_EQ(find(config, 0, K::dp_all_gather).calls, 94);
}

TEST(TiedEmbedding, Zero3_HasAUnitOfItsOwn) {
  TrainingConfig config = dense_config({.dp = 4, .pp = 2, .zero = 3});
  config.model.tied = true;
  config.model.positions = 2048;
  // 4 layers, the weight, and positions or the final norm: 2 x 6 gathers x 4 microbatches
  for (const i64 rank : {0, 1}) EXPECT_EQ(find(config, rank, K::dp_all_gather).calls, 2 * 6 * 4);
  config.model.tied = false;
  for (const i64 rank : {0, 1}) EXPECT_EQ(find(config, rank, K::dp_all_gather).calls, 2 * 5 * 4);
}

TEST(TiedEmbedding, VShape_NeedsNoReduction) {
  TrainingConfig config = pipeline_setup(pipeline::Schedule::zb_v, 2);
  config.model.tied = true;
  EXPECT_EQ(find(config, 0, K::tied_embedding_grad).calls, 0);
}

TEST(TiedEmbedding, Mtp_IsReducedEvenIfTheHeadIsNotTied) {
  TrainingConfig config = dense_config({.pp = 2});
  config.model.mtp_layers = 1;
  expect(find(config, 0, K::tied_embedding_grad), 1, 32000 * 1024 * 2, Op::all_reduce);
  expect(find(config, 1, K::tied_embedding_grad), 1, 32000 * 1024 * 2, Op::all_reduce);
}

TEST(Buckets, DefaultSize_Is40MillionOrAMillionPerDataRank) {
  EXPECT_EQ(count_bucket_elements({.dp = 8}), 40'000'000);
  EXPECT_EQ(count_bucket_elements({.cp = 2, .dp = 64}), 128'000'000);
  EXPECT_EQ(count_bucket_elements({.dp = 64, .bucket_size = 1000}), 1000);
}

/// 187,188,224 parameters: 8 layers of 15,206,400, twice 32,768,000 of vocabulary, a norm of 1024.
/// In buckets of 40 million: 5.
constexpr double kParameters = 8 * 15'206'400.0 + 2 * 32'768'000.0 + 1024;

TEST(DpTraffic, Zero0_IsOneAllReducePerBucket) {
  const Traffic t = find(dense_config({.dp = 4}), 0, K::dp_all_reduce);
  EXPECT_EQ(t.group, mesh::GroupKind::dp_cp);
  expect(t, 5, 2 * kParameters / 5, Op::all_reduce);
}

TEST(DpTraffic, StatedBucketSize_ChangesOnlyTheCalls) {
  // 187,188,224 / 10,000,000: 18 full ones and one more
  const Traffic t = find(dense_config({.dp = 4, .bucket_size = 10'000'000}), 0, K::dp_all_reduce);
  expect(t, 19, 2 * kParameters / 19, Op::all_reduce);
}

TEST(DpTraffic, Zero1_ScattersGradientsAndGathersParameters) {
  TrainingConfig config = dense_config({.dp = 4, .zero = 1});
  config.job.grad_dtype = Dtype::fp32;
  expect(find(config, 0, K::dp_reduce_scatter), 5, 4 * kParameters / 5, Op::reduce_scatter);
  expect(find(config, 0, K::dp_all_gather), 5, 2 * kParameters / 5, Op::all_gather);
  EXPECT_EQ(find(config, 0, K::dp_all_reduce).calls, 0);
}

TEST(DpTraffic, Zero2_ScattersEveryMicrobatch) {
  const TrainingConfig config = dense_config({.dp = 4, .zero = 2});
  expect(find(config, 0, K::dp_reduce_scatter), 4 * 5, 2 * kParameters / 5, Op::reduce_scatter);
  expect(find(config, 0, K::dp_all_gather), 5, 2 * kParameters / 5, Op::all_gather);
}

TEST(DpTraffic, Zero3_GathersEveryUnitTwicePerMicrobatch) {
  // 10 units: 8 layers, the embedding, the head with its norm
  const TrainingConfig config = dense_config({.dp = 4, .zero = 3});
  expect(find(config, 0, K::dp_all_gather), 2 * 4 * 10, 2 * kParameters / 10, Op::all_gather);
  expect(find(config, 0, K::dp_reduce_scatter), 4 * 10, 2 * kParameters / 10, Op::reduce_scatter);
}

TEST(DpTraffic, FsdpInAPipeline_ReducesEveryUnitOncePerStep) {
  TrainingConfig config = dense_config({.dp = 4, .pp = 2, .zero = 3});
  config.software.fsdp = true;
  EXPECT_EQ(find(config, 0, K::dp_reduce_scatter).calls, 5);  // 4 layers and the embedding
  config.software.fsdp = false;
  EXPECT_EQ(find(config, 0, K::dp_reduce_scatter).calls, 4 * 5);
}

TEST(DpTraffic, FsdpInAPipeline_KeepsWhatABackwardHasGathered) {
  // 4 microbatches: the first pass and those that follow a forward pass gather 5 units each
  TrainingConfig config = dense_config({.dp = 4, .pp = 2, .zero = 3});
  config.software.fsdp = true;
  EXPECT_EQ(find(config, 0, K::dp_all_gather).calls, (4 + 1) * 5);
  config.software.fsdp = false;
  EXPECT_EQ(find(config, 0, K::dp_all_gather).calls, 2 * 4 * 5);
}

TEST(TpTraffic, EagerPyTorch_KeepsGatheredInputs) {
  // 8 layers of 2 blocks, 4 microbatches: forward, and the output's gradient in backward
  TrainingConfig config = dense_config({.tp = 2, .sequence_parallel = true});
  EXPECT_EQ(find(config, 0, K::tp_all_gather).calls, 3 * 2 * 8 * 4);
  EXPECT_EQ(find(config, 0, K::tp_head_gather).calls, 2 * 4);
  config.software.eager_ops = true;
  EXPECT_EQ(find(config, 0, K::tp_all_gather).calls, 2 * 2 * 8 * 4);
  EXPECT_EQ(find(config, 0, K::tp_head_gather).calls, 4);
  config.plan.recompute = Recompute::selective;  // drops the inputs of layers
  EXPECT_EQ(find(config, 0, K::tp_all_gather).calls, 3 * 2 * 8 * 4);
  EXPECT_EQ(find(config, 0, K::tp_head_gather).calls, 4);
}

TEST(DpTraffic, Chunks_HaveSeparateBuckets) {
  // 4 layers per rank, 15,206,400 each, in buckets of 40 million. Chunks of 2 layers: 30,412,800
  // make 1 bucket, or 2 with the embedding or the head (32,768,000).
  TrainingConfig config = dense_config(
      {.dp = 4, .pp = 2, .virtual_stages = 2, .schedule = pipeline::Schedule::interleaved});
  EXPECT_EQ(find(config, 0, K::dp_all_reduce).calls, 2 + 1);
  EXPECT_EQ(find(config, 1, K::dp_all_reduce).calls, 1 + 2);
  // chunks of 1 layer: 1 each, and 2 with the head
  config = dense_config(
      {.dp = 4, .pp = 2, .virtual_stages = 4, .schedule = pipeline::Schedule::interleaved});
  EXPECT_EQ(find(config, 1, K::dp_all_reduce).calls, 1 + 1 + 1 + 2);
}

TEST(DpTraffic, Zero3_GathersTheTiedWeightInEveryChunkThatReadsIt) {
  // Rank 0 of a V shape holds the embedding and the head: one weight, read by both of its chunks.
  TrainingConfig config = dense_config(
      {.dp = 4, .pp = 2, .zero = 1, .virtual_stages = 2, .schedule = pipeline::Schedule::zb_v});
  config.model.tied = true;
  const double held = 4 * 15'206'400.0 + 32'768'000 + 1024;
  EXPECT_EQ(find(config, 0, K::dp_reduce_scatter).total.value, 2 * held);
  config.plan.zero = 3;
  EXPECT_EQ(find(config, 0, K::dp_reduce_scatter).total.value, 4 * 2 * (held + 32'768'000));
  EXPECT_EQ(find(config, 0, K::dp_reduce_scatter).calls, 4 * 6);
}

TEST(DpTraffic, HybridSharding_ReducesAShardAcrossReplicas) {
  TrainingConfig config = dense_config({.dp = 8, .zero = 1, .shard_size = 4});
  EXPECT_EQ(find(config, 0, K::dp_reduce_scatter).group, mesh::GroupKind::shard);
  // 5 buckets, a quarter of each
  expect(find(config, 0, K::replica_all_reduce), 5, 2 * kParameters / 4 / 5, Op::all_reduce);
  config.plan.zero = 2;  // every microbatch
  EXPECT_EQ(find(config, 0, K::replica_all_reduce).calls, 4 * 5);
  config.plan.zero = 3;  // every unit
  EXPECT_EQ(find(config, 0, K::replica_all_reduce).calls, 4 * 10);
  config.plan.zero = 0;  // without ZeRO there are no shards
  EXPECT_EQ(find(config, 0, K::replica_all_reduce).calls, 0);
  EXPECT_EQ(find(config, 0, K::dp_all_reduce).group, mesh::GroupKind::dp_cp);
}

/// 8 experts of 3 x 1024 x 512 over ep 4: two per rank in each of 8 layers, 25,165,824 in all.
constexpr double kExperts = 8 * 2 * 3 * 1024.0 * 512;

TEST(ExpertDpTraffic, UsesTheExpertDataRanks) {
  const Traffic t = find(expert_setup({.dp = 8, .ep = 4}), 0, K::expert_dp_all_reduce);
  EXPECT_EQ(t.group, mesh::GroupKind::edp);  // of 8 / 4 = 2
  expect(t, 1, 2 * kExperts, Op::all_reduce);
  EXPECT_EQ(find(expert_setup({.dp = 4, .ep = 4}), 0, K::expert_dp_all_reduce).calls, 0);
}

TEST(ExpertDpTraffic, Zero_WorksAsForDenseParameters) {
  const TrainingConfig one = expert_setup({.dp = 8, .ep = 4, .zero = 1});
  expect(find(one, 0, K::expert_dp_reduce_scatter), 1, 2 * kExperts, Op::reduce_scatter);
  expect(find(one, 0, K::expert_dp_all_gather), 1, 2 * kExperts, Op::all_gather);
  const TrainingConfig three = expert_setup({.dp = 8, .ep = 4, .zero = 3});  // 8 units
  expect(find(three, 0, K::expert_dp_all_gather), 2 * 4 * 8, 2 * kExperts / 8, Op::all_gather);
  expect(find(three, 0, K::expert_dp_reduce_scatter), 4 * 8, 2 * kExperts / 8, Op::reduce_scatter);
}

TEST(GradientNorm, IsOneNumberOverAllRanksWithDifferentGradients) {
  const Traffic replicas = find(dense_config({.tp = 2, .dp = 2, .pp = 2}), 0, K::gradient_norm);
  EXPECT_EQ(replicas.group, mesh::GroupKind::model);
  expect(replicas, 1, 4, Op::all_reduce);
  const Traffic sharded = find(dense_config({.dp = 2, .zero = 1}), 0, K::gradient_norm);
  EXPECT_EQ(sharded.group, mesh::GroupKind::world);
  expect(sharded, 1, 4, Op::all_reduce);
  EXPECT_EQ(find(dense_config({.dp = 2}), 0, K::gradient_norm).calls, 0);
}

TEST(GradientNorm, Fp64Parameters_UseEightBytes) {
  TrainingConfig config = dense_config({.dp = 2, .zero = 1});
  config.job.param_dtype = Dtype::fp64;
  expect(find(config, 0, K::gradient_norm), 1, 8, Op::all_reduce);
}

}  // namespace traffic_test
}  // namespace rankwright::plan
