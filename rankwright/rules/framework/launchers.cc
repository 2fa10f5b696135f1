// RW0591..: placements that a launcher cannot start.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/rules/change.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {
namespace launchers_impl {
namespace {

i64 get_host_devices(const plan::TrainingConfig& s) {
  return std::max<i64>(1, s.cluster.host_devices);
}

/// Returns the first rank that torchrun would start elsewhere, or -1: torchrun numbers the ranks of
/// a node consecutively and gives them the node's devices from the first on. Hosts may come in any
/// order and differ in size.
i64 find_misplaced_rank(const plan::TrainingConfig& s) {
  const mesh::Placement& placement = s.plan.placement;
  if (placement.kind == mesh::Placement::Kind::block) return -1;
  const i64 size = get_host_devices(s);
  i64 next = 0;  // the device after that of the previous rank
  for (i64 rank = 0; rank < s.world; ++rank) {
    const i64 device = placement.device(rank);
    const bool next_on_its_host = rank > 0 && device == next && device % size != 0;
    if (!next_on_its_host && device % size != 0) return rank;
    next = device + 1;
  }
  return -1;
}

bool is_scattered(const plan::TrainingConfig& s) { return find_misplaced_rank(s) >= 0; }

constexpr Fault kFaults[] = {is_scattered};

Finding describe_scattered(const plan::TrainingConfig& s) {
  const i64 rank = find_misplaced_rank(s);
  const i64 device = s.plan.placement.device(rank);
  return {
      .detail = fmt::format("the plan puts rank {} on device {} of host {}, but torchrun does not",
                            rank, device % get_host_devices(s), device / get_host_devices(s)),
      .key = "placement",
      .fix = first_fix(s, is_scattered, kFaults, {Change(s).block_placement()}),
      .hint = "placement: block, or export --to slurm or openmpi"};
}

constexpr Rule kRules[] = {
    {{"RW0591", Severity::warning, "torchrun numbers the ranks of each node consecutively",
      "Each node gets consecutive ranks, and local rank i uses device i. Whole nodes may be "
      "reordered; single ranks may not.",
      "Set placement: block, reorder whole hosts, or launch with Slurm or Open MPI.",
      "PyTorch torch/distributed/elastic/agent/server/api.py, _assign_worker_ranks",
      "world_size: 16\n"
      "model: llama-3.2-1b\n"
      "parallelism: {dp_size: 16}\n"
      "placement: cyclic\n"},
     Target::torchrun,
     Rule::When::without_violations,
     when<is_scattered, describe_scattered>,
     is_scattered},
};

}  // namespace
}  // namespace launchers_impl

std::span<const Rule> launcher_rules() { return launchers_impl::kRules; }

}  // namespace rankwright::rules
