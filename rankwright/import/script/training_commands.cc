#include "rankwright/import/script/training_commands.h"

#include <algorithm>
#include <span>

#include "rankwright/base/format.h"
#include "rankwright/import/script/flag_collector.h"
#include "rankwright/import/syntax/file.h"

namespace rankwright::importer {
namespace {

/// Modules that start another program.
constexpr std::string_view kLaunchModules[] = {"torch.distributed.run", "torch.distributed.launch",
                                               "accelerate.commands.launch",
                                               "deepspeed.launcher.runner"};

/// Words in the name of a program that does not train, unless the name says that it does.
constexpr std::string_view kOtherWords[] = {
    "eval",  "infer", "generat", "predict",    "benchmark", "convert", "export", "merge",
    "serve", "score", "chat",    "preprocess", "combine",   "decode",  "loader"};
constexpr std::string_view kConverters[] = {"ckpt_conversion", "to_maxtext", "convert_"};
constexpr std::string_view kTrainingWords[] = {"train", "finetune", "sft"};

/// Packages that evaluate and serve, whatever their module is.
constexpr std::string_view kOtherPackages[] = {"lm_eval", "lm-eval", "vllm"};

bool has_any(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

bool is_module(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return c == '.' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  });
}

/// Returns the last part of "tools/convert.py" or "openrlhf.cli.train_sft", in lower case.
std::string find_last_part(std::string_view program) {
  constexpr std::string_view kEnd = ".py";
  const bool file = program.ends_with(kEnd);
  if (file) program.remove_suffix(kEnd.size());
  return lower(program.substr(program.rfind(file ? '/' : '.') + 1));
}

/// Returns whether a command runs a recipe of Megatron-Bridge: run_recipe.py --recipe NAME.
bool runs_recipe(const std::vector<ShellWord>& words) {
  const auto has = [&](auto matches) { return std::any_of(words.begin(), words.end(), matches); };
  return has([](const ShellWord& word) { return word.text.ends_with("run_recipe.py"); }) &&
         has([](const ShellWord& word) {
           return word.text == "--recipe" || word.text.starts_with("--recipe=");
         });
}

}  // namespace

std::size_t find_program_word(const std::vector<ShellWord>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].unknown.empty() ? words[i].text : words[i].tail;
    if (word.starts_with("-")) continue;
    if (word.ends_with(".py")) return i;
    const bool named = i > 0 && (words[i - 1].text == "-m" || words[i - 1].text == "--module");
    const bool launches = std::find(std::begin(kLaunchModules), std::end(kLaunchModules), word) !=
                          std::end(kLaunchModules);
    if (is_module(word) && !launches && (named || word.starts_with("openrlhf."))) return i;
  }
  return words.size();
}

std::string find_program(const std::vector<ShellWord>& words) {
  const std::size_t at = find_program_word(words);
  if (at == words.size()) return {};
  return words[at].unknown.empty() ? words[at].text : words[at].tail;
}

bool names_training(std::string_view program) {
  const std::string name = find_last_part(program);
  if (has_any(name, kTrainingWords)) return true;
  return name.starts_with("main") && !has_any(name, kOtherWords);  // verl.trainer.main_ppo
}

bool runs_other_program(const std::vector<ShellWord>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool package = std::find(std::begin(kOtherPackages), std::end(kOtherPackages),
                                   words[i].text) != std::end(kOtherPackages);
    // "uv run --extra vllm" only installs it.
    const bool option = i > 0 && words[i - 1].text.starts_with("-") && words[i - 1].text != "-m";
    if (package && !option) return true;
  }
  const std::string program = find_program(words);
  const std::string name = find_last_part(program);
  return has_any(program, kConverters) ||
         (!has_any(name, kTrainingWords) && has_any(name, kOtherWords));
}

bool has_run_words(const std::vector<ShellWord>& words) {
  return std::any_of(words.begin(), words.end(), [](const ShellWord& word) {
    if (!word.text.starts_with("--")) return false;
    const std::string name = current_name(word.text.substr(2, word.text.find('=') - 2));
    return is_in(kTrainingFlags, name) || is_in(kTrainerFlags, name) || is_in(kOpenrlhfFlags, name);
  });
}

