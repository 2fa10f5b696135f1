// Configs for the tests of plan/ and cost/: a small one for worked examples, and random valid ones
// for properties.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "rankwright/catalog/catalog.h"
#include "rankwright/model/parameters.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/plan/plan.h"

namespace rankwright::sample {

/// Makes a layer with 16 heads of 64, 4 key-value heads and a feed-forward width of 4096.
inline model::Layer dense_layer() {
  return {.attention = {.heads = 16, .kv_heads = 4, .head_dim = 64}, .ffn = {.width = 4096}};
}

/// Makes a layer with the same attention and 8 experts of width 512, 2 of them active, and a shared
/// expert of 1024.
inline model::Layer sparse_layer() {
  return {.attention = dense_layer().attention,
          .ffn = {.experts = 8, .active = 2, .expert_width = 512, .shared_width = 1024}};
}

inline model::Model model_of(std::vector<model::LayerRun> runs) {
  return {.hidden = 1024, .vocab = 32000, .runs = std::move(runs)};
}

/// Makes a config with `microbatches` of one sequence of 2048 tokens, in bf16, with one device per
/// rank.
inline plan::TrainingConfig config_of(model::Model model, plan::Plan plan, i64 microbatches = 4) {
  plan::TrainingConfig config{
      .model = std::move(model), .cluster = {}, .job = {}, .plan = std::move(plan)};
  config.world = config.plan.ranks();
  config.cluster.levels.push_back({.name = "switch", .arity = config.world});
  config.job.global_batch = microbatches * config.plan.micro_batch * config.plan.dp;
  config.job.sequence = 2048;
  return config;
}

/// Makes a config with eight dense layers.
inline plan::TrainingConfig dense_config(plan::Plan plan, i64 microbatches = 4) {
  return config_of(model_of({{8, dense_layer()}}), std::move(plan), microbatches);
}

inline i64 one_of(std::vector<i64> values) { return *rc::gen::elementOf(std::move(values)); }
inline bool coin() { return *rc::gen::arbitrary<bool>(); }

inline model::Attention random_attention() {
  const i64 heads = one_of({4, 8});
  if (coin())
    return {.heads = heads,
            .kv_heads = one_of({1, 2, 4}),
            .head_dim = 16,
            .qkv_bias = coin(),
            .out_bias = coin(),
            .qk_norm = coin()};
  return {.kind = model::Attention::Kind::latent,
          .heads = heads,
          .q_rank = one_of({0, 24}),
          .kv_rank = 40,
          .nope_dim = 16,
          .rope_dim = 8,
          .value_dim = one_of({12, 20})};
}

inline model::FeedForward random_ffn() {
  model::FeedForward ffn{.width = one_of({64, 192}), .matrices = one_of({2, 3}), .bias = coin()};
  if (coin()) return ffn;
  ffn.experts = 8;
  ffn.active = one_of({1, 2, 3});
  ffn.expert_width = one_of({32, 96});
  ffn.shared_width = one_of({0, 64});
  ffn.shared_gate = coin();
  ffn.router_bias = coin();
  return ffn;
}

/// Makes a small model with any feature that a model may have. Runs of two kinds of layers
/// alternate.
inline model::Model random_model() {
  model::Model model{.hidden = one_of({64, 128}),
                     .vocab = 1000,
                     .positions = one_of({0, 96}),
                     .tied = coin(),
                     .head_bias = coin(),
                     .norm_bias = coin()};
  const model::Layer first{random_attention(), random_ffn(), one_of({1, 2, 4})};
  const model::Layer second{random_attention(), random_ffn(), 2};
  const i64 runs = one_of({1, 2, 5});
  for (i64 i = 0; i < runs; ++i)
    model.runs.push_back({one_of({1, 2, 3}), i % 2 == 0 ? first : second});
  model.mtp_layers = one_of({0, 0, 1, 2});
  return model;
}

inline model::Model random_known_model() {
  const std::span<const catalog::KnownModel> known = catalog::list_known_models();
  return known[std::size_t(*rc::gen::inRange<i64>(0, i64(known.size())))].model;
}

/// Distributes layers over the stages at random; some stages stay empty. MTP is on the stage of the
/// loss, or on the one before if the loss has a stage of its own.
inline plan::Stages random_stages(const model::Model& model, i64 stages) {
  const bool alone = stages > 1 && coin();
  plan::Stages split(std::size_t(stages), plan::Stage{});
  for (i64 i = 0; i < model.layers(); ++i)
    ++split[std::size_t(*rc::gen::inRange<i64>(0, alone ? stages - 1 : stages))].layers;
  split.front().embedding = true;
  split.back().loss = true;
  split[std::size_t(alone ? stages - 2 : stages - 1)].mtp = model.mtp_layers;
  return split;
}

inline pipeline::Schedule random_schedule() {
  return pipeline::schedules()[std::size_t(*rc::gen::inRange<i64>(0, i64(pipeline::kSchedules)))]
      .schedule;
}

inline plan::Plan random_plan(const model::Model& model, pipeline::Schedule which) {
  plan::Plan plan{.tp = one_of({1, 2, 4}),
                  .cp = one_of({1, 2}),
                  .dp = one_of({1, 2, 4}),
                  .pp = one_of({1, 2, 3, 4})};
  plan.etp = model.sparse() ? one_of({1, 2, 4}) : 1;
  plan.ep = model.sparse() ? one_of({1, 2, 4}) : 1;
  plan.zero = int(one_of({0, 1, 2, 3}));
  plan.shard_size = one_of({0, 0, 1, 2, 4});
  if (const i64 buckets = one_of({0, 0, 3, 17}); buckets > 0)
    plan.bucket_size = ceil_div(count_parameters(model).total(), buckets);
  plan.sequence_parallel = coin();
  plan.cp_comm = plan::CpComm(one_of({0, 1, 2}));
  plan.micro_batch = one_of({1, 2, 3});
  const pipeline::ScheduleRow& schedule = row(which);
  plan.schedule = which;
  if (plan.pp > 1) plan.pp = round_up(plan.pp, schedule.multiple);
  plan.virtual_stages = std::min(schedule.min_chunks + one_of({0, 1}), schedule.max_chunks);
  if (plan.pp == 1) plan.virtual_stages = 1;
  if (coin()) plan.stages = random_stages(model, plan.pp * plan.virtual_stages);
  plan.recompute = plan::Recompute(one_of({0, 1, 2}));
  plan.recompute_layers = one_of({0, 1, 2, 3});
  return plan;
}

/// Returns a number of microbatches that the plan's schedule supports, near the minimum.
inline i64 random_microbatches(const plan::Plan& plan) {
  const pipeline::ScheduleRow& schedule = row(plan.schedule);
  if (plan.pp == 1 || schedule.rounds == 0) return one_of({1, 2, 3, 5});
  return schedule.rounds * plan.pp + schedule.multiple * one_of({0, 1, 2});
}

/// Makes a config without violations.
inline plan::TrainingConfig random_config(const model::Model& model, pipeline::Schedule schedule) {
  const auto draw = [&] {
    const plan::Plan plan = random_plan(model, schedule);
    return config_of(model, plan, random_microbatches(plan));
  };
  plan::TrainingConfig config = draw();
  for (int tries = 0; find_first_violation(config) && tries < 100; ++tries) config = draw();
  config.job.sequence = one_of({64, 128, 192});
  config.job.param_dtype = plan::Dtype(one_of({0, 1, 3, 4}));
  config.job.grad_dtype = plan::Dtype(one_of({0, 1}));
  RC_PRE(!find_first_violation(config));
  return config;
}

inline plan::TrainingConfig random_config(const model::Model& model) {
  return random_config(model, random_schedule());
}

inline plan::TrainingConfig random_config() {
  return random_config(coin() ? random_model() : random_known_model());
}

}  // namespace rankwright::sample
