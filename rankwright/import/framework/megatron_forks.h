// Programs that take Megatron-LM's flags with other defaults, and with flags of their own:
// Megatron-DeepSpeed, ms-swift, slime, Primus, Pai-Megatron-Patch and MindSpeed. Their flags are
// rewritten as Megatron-LM's before they are read.
#pragma once

#include <span>
#include <string_view>

#include "rankwright/import/framework/foreign.h"
#include "rankwright/import/script/script_flags.h"

namespace rankwright::importer {

/// A flag of a fork that has another name in Megatron-LM.
struct ForkFlag {
  std::string_view fork;
  std::string_view flag;
  bool overrides = false;  // counts more than the flag itself
};

/// A flag that is set unless the file sets it.
struct ForkDefault {
  std::string_view flag;
  std::string_view value;
};

struct MegatronFork {
  std::string_view name;
  std::span<const std::string_view> marks;  // the text of its files has one of them
  std::span<const ForkFlag> renamed;
  std::span<const ForkDefault> defaults;
  bool yaml = false;            // its files are YAML
  bool deepspeed = false;       // runs DeepSpeed, whose config may lie beside the script
  bool packs = false;           // packs sequences into a micro-batch up to a number of tokens
  bool adapters = false;        // trains LoRA by default settings of its own
  bool responses = false;       // trains on responses that it generates
  bool counts_layers = false;   // states dense layers, empty layers and shared experts by number
  bool adapts_targets = false;  // trains LoRA if a script names the modules
  // Its files do not have this text, which is another fork's; empty for none.
  std::string_view unless{};
};

/// Returns the fork whose file this is; nullptr for Megatron-LM itself. `flags` are those of its
/// command, which need not use all that the text has.
const MegatronFork* find_megatron_fork(std::string_view file, std::string_view text,
                                       const ScriptFlags& flags);

/// Renames the fork's flags and sets its defaults.
void apply_fork(const MegatronFork& fork, ScriptFlags& flags);

/// Adds the shapes that MindSpeed-MM's file of a model (--mm-model) states for the language model.
void add_model_file(ScriptFlags& flags, const std::string& file, const FileReader& files);

/// Reads what only this fork has: the model that a flag names, adapters, packed batches, and the
/// DeepSpeed config beside a script. Called after the flags are read.
void finish_fork(const MegatronFork& fork, ForeignReading& reading, PlanFile& plan);

/// Spells an edit of a plan in the flags of Megatron-DeepSpeed.
std::string spell_megatron_deepspeed(const Edit& edit);

}  // namespace rankwright::importer
