// Random problems for the tests of search/, small enough for brute force, with unusual clusters and
// limits. A seed always makes the same problem.
#pragma once

#include <random>
#include <vector>

#include "rankwright/search/problem.h"

namespace rankwright::problems {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  /// Returns 0 to n - 1. Not a standard distribution, because those differ between libraries.
  i64 below(i64 n) { return i64(engine_() % std::uint64_t(n)); }
  bool coin() { return below(2) == 1; }
  bool rarely() { return below(5) == 0; }
  template <class T>
  T of(const std::vector<T>& values) {
    return values[std::size_t(below(i64(values.size())))];
  }
  i64 number(const std::vector<i64>& values) { return of(values); }

 private:
  std::mt19937_64 engine_;
};

inline model::Attention random_attention(Dice& dice, i64 heads) {
  if (dice.rarely())
    return {.kind = model::Attention::Kind::latent,
            .heads = heads,
            .q_rank = dice.number({0, 512}),
            .kv_rank = 256,
            .nope_dim = 64,
            .rope_dim = 32,
            .value_dim = 64};
  return {.heads = heads,
          .kv_heads = dice.coin() ? heads : 2,
          .head_dim = dice.number({64, 128}),
          .qkv_bias = dice.coin()};
}

inline model::Model random_model(Dice& dice) {
  const i64 heads = dice.number({4, 6, 8, 12});
  model::Model model{.hidden = dice.number({768, 1536, 4608}),
                     .vocab = dice.number({1000, 32000, 128256}),
                     .positions = dice.number({0, 0, 4096}),
                     .tied = dice.coin(),
                     .norm_bias = dice.coin()};
  const model::FeedForward dense{.width = model.hidden * dice.number({2, 4}),
                                 .matrices = dice.number({2, 3})};
  const model::Layer plain{random_attention(dice, heads), dense, 2};
  const i64 layers = 2 + dice.below(7);
  const i64 sparse = dice.below(3) == 0 ? 1 + dice.below(layers) : 0;
  if (sparse < layers) model.runs.push_back({layers - sparse, plain});
  if (sparse > 0) {
    model::Layer mixture = plain;
    mixture.ffn = {.matrices = 3,
                   .experts = dice.number({2, 4, 6}),
                   .active = dice.number({1, 2}),
                   .expert_width = dice.number({768, 1536}),
                   .shared_width = dice.number({0, 768})};
    model.runs.push_back({sparse, mixture});
  }
  if (dice.rarely()) model.mtp_layers = 1;
  return model;
}

/// Returns the arities of the levels, innermost first: 4 to 24 devices.
inline std::vector<i64> random_arities(Dice& dice) {
  static const std::vector<std::vector<i64>> all{
      {4},    {6},    {8},    {12},      {16},      {2, 2},    {4, 2},    {2, 3},    {3, 2},
      {4, 3}, {3, 4}, {8, 2}, {6, 2},    {6, 4},    {8, 3},    {5, 2},    {1, 8},    {2, 2, 2},
      {2, 3}, {3, 3}, {4, 4}, {2, 3, 2}, {4, 2, 2}, {2, 4, 3}, {4, 1, 3}, {3, 2, 2}, {12, 2}};
  return dice.of(all);
}

/// Makes links of any speed at any level: outer levels may be faster.
inline cluster::Cluster random_cluster(Dice& dice) {
  cluster::Cluster cluster{.name = "random"};
  cluster.device = {.name = "h",
                    .memory = Bytes{80e9},
                    .memory_bandwidth = BytesPerSecond{3e12},
                    .fp16 = FlopsPerSecond{989e12},
                    .bf16 = FlopsPerSecond{989e12},
                    .fp8 = FlopsPerSecond{1979e12},
                    .generation = dice.coin() ? "hopper" : "",
                    .multiprocessors = 132,
                    .watts = 700};
  for (const i64 arity : random_arities(dice))
    cluster.levels.push_back(
        {.name = "level",
         .arity = arity,
         .bandwidth = {1e9 * double(dice.number({5, 25, 100, 450}))},
         .latency = {1e-6 * double(dice.number({1, 5, 20}))},
         .oversubscription = double(dice.number({1, 1, 1, 3})),
         .per = dice.rarely() ? cluster::Level::Per::domain : cluster::Level::Per::device});
  cluster.host_devices = cluster.levels.front().arity;
  return cluster;
}

