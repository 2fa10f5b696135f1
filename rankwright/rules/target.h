// The frameworks and launchers that a plan can be checked for (--for) and written for (--to), and
// the version of each that was checked. To add a target, add an enumerator and its row. Its rules
// are in rule.h, its files in export/.
#pragma once

#include <iterator>
#include <span>
#include <string_view>
#include <vector>

namespace rankwright::rules {

enum class Target : unsigned char {
  any,
  megatron,
  megatron_bridge,
  torchtitan_0_2,
  torchtitan,
  deepspeed,
  nanotron,
  accelerate,
  rankwright,  // this project's runtime
  slurm,
  torchrun,
  openmpi,
};

/// One target and the version that its rules and exports were checked against.
struct TargetRow {
  Target target;
  std::string_view name;     // the word of --for, --to and software.target
  std::string_view title;    // as its project writes it: "Megatron-LM"
  std::string_view checked;  // version that the rules and exported files were checked against
  Target rules;  // target whose rules apply; differs from `target` for a second front end of the
                 // same code
  std::string_view software{};  // row of plan/software that it runs on; empty if there is none
  bool launcher = false;  // only starts ranks on their devices; the layout belongs to a framework
  // Facts about the code. Stated by the target whose rules apply; see row_of_rules().
  int min_zero = 1, max_zero = 3;  // ZeRO stages that it runs, besides 0
  bool reduces_once = false;       // ZeRO-2 and 3 reduce gradients after the last microbatch only
};

/// In the order of the enumerators.
inline constexpr TargetRow kTargets[] = {
    {Target::megatron, "megatron", "Megatron-LM", "Megatron-LM main of 2026-08, core 0.20 dev",
     Target::megatron, "megatron-core"},
    {Target::megatron_bridge, "megatron-bridge", "Megatron-Bridge", "Megatron-Bridge 0.7 dev",
     Target::megatron, "megatron-core"},
    {Target::torchtitan_0_2, "torchtitan-0.2", "torchtitan 0.2", "torchtitan v0.2.2",
     Target::torchtitan, "torchtitan"},
    {.target = Target::torchtitan,
     .name = "torchtitan",
     .title = "torchtitan",
     .checked = "torchtitan main of mid-2026",
     .rules = Target::torchtitan,
     .software = "torchtitan",
     .min_zero = 2,
     .reduces_once = true},
    {Target::deepspeed, "deepspeed", "DeepSpeed", "DeepSpeed 0.19.6", Target::deepspeed,
     "deepspeed"},
    {.target = Target::nanotron,
     .name = "nanotron",
     .title = "nanotron",
     .checked = "nanotron 0.4",
     .rules = Target::nanotron,
     .max_zero = 1},
    {.target = Target::accelerate,
     .name = "accelerate",
     .title = "accelerate",
     .checked = "accelerate 1.15 dev",
     .rules = Target::accelerate,
     .software = "transformers",
     .min_zero = 2},
    {Target::rankwright, "rankwright", "Rankwright's runtime", "this version's runtime",
     Target::rankwright, "rankwright"},
    {Target::slurm, "slurm", "Slurm", "Slurm 22.05", Target::slurm, "", true},
    {Target::torchrun, "torchrun", "torchrun", "torchrun of PyTorch 2.13", Target::torchrun, "",
     true},
    {Target::openmpi, "openmpi", "Open MPI", "Open MPI 4.1.4", Target::openmpi, "", true},
};

consteval bool targets_match_enumerators() {
  for (std::size_t i = 0; i < std::size(kTargets); ++i)
    if (std::size_t(kTargets[i].target) != i + 1) return false;
  return true;
}
static_assert(targets_match_enumerators());

std::span<const TargetRow> targets();  // all targets except `any`
const TargetRow* find_target(std::string_view name);
/// Returns the target that runs on this row of plan/software; `any` if none of them does.
Target find_target_of(std::string_view software);
const TargetRow& row(Target target);  // Requires: not `any`

/// Returns the row of the target whose rules apply to `target`, with the facts about its code.
/// Requires: not `any`.
const TargetRow& row_of_rules(Target target);

/// Returns whether plans for `target` may use what only Megatron-LM has: a dispatcher that sends a
/// token once per node, recomputation of some modules or some layers.
bool allows_megatron(Target target);

/// Returns the training frameworks with layout rules of their own.
std::vector<const TargetRow*> frameworks_to_check();

}  // namespace rankwright::rules
