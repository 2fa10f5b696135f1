#include "rankwright/search/lower_bounds.h"

#include <algorithm>
#include <utility>

#include "rankwright/cost/memory/activations.h"
#include "rankwright/cost/memory/states.h"
#include "rankwright/cost/step.h"
#include "rankwright/model/parameters.h"
#include "rankwright/pipeline/order.h"

namespace rankwright::search {

Seconds min_compute_time(const SearchContext& context, plan::TrainingConfig& config) {
  const bool before = std::exchange(config.plan.sequence_parallel, true);
  if (find_first_violation(config)) config.plan.sequence_parallel = false;
  const plan::CpComm comm = std::exchange(config.plan.cp_comm, kFastestKernels);
  const Seconds min =
      cost::min_time(config, context.calibration,
                     estimate_layer_costs(config, cost::Links::none(config, context.calibration),
                                          context.calibration));
  config.plan.sequence_parallel = before;
  config.plan.cp_comm = comm;
  return min;
}

Bytes min_states(const NodeSpace& space) {
  const cost::StateBytes bytes = cost::count_state_bytes(space.config);
  const Node& node = space.node;
  const model::Parameters all = count_parameters(space.config.model);
  const double stages = double(node.pp);
  const double expert = double(all.experts) / double(node.etp * node.ep) / stages;
  const double dense = double(all.total() - all.experts) / double(node.tp) / stages;
  const bool frozen = space.config.job.frozen();
  const double shard =
      dense / double(node.dp * node.cp) + expert / double(space.config.plan.expert_dp());
  // FSDP keeps its weights in shards from ZeRO-2 on.
  const int weights = space.config.software.fsdp ? 2 : 3;
  const int from[] = {weights, 2, 1};  // ZeRO stage that shards parameters, gradients, optimizer
  Bytes min = kInfiniteBytes;
  for (const Sharding& sharding : space.shardings) {
    const cost::KeptOnDevice kept = cost::find_kept_on_device(space.config, sharding.zero);
    // Under LoRA, the frozen weights alone. Gradients that are freed may not be there at the peak.
    const bool gradients = !frozen && !space.config.software.frees_gradients;
    const double each[] = {kept.weights * (frozen ? bytes.frozen : bytes.weights),
                           gradients ? kept.gradients * bytes.gradients : 0,
                           frozen ? 0 : kept.optimizer * bytes.optimizer};
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k)
      sum += each[k] * (sharding.zero >= from[k] ? shard : dense + expert);
    min = std::min(min, Bytes{sum});
  }
  return min;
}

std::vector<ActivationBytes> estimate_activations(const NodeSpace& space,
                                                  plan::TrainingConfig& config) {
  std::vector<ActivationBytes> all;
  for (const RecomputeChoice& choice : space.recomputes) {
    choose(config.plan, choice);
    const bool full = choice.kind == plan::Recompute::full;
    ActivationBytes sum{.kept = {}, .lightest = kInfiniteBytes};
    Bytes whole{}, largest_saving{};
    for (const model::LayerRun& run : config.model.runs) {
      const cost::LayerActivations a = cost::activations(config, run.layer);
      const Bytes each = full ? a.input : a.kept;
      sum.kept += double(run.count) * each;
      sum.lightest = std::min(sum.lightest, each);
      whole += double(run.count) * a.kept;
      largest_saving = std::max(largest_saving, a.kept - a.input);
    }
    if (choice.layers > 0)
      sum.kept = std::max(sum.kept, whole - double(choice.layers * space.node.pp) * largest_saving);
    all.push_back(sum);
  }
  choose(config.plan, RecomputeChoice{});
  return all;
}

Bytes min_memory(const NodeSpace& space, const ActivationBytes& activations, const Pipe& pipe) {
  // With DualPipe, ranks hold the activations of one of their two stages on average.
  const bool mirror = row(pipe.schedule).stage_order == pipeline::StageOrder::mirror;
  return (mirror ? 0.5 : 1) / double(space.node.pp) * activations.kept + space.min_states;
}

Bytes min_memory_on_first_rank(const NodeSpace& space, const ActivationBytes& activations,
                               const plan::TrainingConfig& config, const plan::Stages& stages) {
  const pipeline::StageOrder order = row(config.plan.schedule).stage_order;
  const i64 pp = space.node.pp, count = i64(stages.size());
  i64 layers = stages.front().layers;
  for (i64 pass = 1; pass * pp < count; ++pass) {
    const bool back = order == pipeline::StageOrder::vee && pass % 2 == 1;
    layers = std::min(layers, stages[std::size_t(pass * pp + (back ? pp - 1 : 0))].layers);
  }
  if (order == pipeline::StageOrder::mirror) layers = std::min(layers, stages.back().layers);
  const i64 in_flight = pipeline::max_in_flight(make_pipeline_shape(config), 0);
  return double(in_flight * layers) * activations.lightest + space.min_states;
}

EndStages find_end_stages(const plan::Stages& stages, const Pipe& pipe, i64 pp) {
  const bool loop = row(pipe.schedule).stage_order == pipeline::StageOrder::loop;
  if (!loop || pp == 1 || !stages.front().embedding || !stages.back().loss) return {};
  EndStages ends{.known = true};
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const double layers = double(stages[s].layers + stages[s].mtp);
    const i64 rank = i64(s) % pp;
    if (rank == 0) ends.first += layers;
    if (rank == pp - 1) ends.last += layers;
    if (i64(s) < pp - 1) ends.before += layers;
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
