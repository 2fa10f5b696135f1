#include <algorithm>
#include <span>

#include "rankwright/cost/traffic_cost.h"
#include "rankwright/search/memory_bounds.h"
#include "rankwright/search/node_space.h"

namespace rankwright::search {
namespace {

constexpr mesh::GroupKind kKinds[] = {
    mesh::GroupKind::tp, mesh::GroupKind::cp,  mesh::GroupKind::pp, mesh::GroupKind::shard,
    mesh::GroupKind::ep, mesh::GroupKind::etp, mesh::GroupKind::edp};

/// The kinds of groups that communicate inside a layer.
constexpr mesh::GroupKind kInsideLayers[] = {mesh::GroupKind::tp, mesh::GroupKind::cp,
                                             mesh::GroupKind::ep, mesh::GroupKind::etp};

bool has_equal_spans(const PlacedOrder& a, const PlacedOrder& b,
                     std::span<const mesh::GroupKind> kinds) {
  return std::all_of(kinds.begin(), kinds.end(), [&](mesh::GroupKind kind) {
    return a.links.span(kind) == b.links.span(kind);
  });
}

bool is_duplicate(const PlacedOrder& a, const PlacedOrder& b) {
  return a.shards == b.shards && has_equal_spans(a, b, kKinds);
}

/// Returns the index of a way to shard in the node's list, and adds it if it is new.
std::size_t index_shard(std::vector<std::pair<int, i64>>& sizes, int zero, i64 size) {
  const std::pair<int, i64> key{zero, size};
  const auto found = std::find(sizes.begin(), sizes.end(), key);
  const std::size_t at = std::size_t(found - sizes.begin());
  if (found == sizes.end()) sizes.push_back(key);
  return at;
}

/// Finds the spans of an order's groups and the ways to shard on it. A hybrid shard is the data
/// ranks inside one domain of its level.
PlacedOrder place_order(NodeSpace& space, const mesh::Order& order, cost::SpanCache& known) {
  plan::TrainingConfig& config = space.config;
  config.plan.order = order;
  choose(config.plan, 0, 0, space.problem());
  const Problem& problem = space.problem();
  config.plan.dispatcher = choose_dispatcher(problem, config.plan.ep);
  PlacedOrder placed{.order = order,
                     .dispatcher = config.plan.dispatcher,
                     .links = cost::Links(config, space.context.calibration, &known)};
  if (problem.dispatch_per_node && placed.links.span(mesh::GroupKind::ep).level > 0) {
    config.plan.dispatcher = placed.dispatcher = plan::Dispatcher::deepep;
    placed.links = cost::Links(config, space.context.calibration, &known);
  }
  if (config.plan.pp > 1)
    placed.links.add(config, mesh::GroupKind::mirror);  // for schedules that hold each stage twice
  const i64 all = config.plan.data_ranks();
  const mesh::Span& whole = placed.links.span(mesh::GroupKind::shard);
  for (const Sharding& sharding : space.shardings) {
    Shard shard{.zero = sharding.zero, .shard = whole, .replicate = {}};
    if (sharding.level != Sharding::kWhole) {
      const std::size_t level = std::size_t(sharding.level);
      shard.size = all > 1 ? whole.inside[level] : 1;
      const bool is_known = std::any_of(
          placed.shards.begin(), placed.shards.end(),
          [&](const Shard& other) { return other.zero == shard.zero && other.size == shard.size; });
      if (shard.size <= 1 || shard.size >= all || is_known) {
        ++placed.duplicates;
        continue;
      }
      if (whole.min[level] != shard.size || !valid_shard_size(config.plan.meshes(), shard.size)) {
        ++placed.broken;
        continue;
      }
      config.plan.shard_size = shard.size;
      shard.shard = known.find(config, mesh::GroupKind::shard);
      shard.replicate = known.find(config, mesh::GroupKind::replicate);
      config.plan.shard_size = 0;
    }
    shard.at = index_shard(space.shard_sizes, shard.zero, shard.size);
    placed.shards.push_back(shard);
  }
  return placed;
}

/// Returns the rule of the target that refuses the order of the space's config; null if none does.
const rules::Rule* find_order_refusal(const NodeSpace& space) {
  for (const rules::Rule* rule : space.context.order_rules)
    if (rule->fault(space.config)) return rule;
  return nullptr;
}

/// Fills in the orders of a node. An order whose groups span the same levels as those of a simpler
/// one is a duplicate: it costs the same.
void enumerate_orders(NodeSpace& space, SearchStats& stats) {
  const i64 per_shard = space.candidates_per_shard();
  const i64 per_order = space.candidates_per_order();
  cost::SpanCache known;
  for (const mesh::Order& order : list_orders(space.problem(), space.node)) {
    space.config.plan.order = order;
    if (const plan::ConstraintViolation violation = find_first_violation(space.config)) {
      stats.violations[violation.why] += per_order;
      continue;
    }
    if (const rules::Rule* const rule = find_order_refusal(space)) {
      stats.rules[rule->page.code] += per_order;
      continue;
    }
    PlacedOrder found = place_order(space, order, known);
    if (std::any_of(space.orders.begin(), space.orders.end(),
                    [&](const PlacedOrder& other) { return is_duplicate(found, other); })) {
      stats.duplicates += per_order;
      continue;
    }
    stats.duplicates += found.duplicates * per_shard;
    if (found.broken > 0)
      stats.violations[plan::ConstraintViolation::Why::shard] += found.broken * per_shard;
    const auto find_equal = [&](std::span<const mesh::GroupKind> kinds) {
      return std::find_if(space.orders.begin(), space.orders.end(), [&](const PlacedOrder& other) {
        return has_equal_spans(found, other, kinds);
      });
    };
    const auto layer = find_equal(kInsideLayers);
    const auto tensor = find_equal(std::span(kInsideLayers).first(1));
    found.layer_placement =
        layer == space.orders.end() ? space.num_layer_placements++ : layer->layer_placement;
    found.tensor_placement =
        tensor == space.orders.end() ? space.num_tensor_placements++ : tensor->tensor_placement;
    space.num_shards += i64(found.shards.size());
    space.orders.push_back(std::move(found));
  }
}

/// Removes the values of a choice that one of `rules` refuses, and counts their candidates.
/// `choose_value` sets a value in the plan of `space`. Requires: all values have as many
/// candidates.
template <class Value, class Choose>
void drop_refused(NodeSpace& space, std::vector<Value> NodeSpace::*values,
                  const std::vector<const rules::Rule*>& rules, const Choose& choose_value) {
  if (rules.empty() || (space.*values).empty()) return;
  const i64 each = space.candidates_per_order() / i64((space.*values).size());
  std::erase_if(space.*values, [&](const Value& value) {
    choose_value(value);
    const auto found = std::ranges::find_if(
        rules, [&](const rules::Rule* rule) { return rule->fault(space.config); });
    if (found == rules.end()) return false;
    space.refused[(*found)->page.code] += each;
    return true;
  });
}

/// Removes the choices that a rule of the target refuses, whatever the rest of the plan is.
void drop_refused_choices(NodeSpace& space) {
  const plan::Plan simplest = space.config.plan;
  plan::Plan& plan = space.config.plan;
  drop_refused(space, &NodeSpace::sequence_parallels, space.context.sequence_rules,
               [&](bool sequence_parallel) { plan.sequence_parallel = sequence_parallel; });
  plan = simplest;
  drop_refused(space, &NodeSpace::shardings, space.context.zero_rules,
               [&](const Sharding& sharding) { choose(plan, sharding.zero, 0, space.problem()); });
  plan = simplest;
}

/// Removes the pipelines that a rule of the target refuses, whatever the rest of the plan is, and
/// counts their candidates.
void drop_refused_pipes(NodeSpace& space) {
  if (space.pipes.empty() || space.context.pipeline_rules.empty()) return;
  const plan::Plan simplest = space.config.plan;
  const i64 others = i64(space.micro_batches.size() * space.sequence_parallels.size() *
                         space.comms.size() * space.shardings.size());
  std::erase_if(space.pipes, [&](const Pipe& pipe) {
    choose(space.config.plan, pipe);
    for (const rules::Rule* rule : space.context.pipeline_rules) {
      const bool of_even = rule->depends == rules::Rule::Depends::even_stages;
      if ((of_even && pipe.balanced) || !rule->fault(space.config)) continue;
      space.refused[rule->page.code] += others * count_combinations(space.recomputes, {pipe});
      return true;
    }
    return false;
  });
  space.config.plan = simplest;
}

/// Fills in the pipelines of each choice of recompute.
void combine_pipes(NodeSpace& space) {
  const bool split = space.problem().overlap_chunks;
  space.pipe_sets.assign(split ? 2 : 1, std::vector<PipeSet>(space.recomputes.size()));
  space.num_combinations = 0;
  for (std::size_t k = 0; k < space.recomputes.size(); ++k)
    for (const Pipe& pipe : space.pipes) {
      if (!combines(space.recomputes[k], pipe)) continue;
      PipeSet& set = space.pipe_sets[split && pipe.chunks > 1 ? 1 : 0][k];
      const auto found = std::ranges::find(set.schedules, pipe.schedule);
      const std::size_t at = std::size_t(found - set.schedules.begin());
      if (found == set.schedules.end()) {
        set.schedules.push_back(pipe.schedule);
        set.recomputed.push_back(0);
      }
      const RecomputeChoice& choice = space.recomputes[k];
      if (choice.quarters > 0)
        set.recomputed[at] = std::max(set.recomputed[at], pipe.chunks * choice.layers(pipe.chunks));
      set.pipes.push_back(pipe);
      ++space.num_combinations;
    }
}

}  // namespace

NodeSpace make_unordered_space(const SearchContext& context, const Node& node) {
  const Problem& problem = context.problem;
  NodeSpace space{.context = context,
                  .node = node,
                  .config = config_of(problem, node),
                  .shardings = list_shardings(problem, node),
                  .pipes = list_pipes(problem, node),
                  .comms = list_cp_comms(problem, node),
                  .micro_batches = list_micro_batches(problem, node),
                  .sequence_parallels = list_sequence_parallels(problem, node),
                  .recomputes = list_recomputes(problem, node)};
  space.num_combinations = count_combinations(space.recomputes, space.pipes);
  drop_refused_choices(space);
  drop_refused_pipes(space);
  combine_pipes(space);
  space.states = bound_states(space);
  return space;
}

NodeSpace make_node_space(const SearchContext& context, const Node& node, SearchStats& stats) {
  NodeSpace space = make_unordered_space(context, node);
  const i64 orders = i64(list_orders(space.problem(), space.node).size());
  for (const auto& [code, count] : space.refused) stats.rules[code] += orders * count;
  const plan::Plan simplest = space.config.plan;
  enumerate_orders(space, stats);
  space.config.plan = simplest;
  return space;
}

}  // namespace rankwright::search
