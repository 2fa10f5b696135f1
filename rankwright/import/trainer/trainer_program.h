// The training program that a script runs: its code with that of the modules of the same repository
// that it imports its arguments from, and the values of its names. The program is read and never
// executed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "rankwright/import/framework/foreign.h"
#include "rankwright/import/script/script_flags.h"

namespace rankwright::importer {

/// Returns the file of a module: "llava/train/train.py" for "llava.train.train".
std::string find_module_file(std::string_view module);

class TrainerProgram {
 public:
  /// Reads the program that `flags` are the arguments of; nothing if it cannot be read.
  static std::optional<TrainerProgram> read(const ScriptFlags& flags, const std::string& script,
                                            const FileReader& files);

  /// The name of the program in the script.
  const std::string& name() const { return name_; }
  /// Its text without comments, and without the branches that its options rule out.
  const std::string& code() const { return code_; }
  /// The literals that are the defaults of its options (`add_argument`, fields of dataclasses).
  const std::map<std::string, std::string, std::less<>>& defaults() const { return defaults_; }

  /// The classes of arguments that it parses (`HfArgumentParser`, `TrlParser`), with their bases.
  const std::set<std::string, std::less<>>& parsed_classes() const { return parsed_; }

  /// Returns the value of a literal, of an option, of a name that is assigned once, or of a choice
  /// between these; nothing if it is unknown. `flags` state the options.
  std::optional<std::string> resolve(const ScriptFlags& flags, std::string_view expression) const;

 private:
  void add_module(const FileReader& files, const std::string& script, std::string_view folder,
                  std::string_view module);
  void list_defaults();
  void list_assigned();
  void drop_branches(const ScriptFlags& flags);
  /// Returns the value of an option that the code names: "args.use_lora"; nothing if it is unknown.
  std::optional<std::string> find_option(const ScriptFlags& flags,
                                         std::string_view expression) const;
  std::optional<bool> test(const ScriptFlags& flags, std::string_view condition, int depth) const;
  void read_config(const ScriptFlags& flags, const std::string& script, const FileReader& files);
  /// Returns the value of an item of a map that the code has or loads: `config["train"]["lr"]`.
  std::optional<std::string> find_item(const ScriptFlags& flags, std::string_view expression,
                                       int depth) const;
  /// Returns what the only call of a function passes to a parameter of it; empty if nothing.
  std::string_view find_passed(std::string_view parameter) const;
  std::optional<std::string> resolve(const ScriptFlags& flags, std::string_view expression,
                                     int depth) const;

  std::string name_{}, code_{};
  std::map<std::string, std::string, std::less<>> defaults_{};
  std::set<std::string, std::less<>> off_{};  // switches that are off by default
  std::set<std::string, std::less<>> parsed_{};
  std::map<std::string, std::string, std::less<>> assigned_{};  // by name, the first value
  mutable int searches_ = 0, calls_read_ = 0;  // for names, and for what calls pass to parameters
  YamlNode config_{};  // the file that the program loads its settings from, if it is known
};

}  // namespace rankwright::importer
