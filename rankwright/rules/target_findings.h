// Findings that several targets share. `fault` is the target's check for the problem, and `faults`
// are all of the target's checks that reject a plan: a proposed fix triggers none of them.
#pragma once

#include <span>

#include "rankwright/rules/change.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {

/// The target numbers ranks in the default order only.
Finding describe_fixed_order(const plan::TrainingConfig& s, Fault fault,
                             std::span<const Fault> faults);

/// The target requires tp to divide the key-value heads.
Finding describe_undivided_kv_heads(const plan::TrainingConfig& s, Fault fault,
                                    std::span<const Fault> faults);

/// All-to-all context parallelism requires tp x cp to divide the key-value heads; proposes the
/// algorithm `instead`.
Finding describe_undivided_ulysses_kv(const plan::TrainingConfig& s, plan::CpComm instead,
                                      Fault fault, std::span<const Fault> faults);

/// The target shards over all data ranks only.
Finding describe_full_sharding_only(const plan::TrainingConfig& s, Fault fault,
                                    std::span<const Fault> faults);

/// The target splits layers into stages itself.
Finding describe_fixed_stages(const plan::TrainingConfig& s, Fault fault,
                              std::span<const Fault> faults);

/// The target recomputes whole layers or nothing.
Finding describe_whole_layer_recompute(const plan::TrainingConfig& s, Fault fault,
                                       std::span<const Fault> faults);

}  // namespace rankwright::rules
