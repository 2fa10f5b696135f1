#include "rankwright/search/memory_bounds.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "rankwright/cost/memory/activations.h"
#include "rankwright/cost/memory/allocator.h"
#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/memory/states.h"
#include "rankwright/model/parameters.h"
#include "rankwright/pipeline/held.h"
#include "rankwright/pipeline/order.h"
#include "rankwright/plan/shares.h"

namespace rankwright::search {
namespace {

constexpr std::size_t kZeroStages = 4;

/// Parameters of the dense part and of experts.
struct Counts {
  double dense = 0, expert = 0;
};

/// Bounds the states of parameters on one rank.
class StateBounder {
 public:
  explicit StateBounder(const plan::TrainingConfig& config)
      : config_(config), bytes_(cost::count_state_bytes(config)) {}

  /// Returns the minimum over all ways to shard of the bytes of these parameters.
  Bytes bound(Counts held, Counts trained, int zero) const {
    const plan::Plan& plan = config_.plan;
    const bool frozen = config_.job.frozen();
    // FSDP keeps its weights in shards from ZeRO-2 on.
    const int weights = config_.software.fsdp ? 2 : 3;
    const int from[] = {weights, 2, 1};  // ZeRO stage that shards parameters, gradients, optimizer
    const cost::KeptOnDevice kept = cost::find_kept_on_device(config_, zero);
    // Under LoRA, the frozen weights alone. Gradients that are freed may not be there at the peak.
    const bool gradients = !frozen && !config_.software.frees_gradients;
    const double each[] = {kept.weights * (frozen ? bytes_.frozen : bytes_.weights),
                           gradients ? kept.gradients * bytes_.gradients : 0,
                           frozen ? 0 : kept.optimizer * bytes_.optimizer};
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const Counts& n = k == 0 ? held : trained;
      const double shard =
          n.dense / double(plan.data_ranks()) + n.expert / double(plan.expert_dp());
      sum += each[k] * (zero >= from[k] ? shard : n.dense + n.expert);
    }
    return Bytes{sum};
  }

