#include "rankwright/search/explore.h"

#include <algorithm>
#include <span>

#include "rankwright/cost/memory/memory.h"
#include "rankwright/cost/step.h"
#include "rankwright/search/lower_bounds.h"
#include "rankwright/search/node_result.h"

namespace rankwright::search {
namespace {

// The levels of a search below the node (NodeSpace). Each is made from the one above, holds the
// plan with all choices so far, and does not change.

/// One microbatch size with or without sequence parallelism.
struct BatchLevel {
  plan::Plan plan;
  std::vector<ActivationBytes> activations;  // by choice of recompute
};

/// The times of a BatchLevel's layers that are known so far. They do not depend on whether sends
/// overlap.
struct LayerCostCache {
  std::vector<std::optional<Seconds>> min_with_tensor;  // bound by PlacedOrder::tensor_placement
  std::vector<std::vector<std::optional<cost::LayerCosts>>>
      layers;  // by CP algorithm and PlacedOrder::layer_placement
};

/// The axis orders with the times of their layers, for one choice of recompute and for pipelines
/// that either all overlap their sends or all do not.
struct OrderLevel {
  plan::Plan plan;
  ActivationBytes activations;
  std::vector<PricedOrder> orders;  // lowest bound first
  cost::LayerCosts unlinked;        // without communication
  i64 candidates = 0;               // per pipeline
  std::size_t num_cost_classes = 0;
};

/// One pipeline with its stages.
struct PipelineLevel {
  plan::Plan plan;
  Pipe pipe;
  EndStages ends;
  std::vector<cost::RankLoad> loads;  // of the ranks that may be the fullest
};

/// What the candidates of a PipelineLevel share, computed when it is first needed.
struct PipelineCache {
  struct Staged {
    cost::StageCosts costs;
    Seconds soonest{};  // lower bound of the end of the last cell
  };
  std::vector<Bytes> memory{};                  // by Shard::at; infinite if not known
  std::vector<std::optional<Staged>> staged{};  // by PricedOrder::cost_class
  std::optional<plan::DataShape> data_shape{};  // of the heaviest pp rank
};

/// A way to shard that fits, with a lower bound of the step time.
struct FittingShard {
  const Shard* shard = nullptr;
  Bytes memory{};
  Seconds min{};
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
             StageSplitCache& split_cache)
      : context_(context),
        calibration_(context.calibration),
        problem_(context.problem),
        split_cache_(split_cache),
        result_(context, incumbent),
        space_(make_node_space(context, node, result_.stats())),
        scratch_(space_.config) {}

  PartialResult run() {
    for (const i64 size : space_.micro_batches) search_micro_batch(size);
    return result_.finish(candidates(problem_, space_.node), stopped_);
  }

 private:
  void search_micro_batch(i64 size);
  void search_orders(const BatchLevel& batch, bool chunked, LayerCostCache& cache);
  void search_pipeline(const OrderLevel& level, const Pipe& pipe);
  void search_shards(const PipelineLevel& level, const PricedOrder& order);

