#include "rankwright/search/explore.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/step.h"
#include "rankwright/search/lower_bounds.h"
#include "rankwright/search/memory_bounds.h"
#include "rankwright/search/node_result.h"

namespace rankwright::search {
namespace {

// The levels of a search below the node (NodeSpace). Each is made from the one above, holds the
// plan with all choices so far, and does not change.

/// A bound on one microbatch size holds for another up to rounding.
constexpr double kRounding = 1e-9;

/// One microbatch size with or without sequence parallelism.
struct BatchLevel {
  plan::Plan plan;
  std::size_t sequence_parallel;  // its index
  BatchMemory memory;
};

/// The times of the layers with tensor-parallel communication alone. Neither copied nor moved:
/// `tensor` refers to the links and to the config, whose degrees, microbatch and sequence
/// parallelism must not change.
struct TensorCosts {
  cost::Links links;
  cost::TensorComm tensor;
  cost::LayerCosts costs;
  Seconds min;  // lower bound of a step

  TensorCosts(const SearchContext& context, const plan::TrainingConfig& config,
              const mesh::Span& span)
      : links(make_links(config, span, context.calibration)),
        tensor(config, links, context.calibration),
        costs(estimate_layer_costs(config, links, context.calibration)),
        min(min_step_time(context, config, costs)) {
    costs.sends.clear();
  }
  TensorCosts(const TensorCosts&) = delete;
  TensorCosts& operator=(const TensorCosts&) = delete;

 private:
  static cost::Links make_links(const plan::TrainingConfig& config, const mesh::Span& span,
                                const cluster::Calibration& calibration) {
    cost::Links links = cost::Links::none(config, calibration);
    links.set(mesh::GroupKind::tp, span);
    return links;
  }
};

/// Returns the times of the layers of a config whose tensor-parallel groups are those of `known`,
/// without sends. Outside layers there are no other groups, so these times are equal.
cost::LayerCosts add_other_groups(const plan::TrainingConfig& config, const cost::Links& links,
                                  const TensorCosts& known,
                                  const cluster::Calibration& calibration) {
  cost::LayerCosts costs = known.costs;
  const plan::Plan& plan = config.plan;
  if (plan.cp == 1 && plan.ep == 1 && plan.etp == 1) return costs;
  for (std::size_t i = 0; i < costs.kinds.size(); ++i) {
    const model::Layer& layer = config.model.runs[i].layer;
    std::size_t same = 0;  // an earlier run of equal layers
    while (same < i && config.model.runs[same].layer != layer) ++same;
    costs.kinds[i].time = same < i ? costs.kinds[same].time
                                   : estimate_layer_time(config, layer, costs.rates, links,
                                                         known.tensor, calibration);
  }
  return costs;
}

/// The times of a BatchLevel's layers that are known so far. They do not depend on whether sends
/// overlap.
struct LayerCostCache {
  struct Layers {
    cost::LayerCosts costs;
    Seconds min{};  // without sends
  };
  std::vector<std::unique_ptr<TensorCosts>> tensor;  // by PlacedOrder::tensor_placement
  // By context-parallel algorithm and PlacedOrder::layer_placement.
  std::vector<std::vector<std::optional<Layers>>> layers;

  explicit LayerCostCache(const NodeSpace& space)
      : tensor(space.num_tensor_placements), layers(space.comms.size()) {
    for (auto& by_placement : layers) by_placement.resize(space.num_layer_placements);
  }
};

/// The bounds of the largest microbatch that may fit, with or without sequence parallelism.
/// Smaller ones take no less, because no part of a layer takes less than in proportion to tokens.
struct LargestBatch {
  LayerCostCache cache;
  std::vector<std::vector<char>> too_slow;  // as LayerCostCache::layers
  bool all_too_slow = false;
};

/// The axis orders with the times of their layers, for one choice of recompute and for pipelines
/// that either all overlap their sends or all do not.
struct OrderLevel {
  plan::Plan plan;
  const BatchMemory& memory;
  std::size_t recompute;                   // its index
  std::vector<const PricedOrder*> orders;  // lowest bound first
  ActivationSums activations;
  SplitWeights weights;  // without communication
  i64 candidates = 0;    // per pipeline
  std::size_t num_cost_classes = 0;
};

/// Stages that several pipelines of an OrderLevel share: schedules with the same stage order differ
/// only in when they run them. Costs are computed when they are first needed.
struct StageSet {
  pipeline::StageOrder order{};
  i64 chunks = 1;
  bool balanced = false;
  std::shared_ptr<const plan::Stages> stages{};  // null: balanced ones do not differ from even ones
  EndStages ends{};
  std::vector<std::optional<cost::StageCosts>> costs{};  // by PricedOrder::cost_class
  const plan::DataShape* data_shape = nullptr;           // of the heaviest pp rank
};

/// One pipeline with its stages.
struct PipelineLevel {
  plan::Plan plan;
  Pipe pipe;
  StageSet& stages;
  const MemoryBounds& min_memory;
};

/// The parameters of a pp rank, divided into calls, which depend only on its stages and on sequence
/// parallelism.
struct KnownShape {
  pipeline::StageOrder order{};
  bool sequence_parallel = false;
  i64 rank = 0;
  std::shared_ptr<const plan::Stages> stages{};
  plan::DataShape shape{};
};

/// The stages of one order and number of chunks that have equally many layers.
struct EvenStages {
  pipeline::StageOrder order{};
  i64 chunks = 1;
  std::shared_ptr<const plan::Stages> stages{};
};

/// A way to shard that fits, with a lower bound of the step time.
struct FittingShard {
  const PricedShard* priced = nullptr;
  Bytes memory{};
  Seconds min{};

