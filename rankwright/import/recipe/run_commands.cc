// Which commands of a launch script train a model, and which convert a checkpoint, evaluate, serve
// or generate: by the program that a command runs. The flags of a command are in megatron_flags.cc.
#include <algorithm>
#include <span>

#include "rankwright/base/format.h"
#include "rankwright/import/framework/megatron_flags.h"

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
  const bool package = std::any_of(words.begin(), words.end(), [](const ShellWord& word) {
    return std::find(std::begin(kOtherPackages), std::end(kOtherPackages), word.text) !=
           std::end(kOtherPackages);
  });
  if (package) return true;
  const std::string program = find_program(words);
  const std::string name = find_last_part(program);
  return has_any(program, kConverters) ||
         (!has_any(name, kTrainingWords) && has_any(name, kOtherWords));
}

}  // namespace rankwright::importer