  std::vector<PricedOrder> price_orders(const plan::Plan& plan, i64 candidates_per_shard,
                                        LayerCostCache& cache);
  std::vector<PricedOrder> order_by_bound(std::vector<PricedOrder> orders, const plan::Plan& plan,
                                          i64 pipes);
  std::optional<PipelineLevel> make_pipeline(const OrderLevel& level, const Pipe& pipe);
  std::vector<FittingShard> find_fitting(const PipelineLevel& level, const PricedOrder& order,
                                         Seconds min, plan::TrainingConfig& config);
  Bytes estimate_memory(const PipelineLevel& level, const Shard& shard,
                        const plan::TrainingConfig& config);
  bool never_fits(const BatchLevel& batch) const;
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
  plan::TrainingConfig scratch_;  // reused, because copying the model and the cluster is slow
  PipelineCache cache_{};         // of the current pipeline
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
/// not depend on the axis order.
Bytes NodeSearch::estimate_memory(const PipelineLevel& level, const Shard& shard,
                                  const plan::TrainingConfig& config) {
  Bytes& total = cache_.memory[shard.at];
  if (total == kInfiniteBytes) total = fullest(config, calibration_, level.loads).total();
  return total;
}

/// Returns the order's ways to shard that fit and that no rule refuses. Leaves the last one in
/// `config`.
std::vector<FittingShard> NodeSearch::find_fitting(const PipelineLevel& level,
                                                   const PricedOrder& order, Seconds min,
                                                   plan::TrainingConfig& config) {
  std::vector<FittingShard> fitting;
  for (const Shard& shard : order.placed->shards) {
    choose(config.plan, shard.zero, shard.size, problem_);
    if (is_refused(config)) continue;
    const Bytes total = estimate_memory(level, shard, config);
    if (total <= context_.limit)
      fitting.push_back({&shard, total, min});
    else
      result_.reject(config.plan, total);
  }
  return fitting;
}

void NodeSearch::search_shards(const PipelineLevel& level, const PricedOrder& order) {
  if (is_stopped()) return;
  plan::TrainingConfig& config = config_with(level.plan);
  config.plan.order = order.placed->order;
  config.plan.dispatcher = order.placed->dispatcher;
  config.plan.cp_comm = order.comm;
  const Seconds min = min_time(context_, config, order, level.pipe, level.ends);
  if (min > result_.limit()) {
    result_.stats().pruned += i64(order.placed->shards.size());
    return;
  }
  std::vector<FittingShard> fitting = find_fitting(level, order, min, config);
  // Prunes with bounds that become tighter and more expensive.
  const auto prune = [&] {
    result_.stats().pruned += i64(std::erase_if(fitting, [&](const FittingShard& one) {
      return result_.can_prune(one.min, config.plan.recompute, one.shard->zero, one.memory);
    }));
    return fitting.empty();
  };
  if (prune()) return;
  std::optional<PipelineCache::Staged>& known = cache_.staged[order.cost_class];
  if (!known) {
    known = {estimate_stage_costs(config, calibration_, order.prices)};
    known->soonest = min_end(config, known->costs);
  }
  const cost::StageCosts& staged = known->costs;
  const Seconds soonest = known->soonest;
  const Seconds idle = std::max(Seconds{}, soonest - staged.busiest);
  for (FittingShard& one : fitting)
    one.min = cost::apply_overheads(config, calibration_, staged.step.total() + idle);
  if (prune()) return;
  cost::Links links = order.placed->links;
  if (!cache_.data_shape) cache_.data_shape = make_heaviest_shape(config, staged);
  for (FittingShard& one : fitting) {
    choose(config.plan, one.shard->zero, one.shard->size, problem_);
    links.set(mesh::GroupKind::shard, one.shard->shard);
    links.set(mesh::GroupKind::replicate, one.shard->replicate);
    one.min = estimate_step_time(config, calibration_, links, order.prices, staged,
                                 *cache_.data_shape, soonest)
                  .total();
  }
  if (prune()) return;
  const Seconds later =
      cost::apply_overheads(config, calibration_, estimate_pipeline_end(config, staged) - soonest);
  for (const FittingShard& one : fitting) {
    choose(config.plan, one.shard->zero, one.shard->size, problem_);
    result_.add(config.plan, one.min + later, one.memory);
  }
}

/// Chooses the stages of a pipeline. Returns nothing, and counts its candidates, if they violate a
/// constraint or are all duplicates, too slow or too large.
std::optional<PipelineLevel> NodeSearch::make_pipeline(const OrderLevel& level, const Pipe& pipe) {
  SearchStats& stats = result_.stats();
  const auto all_slower = [&](auto&& bound) {
    return std::all_of(level.orders.begin(), level.orders.end(),
                       [&](const PricedOrder& one) { return bound(one) > result_.limit(); });
  };
  if (result_.is_too_large(min_memory(space_, level.activations, pipe))) {
    stats.memory += level.candidates;
    return std::nullopt;
  }
  if (all_slower([&](const PricedOrder& one) { return one.min_with(pipe); })) {
    stats.pruned += level.candidates;
    return std::nullopt;
  }
  plan::TrainingConfig& config = config_with(level.plan);
  choose(config.plan, pipe);
  choose(config.plan, 0, 0, problem_);
  const auto is_violated = [&] {
    const plan::ConstraintViolation violation = find_first_pipeline_violation(config);
    if (violation) stats.violations[violation.why] += level.candidates;
    return bool(violation);
  };
  if (is_violated()) return std::nullopt;
  plan::Stages stages = config.stages();
  if (pipe.balanced) {
    plan::Stages balanced = split_cache_.stages(config, level.unlinked);
    if (balanced.empty() || balanced == stages) {
      stats.duplicates += level.candidates;
      return std::nullopt;
    }
    stages = config.plan.stages = std::move(balanced);
    if (is_violated()) return std::nullopt;
  }
  const EndStages ends = find_end_stages(stages, pipe, config.plan.pp);
  if (all_slower(
          [&](const PricedOrder& one) { return min_time(context_, config, one, pipe, ends); })) {
    stats.pruned += level.candidates;
    return std::nullopt;
  }
  if (result_.is_too_large(min_memory_on_first_rank(space_, level.activations, config, stages))) {
    stats.memory += level.candidates;
    return std::nullopt;
  }
  return PipelineLevel{.plan = config.plan,
                       .pipe = pipe,
                       .ends = ends,
                       .loads = cost::RankLoads(config).peak_candidates()};
}

void NodeSearch::search_pipeline(const OrderLevel& level, const Pipe& pipe) {
  if (is_stopped()) return;
  const std::optional<PipelineLevel> pipeline = make_pipeline(level, pipe);
  if (!pipeline) return;
  cache_.memory.assign(space_.shard_sizes.size(), kInfiniteBytes);
  cache_.staged.assign(level.num_cost_classes, std::nullopt);
  cache_.data_shape.reset();
  for (const PricedOrder& order : level.orders) search_shards(*pipeline, order);
}

/// Computes the times of the layers on each order with each context-parallel algorithm, without
/// recompute. Orders with equal groups inside layers share them.
std::vector<PricedOrder> NodeSearch::price_orders(const plan::Plan& plan, i64 candidates_per_shard,
                                                  LayerCostCache& cache) {
  std::vector<PricedOrder> all;
  if (space_.orders.empty()) return all;
  SearchStats& stats = result_.stats();
  plan::TrainingConfig& config = config_with(plan);
  const auto bound_with_tensor = [&](const PlacedOrder& placed) {
    cost::Links links = cost::Links::none(config, calibration_);
    links.set(mesh::GroupKind::tp, placed.links.span(mesh::GroupKind::tp));
    return cost::min_time(config, calibration_, estimate_layer_costs(config, links, calibration_));
  };
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
      std::optional<Seconds>& min_with_tensor = cache.min_with_tensor[placed.tensor_placement];
      if (!min_with_tensor) min_with_tensor = bound_with_tensor(placed);
      if (*min_with_tensor > result_.limit()) {
        stats.pruned += candidates;
        continue;
      }
      std::optional<cost::LayerCosts>& prices = cache.layers[k][placed.layer_placement];
      if (!prices) prices = estimate_layer_costs(config, placed.links, calibration_);
      prices->sends = estimate_send_times(config, placed.links);
      const Seconds min = cost::min_time(config, calibration_, *prices);
      if (min > result_.limit()) {
        stats.pruned += candidates;
        continue;
      }
      all.push_back({.placed = &placed,
                     .comm = comm,
                     .prices = *prices,
                     .min = min,
                     .per_chunk = min_time_per_extra_chunk(config, calibration_, *prices)});
      all.back().cost_class = find_cost_class(all);
    }
  }
  return all;
}