inline plan::Job random_job(Dice& dice) {
  return {.global_batch = dice.number({4, 6, 8, 12, 16, 24, 32}),
          .sequence = dice.number({64, 96, 512, 2048, 4096}),
          .grad_dtype = dice.coin() ? plan::Dtype::bf16 : plan::Dtype::fp32,
          .matmul = dice.rarely() ? plan::Matmul::fp8 : plan::Matmul::same,
          .optimizer = dice.rarely() ? plan::Optimizer::sgd : plan::Optimizer::adam,
          .lora_rank = dice.rarely() ? 8 : 0,
          .base_dtype = dice.rarely() ? plan::BaseDtype::nf4 : plan::BaseDtype::same};
}

inline search::Range random_range(Dice& dice) {
  const i64 min = dice.rarely() ? 2 : 1;
  return {min, dice.number({min, 2 * min, 4 * min})};
}

inline mesh::Order random_order(Dice& dice) {
  mesh::Order order = mesh::kDefaultOrder;
  for (std::size_t k = order.size(); k > 1; --k)
    std::swap(order[k - 1], order[std::size_t(dice.below(i64(k)))]);
  return order;
}

/// Adds one random limit.
inline void narrow(search::Limits& limits, Dice& dice) {
  switch (dice.below(16)) {
    case 0:
      limits.tp = random_range(dice);
      return;
    case 1:
      limits.cp = random_range(dice);
      return;
    case 2:
      limits.pp = random_range(dice);
      return;
    case 3:
      limits.dp = random_range(dice);
      return;
    case 4:
      limits.ep = random_range(dice);
      return;
    case 5:
      limits.etp = random_range(dice);
      return;
    case 6:
      limits.micro_batch = random_range(dice);
      return;
    case 7:
      limits.chunks = random_range(dice);
      return;
    case 8:
      limits.zero.min = dice.below(4);
      limits.zero.max = limits.zero.min + dice.below(4 - limits.zero.min);
      return;
    case 9:
      limits.hybrid = false;
      return;
    case 10:
      limits.recompute = plan::Recompute(dice.below(3));
      limits.recompute_parts = dice.coin();
      return;
    case 11:
      limits.schedule =
          pipeline::schedules()[std::size_t(dice.below(i64(pipeline::kSchedules)))].schedule;
      return;
    case 12:
      limits.sequence_parallel = dice.coin();
      return;
    case 13:
      limits.cp_comm = plan::CpComm(dice.below(3));
      return;
    case 14:
      limits.order = random_order(dice);
      return;
    default:
      limits.even = true;
  }
}

/// Makes a problem that is not yet limited to a size for brute force. The caller chooses the
/// capacity.
inline search::Problem random_problem(Dice& dice) {
  plan::TrainingConfig config{.model = random_model(dice),
                              .cluster = random_cluster(dice),
                              .job = random_job(dice),
                              .plan = {}};
  config.world = config.cluster.devices();
  if (dice.rarely() && config.world % 2 == 0) config.world /= 2;  // use half of the cluster
  std::vector<plan::Software> frameworks;
  for (const plan::Software& row : plan::frameworks())  // a search expects that shards save memory
    if (row.accumulation != plan::Accumulation::all) frameworks.push_back(row);
  config.software = dice.of(frameworks);
  config.plan.overlap = {dice.coin(), dice.coin(), dice.coin(), dice.coin()};
  Dice more = dice;  // leaves the numbers that follow, and so the seeds of tests, as they are
  config.plan.overlap.ep = more.coin();
  config.plan.dispatcher = plan::Dispatcher(more.below(3));
  if (more.rarely())
    config.plan.offload = {
        .optimizer = more.coin() ? 1 : 0.5, .parameters = more.coin(), .activations = more.coin()};
  if (Dice again = more; again.rarely()) config.plan.offload.nvme = plan::NvmeStates::all;
  if (more.rarely()) config.job.method = plan::Method::dpo;
  config.job.ref_model = more.rarely();
  if (more.rarely())
    freeze(config.model, {.embedding = more.coin(),
                          .end = more.below(config.model.layers() + 1),
                          .head = more.coin()});
  search::Problem made = search::make_problem(std::move(config));
  made.dispatch_per_node = more.coin() && made.config.plan.dispatcher != plan::Dispatcher::hybridep;
  made.config.plan.overlap.wgrad = more.coin();
  made.overlap_chunks = dice.coin();
  if (dice.below(3) == 0) made.limits.target = rules::Target(1 + dice.below(4));
  return made;
}

}  // namespace rankwright::problems
