#include "rankwright/search/space.h"

#include <algorithm>

#include "rankwright/cost/bands/layout_distance.h"
#include "rankwright/cost/estimate.h"

namespace rankwright::search {
namespace {

constexpr pipeline::Schedule kSimplest = pipeline::Schedule::one_f_one_b;

std::vector<i64> list_divisors(i64 number) {
  std::vector<i64> low, high;
  for (i64 d = 1; d * d <= number; ++d) {
    if (number % d != 0) continue;
    low.push_back(d);
    if (d * d != number) high.push_back(number / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

std::vector<i64> list_divisors(i64 number, const Range& range) {
  std::vector<i64> all = list_divisors(number);
  std::erase_if(all, [&](i64 d) { return !range.has(d); });
  return all;
}

/// Returns the number of experts per layer; 0 for a dense model.
i64 count_experts(const model::Model& model) {
  for (const model::LayerRun& run : model.runs)
    if (run.layer.ffn.sparse()) return run.layer.ffn.experts;
  return 0;
}

struct ExpertDegrees {
  i64 ep = 1, etp = 1;
};

/// Returns the allowed ep and etp. etp divides tp. A dense model has neither: ep = 1, etp = tp.
std::vector<ExpertDegrees> list_expert_degrees(const Problem& problem, i64 tp) {
  const i64 count = count_experts(problem.config.model);
  if (count == 0) return {{1, tp}};
  std::vector<ExpertDegrees> all;
  for (const i64 ep : list_divisors(count, problem.limits.ep))
    for (const i64 etp : list_divisors(tp, problem.limits.etp)) all.push_back({ep, etp});
  return all;
}

/// Returns whether a published run is near this node, with or without FSDP. `layout` states the
/// model and the job.
bool is_published(catalog::ValidatedLayout layout, const Node& node, bool fsdp) {
  layout.tp = node.tp;
  layout.cp = node.cp;
  layout.pp = node.pp;
  layout.ep = node.ep;
  layout.fsdp = fsdp;
  return cost::near_validated(layout);
}

/// Returns the axes with more than one rank. Only the order of these matters.
std::vector<mesh::Axis> list_live_axes(const Problem& problem, const Node& node) {
  const bool sparse = problem.config.model.sparse();
  const i64 world = node.tp * node.cp * node.pp * node.dp;
  const bool expert_data = sparse && world > node.etp * node.ep * node.pp;
  std::vector<mesh::Axis> live;
  for (const mesh::Axis axis : mesh::kDefaultOrder) {
    const bool split = axis == mesh::Axis::tp   ? node.tp > 1 || (sparse && node.etp > 1)
                       : axis == mesh::Axis::cp ? node.cp > 1
                       : axis == mesh::Axis::ep ? node.ep > 1
                       : axis == mesh::Axis::dp ? node.dp > 1 || expert_data
                                                : node.pp > 1;
    if (split) live.push_back(axis);
  }
  return live;
}

/// Returns the default order with its live axes permuted.
mesh::Order permute(const std::vector<mesh::Axis>& live, const std::vector<mesh::Axis>& permuted) {
  mesh::Order order = mesh::kDefaultOrder;
  std::size_t next = 0;
  for (mesh::Axis& axis : order)
    if (std::find(live.begin(), live.end(), axis) != live.end()) axis = permuted[next++];
  return order;
}

/// Returns whether two orders have the live axes in the same order.
bool same_on(const std::vector<mesh::Axis>& live, const mesh::Order& a, const mesh::Order& b) {
  const auto kept = [&](const mesh::Order& order) {
    std::vector<mesh::Axis> axes;
    for (const mesh::Axis axis : order)
      if (std::find(live.begin(), live.end(), axis) != live.end()) axes.push_back(axis);
    return axes;
  };
  return kept(a) == kept(b);
}

/// Returns the maximum number of chunks per pp rank: every stage has at least one layer.
i64 find_max_chunks(const Problem& problem, const Node& node, const pipeline::ScheduleRow& row) {
  const i64 whole = problem.config.model.layers() / node.pp;
  return std::max(row.min_chunks, std::min({row.max_chunks, whole, problem.limits.chunks.max}));
}

/// Returns the sets of modules that are worth recomputing, by the memory that they save. The first
/// ones take little time: norms, activation functions and, with latent attention, the projections
/// up from the compressed states. DeepSeek-V3 was trained with these.
std::vector<plan::RecomputeModules> list_module_sets(const model::Model& model) {
  if (!model.sparse()) return {};
  plan::RecomputeModules cheap{.core_attn = false, .layernorm = true, .moe_act = true};
  std::vector<plan::RecomputeModules> all{cheap};
  if (model.latent()) {
    cheap.mla_up_proj = true;
    all.push_back(cheap);
  }
  plan::RecomputeModules most = cheap;
  most.moe_act = false;
  most.moe = most.mlp = true;
  all.push_back(most);
  return all;
}

}  // namespace

Problem make_problem(plan::TrainingConfig config, Limits limits) {
  const Bytes capacity = config.cluster.device.memory;
  return {.config = std::move(config), .limits = std::move(limits), .capacity = capacity};
}

Bytes Problem::limit() const {
  const Bytes fitting = max_total(accepts, capacity, cost::get_memory_band(config).within);
  return max_memory ? std::min(fitting, *max_memory) : fitting;
}

Bytes Problem::safe() const {
  return std::min(limit(), max_total(cost::MemoryVerdict::fits_with_margin, capacity,
                                     cost::get_memory_band(config).within));
}

std::vector<Node> list_nodes(const Problem& problem) {
  std::vector<Node> all;
  for_each_node(problem, [&](const Node& node) {
    all.push_back(node);
    return true;
  });
  return all;
}

void for_each_node(const Problem& problem, const std::function<bool(const Node&)>& visit) {
  const Limits& limits = problem.limits;
  const i64 world = problem.config.world;
  const bool recurrent = problem.config.model.recurrent();
  const catalog::ValidatedLayout layout = cost::make_layout(problem.config);
  for (const i64 pp : list_divisors(world, limits.pp))
    for (const i64 cp : list_divisors(world / pp, limits.cp)) {
      if (cp > 1 && recurrent) continue;  // RW0127
      for (const i64 tp : list_divisors(world / pp / cp, limits.tp)) {
        const i64 dp = world / pp / cp / tp;
        if (!limits.dp.has(dp)) continue;
        for (const ExpertDegrees& experts : list_expert_degrees(problem, tp)) {
          const Node node{tp, cp, pp, dp, experts.ep, experts.etp};
          if (limits.published && !is_published(layout, node, false) &&
              !is_published(layout, node, true))
            continue;
          if (!visit(node)) return;
        }
      }
    }
}

Node node_of(const plan::Plan& plan) {
  return {plan.tp, plan.cp, plan.pp, plan.dp, plan.ep, plan.etp};
}

plan::TrainingConfig config_of(const Problem& problem, const Node& node) {
  plan::TrainingConfig config = problem.config;
  config.assumed.clear();
  config.plan = {
      .tp = node.tp, .cp = node.cp, .dp = node.dp, .pp = node.pp, .ep = node.ep, .etp = node.etp};
  config.plan.dispatcher = choose_dispatcher(problem, node.ep);
  choose(config.plan, 0, 0, problem);
  return config;
}

std::vector<i64> list_micro_batches(const Problem& problem, const Node& node) {
  const i64 batch = problem.config.job.global_batch;
  std::vector<i64> sizes =
      list_divisors(batch % node.dp == 0 ? batch / node.dp : 1, problem.limits.micro_batch);
  const i64 whole = row(problem.config.job.method).sequences;
  std::erase_if(sizes, [&](i64 size) { return size % whole != 0; });
  return sizes;
}

std::vector<mesh::Order> list_orders(const Problem& problem, const Node& node) {
  const std::vector<mesh::Axis> live = list_live_axes(problem, node);
  std::vector<mesh::Axis> permuted = live;
  std::vector<mesh::Order> all;
  do {
    const mesh::Order order = permute(live, permuted);
    if (!problem.limits.order || same_on(live, order, *problem.limits.order)) all.push_back(order);
  } while (std::next_permutation(permuted.begin(), permuted.end()));
  return all;
}

std::vector<bool> list_sequence_parallels(const Problem& problem, const Node& node) {
  if (node.tp == 1) return {false};
  if (problem.limits.sequence_parallel) return {*problem.limits.sequence_parallel};
  return {false, true};
}

std::vector<plan::CpComm> list_cp_comms(const Problem& problem, const Node& node) {
  if (node.cp == 1) return {plan::CpComm::p2p};
  if (problem.limits.cp_comm) return {*problem.limits.cp_comm};
  return {plan::CpComm::p2p, plan::CpComm::all_gather, plan::CpComm::a2a};
}

std::vector<RecomputeChoice> list_recomputes(const Problem& problem, const Node& node) {
  const plan::TrainingConfig& config = problem.config;
  std::vector<RecomputeChoice> all{{plan::Recompute::none}, {plan::Recompute::selective}};
  const bool partly = problem.limits.recompute_parts && !config.software.recomputes_ops &&
                      rules::allows_megatron(problem.limits.target);
  if (partly)
    for (const plan::RecomputeModules& modules : list_module_sets(config.model))
      all.push_back({plan::Recompute::selective, modules});
  all.push_back({plan::Recompute::full});
  const i64 per_rank = ceil_div(config.model.layers(), node.pp);
  for (i64 quarters = 3; partly && quarters > 0; --quarters) {
    // In smaller stages this is as many layers as one quarter more.
    const i64 min_layers = quarters == 2 ? 2 : quarters == 1 ? 3 : 4;
    if (per_rank >= min_layers)
      all.push_back({.kind = plan::Recompute::full,
                     .quarters = quarters,
                     .rank_layers = per_rank,
                     .max_chunks = (per_rank - 1) / (min_layers - 1)});
  }
  std::erase_if(all, [&](const RecomputeChoice& one) {
    return problem.limits.recompute.value_or(one.kind) != one.kind;
  });
  return all;
}

bool combines(const RecomputeChoice& choice, const Pipe& pipe) {
  if (choice.quarters == 0) return true;
  return pipe.schedule == pipeline::default_schedule(pipe.chunks) &&
         pipe.chunks <= choice.max_chunks;
}

i64 count_combinations(const std::vector<RecomputeChoice>& choices,
                       const std::vector<Pipe>& pipes) {
  i64 sum = 0;
  for (const RecomputeChoice& choice : choices)
    sum += std::ranges::count_if(pipes, [&](const Pipe& pipe) { return combines(choice, pipe); });
  return sum;
}

std::vector<Pipe> list_pipes(const Problem& problem, const Node& node) {
  if (node.pp == 1) return {{}};
  std::vector<pipeline::Schedule> simplest_first{kSimplest};
  for (const pipeline::ScheduleRow& row : pipeline::schedules())
    if (row.schedule != kSimplest) simplest_first.push_back(row.schedule);
  std::vector<Pipe> all;
  for (const pipeline::Schedule schedule : simplest_first) {
    if (problem.limits.schedule && *problem.limits.schedule != schedule) continue;
    const pipeline::ScheduleRow& facts = row(schedule);
    const i64 max = find_max_chunks(problem, node, facts);
    for (i64 chunks = std::max(facts.min_chunks, problem.limits.chunks.min); chunks <= max;
         ++chunks) {
      if (!problem.limits.chunks.has(chunks)) continue;
      all.push_back({schedule, chunks, false});
      if (!problem.limits.even) all.push_back({schedule, chunks, true});
    }
  }
  return all;
}

std::vector<Sharding> list_shardings(const Problem& problem, const Node& node) {
  const Limits& limits = problem.limits;
  const bool spread = node.dp * node.cp > 1 || problem.config.model.sparse();
  const int inner = int(problem.config.cluster.levels.size()) - 1;  // without the outermost level
  std::vector<Sharding> all;
  for (int zero = int(limits.zero.min); zero <= std::min<i64>(3, limits.zero.max); ++zero) {
    if (zero > 0 && !spread) break;
    const bool fsdp = cost::is_fsdp(problem.config.model.sparse(), zero);
    if (limits.published && !is_published(cost::make_layout(problem.config), node, fsdp)) continue;
    all.push_back({.zero = zero});
    if (zero == 0 || !limits.hybrid) continue;
    for (int level = 0; level < inner; ++level) all.push_back({.zero = zero, .level = level});
  }
  // One rank has nothing to shard, even if the limits require ZeRO.
  const bool alone = !spread && limits.zero.min > 0;
  if (alone && (!limits.published || is_published(cost::make_layout(problem.config), node, false)))
    all.push_back({});
  return all;
}

i64 candidates(const Problem& problem, const Node& node) {
  const std::size_t count =
      list_micro_batches(problem, node).size() * list_orders(problem, node).size() *
      list_sequence_parallels(problem, node).size() * list_cp_comms(problem, node).size() *
      list_shardings(problem, node).size();
  return i64(count) * count_combinations(list_recomputes(problem, node), list_pipes(problem, node));
}

void choose(plan::Plan& plan, const Pipe& pipe) {
  plan.schedule = pipe.schedule;
  plan.virtual_stages = pipe.chunks;
  plan.stages.clear();
}

void choose(plan::Plan& plan, const RecomputeChoice& choice) {
  plan.recompute = choice.kind;
  plan.modules = choice.modules;
  plan.recompute_layers = choice.layers(plan.virtual_stages);
}

void choose(plan::Plan& plan, int zero, i64 size, const Problem& problem) {
  const plan::Overlap& asked = problem.config.plan.overlap;
  plan.offload = problem.config.plan.offload;
  plan.zero = zero;
  plan.shard_size = size;
  plan.overlap = {.grad_reduce = asked.grad_reduce,
                  .param_gather = asked.param_gather && zero > 0,
                  .tp = asked.tp && plan.tp > 1 && plan.sequence_parallel,
                  .pp = problem.overlap_chunks ? plan.virtual_stages > 1 : asked.pp,
                  .ep = asked.ep && plan.ep > 1,
                  .wgrad = asked.ep && asked.wgrad && plan.ep > 1};
}

plan::Dispatcher choose_dispatcher(const Problem& problem, i64 ep) {
  return ep > 1 ? problem.config.plan.dispatcher : plan::Dispatcher::alltoall;
}

}  // namespace rankwright::search