/// Applies the plan's recompute to the times of the orders, drops those that are too slow, and puts
/// the lowest bound first.
std::vector<PricedOrder> NodeSearch::order_by_bound(std::vector<PricedOrder> orders,
                                                    const plan::Plan& plan, i64 pipes) {
  const plan::TrainingConfig& config = config_with(plan);
  std::erase_if(orders, [&](PricedOrder& one) {
    one.prices.recompute(plan);
    one.min = cost::min_time(config, calibration_, one.prices);
    set_lightest_layer(one, plan);
    if (one.min <= result_.limit()) return false;
    result_.stats().pruned += pipes * i64(one.placed->shards.size());
    return true;
  });
  std::stable_sort(orders.begin(), orders.end(),
                   [](const PricedOrder& a, const PricedOrder& b) { return a.min < b.min; });
  return orders;
}

/// Searches the pipelines with several chunks per pp rank if `chunked`, else those with one. Only
/// the former may overlap their sends.
void NodeSearch::search_orders(const BatchLevel& batch, bool chunked, LayerCostCache& cache) {
  std::vector<Pipe> pipes = space_.pipes;
  if (problem_.overlap_chunks)
    std::erase_if(pipes, [&](const Pipe& pipe) { return (pipe.chunks > 1) != chunked; });
  else if (chunked)
    return;
  if (pipes.empty()) return;
  plan::Plan plan = batch.plan;
  if (problem_.overlap_chunks) plan.overlap.pp = chunked;
  const std::vector<PricedOrder> evaluated =
      price_orders(plan, count_combinations(space_.recomputes, pipes), cache);
  if (evaluated.empty()) return;
  plan.order = mesh::kDefaultOrder;
  plan.dispatcher = problem_.config.plan.dispatcher;
  plan.cp_comm = plan::CpComm::p2p;
  cost::LayerCosts unlinked = estimate_layer_costs(
      config_with(plan), cost::Links::none(scratch_, calibration_), calibration_);
  for (std::size_t k = 0; k < space_.recomputes.size(); ++k) {
    std::vector<Pipe> some = pipes;
    std::erase_if(some, [&](const Pipe& pipe) { return !combines(space_.recomputes[k], pipe); });
    if (some.empty()) continue;
    choose(plan, space_.recomputes[k]);
    unlinked.recompute(plan);
    OrderLevel level{.plan = plan,
                     .activations = batch.activations[k],
                     .orders = order_by_bound(evaluated, plan, i64(some.size())),
                     .unlinked = unlinked,
                     .num_cost_classes = evaluated.size()};
    for (const PricedOrder& one : level.orders) level.candidates += i64(one.placed->shards.size());
    if (level.orders.empty()) continue;
    for (const Pipe& pipe : some) search_pipeline(level, pipe);
  }
}