const ShellWord* find_config(const std::vector<ShellWord>& words) {
  constexpr std::string_view kConfigTools[] = {"llamafactory-cli", "axolotl", "axolotl.cli.train",
                                               "swift", "trl"};
  constexpr std::string_view kActions[] = {"train", "sft", "pt",   "rlhf",   "dpo",
                                           "grpo",  "kto", "orpo", "reward", "rloo"};
  constexpr std::string_view kLaunchers[] = {"accelerate", "torchrun", "deepspeed",
                                             "torch.distributed.run", "torch.distributed.launch"};
  const auto runs = [&](const auto& programs) {
    return std::any_of(words.begin(), words.end(), [&](const ShellWord& word) {
      return is_in(programs, word.text.substr(word.text.rfind('/') + 1));
    });
  };
  const auto is_config = [](const ShellWord& word) {
    return word.unknown.empty() && is_yaml_file(word.text);
  };
  const bool launched = runs(kLaunchers), tool = runs(kConfigTools);
  const bool trains = std::any_of(words.begin(), words.end(), [](const ShellWord& word) {
    const std::string name = lower(word.text.substr(word.text.rfind('/') + 1));
    return name.ends_with(".py") &&
           (name.find("train") != std::string::npos || name.find("tun") != std::string::npos ||
            name.find("sft") != std::string::npos || name.find("po") != std::string::npos);
  });
  for (std::size_t i = 1; (launched || tool || trains) && i < words.size(); ++i)
    if (words[i - 1].text == "--config" && is_config(words[i])) return &words[i];
  for (std::size_t i = 1; launched && i < words.size(); ++i)
    if (words[i - 1].text.ends_with(".py") && is_config(words[i])) return &words[i];
  bool acts = false;
  for (const ShellWord& word : words) {
    acts = acts || is_in(kActions, word.text) || word.text.ends_with(".train");
    if (tool && acts && is_config(word)) return &word;
  }
  return nullptr;
}

std::string list_programs(const std::vector<ShellWord>& words) {
  constexpr std::size_t kMaxWords = 64;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMaxWords, words.size()); ++i)
    if (!words[i].text.starts_with("-")) text += " " + words[i].text;
  return text + " ";
}

bool runs_python(const std::vector<ShellWord>& words) {
  return std::any_of(words.begin(), words.end(), [](const ShellWord& word) {
    return word.text == "-m" || word.text.ends_with(".py");
  });
}

bool prints(const ShellCommand& command) {
  constexpr std::string_view kPrinters[] = {"echo", "printf", "cat", "log", "tee"};
  return !command.assigned && !command.words.empty() &&
         is_in(kPrinters, command.words.front().text);
}

bool is_run(const ShellCommand& command) {
  return !command.assigned && !prints(command) &&
         (has_run_words(command.words) || find_config(command.words) != nullptr);
}

std::vector<const ShellCommand*> list_commands(const ShellScript& script) {
  const bool trains =
      std::any_of(script.commands.begin(), script.commands.end(), [](const ShellCommand& command) {
        return is_run(command) && !runs_other_program(command.words);
      });
  std::vector<const ShellCommand*> commands;
  for (const ShellCommand& command : script.commands) {
    const bool run = is_run(command);
    const bool started = !command.assigned && !prints(command);
    // The options that a script prints are no settings.
    if (prints(command) && !has_run_words(command.words)) continue;
    if (!command.assigned && runs_other_program(command.words) && (trains || !run)) continue;
    if (trains && !run && started && !find_program(command.words).empty()) continue;
    commands.push_back(&command);
  }
  return commands;
}

std::vector<const ShellCommand*> find_overriding_commands(const ShellScript& script) {
  constexpr std::ptrdiff_t kFewest = 3;
  std::vector<const ShellCommand*> trainings, others;
  for (const ShellCommand& command : script.commands) {
    if (command.assigned || prints(command) || runs_other_program(command.words)) continue;
    const auto overrides = std::count_if(
        command.words.begin(), command.words.end(),
        [](const ShellWord& word) { return !FlagCollector::find_override(word.text).empty(); });
    const bool trains = overrides > 0 && names_training(find_program(command.words));
    if (runs_recipe(command.words) || trains) trainings.push_back(&command);
    if (overrides >= kFewest) others.push_back(&command);
  }
  return trainings.empty() ? others : trainings;
}

}  // namespace rankwright::importer
