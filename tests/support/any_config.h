// Random configs for tests of writers: anything that a plan file can state, whether or not it is
// valid. sample.h makes valid configs.
#pragma once

#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

#include "rankwright/catalog/catalog.h"
#include "rankwright/plan/plan.h"
#include "rankwright/rules/target.h"
#include "tests/support/enumeration.h"
#include "tests/support/sample.h"
#include "tests/support/shapes.h"

namespace rankwright::any_config {

/// Sets the values that a file cannot state, because they have no effect, to what resolve() sets.
inline void settle(plan::TrainingConfig& config) {
  plan::Plan& plan = config.plan;
  if (!config.model.sparse()) plan.etp = plan.ep > 1 ? 1 : plan.tp;
  if (plan.recompute != plan::Recompute::full) plan.recompute_layers = 0;
  if (plan.recompute != plan::Recompute::selective) plan.modules = {};
}

using sample::coin;
using sample::one_of;

/// Returns a number with more digits than a person types.
inline double random_share() {
  return 1 + double(*rc::gen::inRange<i64>(0, i64{1} << 40)) / 0x1p40;
}

inline cluster::Device random_device() {
  cluster::Device device{.name = "own",
                         .memory = random_share() * 40.0_GB,
                         .memory_bandwidth = random_share() * 900.0_GBps,
                         .bf16 = random_share() * 100.0_TFLOPS,
                         .source = "made up"};
  if (coin()) device.vendor = "somebody";
  if (coin()) device.fp16 = random_share() * 100.0_TFLOPS;
  if (coin()) device.fp8 = random_share() * 200.0_TFLOPS;
  if (coin()) device.fp4 = random_share() * 400.0_TFLOPS;
  if (coin()) device.best_matmul = random_share() * 70.0_TFLOPS;
  if (coin()) device.launch = random_share() * 3.0_us;
  if (coin()) device.generation = "hopper";
  if (coin()) device.multiprocessors = one_of({1, 132});
  if (coin()) device.watts = random_share() * 300;
  if (coin()) device.verified = "no";
  return device;
}

inline cluster::Level random_level(i64 arity) {
  return {.name = coin() ? "switch" : "level: 1",
          .arity = arity,
          .bandwidth = random_share() * 10.0_GBps,
          .latency = coin() ? random_share() * 3.0_us : Seconds{},
          .oversubscription = coin() ? 1 : random_share(),
          .per = cluster::Level::Per(one_of({0, 1})),
          .origin = cluster::Origin(one_of({0, 1, 2, 3})),
          .latency_origin = cluster::Origin(one_of({0, 1, 2, 3}))};
}

/// Makes a cluster with at least `world` devices.
inline cluster::Cluster random_cluster(i64 world) {
  if (coin()) {
    const catalog::System& system =
        catalog::systems()[std::size_t(one_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}))];
    const i64 units = ceil_div(world, system.unit.devices());
    return *catalog::find_cluster(fmt::format("{} x {}", system.name, units));
  }
  cluster::Cluster cluster{.name = coin() ? "cluster" : "mine", .device = random_device()};
  if (coin()) cluster.device = catalog::devices()[std::size_t(one_of({0, 1, 2, 3, 4}))];
  for (const i64 arity : {one_of({1, 4, 6, 8}), one_of({1, 2, 3})})
    cluster.levels.push_back(random_level(arity));
  cluster.levels.push_back(random_level(ceil_div(world, cluster.devices())));
  cluster.host_devices = *rc::gen::elementOf(list_divisors(cluster.devices()));
  if (coin()) cluster.host = {.memory = {2e12}, .link = {55e9}};
  return cluster;
}