  const Shard& shard() const { return *priced->shard; }
};

/// Sets the minimum times over all layer kinds.
void set_lightest_layer(PricedOrder& order, const plan::Plan& plan) {
  order.forward = order.backward = order.again = kInfiniteTime;
  for (const cost::LayerKindCost& kind : order.prices.kinds) {
    const Seconds again = kind.time.again.total();
    const bool all = plan.recompute_layers == 0;
    order.forward = std::min(order.forward, kind.time.forward.total());
    order.backward = std::min(order.backward, kind.time.backward() + (all ? again : Seconds{}));
    order.again = std::min(order.again, all ? Seconds{} : again);
  }
}

/// Returns the cost class of the last of some orders: that of an equal one before it, or its index.
std::size_t find_cost_class(const std::vector<PricedOrder>& orders) {
  const PricedOrder& last = orders.back();
  for (const PricedOrder& one : orders)
    if (one.comm == last.comm && one.placed->layer_placement == last.placed->layer_placement &&
        one.prices.sends == last.prices.sends)
      return &one == &last ? orders.size() - 1 : one.cost_class;
  return orders.size() - 1;
}

class NodeSearch {
 public:
  NodeSearch(const SearchContext& context, const Node& node, const Incumbent& incumbent,
             StageSplitCache& split_cache, std::optional<std::size_t> fitting)
      : context_(context),
        calibration_(context.calibration),
        problem_(context.problem),
        split_cache_(split_cache),
        result_(context, incumbent),
        space_(make_node_space(context, node, result_.stats())),
        fitting_(
            std::min(fitting.value_or(space_.micro_batches.size()), space_.micro_batches.size())),
        scratch_(space_.config),
        shares_(bound_shares(space_.config)),
        syncs_(space_.orders.size()) {}

  PartialResult run();

 private:
  void bound_largest_batch();
  TensorCosts& price_tensor(const PlacedOrder& placed, plan::TrainingConfig& config,
                            LayerCostCache& cache);
  LayerCostCache::Layers& price_layers(const PlacedOrder& placed, std::size_t comm,
                                       const plan::TrainingConfig& config, LayerCostCache& cache);
  bool search_micro_batch(std::size_t index);
  void search_orders(BatchLevel& batch, std::size_t part, LayerCostCache& cache);
  void search_pipeline(const OrderLevel& level, const Pipe& pipe);
  void search_shards(const PipelineLevel& level, const PricedOrder& order);

  std::vector<PricedOrder> price_orders(const BatchLevel& batch, const plan::Plan& plan,
                                        i64 candidates_per_shard, LayerCostCache& cache);
  std::vector<const PricedOrder*> order_by_bound(std::vector<PricedOrder>& orders,
                                                 const plan::Plan& plan, i64 pipes);
  std::optional<PipelineLevel> make_pipeline(const OrderLevel& level, const Pipe& pipe);
  const std::shared_ptr<const plan::Stages>& find_even_stages(pipeline::StageOrder order,
                                                              const plan::TrainingConfig& config);
  StageSet& find_stages(const OrderLevel& level, const Pipe& pipe,
                        const plan::TrainingConfig& config);
  std::vector<FittingShard> find_fitting(const PipelineLevel& level, const PricedOrder& order,
                                         Seconds min, plan::TrainingConfig& config);
  const plan::DataShape& find_data_shape(const StageSet& set, const plan::TrainingConfig& config,
                                         const cost::StageCosts& staged);
  Bytes estimate_memory(const PipelineLevel& level, const Shard& shard,
                        const plan::TrainingConfig& config);
  const std::vector<cost::MinSync>& find_min_syncs(const PlacedOrder& placed,
                                                   plan::TrainingConfig& config);
  std::vector<PricedShard> bound_shards(const PlacedOrder& placed, Seconds min,
                                        plan::TrainingConfig& config);
  Seconds with_data(Seconds pipeline, const PricedShard& shard) const {
    return min_time_with_data(context_.overheads, pipeline, shard.data);
  }
  /// Returns whether a step whose pipeline takes `pipeline` is too slow with every way to shard.
  bool is_too_slow(Seconds pipeline, const PricedOrder& order) const {
    return pipeline > result_.limit() ||
           std::ranges::all_of(order.left, [&](const PricedShard* one) {
             return with_data(pipeline, *one) > result_.limit();
           });
  }
  i64 count_candidates_per_micro_batch() const {
    return space_.num_shards * space_.candidates_per_shard() / i64(space_.micro_batches.size());
  }
  bool is_refused(const plan::TrainingConfig& config);
  /// Returns the config of a plan. Valid until the next call.
  plan::TrainingConfig& config_with(const plan::Plan& plan) {
    scratch_.plan = plan;
    return scratch_;
  }
  bool is_stopped() { return stopped_ = stopped_ || context_.stopped(); }

