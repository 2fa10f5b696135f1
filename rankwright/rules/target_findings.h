// Findings that several targets have in common. `fault` is the target's name for what is wrong, and
// `faults` all that it stops at: a fix brings none of them.
#pragma once

#include <span>

#include "rankwright/rules/change.h"
#include "rankwright/rules/rule.h"

namespace rankwright::rules {

/// It numbers the ranks in one order only: the default.
Finding order_is_fixed(const plan::TrainingConfig& s, Fault fault, std::span<const Fault> faults);

/// tp must divide the key-value heads.
Finding kv_heads_undivided(const plan::TrainingConfig& s, Fault fault,
                           std::span<const Fault> faults);

/// All-to-all context parallelism needs whole key-value heads on each of tp x cp; `instead` does
/// not.
Finding ulysses_kv_undivided(const plan::TrainingConfig& s, plan::CpComm instead, Fault fault,
                             std::span<const Fault> faults);

/// It shards over all data ranks.
Finding shards_over_all(const plan::TrainingConfig& s, Fault fault, std::span<const Fault> faults);

/// It splits the layers itself.
Finding stages_cannot_be_stated(const plan::TrainingConfig& s, Fault fault,
                                std::span<const Fault> faults);

/// It recomputes whole layers or nothing.
Finding recompute_is_whole(const plan::TrainingConfig& s, Fault fault,
                           std::span<const Fault> faults);

}  // namespace rankwright::rules