inline mesh::Placement random_placement(i64 world, i64 host) {
  const i64 kind = one_of({0, 1, 2, 3});
  if (kind == 0) return {};
  if (kind == 1)
    return {.kind = mesh::Placement::Kind::cyclic,
            .host_devices = host,
            .hosts = ceil_div(world, host)};
  const i64 size =
      kind == 2 && divides(host, world) ? host : 1;  // permute whole hosts, or single ranks
  std::vector<i64> order(std::size_t(world / size));
  std::iota(order.begin(), order.end(), i64{0});
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[*rc::gen::inRange<std::size_t>(0, i)]);
  mesh::Placement placement{.kind = mesh::Placement::Kind::listed};
  for (const i64 at : order)
    for (i64 slot = 0; slot < size; ++slot) placement.devices.push_back(at * size + slot);
  return placement;
}

inline plan::Software random_software() {
  plan::Software software =
      plan::frameworks()[*rc::gen::inRange<std::size_t>(0, plan::frameworks().size())];
  if (software.name == "megatron-core" && coin())
    software = *find_release(software, plan::releases()[std::size_t(one_of({0, 2, 5, 9}))].name);
  if (coin()) software.attention = plan::AttentionKernel(one_of({0, 1, 2, 3}));
  if (coin()) software.launch = plan::Launch(one_of({0, 1, 2, 3}));
  if (coin()) software.loss = plan::Loss(one_of({0, 1, 2, 3, 4, 5}));
  if (coin()) software.tuned = coin();
  return software;
}

/// Makes a config with anything that a file can state, whether or not it is valid.
inline plan::TrainingConfig random_config() {
  const model::Model model = coin() ? *build(random_shapes()) : sample::random_known_model();
  const plan::Plan plan = sample::random_plan(model, sample::random_schedule());
  plan::TrainingConfig config = sample::config_of(model, plan, sample::random_microbatches(plan));
  config.cluster = random_cluster(config.world);
  config.plan.order = enumeration::random_order();
  config.plan.microbatch_group = one_of({0, 0, 4, 8});
  const bool exchange = config.plan.ep > 1;  // else no tokens are sent
  config.plan.overlap = {coin(), coin(), coin(), coin(), exchange && coin()};
  if (config.plan.overlap.ep) config.plan.overlap.wgrad = coin();
  if (exchange) config.plan.dispatcher = plan::Dispatcher(one_of({0, 1}));
  config.plan.placement = random_placement(config.world, config.cluster.host_devices);
  config.software = random_software();
  if (coin()) config.target = rules::row(rules::Target(one_of({1, 4, 9}))).name;
  config.job.sequence = one_of({64, 2048, 131072});
  config.job.param_dtype = plan::Dtype(one_of({0, 1, 2, 3, 4}));
  config.job.grad_dtype = plan::Dtype(one_of({0, 1, 2, 3, 4}));
  config.job.matmul = plan::Matmul(one_of({0, 1, 2, 3}));
  config.job.fp8_swiglu_input = coin();
  config.job.optimizer = plan::Optimizer(one_of({0, 1, 2, 3, 4, 5}));
  config.job.moment_dtype = plan::Dtype(one_of({0, 1, 2, 3}));
  config.job.master_dtype = plan::Dtype(one_of({0, 1, 2}));
  config.job.doc_length = one_of({0, 0, 32, 4096});
  config.job.method = plan::Method(one_of({0, 0, 1, 2}));
  config.job.ref_model = coin();
  config.job.images = one_of({0, 0, 1, 65536});
  if (config.job.images > 0) config.job.image_tokens = one_of({0, 1, 4096});
  if (coin()) {
    config.job.lora_rank = one_of({1, 16, 65536});
    config.job.lora_modules.gate_proj = coin();
    config.job.base_dtype = plan::BaseDtype(one_of({0, 1, 2}));
  }
  if (coin()) freeze(config.model, {.embedding = coin(), .end = one_of({0, 1, 2}), .head = coin()});
  config.plan.offload = {
      .optimizer = double(one_of({0, 0, 1, 2})) / 2, .parameters = coin(), .activations = coin()};
  config.plan.offload.nvme = plan::NvmeStates(one_of({0, 0, 1, 2, 3}));
  if (coin()) config.plan.offload.nvme_path = "/local_nvme";
  settle(config);
  return config;
}

}  // namespace rankwright::any_config