  const SearchContext& context_;
  const cluster::Calibration& calibration_;
  const Problem& problem_;
  StageSplitCache& split_cache_;
  NodeResult result_;
  const NodeSpace space_;
  const std::size_t fitting_;            // microbatch sizes that may fit
  std::vector<LargestBatch> largest_{};  // by index of sequence parallelism; empty: not known
  plan::TrainingConfig scratch_;  // reused, because copying the model and the cluster is slow
  const ShareBounds shares_;
  std::vector<std::vector<cost::MinSync>> syncs_;  // by order and way to shard; empty: not known
  std::deque<StageSet> stage_sets_{};              // of the current OrderLevel
  std::deque<KnownShape> shapes_{};
  std::deque<EvenStages> even_stages_{};
  // The current pipeline:
  std::vector<cost::RankLoad> loads_{};  // of the ranks that may be the fullest; empty: not known
  std::vector<Bytes> shard_memory_{};    // by Shard::at; infinite if not known
  std::vector<std::optional<Seconds>> min_ends_{};  // by PricedOrder::cost_class
  bool stopped_ = false;
};

/// Returns whether a rule of the target refuses the plan.
bool NodeSearch::is_refused(const plan::TrainingConfig& config) {
  for (const rules::Rule* rule : context_.rules)
    if (rule->fault(config)) {
      ++result_.stats().rules[rule->page.code];
      return true;
    }
  return false;
}

/// Returns the memory of the fullest rank, estimated once per pipeline and way to shard: it does
/// not depend on the axis order. If one rank shows that the plan can be skipped, a lower bound.
/// `config` is the config of config_with().
Bytes NodeSearch::estimate_memory(const PipelineLevel& level, const Shard& shard,
                                  const plan::TrainingConfig& config) {
  Bytes& total = shard_memory_[shard.at];
  if (total != kInfiniteBytes) return total;
  total = Bytes{};
  if (loads_.empty()) {
    plan::Plan before = std::exchange(scratch_.plan, level.plan);
    loads_ = cost::RankLoads(scratch_).peak_candidates();
    scratch_.plan = std::move(before);
  }
  for (const cost::RankLoad& load : loads_) {
    total = std::max(total, cost::fullest(config, calibration_, {&load, 1}).total());
    if (result_.is_too_large(total)) break;
  }
  return total;
}

/// Returns the order's ways to shard that may be fast enough, that fit and that no rule refuses.
/// Leaves the last one in `config`.
std::vector<FittingShard> NodeSearch::find_fitting(const PipelineLevel& level,
                                                   const PricedOrder& order, Seconds pipeline,
                                                   plan::TrainingConfig& config) {
  std::vector<FittingShard> fitting;
  for (const PricedShard* const one : order.left) {
    const Shard& shard = *one->shard;
    const Seconds min = with_data(pipeline, *one);
    if (min > result_.limit()) {
      ++result_.stats().pruned;
      continue;
    }
    choose(config.plan, shard.zero, shard.size, problem_);
    if (is_refused(config)) continue;
    if (result_.is_too_large(level.min_memory[std::size_t(shard.zero)])) {
      ++result_.stats().memory;
      continue;
    }
    const Bytes total = estimate_memory(level, shard, config);
    if (total <= context_.limit)
      fitting.push_back({one, total, min});
    else
      result_.reject(config.plan, total);
  }
  return fitting;
}

/// Returns the shape of the heaviest pp rank.
const plan::DataShape& NodeSearch::find_data_shape(const StageSet& set,
                                                   const plan::TrainingConfig& config,
                                                   const cost::StageCosts& staged) {
  for (const KnownShape& known : shapes_)
    if (known.order == set.order && known.rank == staged.step.heaviest &&
        known.sequence_parallel == config.plan.sequence_parallel && *known.stages == *set.stages)
      return known.shape;
  return shapes_
      .emplace_back(KnownShape{set.order, config.plan.sequence_parallel, staged.step.heaviest,
                               set.stages, make_heaviest_shape(config, staged)})
      .shape;
}

void NodeSearch::search_shards(const PipelineLevel& level, const PricedOrder& order) {
  plan::TrainingConfig& config = config_with(level.plan);
  config.plan.order = order.placed->order;
  config.plan.dispatcher = order.placed->dispatcher;
  config.plan.cp_comm = order.comm;
  const Seconds min = min_time(context_, config, order, level.pipe, level.stages.ends);
  if (min > result_.limit()) {
    result_.stats().pruned += i64(order.left.size());
    return;
  }
  std::vector<FittingShard> fitting = find_fitting(level, order, min, config);
  // Prunes with bounds that become tighter and more expensive.
  const auto prune = [&] {
    result_.stats().pruned += i64(std::erase_if(fitting, [&](const FittingShard& one) {
      return result_.can_prune(one.min, config.plan.recompute, one.shard().zero, one.memory);
    }));
    return fitting.empty();
  };
  if (prune()) return;
  std::optional<cost::StageCosts>& known = level.stages.costs[order.cost_class];
  if (!known) known = estimate_stage_costs(config, calibration_, order.prices);
  const cost::StageCosts& staged = *known;
  std::optional<Seconds>& known_end = min_ends_[order.cost_class];
  if (!known_end) known_end = min_end(config, staged);
  const Seconds soonest = *known_end;
  const Seconds idle = std::max(Seconds{}, soonest - staged.busiest);
  const Seconds pipeline = context_.overheads.lengthen(staged.step.total() + idle);
  for (FittingShard& one : fitting) one.min = with_data(pipeline, *one.priced);
  if (prune()) return;
  cost::Links links = order.placed->links;
  const plan::DataShape*& data = level.stages.data_shape;
  if (data == nullptr) data = &find_data_shape(level.stages, config, staged);
  for (FittingShard& one : fitting) {
    choose(config.plan, one.shard().zero, one.shard().size, problem_);
    links.set(mesh::GroupKind::shard, one.shard().shard);
    links.set(mesh::GroupKind::replicate, one.shard().replicate);
    one.min = estimate_step_time(config, calibration_, links, order.prices, staged, *data, soonest)
                  .total();
  }
  if (prune()) return;
  const Seconds later =
      context_.overheads.lengthen(estimate_pipeline_end(config, staged) - soonest);
  for (const FittingShard& one : fitting) {
    choose(config.plan, one.shard().zero, one.shard().size, problem_);
    result_.add(config.plan, one.min + later, one.memory);
  }
}

/// Returns the even stages of `config`, whose schedule has the stage order `order`.
const std::shared_ptr<const plan::Stages>& NodeSearch::find_even_stages(
    pipeline::StageOrder order, const plan::TrainingConfig& config) {
  const i64 chunks = config.plan.virtual_stages;
  for (const EvenStages& one : even_stages_)
    if (one.order == order && one.chunks == chunks) return one.stages;
  return even_stages_
      .emplace_back(
          EvenStages{order, chunks, std::make_shared<const plan::Stages>(config.stages())})
      .stages;
}

/// Returns the stages of a pipeline, whose other choices are those of `config`.
StageSet& NodeSearch::find_stages(const OrderLevel& level, const Pipe& pipe,
                                  const plan::TrainingConfig& config) {
  const pipeline::StageOrder order = row(pipe.schedule).stage_order;
  for (StageSet& one : stage_sets_)
    if (one.order == order && one.chunks == pipe.chunks && one.balanced == pipe.balanced)
      return one;
  StageSet& set = stage_sets_.emplace_back(
      StageSet{.order = order, .chunks = pipe.chunks, .balanced = pipe.balanced});
  const std::shared_ptr<const plan::Stages>& even = find_even_stages(order, config);
  set.stages = pipe.balanced ? split_cache_.stages(config, level.weights) : even;
  if (pipe.balanced && (set.stages->empty() || *set.stages == *even)) set.stages = nullptr;
  if (!set.stages) return set;
  set.ends = find_end_stages(*set.stages, pipe, config.plan.pp, config.plan.recompute_layers);
  set.costs.resize(level.num_cost_classes);
  return set;
}

/// Chooses the stages of a pipeline. Returns nothing, and counts its candidates, if they violate a
/// constraint or are all duplicates, too slow or too large.
std::optional<PipelineLevel> NodeSearch::make_pipeline(const OrderLevel& level, const Pipe& pipe) {
  SearchStats& stats = result_.stats();
  const auto all_slower = [&](auto&& bound) {
    return std::all_of(level.orders.begin(), level.orders.end(),
                       [&](const PricedOrder* one) { return is_too_slow(bound(*one), *one); });
  };
  if (all_slower([&](const PricedOrder& one) { return one.min_with(pipe); })) {
    stats.pruned += level.candidates;
    return std::nullopt;
  }
  plan::TrainingConfig& config = config_with(level.plan);
  choose(config.plan, pipe);
  choose(config.plan, space_.recomputes[level.recompute]);  // layers per stage depend on chunks
  choose(config.plan, 0, 0, problem_);
  const auto is_violated = [&] {
    const plan::ConstraintViolation violation = find_first_pipeline_violation(config);
    if (violation) stats.violations[violation.why] += level.candidates;
    return bool(violation);
  };
  if (is_violated()) return std::nullopt;
  StageSet& set = find_stages(level, pipe, config);
  if (!set.stages) {
    stats.duplicates += level.candidates;
    return std::nullopt;
  }
  if (pipe.balanced) {
    config.plan.stages = *set.stages;
    if (is_violated()) return std::nullopt;
  }
  if (all_slower([&](const PricedOrder& one) {
        return min_time(context_, config, one, pipe, set.ends);
      })) {
    stats.pruned += level.candidates;
    return std::nullopt;
  }
  if (result_.is_too_large(min_memory_on_first_rank(
          space_, level.activations, level.memory.overhead(), config, *set.stages))) {
    stats.memory += level.candidates;
    return std::nullopt;
  }
  return PipelineLevel{.plan = config.plan,
                       .pipe = pipe,
                       .stages = set,
                       .min_memory = level.memory.with(level.recompute, pipe.schedule)};
}

void NodeSearch::search_pipeline(const OrderLevel& level, const Pipe& pipe) {
  const std::optional<PipelineLevel> pipeline = make_pipeline(level, pipe);
  if (!pipeline) return;
  loads_.clear();
  shard_memory_.assign(space_.shard_sizes.size(), kInfiniteBytes);
  min_ends_.assign(level.num_cost_classes, std::nullopt);
  for (const PricedOrder* order : level.orders) search_shards(*pipeline, *order);
}

/// Returns the times of the layers of `config` with the tensor-parallel groups of an order alone.
TensorCosts& NodeSearch::price_tensor(const PlacedOrder& placed, plan::TrainingConfig& config,
                                      LayerCostCache& cache) {
  std::unique_ptr<TensorCosts>& known = cache.tensor[placed.tensor_placement];
  if (known) return *known;
  const plan::CpComm comm = std::exchange(config.plan.cp_comm, kFastestKernels);
  known = std::make_unique<TensorCosts>(context_, config, placed.links.span(mesh::GroupKind::tp));
  config.plan.cp_comm = comm;
  return *known;
}

/// Returns the times of the layers of `config` with all groups of an order but sends. `comm` is the
/// index of its context-parallel algorithm. Requires: price_tensor() was called.
LayerCostCache::Layers& NodeSearch::price_layers(const PlacedOrder& placed, std::size_t comm,
                                                 const plan::TrainingConfig& config,
                                                 LayerCostCache& cache) {
  std::optional<LayerCostCache::Layers>& layers = cache.layers[comm][placed.layer_placement];
  if (!layers) {
    layers = {add_other_groups(config, placed.links, *cache.tensor[placed.tensor_placement],
                               calibration_)};
    layers->min = min_step_time(context_, config, layers->costs);
  }
  return *layers;
}

/// Bounds the time of the largest microbatch that may fit on each order. An order that is too slow
/// with it is too slow with smaller ones.
void NodeSearch::bound_largest_batch() {
  if (result_.limit() == kInfiniteTime || fitting_ < 2) return;
  plan::Plan plan = space_.config.plan;
  plan.micro_batch = space_.micro_batches[fitting_ - 1];
  const auto is_too_slow = [&](Seconds min) { return (1 - kRounding) * min > result_.limit(); };
  for (const bool sequence_parallel : space_.sequence_parallels) {
    plan.sequence_parallel = sequence_parallel;
    choose(plan, 0, 0, problem_);
    LargestBatch& largest = largest_.emplace_back(LargestBatch{LayerCostCache(space_), {}});
    largest.too_slow.assign(space_.comms.size(),
                            std::vector<char>(space_.num_layer_placements, false));
    largest.all_too_slow = true;
    plan::TrainingConfig& config = config_with(plan);
    for (std::size_t k = 0; k < space_.comms.size(); ++k) {
      config.plan.cp_comm = space_.comms[k];
      for (const PlacedOrder& placed : space_.orders) {
        if (is_stopped()) return;
        char& too_slow = largest.too_slow[k][placed.layer_placement];
        if (too_slow) continue;
        config.plan.order = placed.order;
        config.plan.dispatcher = placed.dispatcher;
        if (!find_first_violation(config))
          too_slow = is_too_slow(price_tensor(placed, config, largest.cache).min) ||
                     is_too_slow(price_layers(placed, k, config, largest.cache).min);
        largest.all_too_slow = largest.all_too_slow && too_slow;
      }
    }
  }
}

/// Returns the bounds of the data traffic of an order, by way to shard. Leaves the last one in
/// `config`.
const std::vector<cost::MinSync>& NodeSearch::find_min_syncs(const PlacedOrder& placed,
                                                             plan::TrainingConfig& config) {
  std::vector<cost::MinSync>& known = syncs_[std::size_t(&placed - space_.orders.data())];
  if (!known.empty()) return known;
  cost::Links links = placed.links;
  for (const Shard& shard : placed.shards) {
    choose(config.plan, shard.zero, shard.size, problem_);
    links.set(mesh::GroupKind::shard, shard.shard);
    links.set(mesh::GroupKind::replicate, shard.replicate);
    known.push_back(min_sync(config, shares_.heaviest, shares_.all, links));
  }
  return known;
}

/// Returns the ways to shard an order whose step may be fast enough if its pipeline takes at least
/// `min`. Changes the plan of `config` meanwhile and restores it.
std::vector<PricedShard> NodeSearch::bound_shards(const PlacedOrder& placed, Seconds min,
                                                  plan::TrainingConfig& config) {
  const plan::Plan before = config.plan;
  const std::vector<cost::MinSync>& syncs = find_min_syncs(placed, config);
  std::vector<PricedShard> fast;
  for (std::size_t k = 0; k < placed.shards.size(); ++k) {
    const Shard& shard = placed.shards[k];
    choose(config.plan, shard.zero, shard.size, problem_);
    const PricedShard one{&shard, min_data_time(config, syncs[k], calibration_)};
    if (with_data(min, one) <= result_.limit()) fast.push_back(one);
  }
  config.plan = before;
  return fast;
}

/// Computes the times of the layers on each order with each context-parallel algorithm, without
/// recompute. Orders with equal groups inside layers share them.
std::vector<PricedOrder> NodeSearch::price_orders(const BatchLevel& batch, const plan::Plan& plan,
                                                  i64 candidates_per_shard, LayerCostCache& cache) {
  std::vector<PricedOrder> all;
  if (space_.orders.empty()) return all;
  SearchStats& stats = result_.stats();
  plan::TrainingConfig& config = config_with(plan);
  const LargestBatch* const largest =
      largest_.empty() ? nullptr : &largest_[batch.sequence_parallel];
  for (std::size_t k = 0; k < space_.comms.size(); ++k) {
    const plan::CpComm comm = space_.comms[k];
    config.plan.order = space_.orders.front().order;
    config.plan.cp_comm = comm;
    if (const plan::ConstraintViolation violation = find_first_violation(config)) {
      stats.violations[violation.why] += candidates_per_shard * space_.num_shards;
      continue;
    }
    for (const PlacedOrder& placed : space_.orders) {
      config.plan.order = placed.order;
      config.plan.dispatcher = placed.dispatcher;
      const i64 candidates = candidates_per_shard * i64(placed.shards.size());
      if ((largest != nullptr && largest->too_slow[k][placed.layer_placement]) ||
          price_tensor(placed, config, cache).min > result_.limit()) {
        stats.pruned += candidates;
        continue;
      }
      LayerCostCache::Layers& layers = price_layers(placed, k, config, cache);
      cost::LayerCosts& prices = layers.costs;
      Seconds min = layers.min;
      if (min <= result_.limit()) {
        prices.sends = estimate_send_times(config, placed.links);
        min = cost::min_time(config, calibration_, prices);
      }
      std::vector<PricedShard> shards;
      if (min <= result_.limit()) shards = bound_shards(placed, min, config);
      stats.pruned += candidates_per_shard * i64(placed.shards.size() - shards.size());
      if (shards.empty()) continue;
      all.push_back({.placed = &placed,
                     .comm = comm,
                     .prices = prices,
                     .min = min,
                     .per_chunk = min_time_per_extra_chunk(config, calibration_, prices),
                     .shards = std::move(shards)});
      all.back().cost_class = find_cost_class(all);
    }
  }
  return all;
}

/// Applies the plan's recompute to the times of the orders. Returns those that are not too slow,
/// the lowest bound first.
std::vector<const PricedOrder*> NodeSearch::order_by_bound(std::vector<PricedOrder>& orders,
                                                           const plan::Plan& plan, i64 pipes) {
  const plan::TrainingConfig& config = config_with(plan);
  std::vector<const PricedOrder*> left;
  left.reserve(orders.size());
  for (PricedOrder& one : orders) {
    one.prices.recompute(plan);
    one.min = cost::min_time(config, calibration_, one.prices);
    one.whole = min_time_of_whole_layers(context_, config, one.prices, false);
    one.halved = min_time_of_whole_layers(context_, config, one.prices, true);
    const Seconds pipeline = std::max(one.min, one.halved);
    one.left.clear();
    for (const PricedShard& shard : one.shards)
      if (with_data(pipeline, shard) <= result_.limit()) one.left.push_back(&shard);
    result_.stats().pruned += pipes * i64(one.shards.size() - one.left.size());
    if (one.left.empty()) continue;
    set_lightest_layer(one, plan);
    left.push_back(&one);
  }
  std::stable_sort(left.begin(), left.end(),
                   [](const PricedOrder* a, const PricedOrder* b) { return a->min < b->min; });
  return left;
}

/// Searches the pipelines of one of NodeSpace::pipe_sets. Only those of the second have several
/// chunks per pp rank, if those overlap their sends.
void NodeSearch::search_orders(BatchLevel& batch, std::size_t part, LayerCostCache& cache) {
  const std::vector<PipeSet>& sets = space_.pipe_sets[part];
  i64 combinations = 0;
  for (const PipeSet& set : sets) combinations += i64(set.pipes.size());
  if (combinations == 0) return;
  const auto is_too_large = [&](std::size_t recompute, pipeline::Schedule schedule) {
    const MemoryBounds& memory = batch.memory.bound(recompute, schedule, config_with(batch.plan));
    return result_.is_too_large(*std::min_element(memory.begin(), memory.end()));
  };
  const auto none_fits = [&](std::size_t recompute) {
    return std::ranges::all_of(sets[recompute].schedules, [&](pipeline::Schedule schedule) {
      return is_too_large(recompute, schedule);
    });
  };
  std::size_t left = space_.recomputes.size();  // choices of recompute that may fit
  while (left > 0 && none_fits(left - 1)) --left;
  if (left == 0) {
    result_.stats().memory += space_.num_shards * i64(space_.comms.size()) * combinations;
    return;
  }
  plan::Plan plan = batch.plan;
  if (problem_.overlap_chunks) plan.overlap.pp = part > 0;
  std::vector<PricedOrder> evaluated = price_orders(batch, plan, combinations, cache);
  if (evaluated.empty()) return;
  i64 shards = 0;
  for (const PricedOrder& one : evaluated) shards += i64(one.shards.size());
  plan.order = mesh::kDefaultOrder;
  plan.dispatcher = choose_dispatcher(problem_, plan.ep);
  plan.cp_comm = plan::CpComm::p2p;
  cost::LayerCosts unlinked = estimate_layer_costs(
      config_with(plan), cost::Links::none(scratch_, calibration_), calibration_);
  std::vector<Pipe> some;
  for (std::size_t k = 0; k < space_.recomputes.size(); ++k) {
    if (is_stopped()) return;
    some.clear();
    std::uint32_t large = 0;  // schedules, as bits
    const auto bit = [](pipeline::Schedule one) { return std::uint32_t{1} << std::size_t(one); };
    for (const pipeline::Schedule one : sets[k].schedules)
      if (is_too_large(k, one)) large |= bit(one);
    for (const Pipe& pipe : sets[k].pipes) {
      if ((large & bit(pipe.schedule)) != 0)
        result_.stats().memory += shards;
      else
        some.push_back(pipe);
    }
    if (some.empty()) continue;
    choose(plan, space_.recomputes[k]);
    unlinked.recompute(plan);
    std::vector<const PricedOrder*> orders = order_by_bound(evaluated, plan, i64(some.size()));
    if (orders.empty()) continue;
    OrderLevel level{
        .plan = plan,
        .memory = batch.memory,
        .recompute = k,
        .orders = std::move(orders),
        .activations = sum_activations(space_, space_.recomputes[k], batch.memory.activations(k)),
        .weights = weigh_parts(space_.config.model, unlinked),
        .num_cost_classes = evaluated.size()};
    for (const PricedOrder* one : level.orders) level.candidates += i64(one->left.size());
    stage_sets_.clear();
    for (const Pipe& pipe : some) {
      if (is_stopped()) return;  // a split of thousands of layers takes a while
      search_pipeline(level, pipe);
    }
  }
}

/// Searches the candidates of one microbatch size, given by its index. Returns false if none of
/// them can fit.
bool NodeSearch::search_micro_batch(std::size_t index) {
  if (is_stopped()) return true;
  // A rule may have refused all choices of sequence parallelism.
  const i64 candidates =
      count_candidates_per_micro_batch() / std::max<i64>(1, i64(space_.sequence_parallels.size()));
  plan::Plan plan = space_.config.plan;
  plan.micro_batch = space_.micro_batches[index];
  if (min_compute_time(context_, config_with(plan)) > result_.limit()) {
    result_.stats().pruned += count_candidates_per_micro_batch();
    return true;
  }
  bool any_fits = false;
  for (std::size_t k = 0; k < space_.sequence_parallels.size(); ++k) {
    if (!largest_.empty() && largest_[k].all_too_slow) {
      result_.stats().pruned += candidates;
      any_fits = true;  // for all that is known
      continue;
    }
    choose(plan, Pipe{});
    plan.sequence_parallel = space_.sequence_parallels[k];
    choose(plan, RecomputeChoice{});
    choose(plan, 0, 0, problem_);  // tp overlap depends on sequence parallelism
    BatchLevel batch{.plan = plan, .sequence_parallel = k, .memory = BatchMemory(space_)};
    plan::TrainingConfig& config = config_with(plan);
    if (!batch.memory.may_fit(context_.limit, config) &&
        result_.is_too_large(batch.memory.min(config))) {
      result_.stats().memory += candidates;
      continue;
    }
    any_fits = true;
    const bool is_largest = !largest_.empty() && index + 1 == fitting_;
    LayerCostCache cache = is_largest ? std::move(largest_[k].cache) : LayerCostCache(space_);
    for (std::size_t part = 0; part < space_.pipe_sets.size(); ++part)
      search_orders(batch, part, cache);
  }
  return any_fits;
}

PartialResult NodeSearch::run() {
  bound_largest_batch();
  for (std::size_t k = 0; k < space_.micro_batches.size(); ++k) {
    if (context_.bounds && k >= fitting_ && result_.has_best()) {
      result_.stats().memory +=
          i64(space_.micro_batches.size() - k) * count_candidates_per_micro_batch();
      break;
    }
    if (search_micro_batch(k)) continue;
    // Larger ones do not fit either.
    const i64 larger = i64(space_.micro_batches.size() - k - 1);
    result_.stats().memory += larger * count_candidates_per_micro_batch();
    break;
  }
  return result_.finish(candidates(problem_, space_.node), stopped_);
}

/// Returns whether some candidate of a node with the microbatch of `config` may fit.
bool may_fit(const NodeSpace& space, plan::TrainingConfig& config) {
  const plan::Plan before = config.plan;
  const bool fits = std::ranges::any_of(space.sequence_parallels, [&](bool sequence_parallel) {
    config.plan.sequence_parallel = sequence_parallel;
    choose(config.plan, 0, 0, space.problem());
    return BatchMemory(space).may_fit(space.context.limit, config);
  });
  config.plan = before;
  return fits;
}

}  // namespace

NodeBound bound_node(const SearchContext& context, const Node& node) {
  plan::TrainingConfig config = config_of(context.problem, node);
  NodeBound bound{.node = node,
                  .min = kInfiniteTime,
                  .priority = kInfiniteTime,
                  .candidates = candidates(context.problem, node)};
  // Requirements of the schedule or the order are checked later: another choice may meet them.
  bound.violation = find_first_violation(config);
  if (bound.violation) return bound;
  const NodeSpace space = make_unordered_space(context, node);
  const auto fits = [&](i64 size) {
    config.plan.micro_batch = size;
    return !context.bounds || may_fit(space, config);
  };
  const std::vector<i64>& sizes = space.micro_batches;
  if (sizes.empty()) return bound;
  // If one microbatch size does not fit, no larger one does.
  bound.fitting = std::size_t(std::ranges::partition_point(sizes, fits) - sizes.begin());
  // No step takes less time with a smaller microbatch.
  config.plan.micro_batch = sizes[std::max<std::size_t>(bound.fitting, 1) - 1];
  if (bound.fitting > 0) bound.min = (1 - kRounding) * min_compute_time(context, config);
  const cost::Links links(config, context.calibration);
  bound.priority = cost::min_time(config, context.calibration,
                                  estimate_layer_costs(config, links, context.calibration));
  return bound;
}

PartialResult explore(const SearchContext& context, const Node& node, const Incumbent& incumbent,
                      StageSplitCache& split_cache, std::optional<std::size_t> fitting) {
  // A search that was stopped need not enumerate the node's choices, which may take a while.
  if (context.stopped()) return {.undecided = candidates(context.problem, node)};
  return NodeSearch(context, node, incumbent, split_cache, fitting).run();
}

}  // namespace rankwright::search
