#include "rankwright/program/steps.h"

#include <algorithm>

#include "rankwright/plan/adapters.h"
#include "rankwright/plan/data_calls.h"
#include "rankwright/program/calls.h"

namespace rankwright::program {
namespace {

using K = plan::TrafficKind;

/// Returns whether a stage reads the vocabulary weight, as the embedding or as a tied head.
bool reads_vocabulary(const plan::TrainingConfig& config, const plan::RankContents& contents) {
  return contents.embeds() || (config.model.tied && contents.loss);
}

/// Builds the steps of one pp rank after another.
class StepBuilder {
 public:
  explicit StepBuilder(const plan::TrainingConfig& config)
      : config_(config),
        plan_(config.plan),
        stages_(list_stage_contents(config)),
        holdings_(list_stage_holdings(config)),
        calls_(config),
        copies_(has_vocabulary_copies(config)) {}

  RankSteps build(i64 pp_rank) {
    RankSteps steps;
    if (gathers() && plan_.overlap.param_gather) gather(pp_rank, true);
    if (keeps_gathered_weights(config_)) gather_units(pp_rank);
    steps.first = calls_.take();
    for (const i64 s : list_stages(plan_, pp_rank)) {
      if (plan_.overlap.grad_reduce) reduce(s);
      steps.behind.push_back(calls_.take());
    }
    last(pp_rank);
    steps.last = calls_.take();
    return steps;
  }

 private:
  /// ZeRO-1 and 2 gather parameters once per step after updating their shards; ZeRO-3 gathers
  /// inside the cells.
  bool gathers() const { return plan_.zero == 1 || plan_.zero == 2; }

  bool holds_vocabulary(i64 pp_rank) const {
    const std::vector<i64> on_rank = list_stages(plan_, pp_rank);
    return std::any_of(on_rank.begin(), on_rank.end(),
                       [&](i64 s) { return reads_vocabulary(config_, stages_[std::size_t(s)]); });
  }

  /// Reduces the gradients of a stage, unless the cells reduce them with every microbatch.
  void reduce(i64 stage) {
    if (reduces_every_microbatch(config_)) return;
    if (plan_.zero >= 3) return reduce_units(stage);
    for_each_bucket(holdings_[std::size_t(stage)], count_bucket_elements(plan_),
                    [&](const plan::Share& bucket) { calls_.reduce(bucket); });
  }

  /// Reduces the units of FSDP in a pipeline; under LoRA, the adapters of each layer.
  void reduce_units(i64 stage) {
    const plan::RankContents& on_stage = stages_[std::size_t(stage)];
    const auto reduce = [&](const plan::Share& unit, i64 count) {
      for (i64 i = 0; i < count; ++i) calls_.reduce(unit);
    };
    if (!config_.job.frozen()) {
      for (const plan::Unit& unit : list_units(config_, on_stage, copies_))
        if (unit.trained) reduce(unit.share, unit.count);
      return;
    }
    for (const model::LayerRun& run : on_stage.runs)
      reduce(count_adapter_share(config_, run.layer), run.count);
    if (on_stage.mtp > 0)
      reduce(count_adapter_share(config_, config_.model.runs.back().layer), on_stage.mtp);
  }

  /// Gathers every unit once that backward passes read. Forward passes gather the rest.
  void gather_units(i64 pp_rank) {
    for (const i64 s : list_stages(plan_, pp_rank))
      for (const plan::Unit& unit : list_units(config_, stages_[std::size_t(s)], copies_))
        for (i64 i = 0; i < unit.count && unit.backward; ++i)
          calls_.gather(unit.share, plan_.overlap.param_gather);
  }

  void gather(i64 pp_rank, bool beside) {
    for (const i64 s : list_stages(plan_, pp_rank))
      for_each_bucket(holdings_[std::size_t(s)], count_bucket_elements(plan_),
                      [&](const plan::Share& bucket) { calls_.gather(bucket, beside); });
  }

