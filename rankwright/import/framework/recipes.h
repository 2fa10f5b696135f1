// Shared by the readers of trainers' recipes: names of models on a hub, references between values
// ("${a.b}"), configs that inherit from others, and settings that the estimate does not have.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rankwright/import/framework/foreign.h"
#include "rankwright/import/plan/hub_model.h"
#include "rankwright/import/script/script_flags.h"

namespace rankwright::importer {

/// Sets the model if the catalog has it, and leaves it open if not: the placeholder is then one of
/// the size that the name states.
void read_named_model(ForeignReading& r, const YamlNode& node);

/// As above; a name that the catalog does not have is not reported. Returns whether it has it.
bool read_known_name(ForeignReading& r, const YamlNode& node);

/// Changes the shapes of the model that the file names by those of a config of transformers in
/// `node`: such a model is trained from scratch. Read after the name.
void read_config_overrides(ForeignReading& r, const YamlNode& node);
/// Reads a config of transformers that the file states key by key, as the arguments of its class
/// (`_target_: transformers.LlamaConfig`) or with a `model_type`. One that cannot be read is
/// reported, and leaves the model open.
void read_stated_config(ForeignReading& r, const YamlNode& node);

/// Reports another way of training than LoRA and all parameters, unless the setting is off.
void refuse_partial_training(ForeignReading& r, const YamlNode& node);
/// Reads the rank of adapters on all linear layers; 0 and null are full training.
void read_lora_rank(ForeignReading& r, const YamlNode& node);
/// Reads the linear layers that have adapters: a list, or names joined by commas or blanks. Fused
/// layers ("linear_qkv", "Wqkv") are all of their parts; an empty list changes nothing.
void read_lora_targets(ForeignReading& r, const YamlNode& node);
/// Reads PEFT's map of adapters under `path`: `rank` names the key of the rank, which is 8 if there
/// is none.
void read_lora_map(ForeignReading& r, std::string_view path, std::string_view rank);
/// Reads a switch that stores frozen weights in this format.
template <plan::BaseDtype dtype>
void read_quantized(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.base_dtype = dtype;
}

/// Reads a switch as Python writes it: True, false, 1.
template <std::optional<bool> Draft::*member>
void python_flag(ForeignReading& r, const YamlNode& node) {
  r.draft.*member = !is_off(node);
}

/// Reads the class of an optimizer ("torch.optim.AdamW", "bitsandbytes.optim.AdamW8bit"). One that
/// the estimate does not have is reported.
void read_optimizer_class(ForeignReading& r, const YamlNode& node);
/// Reads the format of Adam's moments ("torch.bfloat16").
void read_moment_dtype(ForeignReading& r, const YamlNode& node);

/// Reads the method of a trainer ("sft", "dpo", "grpo"), and whether it has a reference model.
/// Another one is reported. Defined with the readers of fine-tuning.
void read_trainer_method(ForeignReading& r, const YamlNode& node);

/// The keys of fine-tuning tools, and the reader of a tree that has them at its root. Defined with
/// the readers of fine-tuning.
std::span<const ForeignKey> fine_tuning_keys();
/// `launched` is what a launcher states beside the tree.
void read_fine_tuning_tree(ForeignReading& reading, PlanFile& plan,
                           const std::optional<Draft>& launched = std::nullopt);
/// Replaces the name of a file of FSDP's settings by the settings in it.
void follow_fsdp_config(YamlNode& root, const std::string& file, const FileReader& files,
                        Diagnostics& findings);
/// As above, for launch scripts with the flags of Hugging Face's Trainer.
bool claims_trainer_script(std::string_view file, std::string_view text);
void read_trainer_script(PlanFile& plan, const FileReader& files);
/// Reads a program that constructs the Trainer's arguments, as if it were run without options.
bool claims_trainer_program(std::string_view file, std::string_view text);
void read_trainer_program(PlanFile& plan, const FileReader& files);

/// Returns what the options of `accelerate launch` in `flags` state: those of the config that they
/// name, and of the options themselves, which override it. Nothing if there is neither. A config
/// that cannot be read is reported, unless its name states how states are sharded. Defined with the
/// reader of accelerate's config.
std::optional<Draft> read_accelerate_launch(const ScriptFlags& flags, const FileReader& files,
                                            PlanFile& plan);

/// Doubles the batches of a file that counts pairs of preference optimization: a pair is two
/// sequences.
void count_pairs_twice(Draft& draft);

/// Reads transformers' kernel of attention where flash attention is the default: "eager".
void read_eager_attention(ForeignReading& r, const YamlNode& node);

/// Sets full recomputation if the setting is on.
void read_full_recompute(ForeignReading& r, const YamlNode& node);
/// Reports that several layers have one checkpoint: the estimate has one in front of every layer.
void report_layers_at_once(ForeignReading& r, const YamlNode& node, i64 layers);

/// Sets the layers of the stages if the first or the last one has its own number: at
/// `prefix` + "num_layers_in_first_pipeline_stage" and "..._last_...".
void read_end_stages(ForeignReading& r, const std::string& prefix = {});

/// Reads Megatron-LM's dispatcher of tokens. `flex` hands over to DeepEP or HybridEP, which both
/// send a token once per node; `allgather`, one for small groups, is counted as an all-to-all.
void read_dispatcher_type(ForeignReading& r, const YamlNode& node);

/// Reads "bf16", "bfloat16", "amp_bf16", "fp16", ... as the format of the parameters.
void read_trainer_dtype(ForeignReading& r, const YamlNode& node);

/// Records the GPUs of a node, for a run whose number of nodes is not known. A single one may be
/// the launcher of the others.
void keep_node_gpus(std::optional<i64> gpus, Draft& draft);

/// Reads the nodes and the GPUs per node at these paths, with defaults if one is missing; does
/// nothing if both are, or if one is a variable without a value. The default of a variable leaves
/// the number of ranks open.
void read_node_shape(ForeignReading& r, std::string_view nodes, std::string_view gpus,
                     std::optional<i64> usual_nodes, std::optional<i64> usual_gpus,
                     const ScriptFlags* flags = nullptr, PlanFile* plan = nullptr);

/// Sets the microbatch of a trainer that packs up to `tokens` tokens into one: as many sequences as
/// fit and divide the batch of a data rank, at least 1. Leaves it open, and reports it at `node`.
void fill_packed_micro_batch(ForeignReading& r, i64 tokens, const YamlNode& node, PlanFile& plan);

/// Rounds the sequence up to a multiple of what context and sequence parallelism divide it into, as
/// trainers do that pad their batches.
void pad_sequence(Draft& draft);

/// Adds the length of an answer to the sequence, which is that of a prompt, and reports the sum at
/// `key`. ms-swift's --max_length limits the prompts of reinforcement learning (ms-swift#4958).
void add_answer_length(ForeignReading& r, i64 answer, std::string_view key);

/// Replaces references ("${a.b}") by the values that they name. Others are left as they are.
void resolve_references(YamlNode& root);

/// Merges the configs that `defaults` names, beside the file, under the values of this one. A file
/// that cannot be read is reported.
void inherit_defaults(YamlNode& root, const std::string& file, const FileReader& files,
                      Diagnostics& findings);

/// Sets the value at a dotted path of a tree, and adds the maps that it is in.
void set_path(YamlNode& root, std::string_view path, const YamlNode& value);

/// Moves a tree of another file to the place that names the file.
void move_to(YamlNode& node, const YamlNode& place);

/// Merges the settings of the YAML file that `named` names, from the place of `file`, under those
/// of `root`. Returns false if it cannot be read.
bool inherit_file(YamlNode& root, const YamlNode& named, const std::string& file,
                  const FileReader& files);

/// Merges the file of the model that a config of Primus names, and the files that it extends, under
/// the overrides of the config. Primus has them in primus/configs/models/FRAMEWORK; a folder above
/// the config is searched. Without the file, the tree is left as it is; without one that it
/// extends, that is reported.
void inherit_primus_model(YamlNode& root, const std::string& file, const FileReader& files,
                          Diagnostics& findings);

/// Returns the input of a script: its variables and files, and some name for the folders of a user,
/// as only the last part of a model's path matters.
ShellInput make_script_input(const PlanFile& plan, const FileReader& files);
/// Removes these folders from the variables that are reported.
void forget_usual_folders(ScriptFlags& flags);

/// Reads the arguments that a YAML file has, in any of its maps: under the names of the flags
/// ("--num-layers: 32"), of Megatron-LM's variables ("num_layers: 32"), or of NeMo's and
/// Megatron-Bridge's recipes. `is_read` selects the flags that matter.
ScriptFlags read_megatron_yaml(const YamlNode& root, const ShellInput& input,
                               bool (*is_read)(std::string_view flag));

/// Returns whether a file is a Python program that assigns the settings of Megatron-Bridge, or of a
/// recipe of NeMo 2.0.
bool is_bridge_program(std::string_view file, std::string_view text);
/// Reads these settings, with their paths ("train.global_batch_size") as keys of the map. Values
/// that only the running program knows are unknown; parameters and options have their defaults, or
/// the values of `input`. Defined with the readers of recipes.
ScriptFlags read_bridge_program(std::string_view text, const ShellInput& input,
                                Diagnostics& findings);

/// Reads the program of Megatron-Bridge or NeMo that a launch script runs, with the arguments that
/// the script passes to it; nothing if it runs none that can be read.
std::optional<ScriptFlags> read_run_bridge_program(const PlanFile& script, const ShellInput& input,
                                                   Diagnostics& findings);

/// Returns the flag of a key: "num-layers" for "--num-layers", "num_layers" and
/// "model.config.num_layers".
std::string name_flag(std::string_view key);

}  // namespace rankwright::importer
