// Reads the flags of a launch script, or of the dump of arguments in a log, into a flat map with
// locations. Their meaning is in the readers of the formats.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/import/syntax/shell_words.h"
#include "rankwright/import/syntax/yaml.h"

namespace rankwright::importer {

/// The flags of one run.
struct ScriptFlags {
  /// A flag whose value cannot be determined from the script.
  struct Unknown {
    std::string flag;
    std::string variable;
    YamlNode place;
    std::string tail{};    // of the value, after the last variable
    std::string stated{};  // the flag's name in the script, if a fork has another
  };

  /// A flag whose value is the default of a variable that the script expects to be set.
  struct Default {
    std::string flag;
    std::string variable;
    YamlNode place;  // with the value
  };

  /// The ranks that a launcher starts if variables have their defaults.
  struct OpenRanks {
    std::optional<i64> nodes{}, gpus{}, world{};
    std::string variable{};  // the first one
  };

  /// The GPUs that CUDA_VISIBLE_DEVICES lists, and the variable whose default the list is.
  struct VisibleGpus {
    i64 count;
    std::string default_of{};
  };

  /// Flags without "--", with dashes. The value of a switch is "true", that of a list its words
  /// separated by blanks. `nodes`, `gpus-per-node` and `world-size` come from the launcher.
  YamlNode map{};
  std::vector<Unknown> unknown{};
  std::vector<Default> defaults{};
  std::vector<std::string> off{};  // switches that are stated to be off
  std::optional<OpenRanks> open_ranks{};
  std::optional<VisibleGpus> visible_gpus{};  // if nothing states ranks
  std::set<std::string> used{};               // variables of the input that the script used
  std::map<std::string, std::string> default_values{};  // of unset variables of the script
  std::vector<std::string> unread{};                    // sourced files that cannot be read
  std::vector<YamlNode> cut_off{};                      // flags that the end of a line cuts off
  std::vector<YamlNode> edited{};                       // files that `sed -i` changes
  std::size_t other_commands = 0;                       // training commands that were left out
  std::vector<std::string> assumed{};                   // what a reader supplied, to be reported
  std::vector<std::string> of_launcher{};  // flags of other programs than the training script
  std::vector<YamlNode> guesses{};  // conditions of unknown value whose first branch was taken
  std::string program{};            // of the training command: "pretrain_gpt.py"
  std::string program_file{};       // with its folder
  std::string module{};             // or module: "openrlhf.cli.train_sft", "a/train_gpt.py"
  std::string command{};            // the words of the training command that are no flags
  bool cut = false;                 // the script exceeds the limits and was read in part
  YamlNode config{};                // the YAML file that the training command names, if any
  YamlNode hydra_config{};          // the one that Hydra's options name; empty once it is read
  std::string recipe_name{};        // of the recipe of Megatron-Bridge or NeMo that is run, if any
  std::string recipe_settings{};    // those of its own that are among the flags, if it is known
  std::map<std::string, std::string> written{};  // texts of the configs that the script writes
  bool recipe = false;  // keys of a recipe, whose defaults differ from those of the flags
  std::vector<std::string> removed{};        // keys that a script deletes from a config: ~a.b
  std::string blocking{};                    // the variable that makes every launch wait, if any
  std::string xla_bf16{};                    // the variable that makes XLA's fp32 bf16, if any
  std::set<std::string> disabled_kernels{};  // NVTE_FLASH_ATTN and others that are set to 0
};

/// Reads the flags of a launch script, or of a log that contains an argument dump.
ScriptFlags read_script_flags(std::string_view text, const ShellInput& input = {});

/// Reads the overrides of a config (`a.b=value`, as Hydra takes them) and the ranks that its
/// launcher starts: those of the first command that runs a recipe of Megatron-Bridge or whose
/// program trains by its name, or else of the first with at least three overrides.
ScriptFlags read_overrides(std::string_view text, const ShellInput& input = {});

/// Returns a reader of the files that the script `file` writes, and of those that `files` has.
FileReader with_written_files(const FileReader& files, const std::string& file,
                              const ScriptFlags& flags);

/// Returns whether nothing states a flag, not even that it is off.
bool is_open(const ScriptFlags& flags, std::string_view name);

/// Returns whether a flag takes no value.
bool is_megatron_switch(std::string_view flag);

/// Returns whether the map has a flag that only a training program has.
bool has_training_flags(const ScriptFlags& flags);

/// Returns whether the text contains a log's dump of Megatron-LM's arguments.
bool has_argument_dump(std::string_view text);

}  // namespace rankwright::importer
