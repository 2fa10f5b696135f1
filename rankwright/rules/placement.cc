// RW03..: how ranks are placed on the network. A collective is only as fast as the slowest link
// that it crosses, so degrees alone do not make a plan.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/cost/estimate.h"
#include "rankwright/cost/item_traffic.h"
#include "rankwright/rules/repair.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace placement_impl {
namespace {

const cluster::Level& level_of(const plan::TrainingConfig& config, int level) {
  return config.cluster.levels[std::size_t(level)];
}

/// Returns the traffic of one group kind on the pp rank where it takes longest.
cost::ItemTraffic sum_group_traffic(const plan::TrainingConfig& config, mesh::GroupKind kind) {
  cost::ItemTraffic max;
  cost::Links links(config, select_calibration(config));
  for (i64 r = 0; r < config.plan.pp; ++r) {
    cost::ItemTraffic sum{.pp_rank = r};
    for (const cost::TrafficCost& row : cost::estimate_traffic(config, r, links)) {
      if (row.traffic.group != kind) continue;
      sum.calls += row.traffic.calls;
      sum.bytes += row.traffic.total;
      sum.total += row.total;
    }
    if (sum.total > max.total) max = sum;
  }
  return max;
}

/// Returns "14 s a step on nvlink becomes 97 s on infiniband".
std::string show_slowdown(const plan::TrainingConfig& config, const cost::ItemTraffic& traffic,
                          int level) {
  return fmt::format(
      "{} a step on {} becomes {} on {}{}", show(traffic.innermost), level_of(config, 0).name,
      show(traffic.total), level_of(config, level).name,
      config.reference_model ? fmt::format(", with {}'s layers", config.model.name) : "");
}

bool is_innermost(const plan::TrainingConfig& config, mesh::GroupKind kind) {
  return cost::find_span(config, kind).level <= 0;
}

/// Proposed edits and the resulting config.
struct Proposal {
  std::vector<Edit> edits;
  plan::TrainingConfig after;
};

/// Finds the nearest degrees that keep tensor parallelism on the fastest level.
std::optional<Proposal> tensor_inside(const plan::TrainingConfig& config) {
  Proposal proposal;
  proposal.edits = find_other_degrees(config, plan::ConstraintViolation::Why::none,
                                      [&](const plan::TrainingConfig& after) {
                                        if (!is_innermost(after, mesh::GroupKind::tp)) return false;
                                        proposal.after = after;
                                        return true;
                                      });
  if (proposal.edits.empty()) return std::nullopt;
  return proposal;
}

/// Returns the time of the tensor-parallel collectives, here and as proposed: "they take 97 s a
/// step, 14 s on nvlink with tp_size: 8, pp_size: 8".
std::string show_tensor_time(const plan::TrainingConfig& config,
                             const std::optional<Proposal>& proposal) {
  const cost::ItemTraffic here = sum_item_traffic(config, cost::Item::tp);
  std::string text = fmt::format("they take {} a step", show(here.total));
  if (proposal) {
    plan::TrainingConfig same_batch = proposal->after;
    same_batch.job.global_batch = config.job.global_batch;
    const bool whole =
        divides(same_batch.plan.micro_batch * same_batch.plan.dp, same_batch.job.global_batch);
    const cost::ItemTraffic there = whole ? sum_item_traffic(same_batch, cost::Item::tp) : here;
    if (there.total < here.total)
      text += fmt::format(", {} on {} with {}", show(there.total), level_of(config, 0).name,
                          help({.code = "", .message = "", .fix = proposal->edits}));
  }
  if (config.reference_model) text += fmt::format(" ({}'s layers)", config.model.name);
  return text;
}

/// Returns the usual plural for domains of the fastest level: "nodes" if a domain is a host.
std::string domains_word(const cluster::Cluster& cluster) {
  return cluster.domain(0) == cluster.host_devices ? "nodes"
                                                   : cluster.levels.front().name + " domains";
}

/// Returns whether a device gets less bandwidth at `level` than on the fastest level.
bool slower_outside(const plan::TrainingConfig& config, int level) {
  const auto device_rate = [&](int at) {
    return config.cluster.uplink(at) / config.cluster.domain(at - 1);
  };
  return level > 0 && device_rate(level) < device_rate(0);
}

std::optional<Finding> check_tensor_crosses_nodes(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  const mesh::Span span = cost::find_span(s, mesh::GroupKind::tp);
  if (!slower_outside(s, span.level) || s.plan.placement.kind != mesh::Placement::Kind::block ||
      !span.uniform(s.cluster.levels.size()))
    return std::nullopt;
  std::optional<Proposal> proposal = tensor_inside(s);
  // A tp group that would fit in a domain still leaves it if another axis is innermost.
  if (s.plan.tp <= s.cluster.domain(0) && s.plan.order.front() != mesh::Axis::tp) {
    plan::TrainingConfig after = s;
    after.plan.order = mesh::kDefaultOrder;
    if (is_innermost(after, mesh::GroupKind::tp))
      proposal = Proposal{{edit("parallelism.order", show(mesh::kDefaultOrder))}, after};
  }
  const cost::ItemTraffic tp = sum_item_traffic(s, cost::Item::tp);
  const cluster::Level& crossed = level_of(s, span.level);
  return Finding{.detail = fmt::format(
                     "each TP group spans {} {}: {} collectives a step, {} in all, cross {} at {}",
                     span.size / span.inside[0], domains_word(s.cluster), count(tp.calls),
                     show(tp.bytes), crossed.name, show(crossed.bandwidth)),
                 .key = "parallelism.tp_size",
                 .fix = proposal ? proposal->edits : std::vector<Edit>{},
                 .notes = {show_tensor_time(s, proposal)}};
}

std::optional<Finding> check_tensor_straddles(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  const mesh::Span span = cost::find_span(s, mesh::GroupKind::tp);
  if (!slower_outside(s, span.level) || s.plan.placement.kind != mesh::Placement::Kind::block ||
      span.uniform(s.cluster.levels.size()))
    return std::nullopt;
  const std::optional<Proposal> proposal = tensor_inside(s);
  const cost::ItemTraffic tp = sum_item_traffic(s, cost::Item::tp);
  return Finding{
      .detail = fmt::format("tp {} does not tile {} of {} devices: some groups have only {} of "
                            "their {} members in one, and their {} collectives a step cross {}",
                            s.plan.tp, domains_word(s.cluster), s.cluster.domain(0), span.min[0],
                            s.plan.tp, count(tp.calls), level_of(s, span.level).name),
      .key = "parallelism.tp_size",
      .fix = proposal ? proposal->edits : std::vector<Edit>{},
      .notes = {show_tensor_time(s, proposal)}};
}

std::optional<Finding> check_scattered_tensor(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  if (s.plan.placement.kind == mesh::Placement::Kind::block) return std::nullopt;
  const mesh::Span here = cost::find_span(s, mesh::GroupKind::tp);
  plan::TrainingConfig block = s;
  block.plan.placement = {};
  if (!slower_outside(s, here.level) ||
      cost::find_span(block, mesh::GroupKind::tp).level >= here.level)
    return std::nullopt;
  return Finding{
      .detail = fmt::format("tp {} would stay inside {} with block placement, but here it "
                            "crosses {}",
                            s.plan.tp, level_of(s, 0).name, level_of(s, here.level).name),
      .key = "placement",
      .fix = {edit("placement", "block")},
      .notes = {show_slowdown(s, sum_item_traffic(s, cost::Item::tp), here.level)}};
}

/// Returns whether a plan is faster than another and fits no worse.
bool is_better(const plan::TrainingConfig& after, const plan::TrainingConfig& before) {
  if (find_first_violation(after)) return false;
  const cost::Estimate a = cost::estimate_plan(after, select_calibration(after));
  const cost::Estimate b = cost::estimate_plan(before, select_calibration(before));
  return a.time() < b.time() && a.verdict() <= b.verdict();
}

/// Returns a hint that keeps expert groups on the fastest level, if the plan is then faster: an
/// order that makes their ranks adjacent, or a smaller ep.
std::optional<std::string> expert_hint(const plan::TrainingConfig& s, int level) {
  plan::TrainingConfig other = s;
  other.plan.order = mesh::kDefaultOrder;
  if (cost::find_span(other, mesh::GroupKind::ep).level < level && is_better(other, s))
    return fmt::format("order: {} puts the ranks of a group side by side",
                       show(mesh::kDefaultOrder));
  other = s;
  while (other.plan.ep % 2 == 0) {
    other.plan.ep /= 2;
    if (cost::find_span(other, mesh::GroupKind::ep).level < level && is_better(other, s))
      return fmt::format("ep_size: {} stays inside", other.plan.ep);
  }
  return std::nullopt;
}

std::optional<Finding> check_expert_crosses_nodes(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  const mesh::Span span = cost::find_span(s, mesh::GroupKind::ep);
  if (s.plan.ep == 1 || !slower_outside(s, span.level)) return std::nullopt;
  const std::optional<std::string> hint = expert_hint(s, span.level);
  if (!hint) return std::nullopt;
  const cost::ItemTraffic ep = sum_item_traffic(s, cost::Item::ep);
  return Finding{
      .detail = fmt::format(
          "each EP group of {} has {} members on the same {}: {} all-to-alls per step, {} in all, "
          "cross {} at {}",
          s.plan.ep, span.inside[0], level_of(s, 0).name, count(ep.calls), show(ep.bytes),
          level_of(s, span.level).name, show(level_of(s, span.level).bandwidth)),
      .key = "parallelism.ep_size",
      .hint = *hint,
      .notes = {show_slowdown(s, ep, span.level)}};
}

std::optional<Finding> check_context_crosses_nodes(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  const mesh::Span span = cost::find_span(s, mesh::GroupKind::cp);
  if (s.plan.cp == 1 || !slower_outside(s, span.level)) return std::nullopt;
  const cost::ItemTraffic cp = sum_item_traffic(s, cost::Item::cp);
  return Finding{
      .detail = fmt::format("cp {} crosses {}: {} messages a step, {} in all", s.plan.cp,
                            level_of(s, span.level).name, count(cp.calls), show(cp.bytes)),
      .key = "parallelism.cp_size",
      .notes = {show_slowdown(s, cp, span.level),
                "long sequences hide a ring behind attention, short ones do not"}};
}

std::optional<Finding> check_order_left_open(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  int axes = 0;
  for (const i64 degree : {s.plan.tp, s.plan.cp, s.plan.pp, s.plan.dp}) axes += degree > 1 ? 1 : 0;
  if (!s.left_open("parallelism.order") || axes < 2) return std::nullopt;
  return Finding{
      .detail = fmt::format("{} is assumed, Megatron-LM's default: {} neighbours get the "
                            "fastest links",
                            show(s.plan.order), name(s.plan.order.front())),
      .key = "parallelism",
      .fix = {edit("parallelism.order", show(s.plan.order))}};
}

std::optional<Finding> check_cluster_left_open(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  if (!s.left_open("cluster")) return std::nullopt;
  std::string levels;
  for (const cluster::Level& level : s.cluster.levels)
    levels +=
        fmt::format("{}{} at {}", levels.empty() ? "" : ", ", level.name, show(level.bandwidth));
  const i64 inner = s.cluster.levels.front().arity;
  Finding finding{.detail = fmt::format("{} of {} {} assumed: {}",
                                        plural(s.cluster.devices() / inner, "node", "nodes"), inner,
                                        s.cluster.device.name, levels),
                  .key = "cluster"};
  if (inner == 8)
    finding.fix = {edit("cluster", s.cluster.name)};
  else
    finding.hint = "cluster: {device: ..., levels: [...]} (rankwright explain plan.cluster)";
  return finding;
}

std::optional<Finding> check_shared_link(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  const mesh::GroupKind kind = mesh::GroupKind::dp_cp;
  const mesh::Span span = cost::find_span(s, kind);
  if (span.level < 1 || level_of(s, span.level).per != cluster::Level::Per::domain)
    return std::nullopt;
  const i64 sharers = cost::count_groups_on_link(s.cluster, span, span.level);
  if (sharers < 2) return std::nullopt;
  const cluster::Level& level = level_of(s, span.level);
  return Finding{
      .detail = fmt::format("{} data-parallel groups share each {} link of {}: {} for each",
                            sharers, level.name, show(level.bandwidth),
                            show(s.cluster.uplink(span.level) / sharers)),
      .key = "cluster",
      .notes = {
          fmt::format("the gradients take {} a step; with a NIC for each GPU nothing is shared",
                      show(sum_group_traffic(s, kind).total))}};
}

std::optional<Finding> check_idle_devices(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  const i64 idle = s.cluster.devices() - s.world;
  if (idle <= 0) return std::nullopt;
  return Finding{.detail = fmt::format("{} of {} devices have no rank", count(idle),
                                       count(s.cluster.devices())),
                 .key = "world_size",
                 .hint = fmt::format("world_size: {} uses them all", s.cluster.devices())};
}

std::optional<Finding> check_gathers_cross_nodes(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  if (s.plan.zero < 3 || s.plan.shards() < s.plan.data_ranks()) return std::nullopt;
  const mesh::Span span = cost::find_span(s, mesh::GroupKind::dp_cp);
  if (!slower_outside(s, span.level) || span.inside[0] < 2) return std::nullopt;
  plan::TrainingConfig hybrid = s;
  hybrid.plan.shard_size = span.inside[0];
  if (!valid_shard_size(s.plan.meshes(), hybrid.plan.shard_size)) return std::nullopt;
  const cost::ItemTraffic whole = sum_group_traffic(s, mesh::GroupKind::dp_cp);
  return Finding{
      .detail =
          fmt::format("every microbatch gathers and scatters over {}: {} a step, {} if nothing "
                      "hides it",
                      level_of(s, span.level).name, show(whole.bytes), show(whole.total)),
      .key = "parallelism.zero_stage",
      .fix = {edit("parallelism.shard_size", hybrid.plan.shard_size)},
      .notes = {fmt::format("shards of {} stay on {}: {} a step, but each rank then holds {} times "
                            "the states",
                            hybrid.plan.shard_size, level_of(s, 0).name,
                            show(sum_group_traffic(hybrid, mesh::GroupKind::shard).total),
                            s.plan.data_ranks() / hybrid.plan.shard_size)}};
}

constexpr Rule::When kWithoutViolations = Rule::When::without_violations;

constexpr Rule kRules[] = {
    {{"RW0301", Severity::warning, "tensor parallelism leaves the fastest level",
      "Tensor parallelism communicates several times in every layer, and the next matmul waits for "
      "it. Outside the node every call pays the network's latency, and the group is as fast as its "
      "slowest link.",
      "Keep tp inside the node (or the NVLink domain) and let pp or dp cross.",
      "Narayanan et al. 2021, section 3.2",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 16, pp_size: 4, dp_size: 1, order: tp-dp-pp}\n"
      "job: {global_batch: 64, sequence: 8192}\n"},
     Target::any,
     kWithoutViolations,
     check_tensor_crosses_nodes},
    {{"RW0302", Severity::warning, "some tensor-parallel groups cross a boundary",
      "Ranks are dealt in order. Where tp does not tile the domain, some groups are inside it and "
      "some across its edge, and every layer waits for those.",
      "Use a degree that divides the domain.", "",
      "world_size: 144\n"
      "cluster: gb200-nvl72 x 2\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 16, pp_size: 3, dp_size: 3, order: tp-dp-pp, zero_stage: 1}\n"
      "job: {global_batch: 144, sequence: 8192}\n"},
     Target::any,
     kWithoutViolations,
     check_tensor_straddles},
    {{"RW0303", Severity::warning, "the placement tears tensor-parallel groups apart",
      "With cyclic placement neighbouring ranks sit on different hosts, so the axis that talks "
      "most "
      "uses the slowest link.",
      "Use block placement (srun --distribution=block).", "Slurm srun, --distribution",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, order: tp-dp-pp, zero_stage: 1}\n"
      "job: {global_batch: 128, sequence: 8192}\n"
      "placement: cyclic\n"},
     Target::any,
     kWithoutViolations,
     check_scattered_tensor},
    {{"RW0304", Severity::warning, "expert parallelism leaves the fastest level",
      "Every MoE layer sends each token's copies to the ranks of its experts and back. Unlike an "
      "all-reduce, an all-to-all cannot be made smaller inside the node first.",
      "Keep ep inside the domain where the experts fit, or count on the overlap of the framework.",
      "DeepSeek-V3 report, section 3.2",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: qwen3-30b-a3b\n"
      "parallelism: {tp_size: 1, pp_size: 1, dp_size: 64, ep_size: 64, zero_stage: 1, order: "
      "tp-cp-ep-dp-pp}\n"
      "job: {global_batch: 512, sequence: 4096}\n"},
     Target::any,
     kWithoutViolations,
     check_expert_crosses_nodes},
    {{"RW0305", Severity::note, "context parallelism leaves the fastest level",
      "Keys and values travel in every layer. A ring hides behind attention when each rank's part "
      "of "
      "the sequence is long; an all-gather or all-to-all hides less.",
      "Put cp next to tp in the order, or use cp_comm: p2p.", "",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, cp_size: 4, dp_size: 2, zero_stage: 3, order: tp-cp-dp-pp}\n"
      "job: {global_batch: 64, sequence: 65536}\n"},
     Target::any,
     kWithoutViolations,
     check_context_crosses_nodes},
    {{"RW0306", Severity::warning, "degrees are given without an order",
      "The same degrees in another order put other axes on the slow links. Degrees alone are not a "
      "plan.",
      "State the order, innermost axis first.", "Megatron-LM core/parallel_state.py, RankGenerator",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1}\n"
      "job: {global_batch: 128, sequence: 8192}\n"},
     Target::any,
     Rule::When::always,
     check_order_left_open},
    {{"RW0307", Severity::warning, "the plan names no cluster",
      "Which link a collective crosses, and what that costs, depends on the cluster. A node shape "
      "says "
      "how GPUs are boxed, not how fast the links are.",
      "Name a system (rankwright catalog systems) or describe its levels.", "",
      "world_size: 64\n"
      "node_shape: 8_nodes_x_8_gpus\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1, order: tp-dp-pp}\n"
      "job: {global_batch: 128, sequence: 8192}\n"},
     Target::any,
     Rule::When::always,
     check_cluster_left_open},
    {{"RW0308", Severity::note, "data-parallel groups share a link",
      "Where the devices of a node share one NIC, every group that leaves the node gets its part "
      "of "
      "it.",
      "More tensor parallelism inside the node means fewer gradient bytes a GPU; sharding does "
      "not.",
      "",
      "world_size: 64\n"
      "cluster: hgx-h100-1nic x 8\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 4, dp_size: 16, zero_stage: 1, order: tp-dp-pp}\n"
      "job: {global_batch: 512, sequence: 8192}\n"},
     Target::any,
     kWithoutViolations,
     check_shared_link},
    {{"RW0309", Severity::warning, "devices are left idle",
      "The cluster has more devices than the plan has ranks.",
      "Raise world_size, or name the part of the cluster that is meant.", "",
      "world_size: 56\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 8, dp_size: 7, zero_stage: 1, order: tp-dp-pp}\n"
      "job: {global_batch: 448, sequence: 8192}\n"},
     Target::any,
     kWithoutViolations,
     check_idle_devices},
    {{"RW0310", Severity::note, "parameters are gathered over the slow level for every microbatch",
      "ZeRO-3 gathers each layer before it is used, forward and backward, in every microbatch. "
      "Over "
      "the slow level that is often more than compute can hide.",
      "Hybrid sharding keeps the gathers inside the node, where the states then fit.",
      "PyTorch FSDP, HYBRID_SHARD; MiCS (Zhang et al. 2022)",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-8b\n"
      "parallelism: {dp_size: 64, zero_stage: 3, order: tp-dp-pp}\n"
      "job: {global_batch: 512, sequence: 8192}\n"},
     Target::any,
     kWithoutViolations,
     check_gathers_cross_nodes},
};

}  // namespace
}  // namespace placement_impl

std::span<const Rule> placement_rules() { return placement_impl::kRules; }

}  // namespace rankwright::rules
