#include "rankwright/search/lower_bounds.h"

#include <algorithm>
#include <utility>

#include "rankwright/cost/memory/activations.h"
#include "rankwright/cost/memory/states.h"
#include "rankwright/cost/step.h"
#include "rankwright/model/parameters.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/plan/shares.h"

namespace rankwright::search {

Seconds min_time_of_whole_layers(const SearchContext& context, const plan::TrainingConfig& config,
                                 const cost::LayerCosts& prices, bool halved) {
  const i64 parts = halved ? 2 : 1;
  // With full recomputation of n layers per pp rank, it is not known yet which layers those are.
  const bool again = config.plan.recompute_layers == 0;
  Seconds max{}, lightest = kInfiniteTime;
  i64 layers = 0;
  const auto add = [&](i64 count, Seconds each) {
    const i64 most = ceil_div(parts * count, config.plan.pp);
    max = std::max(max, double(most) / double(parts) * each);
  };
  for (const cost::LayerKindCost& kind : prices.kinds) {
    const bool last = &kind == &prices.kinds.back();
    const i64 count = kind.end - kind.first + (last ? config.model.mtp_layers : 0);
    const Seconds each = kind.time.forward.total() + kind.time.backward() +
                         (again ? kind.time.again.total() : Seconds{});
    add(count, each);
    layers += count;
    lightest = std::min(lightest, each);
  }
  add(layers, lightest);
  return cost::apply_overheads(config, context.calibration, double(config.microbatches()) * max);
}

Seconds min_step_time(const SearchContext& context, const plan::TrainingConfig& config,
                      const cost::LayerCosts& prices) {
  return std::max(cost::min_time(config, context.calibration, prices),
                  min_time_of_whole_layers(context, config, prices, true));
}

Seconds min_compute_time(const SearchContext& context, plan::TrainingConfig& config) {
  const bool before = std::exchange(config.plan.sequence_parallel, true);
  if (find_first_violation(config)) config.plan.sequence_parallel = false;
  const plan::CpComm comm = std::exchange(config.plan.cp_comm, kFastestKernels);
  const Seconds min =
      min_step_time(context, config,
                    estimate_layer_costs(config, cost::Links::none(config, context.calibration),
                                         context.calibration));
  config.plan.sequence_parallel = before;
  config.plan.cp_comm = comm;
  return min;
}

StateBounds bound_states(const NodeSpace& space) {
  const cost::StateBytes bytes = cost::count_state_bytes(space.config);
  const plan::Plan& plan = space.config.plan;
  const bool frozen = space.config.job.frozen();
  // FSDP keeps its weights in shards from ZeRO-2 on.
  const int weights = space.config.software.fsdp ? 2 : 3;
  const int from[] = {weights, 2, 1};  // ZeRO stage that shards parameters, gradients, optimizer
  /// Parameters of the dense part and of experts.
  struct Counts {
    double dense, expert;
  };
  const auto bound = [&](Counts held, Counts trained, int zero) {
    const cost::KeptOnDevice kept = cost::find_kept_on_device(space.config, zero);
    // Under LoRA, the frozen weights alone. Gradients that are freed may not be there at the peak.
    const bool gradients = !frozen && !space.config.software.frees_gradients;
    const double each[] = {kept.weights * (frozen ? bytes.frozen : bytes.weights),
                           gradients ? kept.gradients * bytes.gradients : 0,
                           frozen ? 0 : kept.optimizer * bytes.optimizer};
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const Counts& n = k == 0 ? held : trained;
      const double shard =
          n.dense / double(plan.data_ranks()) + n.expert / double(plan.expert_dp());
      sum += each[k] * (zero >= from[k] ? shard : n.dense + n.expert);
    }
    return Bytes{sum};
  };
  const auto per_rank = [&](const model::Parameters& all) {
    return Counts{double(all.total() - all.experts) / double(plan.tp * plan.pp),
                  double(all.experts) / double(plan.etp * plan.ep * plan.pp)};
  };
  const Counts held = per_rank(count_parameters(space.config.model));
  const Counts trained = per_rank(count_trained_parameters(space.config.model));
  StateBounds bounds{.min = kInfiniteBytes};
  bounds.mean.fill(kInfiniteBytes);
  for (const Sharding& sharding : space.shardings) {
    bounds.mean[std::size_t(sharding.zero)] = bound(held, trained, sharding.zero);
    bounds.min = std::min(bounds.min, bounds.mean[std::size_t(sharding.zero)]);
  }
  bounds.before.push_back({});
  for (const model::LayerRun& run : space.config.model.runs) {
    const plan::Share share = count_layer_share(space.config.model, run.layer, plan);
    const Counts all{double(share.dense), double(share.expert)};
    const Counts gradients = run.layer.training == model::Training::full ? all : Counts{0, 0};
    Bytes each = kInfiniteBytes;
    for (const Sharding& sharding : space.shardings)
      each = std::min(each, bound(all, gradients, sharding.zero));
    for (i64 k = 0; k < run.count; ++k) bounds.before.push_back(bounds.before.back() + each);
  }
  return bounds;
}

