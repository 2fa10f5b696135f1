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
      "{} per step on {} becomes {} on {}{}", show(traffic.innermost), level_of(config, 0).name,
      show(traffic.total), level_of(config, level).name,
      config.reference_model ? fmt::format(", estimated with {} layers", config.model.name) : "");
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

/// Returns the time of the tensor-parallel collectives, here and as proposed: "they take 97 s per
/// step: 83 s on infiniband at the 40 GB/s that a link reaches in training, the rest on nvlink and
/// in latency; 14 s with tp_size: 8, pp_size: 8".
std::string show_tensor_time(const plan::TrainingConfig& config,
                             const std::optional<Proposal>& proposal) {
  const cost::ItemTraffic here = sum_item_traffic(config, cost::Item::tp);
  const cost::LinkLoad load = sum_link_load(config, cost::Item::tp);
  constexpr double kMinShare = 1e-6;  // of the time
  std::string text = fmt::format("they take {} per step", show(here.total));
  // The load is not known if some groups are inside a domain and others cross it.
  if (load.time() > kMinShare * here.total)
    text += fmt::format(
        ": {} on {} at the {} that a link reaches in training, the rest on {} and in latency",
        show(load.time()), level_of(config, load.level).name, show(load.reached),
        level_of(config, 0).name);
  if (proposal) {
    plan::TrainingConfig same_batch = proposal->after;
    same_batch.job.global_batch = config.job.global_batch;
    const bool whole =
        divides(same_batch.plan.micro_batch * same_batch.plan.dp, same_batch.job.global_batch);
    const cost::ItemTraffic there = whole ? sum_item_traffic(same_batch, cost::Item::tp) : here;
    if (there.total < here.total)
      text += fmt::format("; {} on {} with {}", show(there.total), level_of(config, 0).name,
                          help({.code = "", .message = "", .fix = proposal->edits}));
  }
  if (config.reference_model) text += fmt::format(" (estimated with {} layers)", config.model.name);
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
  return Finding{
      .detail = fmt::format(
          "each TP group spans {} {}: {} collectives per step send {} through each {} link of {}",
          span.size / span.inside[0], domains_word(s.cluster), count(tp.calls),
          show(sum_link_load(s, cost::Item::tp).bytes), crossed.name, show(crossed.bandwidth)),
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
  return Finding{.detail = fmt::format(
                     "TP {} does not fit evenly into {} of {} devices: some groups have only {} of "
                     "their {} members in one, and their {} collectives per step cross {}",
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
  return Finding{.detail = fmt::format(
                     "TP {} fits inside {} with block placement, but crosses {} with this one",
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
    return fmt::format("order: {} (places each EP group on adjacent ranks)",
                       show(mesh::kDefaultOrder));
  other = s;
  while (other.plan.ep % 2 == 0) {
    other.plan.ep /= 2;
    if (cost::find_span(other, mesh::GroupKind::ep).level < level && is_better(other, s))
      return fmt::format("ep_size: {} (stays inside the node)", other.plan.ep);
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
      .detail = fmt::format("each EP group of {} has {} members on the same {}: {} all-to-alls per "
                            "step, of {} per rank in total, cross {}",
                            s.plan.ep, span.inside[0], level_of(s, 0).name, count(ep.calls),
                            show(ep.bytes), level_of(s, span.level).name),
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
      .detail = fmt::format("CP {} crosses {}: {} messages per step, {} in total", s.plan.cp,
                            level_of(s, span.level).name, count(cp.calls), show(cp.bytes)),
      .key = "parallelism.cp_size",
      .notes = {show_slowdown(s, cp, span.level),
                "attention overlaps the ring for long sequences, not for short ones"}};
}

std::optional<Finding> check_order_left_open(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  int axes = 0;
  for (const i64 degree : {s.plan.tp, s.plan.cp, s.plan.pp, s.plan.dp}) axes += degree > 1 ? 1 : 0;
  if (!s.left_open("parallelism.order") || axes < 2) return std::nullopt;
  return Finding{
      .detail = fmt::format("assumed {}, Megatron-LM's default: {} gets the fastest links",
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
  Finding finding{.detail = fmt::format("assumed {} of {} {}: {}",
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
      .detail = fmt::format("{} data-parallel groups share each {} link of {}{}: {} per group",
                            sharers, level.name, show(level.bandwidth),
                            level.oversubscription == 1
                                ? ""
                                : fmt::format(", oversubscribed {:.3g}:1", level.oversubscription),
                            show(s.cluster.uplink(span.level) / sharers)),
      .key = "cluster",
      .notes = {fmt::format(
          "gradient reduction takes {} per step; with one NIC per GPU no link is shared",
          show(sum_group_traffic(s, kind).total))}};
}

std::optional<Finding> check_idle_devices(const Subject& subject) {
  const plan::TrainingConfig& s = subject.config;
  const i64 idle = s.cluster.devices() - s.world;
  if (idle <= 0) return std::nullopt;
  return Finding{
      .detail = fmt::format("{} of {} devices are idle", count(idle), count(s.cluster.devices())),
      .key = "world_size",
      .hint = fmt::format("world_size: {} (uses all devices)", s.cluster.devices())};
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
  Finding finding{
      .detail = fmt::format(
          "every micro-batch gathers and scatters over {}: {} per step, {} without overlap",
          level_of(s, span.level).name, show(whole.bytes), show(whole.total)),
      .key = "parallelism.zero_stage"};
  if (newly_refuses(subject.target, s, hybrid)) {
    finding.hint =
        fmt::format("a larger micro_batch_size means fewer gathers; {} has no hybrid sharding",
                    row(subject.target).name);
    return finding;
  }
  finding.fix = {edit("parallelism.shard_size", hybrid.plan.shard_size)};
  finding.notes = {
      fmt::format("hybrid sharding in groups of {} stays on {}: {} per step, with {} "
                  "times the states per rank",
                  hybrid.plan.shard_size, level_of(s, 0).name,
                  show(sum_group_traffic(hybrid, mesh::GroupKind::shard).total),
                  s.plan.data_ranks() / hybrid.plan.shard_size)};
  return finding;
}

constexpr Rule::When kWithoutViolations = Rule::When::without_violations;

constexpr Rule kRules[] = {
    {{"RW0301", Severity::warning, "tensor parallelism crosses nodes",
      "Tensor parallelism communicates several times per layer, and the next matmul waits for the "
      "result. Across nodes, every collective pays the network's latency and runs at the speed of "
      "the slowest link.",
      "Set tp_size to at most the number of GPUs per node (or per NVLink domain). Use pp_size or "
      "dp_size across nodes.",
      "Narayanan et al. 2021, section 3.2",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 16, pp_size: 4, dp_size: 1, order: tp-dp-pp}\n"
      "job: {global_batch: 64, sequence: 8192}\n"},
     Target::any,
     kWithoutViolations,
     check_tensor_crosses_nodes},
    {{"RW0302", Severity::warning, "some tensor-parallel groups cross nodes",
      "Ranks are placed in order. If TP does not divide the number of GPUs per domain, some groups "
      "cross its edge, and every layer waits for them.",
      "Set tp_size to a divisor of the number of GPUs per domain.", "",
      "world_size: 144\n"
      "cluster: gb200-nvl72 x 2\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 16, pp_size: 3, dp_size: 3, order: tp-dp-pp, zero_stage: 1}\n"
      "job: {global_batch: 144, sequence: 8192}\n"},
     Target::any,
     kWithoutViolations,
     check_tensor_straddles},
    {{"RW0303", Severity::warning, "the placement splits tensor-parallel groups across nodes",
      "Cyclic placement puts adjacent ranks on different hosts. Tensor parallelism, which "
      "communicates most, then uses the slowest links.",
      "Set placement: block, and start the job with srun --distribution=block.",
      "Slurm srun, --distribution",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, order: tp-dp-pp, zero_stage: 1}\n"
      "job: {global_batch: 128, sequence: 8192}\n"
      "placement: cyclic\n"},
     Target::any,
     kWithoutViolations,
     check_scattered_tensor},
    {{"RW0304", Severity::warning, "expert parallelism crosses nodes",
      "Every MoE layer sends each token to the ranks of its experts and back. Unlike an "
      "all-reduce, an all-to-all cannot be reduced inside the node first.",
      "Set ep_size to at most the number of GPUs per node if the experts then fit, or use a "
      "framework that overlaps dispatch and combine.",
      "DeepSeek-V3 report, section 3.2",
      "world_size: 64\n"
      "cluster: dgx-h200 x 8\n"
      "model: qwen3-30b-a3b\n"
      "parallelism: {tp_size: 1, pp_size: 1, dp_size: 64, ep_size: 64, zero_stage: 1, order: "
      "tp-cp-ep-dp-pp}\n"
      "job: {global_batch: 512, sequence: 4096}\n"},
     Target::any,
     kWithoutViolations,
     check_expert_crosses_nodes},
    {{"RW0305", Severity::note, "context parallelism crosses nodes",
      "Keys and values are exchanged in every layer. A ring overlaps with attention if each rank's "
      "part of the sequence is long. An all-gather or all-to-all overlaps less.",
      "Put CP next to TP in the order (order: tp-cp-dp-pp), or set cp_comm: p2p.", "",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, cp_size: 4, dp_size: 2, zero_stage: 3, order: tp-cp-dp-pp}\n"
      "job: {global_batch: 64, sequence: 65536}\n"},
     Target::any,
     kWithoutViolations,
     check_context_crosses_nodes},
    {{"RW0306", Severity::warning, "no rank order given",
      "The order decides which axis uses the slow links. Degrees alone do not define a layout.",
      "Set `order`, innermost axis first: order: tp-cp-ep-dp-pp.",
      "Megatron-LM core/parallel_state.py, RankGenerator",
      "world_size: 64\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1}\n"
      "job: {global_batch: 128, sequence: 8192}\n"},
     Target::any,
     Rule::When::always,
     check_order_left_open},
    {{"RW0307", Severity::warning, "no cluster given",
      "The cluster decides which links each collective crosses and how fast they are. A node shape "
      "gives the number of GPUs per node only.",
      "Set `cluster` to a catalog system (`rankwright catalog systems`), such as cluster: dgx-h100 "
      "x 8, or describe its levels.",
      "",
      "world_size: 64\n"
      "node_shape: 8_nodes_x_8_gpus\n"
      "model: llama-3.1-70b\n"
      "parallelism: {tp_size: 8, pp_size: 4, dp_size: 2, zero_stage: 1, order: tp-dp-pp}\n"
      "job: {global_batch: 128, sequence: 8192}\n"},
     Target::any,
     Rule::When::always,
     check_cluster_left_open},
    {{"RW0308", Severity::note, "data-parallel groups share a link",
      "If the GPUs of a node share one NIC, all groups that cross nodes share its bandwidth.",
      "Raise tp_size inside the node: each GPU then has fewer gradients to reduce. Sharding does "
      "not help.",
      "",
      "world_size: 64\n"
      "cluster: hgx-h100-1nic x 8\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 4, dp_size: 16, zero_stage: 1, order: tp-dp-pp}\n"
      "job: {global_batch: 512, sequence: 8192}\n"},
     Target::any,
     kWithoutViolations,
     check_shared_link},
    {{"RW0309", Severity::warning, "idle devices",
      "The cluster has more devices than the plan has ranks.",
      "Raise world_size, or set `cluster` to the part that the job uses.", "",
      "world_size: 56\n"
      "cluster: dgx-h100 x 8\n"
      "model: llama-3.1-8b\n"
      "parallelism: {tp_size: 8, dp_size: 7, zero_stage: 1, order: tp-dp-pp}\n"
      "job: {global_batch: 448, sequence: 8192}\n"},
     Target::any,
     kWithoutViolations,
     check_idle_devices},
    {{"RW0310", Severity::note, "ZeRO-3 gathers parameters across nodes for every micro-batch",
      "ZeRO-3 gathers each layer before its forward and backward pass, in every micro-batch. "
      "Across nodes, compute often cannot overlap all of it.",
      "Set shard_size to the number of GPUs per node (hybrid sharding), if the states then fit.",
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
