// Which commands of a launch script train a model, and which convert a checkpoint, evaluate, serve
// or generate: by the program that a command runs, and by its flags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/import/syntax/shell_words.h"

namespace rankwright::importer {

/// Returns the program that a command runs: "tools/train.py", or the module of "-m" or "--module",
/// "openrlhf.cli.train_sft"; empty if there is none.
std::string find_program(const std::vector<ShellWord>& words);
/// Returns its index; the number of words if there is none.
std::size_t find_program_word(const std::vector<ShellWord>& words);
/// Returns whether the name of a program says that it trains: "main_ppo", "finetune.py".
bool names_training(std::string_view program);
/// Returns whether a command runs a program that converts, evaluates, serves or generates.
bool runs_other_program(const std::vector<ShellWord>& words);

/// Returns whether a command has flags of a training program.
bool has_run_words(const std::vector<ShellWord>& words);

/// Returns the YAML file with all settings of a training command: `llamafactory-cli train X.yaml`,
/// `axolotl train X.yaml`, the value of `--config`, or the only positional argument of a program
/// that a launcher starts, as Hugging Face's parsers take it. Returns nullptr for other commands.
const ShellWord* find_config(const std::vector<ShellWord>& words);

/// Returns the words of a command that are no flags: its programs, and values.
std::string list_programs(const std::vector<ShellWord>& words);

/// Returns whether a command runs a program in Python.
bool runs_python(const std::vector<ShellWord>& words);

/// Returns whether a command only prints its words.
bool prints(const ShellCommand& command);

/// Returns whether a command trains.
bool is_run(const ShellCommand& command);

/// Returns the commands whose flags count, in order. If one trains, those of other programs do not:
/// converters, too, have flags of training.
std::vector<const ShellCommand*> list_commands(const ShellScript& script);

/// Returns the commands that override a config: those that run a recipe or a program that trains by
/// its name, or else those with several overrides. Fewer are variables of one command.
std::vector<const ShellCommand*> find_overriding_commands(const ShellScript& script);

}  // namespace rankwright::importer
