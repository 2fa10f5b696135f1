#include <algorithm>

#include "rankwright/cost/memory/activations.h"
#include "rankwright/model/parameters.h"
#include "rankwright/program/schedule/schedule.h"
#include "rankwright/search/explorer.h"

namespace rankwright::search {

Seconds unlinked_time(const SearchContext& context, plan::TrainingConfig& config) {
  const bool before = std::exchange(config.plan.sequence_parallel, true);
  if (first_misfit(config)) config.plan.sequence_parallel = false;
  const Seconds min = rankwright::cost::min_time(
      config, context.calibration,
      layer_prices(config, cost::Links::none(config, context.calibration), context.calibration));
  config.plan.sequence_parallel = before;
  return min;
}

/// What no rank's states are below on average, whatever is sharded of them that the limits allow.
void Explorer::weigh_states() {
  const plan::Job& job = config_.job;
  const model::Parameters all = parameters(config_.model);
  const double stages = double(node_.pp);
  const double expert = double(all.experts) / double(node_.etp * node_.ep) / stages;
  const double dense = double(all.total() - all.experts) / double(node_.tp) / stages;
  const double each[] = {double(job.param_bytes()), double(job.grad_bytes()),
                         double(job.optimizer_bytes())};
  const double shard = dense / double(node_.dp * node_.cp) + expert / double(plan().expert_dp());
  // FSDP keeps its weights in shards from ZeRO-2 on.
  const int weights = config_.software.fsdp ? 2 : 3;
  const int from[] = {weights, 2, 1};  // ZeRO stage that shards parameters, gradients, optimizer
  states_ = kInfiniteBytes;
  for (const Sharding& sharding : shardings_) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k)
      sum += each[k] * (sharding.zero >= from[k] ? shard : dense + expert);
    states_ = std::min(states_, Bytes{sum});
  }
}

/// For every recompute, with the plan's microbatch and sequence parallelism.
void Explorer::weigh_layers() {
  const plan::Recompute before = plan().recompute;
  for (const plan::Recompute recompute : recomputes_) {
    plan().recompute = recompute;
    LayerWeights& sum = weights_[std::size_t(recompute)] = {.kept = {}, .lightest = kInfiniteBytes};
    for (const model::LayerRun& run : config_.model.runs) {
      const cost::LayerActivations a = cost::activations(config_, run.layer);
      const Bytes each = recompute == plan::Recompute::full ? a.input : a.kept;
      sum.kept += double(run.count) * each;
      sum.lightest = std::min(sum.lightest, each);
    }
  }
  plan().recompute = before;
}

/// No pipe of any recompute fits.
bool Explorer::never_fits() {
  const plan::Recompute before = plan().recompute;
  const bool never = std::all_of(recomputes_.begin(), recomputes_.end(), [&](plan::Recompute one) {
    plan().recompute = one;
    return std::all_of(pipes_.begin(), pipes_.end(),
                       [&](const Pipe& pipe) { return too_large(min_memory(pipe)); });
  });
  plan().recompute = before;
  return never;
}

/// The fullest pp rank holds no less than the mean: all its chunks of one microbatch, whose
/// backward begins behind its last forward (with DualPipe one of two stages), and its states.
Bytes Explorer::min_memory(const Pipe& pipe) const {
  const bool mirror = row(pipe.schedule).order == plan::StageOrder::mirror;
  return (mirror ? 0.5 : 1) / double(node_.pp) * weights().kept + states_;
}

/// Pp rank 0 holds so many of its smallest chunk at least.
Bytes Explorer::min_on_first() const {
  const plan::StageOrder order = row(config_.plan.schedule).order;
  const i64 pp = node_.pp, stages = i64(stages_.size());
  i64 layers = stages_.front().layers;
  for (i64 pass = 1; pass * pp < stages; ++pass) {
    const bool back = order == plan::StageOrder::vee && pass % 2 == 1;
    layers = std::min(layers, stages_[std::size_t(pass * pp + (back ? pp - 1 : 0))].layers);
  }
  if (order == plan::StageOrder::mirror) layers = std::min(layers, stages_.back().layers);
  return double(program::max_in_flight(pipeline_shape(config_), 0) * layers) * weights().lightest +
         states_;
}

Ends Explorer::ends(const Pipe& pipe) const {
  const bool loop = row(pipe.schedule).order == plan::StageOrder::loop;
  const i64 pp = node_.pp;
  if (!loop || pp == 1 || !stages_.front().embedding || !stages_.back().loss) return {};
  Ends ends{.known = true};
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const double layers = double(stages_[s].layers + stages_[s].mtp);
    const i64 rank = i64(s) % pp;
    if (rank == 0) ends.first += layers;
    if (rank == pp - 1) ends.last += layers;
    if (i64(s) < pp - 1) ends.before += layers;
  }
  return ends;
}

/// PT8 of the first and the last pp rank, without going through the stages.
Seconds Explorer::min_time(const PricedOrder& priced_order, const Pipe& pipe,
                           const Ends& ends) const {
  const Seconds min = priced_order.min_with(pipe);
  if (!ends.known) return min;
  const cost::LayerPrices& p = priced_order.prices;
  const auto backward = [](const cost::EmbeddingHeadTime& edge) {
    return edge.input.total() + edge.weight.total();
  };
  const double m = double(config_.microbatches());
  const double hops = double(node_.pp - 1);
  const Seconds layer = priced_order.forward + priced_order.backward;
  const Seconds embedding = p.embedding.forward.total() + backward(p.embedding);
  const Seconds head =
      double(1 + config_.model.mtp_layers) * (p.head.forward.total() + backward(p.head));
  Seconds last = ends.before * priced_order.forward + p.embedding.forward.total() + hops * p.send +
                 m * (ends.last * layer + head);
  if (!row(pipe.schedule).splits_backward)
    last += ends.before * priced_order.backward + backward(p.embedding) + hops * p.send;
  const Seconds first = m * (ends.first * layer + embedding);
  return std::max(min, cost::apply_overheads(config_, context_.calibration, std::max(first, last)));
}

/// What needs so much does not fit, and where nothing is known to fit it is not the leanest either.
bool Explorer::too_large(Bytes min) const {
  return context_.bounds && min > problem_.capacity && (best_ < kInfiniteTime || min >= leanest_);
}

}  // namespace rankwright::search