std::vector<ActivationBytes> estimate_activations(const NodeSpace& space,
                                                  plan::TrainingConfig& config) {
  std::vector<ActivationBytes> all;
  for (const RecomputeChoice& choice : space.recomputes) {
    choose(config.plan, choice);
    const bool full = choice.kind == plan::Recompute::full, some = choice.layers > 0;
    ActivationBytes sum{.before = {Bytes{}}};
    const std::size_t entries = std::size_t(config.model.layers()) + 1;
    sum.before.reserve(entries);
    if (some) {
      sum.saved_before.reserve(entries);
      sum.saved_before.push_back({});
    }
    Bytes whole{}, largest_saving{};
    for (const model::LayerRun& run : config.model.runs) {
      const cost::LayerActivations a = cost::activations(config, run.layer);
      // Inputs in host memory take none of the device's.
      const Bytes input = config.plan.offload.activations ? Bytes{} : a.input;
      const Bytes each = full && !some ? input : a.kept;
      for (i64 k = 0; k < run.count; ++k) {
        sum.before.push_back(sum.before.back() + each);
        if (some) sum.saved_before.push_back(sum.saved_before.back() + (a.kept - input));
      }
      sum.kept += double(run.count) * (full ? input : a.kept);
      whole += double(run.count) * a.kept;
      largest_saving = std::max(largest_saving, a.kept - input);
    }
    if (some)
      sum.kept = std::max(sum.kept, whole - double(choice.layers * space.node.pp) * largest_saving);
    all.push_back(std::move(sum));
  }
  choose(config.plan, RecomputeChoice{});
  return all;
}

namespace {

/// Returns the mean over pp ranks of the activations of one microbatch.
Bytes mean_activations(const NodeSpace& space, const ActivationBytes& activations,
                       const Pipe& pipe) {
  // With DualPipe, ranks hold the activations of one of their two stages on average.
  const bool mirror = row(pipe.schedule).stage_order == pipeline::StageOrder::mirror;
  return (mirror ? 0.5 : 1) / double(space.node.pp) * activations.kept;
}

}  // namespace

Bytes min_memory(const NodeSpace& space, const ActivationBytes& activations, const Pipe& pipe) {
  return mean_activations(space, activations, pipe) + space.states.min;
}

Bytes min_memory(const NodeSpace& space, const ActivationBytes& activations, const Pipe& pipe,
                 int zero) {
  return mean_activations(space, activations, pipe) + space.states.mean[std::size_t(zero)];
}

Bytes min_memory_on_first_rank(const NodeSpace& space, const ActivationBytes& activations,
                               const plan::TrainingConfig& config, const plan::Stages& stages) {
  const pipeline::StageOrder order = row(config.plan.schedule).stage_order;
  const i64 pp = space.node.pp;
  Bytes states{}, smallest = kInfiniteBytes;
  i64 first = 0, recomputed = config.plan.recompute_layers;
  i64 at = -1;        // of the stage in its pass over the pp ranks
  bool back = false;  // whether the pass goes from the last rank to the first
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (++at == pp) {
      at = 0;
      back = order == pipeline::StageOrder::vee && !back;
    }
    const std::size_t begin = std::size_t(first);
    first += stages[s].layers;
    const bool second = order == pipeline::StageOrder::mirror && s + 1 == stages.size();
    if (at != (back ? pp - 1 : 0) && !second) continue;
    const std::size_t end = std::size_t(first);
    states += space.states.before[end] - space.states.before[begin];
    Bytes chunk = activations.before[end] - activations.before[begin];
    if (!activations.saved_before.empty()) {
      const i64 again = std::min(recomputed, stages[s].layers);
      recomputed -= again;
      chunk = chunk - (activations.saved_before[begin + std::size_t(again)] -
                       activations.saved_before[begin]);
    }
    smallest = std::min(smallest, chunk);
  }
  const i64 in_flight = pipeline::max_in_flight(make_pipeline_shape(config), 0);
  return double(in_flight) * smallest + states;
}

EndStages find_end_stages(const plan::Stages& stages, const Pipe& pipe, i64 pp) {
  const bool loop = row(pipe.schedule).stage_order == pipeline::StageOrder::loop;
  if (!loop || pp == 1 || !stages.front().embedding || !stages.back().loss) return {};
  EndStages ends{.known = true};
  i64 rank = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const double layers = double(stages[s].layers + stages[s].mtp);
    if (rank == 0) ends.first += layers;
    if (rank == pp - 1) ends.last += layers;
    if (i64(s) < pp - 1) ends.before += layers;
    if (++rank == pp) rank = 0;
  }
  return ends;
}

Seconds min_time(const SearchContext& context, const plan::TrainingConfig& config,
                 const PricedOrder& order, const Pipe& pipe, const EndStages& ends) {
  const Seconds min = order.min_with(pipe);
  if (!ends.known) return min;
  const cost::LayerCosts& p = order.prices;
  const auto backward = [](const cost::EmbeddingHeadTime& edge) {
    return edge.input.total() + edge.weight.total();
  };
  const double m = double(config.microbatches());
  const double hops = double(config.plan.pp - 1);
  const Seconds layer = order.forward + order.backward;
  // The recomputation of a rank, if it does not recompute all of its layers.
  const auto again = [&](double layers) {
    return std::min(double(config.plan.recompute_layers), layers) * order.again;
  };
  const Seconds embedding = p.embedding.forward.total() + backward(p.embedding);
  const Seconds head =
      double(1 + config.model.mtp_layers) * (p.head.forward.total() + backward(p.head));
  Seconds last = ends.before * order.forward + p.embedding.forward.total() + hops * p.send() +
                 m * (ends.last * layer + again(ends.last) + head);
  if (!row(pipe.schedule).splits_backward)
    last += ends.before * order.backward + backward(p.embedding) + hops * p.send();
  const Seconds first = m * (ends.first * layer + again(ends.first) + embedding);
  return std::max(min, cost::apply_overheads(config, context.calibration, std::max(first, last)));
}

}  // namespace rankwright::search