  /// Adds the steps after the last cell, in the order of Megatron-LM's finalize_model_grads and
  /// optimizer.
  void last(i64 pp_rank) {
    const std::vector<i64> on_rank = list_stages(plan_, pp_rank);
    if (!plan_.overlap.grad_reduce)
      for (const i64 s : on_rank) reduce(s);

    plan::Share held;
    for (const i64 s : on_rank) held += holdings_[std::size_t(s)].share;
    if (!reduces_weights_alone(config_))
      sum(K::tp_norm_grads, mesh::GroupKind::tp, count_partial_gradients(plan_, held), 1);
    else if (!reduces_every_microbatch(config_))
      for (const i64 s : on_rank) sum_weights(stages_[std::size_t(s)]);
    if (copies_ && trains_embedding(config_) && holds_vocabulary(pp_rank))
      sum(K::tied_embedding_grad, mesh::GroupKind::edges,
          plan::count_vocabulary_weight(config_.model, plan_.tp).dense,
          plan_.zero >= 2 ? plan_.shards() : 1);
    if (plan_.mirrored())
      for (const i64 s : on_rank) mirror(s);

    const mesh::GroupKind all = plan_.zero >= 1 ? mesh::GroupKind::world : mesh::GroupKind::model;
    calls_.call(K::gradient_norm, plan::Op::all_reduce, all, bytes(1, config_.job.scalar_bytes()));
    calls_.compute(Part::optimizer);
    if (gathers() && !plan_.overlap.param_gather) gather(pp_rank, false);
  }

  /// Sums the gradient of each weight of a stage that every tp rank holds (T2).
  void sum_weights(const plan::RankContents& on_stage) {
    const auto add = [&](const std::vector<i64>& weights, i64 count) {
      for (i64 i = 0; i < count; ++i)
        for (const i64 elements : weights) sum(K::tp_norm_grads, mesh::GroupKind::tp, elements, 1);
    };
    for (const model::LayerRun& run : on_stage.runs)
      add(list_partial_weights(config_, run.layer), run.count);
    if (on_stage.mtp > 0) add(list_partial_mtp_weights(config_), on_stage.mtp);
    if (on_stage.loss) add(list_partial_head_weights(config_), 1);
  }

  /// Reduces gradients with the other rank that holds the stage: whole buckets, or ZeRO's shards of
  /// them (T14).
  void mirror(i64 stage) {
    const bool sharded = plan_.zero >= 1;
    for_each_bucket(holdings_[std::size_t(stage)], count_bucket_elements(plan_),
                    [&](const plan::Share& bucket) {
                      const i64 parts = bucket.dense > 0 ? plan_.shards() : plan_.expert_dp();
                      calls_.call(
                          K::mirror_grad, plan::Op::all_reduce, mesh::GroupKind::mirror,
                          bytes(bucket.total(), config_.job.grad_bytes()) / (sharded ? parts : 1));
                    });
  }

  /// Adds an all-reduce of 1/parts of `gradients` elements.
  void sum(K kind, mesh::GroupKind group, i64 gradients, i64 parts) {
    if (gradients > 0)
      calls_.call(kind, plan::Op::all_reduce, group,
                  bytes(gradients, config_.job.grad_bytes()) / parts);
  }

  const plan::TrainingConfig& config_;
  const plan::Plan& plan_;
  std::vector<plan::RankContents> stages_;
  std::vector<plan::Holding> holdings_;
  Calls calls_;
  bool copies_;
};

}  // namespace

std::vector<RankSteps> build_rank_steps(const plan::TrainingConfig& config) {
  StepBuilder builder(config);
  std::vector<RankSteps> all;
  for (i64 r = 0; r < config.plan.pp; ++r) all.push_back(builder.build(r));
  return all;
}

std::vector<Body> steps(const plan::TrainingConfig& config) {
  std::vector<Body> all;
  for (const RankSteps& rank : build_rank_steps(config)) {
    Body line = rank.first;
    for (const Body& behind : rank.behind) line.insert(line.end(), behind.begin(), behind.end());
    line.insert(line.end(), rank.last.begin(), rank.last.end());
    all.push_back(std::move(line));
  }
  return all;
}

}  // namespace rankwright::program