/// Returns whether no pipeline fits with any choice of recompute.
bool NodeSearch::never_fits(const BatchLevel& batch) const {
  return std::ranges::all_of(batch.activations, [&](const ActivationBytes& activations) {
    return std::ranges::all_of(space_.pipes, [&](const Pipe& pipe) {
      return result_.is_too_large(min_memory(space_, activations, pipe));
    });
  });
}

void NodeSearch::search_micro_batch(i64 size) {
  if (is_stopped()) return;
  const i64 candidates =
      space_.num_shards * space_.candidates_per_shard() / i64(space_.micro_batches.size());
  plan::Plan plan = space_.config.plan;
  plan.micro_batch = size;
  if (min_compute_time(context_, config_with(plan)) > result_.limit()) {
    result_.stats().pruned += candidates;
    return;
  }
  for (const bool sequence_parallel : space_.sequence_parallels) {
    choose(plan, Pipe{});
    plan.sequence_parallel = sequence_parallel;
    choose(plan, RecomputeChoice{});
    choose(plan, 0, 0, problem_);  // tp overlap depends on sequence parallelism
    const BatchLevel batch{.plan = plan,
                           .activations = estimate_activations(space_, config_with(plan))};
    if (never_fits(batch)) {
      result_.stats().memory += candidates / i64(space_.sequence_parallels.size());
      continue;
    }
    LayerCostCache cache;
    cache.min_with_tensor.resize(space_.num_tensor_placements);
    cache.layers.assign(space_.comms.size(),
                        std::vector<std::optional<cost::LayerCosts>>(space_.num_layer_placements));
    for (const bool chunked : {false, true}) search_orders(batch, chunked, cache);
  }
}

}  // namespace

SearchContext make_context(const Problem& problem, const cluster::Calibration& calibration,
                           const Windows& windows) {
  SearchContext context{.problem = problem,
                        .calibration = calibration,
                        .windows = windows,
                        .limit = problem.limit(),
                        .safe = problem.safe()};
  for (const rules::Rule* rule : find_refusals(problem.limits.target))
    (rule->depends == rules::Rule::Depends::plan    ? context.rules
     : rule->depends == rules::Rule::Depends::order ? context.order_rules
                                                    : context.pipeline_rules)
        .push_back(rule);
  return context;
}

NodeBound bound_node(const SearchContext& context, const Node& node) {
  plan::TrainingConfig config = config_of(context.problem, node);
  NodeBound bound{.node = node,
                  .min = kInfiniteTime,
                  .priority = kInfiniteTime,
                  .candidates = candidates(context.problem, node)};
  // Requirements of the schedule or the order are checked later: another choice may meet them.
  bound.violation = find_first_violation(config);
  if (bound.violation) return bound;
  const cost::Links links(config, context.calibration);
  for (const i64 size : list_micro_batches(context.problem, node)) {
    config.plan.micro_batch = size;
    bound.min = std::min(bound.min, min_compute_time(context, config));
    bound.priority = std::min(
        bound.priority, cost::min_time(config, context.calibration,
                                       estimate_layer_costs(config, links, context.calibration)));
  }
  return bound;
}

PartialResult explore(const SearchContext& context, const Node& node, const Incumbent& incumbent,
                      StageSplitCache& split_cache) {
  // A search that was stopped need not enumerate the node's choices, which may take a while.
  if (context.stopped()) return {.undecided = candidates(context.problem, node)};
  return NodeSearch(context, node, incumbent, split_cache).run();
}

}  // namespace rankwright::search
