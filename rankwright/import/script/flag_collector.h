// Collects the flags of commands into a map with locations, under current names.
// Private to the readers of scripts.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/import/script/script_flags.h"

namespace rankwright::importer {

/// Flags that only a training program has.
inline constexpr std::string_view kTrainingFlags[] = {"tensor-model-parallel-size", "num-layers",
                                                      "hidden-size", "micro-batch-size"};

/// A flag that only a program with the arguments of Hugging Face's Trainer has.
inline constexpr std::string_view kTrainerFlags[] = {
    "per-device-train-batch-size", "train-batch-size", "gradient-accumulation-steps",
    "num-train-epochs", "learning-rate"};

/// As above, for the programs of OpenRLHF.
inline constexpr std::string_view kOpenrlhfFlags[] = {"micro-train-batch-size",
                                                      "train.micro-batch-size"};

template <std::size_t n>
bool is_in(const std::string_view (&names)[n], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Converts offsets to lines and columns.
class LocationIndex {
 public:
  explicit LocationIndex(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') lines_.push_back(i + 1);
  }

  YamlNode node(std::size_t at, std::size_t width, std::string scalar) const {
    const auto line = std::upper_bound(lines_.begin(), lines_.end(), at) - 1;
    constexpr std::size_t kWidest = 200;
    return {.kind = YamlNode::Kind::scalar,
            .scalar = std::move(scalar),
            .line = int(line - lines_.begin()) + 1,
            .column = int(at - *line) + 1,
            .width = int(std::clamp<std::size_t>(width, 1, kWidest)),
            .entries = {}};
  }

 private:
  std::vector<std::size_t> lines_{0};
};

/// Returns a flag with dashes and under Megatron-LM's current name. Older versions, forks
/// (gpt-neox, Megatron-DeepSpeed, MegaBlocks) and their launchers use other names.
std::string current_name(std::string_view name);

/// Sets a flag; later ones override earlier ones.
void put_flag(YamlNode& map, YamlNode key, YamlNode value);
/// As above, for a value that does not stand beside its flag.
void put_flag(YamlNode& map, const std::string& name, YamlNode value);
void drop_flag(YamlNode& map, std::string_view name);

class FlagCollector {
 public:
  FlagCollector(std::string_view text, ScriptFlags& out)
      : text_(text), locations_(text), out_(out) {}

  void add(const std::vector<ShellWord>& words);
  /// Adds the words of the form `a.b=value`, `+a.b=value`: overrides of a config. `~a.b` deletes.
  void add_overrides(const std::vector<ShellWord>& words);
  /// Sets the program of a command whose settings are in a file.
  void set_program(const std::vector<ShellWord>& words);
  /// Returns "a.b" for "+a.b=value"; empty if the word is not an override.
  static std::string find_override(std::string_view word);

 private:
  /// Returns the part of "--name=value" after the first `skip` characters. An empty one is that of
  /// an option that the script takes and was not given.
  static ShellWord cut_value(const ShellWord& word, std::size_t skip);
  /// Returns the index of the training script: flags before it are its launcher's. Returns 0 for a
  /// list of flags, and the number of words for a command that does not train.
  static std::size_t find_script(const std::vector<ShellWord>& words);
  void set_program(const std::string& path);
  /// Strips the quotes that a nested string leaves.
  static std::string strip_quotes(std::string text);
  void flag(const std::string& name, const std::vector<ShellWord>& words, std::size_t at,
            std::size_t next, bool launchers = true);
  /// Returns whether a flag and its value are typed behind the program, and the flag nowhere else:
  /// a condition around the command then decides whether it runs, not which value it has.
  bool is_only_choice(const ShellWord& flag, const ShellWord& value) const;
  void set_known(const YamlNode& key, YamlNode value);

  std::string_view text_;
  LocationIndex locations_;
  std::size_t script_ = 0;                           // words before it belong to the launcher
  std::size_t program_at_ = std::string_view::npos;  // offset of that word
  ScriptFlags& out_;
};

}  // namespace rankwright::importer
