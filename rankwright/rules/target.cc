#include "rankwright/rules/target.h"

#include <algorithm>

#include "rankwright/base/check.h"

namespace rankwright::rules {

std::span<const TargetRow> targets() { return kTargets; }

const TargetRow* find_target(std::string_view name) {
  const auto found = std::find_if(std::begin(kTargets), std::end(kTargets),
                                  [&](const TargetRow& row) { return row.name == name; });
  return found == std::end(kTargets) ? nullptr : found;
}

Target find_target_of(std::string_view software) {
  // Rows of published runs that Megatron-LM's rules describe.
  constexpr std::string_view kMegatron[] = {"nemo", "mlperf", "megatron-2021",
                                            "megatron-deepspeed"};
  if (std::find(std::begin(kMegatron), std::end(kMegatron), software) != std::end(kMegatron))
    return Target::megatron;
  for (const TargetRow* one : frameworks_to_check())
    if (one->software == software) return one->target;
  return Target::any;
}

const TargetRow& row(Target target) {
  const auto found = std::find_if(std::begin(kTargets), std::end(kTargets),
                                  [&](const TargetRow& one) { return one.target == target; });
  RW_CHECK(found != std::end(kTargets));
  return *found;
}

const TargetRow& row_of_rules(Target target) { return row(row(target).rules); }

bool allows_megatron(Target target) {
  return target == Target::any || row_of_rules(target).target == Target::megatron;
}

std::vector<const TargetRow*> frameworks_to_check() {
  std::vector<const TargetRow*> all;
  for (const TargetRow& one : kTargets)
    if (one.rules == one.target && !one.launcher) all.push_back(&one);
  return all;
}

}  // namespace rankwright::rules