 private:
  const plan::TrainingConfig& config_;
  cost::StateBytes bytes_;
};

/// Calls `visit` with each schedule that a choice of recompute, given by its index, can be combined
/// with until it returns true. Returns whether it did.
template <class Visit>
bool any_schedule(const NodeSpace& space, std::size_t recompute, const Visit& visit) {
  return std::ranges::any_of(space.pipe_sets, [&](const std::vector<PipeSet>& sets) {
    return std::ranges::any_of(sets[recompute].schedules, visit);
  });
}

/// Returns whether a layer counts in the bound of the memory of layers. A rank with one of these
/// has at least the temporary tensors of the smallest.
bool is_heavy(const model::Model& model, const model::Layer& layer) {
  return layer.ffn.sparse() || !model.sparse();
}

/// Returns the smallest load of a rank that has one of the heavy layers, without its states and
/// saved activations.
cost::RankLoad make_smallest_load(const NodeSpace& space, const plan::TrainingConfig& config) {
  const plan::Plan& plan = config.plan;
  cost::RankLoad least{.layers = 1};
  const auto keep_min = [&](auto& to, const auto& value, bool first) {
    to = first ? value : std::min(to, value);
  };
  bool first = true;
  for (const StateBounds::Run& run : space.states.heavy) {
    const model::Layer& layer = config.model.runs[run.index].layer;
    const plan::Share share = count_layer_share(config.model, layer, plan);
    const cost::LayerMatrices matrices = cost::matrices(config, layer);
    const i64 sharded =
        (plan.data_ranks() > 1 ? share.dense : 0) + (plan.expert_dp() > 1 ? share.expert : 0);
    keep_min(least.largest_layer, sharded, first);
    keep_min(least.gradients, cost::activations(config, layer).gradients, first);
    keep_min(least.attention, matrices.attention, first);
    keep_min(layer.ffn.sparse() ? least.sparse : least.dense, matrices.ffn, first);
    first = false;
  }
  return least;
}

/// Returns a lower bound of the states and activations of the heavy layers on the fullest pp rank.
/// `kept` returns what a layer of a run keeps per microbatch. `in_flight` is by pp rank.
template <class Kept>
Bytes bound_layers(const NodeSpace& space, std::size_t zero, const std::vector<double>& in_flight,
                   const Kept& kept, Bytes saved) {
  Bytes states{}, activations{};
  double layers = 0;
  for (const StateBounds::Run& run : space.states.heavy) {
    states += double(run.count) * run.states[zero];
    activations += double(run.count) * kept(run.index);
    layers += double(run.count);
  }
  states = states / layers;
  activations = activations / layers;
  // The weight of a rank is the inverse of what a mean layer takes on it. The fullest rank has at
  // least the weighted mean of all ranks.
  double sum = 0, held = 0;
  for (const double f : in_flight) {
    const Bytes each = states + f * activations;
    if (each <= Bytes{}) return {};
    const double weight = 1 / each.value;
    sum += weight;
    held += f * weight;
  }
  const auto [fewest, most] = std::minmax_element(in_flight.begin(), in_flight.end());
  Bytes total{};
  for (const StateBounds::Run& run : space.states.heavy) {
    // Relative to the mean layer, a layer takes least on the rank with the most or the fewest
    // microbatches.
    double smallest = std::numeric_limits<double>::infinity();
    for (const double f : {*fewest, *most})
      smallest =
          std::min(smallest, (run.states[zero] + f * kept(run.index)) / (states + f * activations));
    total += Bytes{double(run.count) * smallest / sum};
  }
  return total - held / sum * saved;
}

/// Returns the microbatches that each pp rank holds at least, with any chunks and stages. Empty for
/// schedules that hold each stage twice.
std::vector<double> list_in_flight(const plan::TrainingConfig& config,
                                   const pipeline::ScheduleRow& facts) {
  if (facts.stage_order == pipeline::StageOrder::mirror && config.plan.pp > 1) return {};
  const pipeline::PipelineShape shape{
      .schedule = facts.schedule,
      .pp = config.plan.pp,
      .chunks = facts.max_chunks == 1 ? 1 : std::max<i64>(2, facts.min_chunks),
      .microbatches = config.microbatches()};
  std::vector<double> all;
  all.reserve(std::size_t(shape.pp));
  for (i64 r = 0; r < shape.pp; ++r)
    all.push_back(shape.pp == 1 ? 1 : double(whole_in_flight(shape, r)));
  return all;
}

/// Bounds the memory of a schedule with any chunks and any stages. If pp rank r holds f_r
/// microbatches, and a layer has s bytes of states and a of activations, then n layers can be
/// spread so that no rank has more than n / sum_r 1 / (s + f_r a), and not more evenly. `in_flight`
/// is f_r by pp rank; empty for DualPipe. If only some layers are recomputed, a rank recomputes at
/// most `recomputed`; else that is 0. Requires: `config` has the microbatch and the sequence
/// parallelism.
MemoryBounds bound_memory(const NodeSpace& space, const plan::TrainingConfig& config,
                          const ActivationBytes& activations, const OverheadBounds& overhead,
                          const std::vector<double>& in_flight, double recomputed) {
  const double pp = double(config.plan.pp);
  // With DualPipe, ranks hold two stages, and the activations of one of them on average.
  const bool mirror = in_flight.empty();
  const Bytes all =
      recomputed == 0
          ? activations.kept
          : std::max(activations.kept, activations.whole - recomputed * pp * activations.max_saved);
  const Bytes mean = (mirror ? 0.5 : 1) / pp * all;
  const double reserve = 1 + overhead.reserve;
  const auto kept = [&](std::size_t run) { return reserve * activations.runs[run].kept; };
  const auto input = [&](std::size_t run) {
    return reserve * (activations.runs[run].kept - activations.runs[run].saved);
  };
  Bytes saved{};
  for (const ActivationBytes::Layer& layer : activations.runs)
    saved = std::max(saved, recomputed * reserve * layer.saved);
  MemoryBounds bounds;
  bounds.fill(kInfiniteBytes);
  for (std::size_t zero = 0; zero < kZeroStages; ++zero) {
    const Bytes states = space.states.mean[zero];
    if (states == kInfiniteBytes) continue;
    const OverheadBounds::Stage& any = overhead.any[zero];
    const OverheadBounds::Stage& with = overhead.with[zero];
    bounds[zero] = states + mean + any.allocated + any.outside;
    Bytes layers{};
    if (mirror) {
      for (const StateBounds::Run& run : space.states.heavy)
        layers += double(run.count) / pp * (2 * run.states[zero] + 0.5 * input(run.index));
    } else {
      layers = bound_layers(space, zero, in_flight, input, Bytes{});
      if (recomputed > 0)
        layers = std::max(layers, bound_layers(space, zero, in_flight, kept, saved));
    }
    if (overhead.allocator_limit == Bytes{}) {
      bounds[zero] = std::max(bounds[zero], layers / reserve);
      continue;
    }
    const Bytes reserved = layers + with.allocated + with.reserve + reserve * activations.restored;
    const Bytes allocated = layers / reserve + with.allocated + activations.restored;
    bounds[zero] =
        std::max(bounds[zero],
                 std::max(allocated, std::min(reserved, overhead.allocator_limit)) + with.outside);
  }
  return bounds;
}

}  // namespace

StateBounds bound_states(const NodeSpace& space) {
  const plan::TrainingConfig& config = space.config;
  const model::Model& model = config.model;
  const plan::Plan& plan = config.plan;
  const StateBounder bounder(config);
  const auto per_rank = [&](const model::Parameters& all) {
    return Counts{double(all.total() - all.experts) / double(plan.tp * plan.pp),
                  double(all.experts) / double(plan.etp * plan.ep * plan.pp)};
  };
  const Counts held = per_rank(count_parameters(model));
  const Counts trained = per_rank(count_trained_parameters(model));
  StateBounds bounds;
  bounds.mean.fill(kInfiniteBytes);
  for (const Sharding& sharding : space.shardings)
    bounds.mean[std::size_t(sharding.zero)] = bounder.bound(held, trained, sharding.zero);
  bounds.before.reserve(std::size_t(model.layers()) + 1);
  bounds.before.push_back({});
  for (std::size_t i = 0; i < model.runs.size(); ++i) {
    const model::LayerRun& run = model.runs[i];
    const plan::Share share = count_layer_share(model, run.layer, plan);
    const Counts all{double(share.dense), double(share.expert)};
    const Counts gradients = run.layer.training == model::Training::full ? all : Counts{};
    StateBounds::Run states{.index = i, .count = run.count};
    Bytes each = kInfiniteBytes;
    for (const Sharding& sharding : space.shardings) {
      const Bytes here = bounder.bound(all, gradients, sharding.zero);
      states.states[std::size_t(sharding.zero)] = here;
      each = std::min(each, here);
    }
    for (i64 k = 0; k < run.count; ++k) bounds.before.push_back(bounds.before.back() + each);
    if (i + 1 == model.runs.size()) states.count += model.mtp_layers;
    if (is_heavy(model, run.layer)) bounds.heavy.push_back(states);
  }
  return bounds;
}

ActivationBytes estimate_activations(const RecomputeChoice& choice, plan::TrainingConfig& config) {
  choose(config.plan, choice);
  const bool full = choice.kind == plan::Recompute::full, some = choice.quarters > 0;
  ActivationBytes sum{.restored = kInfiniteBytes};
  sum.runs.reserve(config.model.runs.size());
  for (const model::LayerRun& run : config.model.runs) {
    const cost::LayerActivations a = cost::activations(config, run.layer);
    // Inputs in host memory take none of the device's.
    const Bytes input = config.plan.offload.activations ? Bytes{} : a.input;
    sum.runs.push_back({full && !some ? input : a.kept, some ? a.kept - input : Bytes{}});
    sum.kept += double(run.count) * (full ? input : a.kept);
    sum.whole += double(run.count) * a.kept;
    sum.max_saved = std::max(sum.max_saved, a.kept - input);
    // If only some layers are recomputed, those may be any.
    if (some || is_heavy(config.model, run.layer))
      sum.restored = std::min(sum.restored, full ? a.whole : a.core);
  }
  choose(config.plan, RecomputeChoice{});
  return sum;
}

ActivationSums sum_activations(const NodeSpace& space, const RecomputeChoice& choice,
                               const ActivationBytes& activations) {
  ActivationSums sums{.kept = {Bytes{}}};
  const bool some = choice.quarters > 0;
  if (some) sums.saved.push_back({});
  for (std::size_t i = 0; i < activations.runs.size(); ++i)
    for (i64 k = 0; k < space.config.model.runs[i].count; ++k) {
      sums.kept.push_back(sums.kept.back() + activations.runs[i].kept);
      if (some) sums.saved.push_back(sums.saved.back() + activations.runs[i].saved);
    }
  return sums;
}

OverheadBounds bound_overhead(const NodeSpace& space, plan::TrainingConfig& config) {
  const cluster::Calibration& calibration = space.context.calibration;
  const plan::Software& software = config.software;
  OverheadBounds bounds;
  // Their peak may be at an instant without some of these.
  if (software.frees_gradients || (software.fsdp && software.loss == plan::Loss::chunked))
    return bounds;
  bounds.allocator_limit = cost::kAllocatorLimit * config.cluster.device.memory;
  if (!software.bare) bounds.reserve = calibration[cluster::Constant::reserve];
  const cost::RankLoad with = make_smallest_load(space, config), any{};
  const auto estimate = [&](const cost::RankLoad& load) -> OverheadBounds::Stage {
    const cost::MemoryEstimate memory = cost::fullest(config, calibration, {&load, 1});
    // Orders may have another dispatcher.
    return {memory.allocated(), memory[cost::Entry::reserve],
            memory[cost::Entry::context] + memory[cost::Entry::communicators]};
  };
  for (std::size_t zero = 0; zero < kZeroStages; ++zero) {
    if (space.states.mean[zero] == kInfiniteBytes) continue;
    choose(config.plan, int(zero), 0, space.problem());
    bounds.any[zero] = estimate(any);
    bounds.with[zero] = estimate(with);
  }
  choose(config.plan, 0, 0, space.problem());
  return bounds;
}

BatchMemory::BatchMemory(const NodeSpace& space)
    : space_(&space),
      activations_(space.recomputes.size()),
      in_flight_(pipeline::schedules().size()),
      bounds_(space.recomputes.size() * pipeline::schedules().size()) {}

const MemoryBounds& BatchMemory::bound(std::size_t recompute, pipeline::Schedule schedule,
                                       plan::TrainingConfig& config) {
  std::optional<MemoryBounds>& known = bounds_[index(recompute, schedule)];
  if (known) return *known;
  const ActivationBytes& activations = find_activations(recompute, config);
  const OverheadBounds& overhead = find_overhead(config);
  std::vector<double>& in_flight = in_flight_[std::size_t(schedule)];
  if (in_flight.empty()) in_flight = list_in_flight(config, row(schedule));
  i64 recomputed = 0;
  for (const std::vector<PipeSet>& sets : space_->pipe_sets) {
    const PipeSet& set = sets[recompute];
    for (std::size_t k = 0; k < set.schedules.size(); ++k)
      if (set.schedules[k] == schedule) recomputed = std::max(recomputed, set.recomputed[k]);
  }
  return known.emplace(
      bound_memory(*space_, config, activations, overhead, in_flight, double(recomputed)));
}

const ActivationBytes& BatchMemory::find_activations(std::size_t recompute,
                                                     plan::TrainingConfig& config) {
  std::optional<ActivationBytes>& known = activations_[recompute];
  if (!known) known = estimate_activations(space_->recomputes[recompute], config);
  return *known;
}

const OverheadBounds& BatchMemory::find_overhead(plan::TrainingConfig& config) {
  if (!overhead_) overhead_ = bound_overhead(*space_, config);
  return *overhead_;
}

bool BatchMemory::may_fit(Bytes limit, plan::TrainingConfig& config) {
  const OverheadBounds& overhead = find_overhead(config);
  Bytes states = kInfiniteBytes;  // and what a rank has besides, without any activations
  for (std::size_t zero = 0; zero < kZeroStages; ++zero)
    states = std::min(states, space_->states.mean[zero] + overhead.any[zero].allocated +
                                  overhead.any[zero].outside);
  if (states > limit) return false;
  // The last choice of recompute keeps the least.
  for (std::size_t k = space_->recomputes.size(); k-- > 0;)
    if (any_schedule(*space_, k, [&](pipeline::Schedule schedule) {
          const MemoryBounds& bounds = bound(k, schedule, config);
          return *std::min_element(bounds.begin(), bounds.end()) <= limit;
        }))
      return true;
  return false;
}

Bytes BatchMemory::min(plan::TrainingConfig& config) {
  Bytes smallest = kInfiniteBytes;
  for (std::size_t k = 0; k < space_->recomputes.size(); ++k)
    any_schedule(*space_, k, [&](pipeline::Schedule schedule) {
      const MemoryBounds& bounds = bound(k, schedule, config);
      smallest = std::min(smallest, *std::min_element(bounds.begin(), bounds.end()));
      return false;
    });
  return smallest;
}

Bytes min_memory_on_first_rank(const NodeSpace& space, const ActivationSums& activations,
                               const OverheadBounds& overhead, const plan::TrainingConfig& config,
                               const plan::Stages& stages) {
  const pipeline::StageOrder order = row(config.plan.schedule).stage_order;
  const i64 pp = space.node.pp;
  Bytes states{}, smallest = kInfiniteBytes, other = kInfiniteBytes;
  i64 first = 0;
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
    Bytes chunk = activations.kept[end] - activations.kept[begin];
    if (!activations.saved.empty()) {
      const i64 again = std::min(config.plan.recompute_layers, stages[s].layers);
      chunk = chunk - (activations.saved[begin + std::size_t(again)] - activations.saved[begin]);
    }
    smallest = std::min(smallest, chunk);
  }
  for (const Sharding& sharding : space.shardings) {
    const OverheadBounds::Stage& any = overhead.any[std::size_t(sharding.zero)];
    other = std::min(other, any.allocated + any.outside);
  }
  const i64 in_flight = pipeline::max_in_flight(make_pipeline_shape(config), 0);
  return double(in_flight) * smallest + states + other;
}

}  // namespace rankwright::search
