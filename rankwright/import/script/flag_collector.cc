#include "rankwright/import/script/flag_collector.h"

#include <algorithm>
#include <utility>

#include "rankwright/import/script/training_commands.h"
#include "rankwright/import/syntax/shell_evaluator.h"

namespace rankwright::importer {
namespace {

/// Flags that take no value: the word after them is not part of them.
constexpr std::string_view kSwitches[] = {"sequence-parallel",
                                          "use-tp-pp-dp-mapping",
                                          "use-distributed-optimizer",
                                          "use-megatron-fsdp",
                                          "use-custom-fsdp",
                                          "use-torch-fsdp2",
                                          "overlap-grad-reduce",
                                          "overlap-param-gather",
                                          "tp-comm-overlap",
                                          "no-overlap-p2p-communication",
                                          "account-for-embedding-in-pipeline-split",
                                          "account-for-loss-in-pipeline-split",
                                          "recompute-activations",
                                          "bf16",
                                          "fp16",
                                          "grad-reduce-in-bf16",
                                          "accumulate-allreduce-grads-in-fp32",
                                          "swiglu",
                                          "squared-relu",
                                          "quick-geglu",
                                          "untie-embeddings-and-output-weights",
                                          "disable-bias-linear",
                                          "add-qkv-bias",
                                          "qk-layernorm",
                                          "group-query-attention",
                                          "multi-latent-attention",
                                          "moe-shared-expert-gate",
                                          "moe-router-enable-expert-bias",
                                          "use-rotary-position-embeddings",
                                          "enable-cuda-graph",
                                          "external-cuda-graph",
                                          "use-flash-attn",
                                          "overlap-moe-expert-parallel-comm",
                                          "delay-wgrad-compute",
                                          "distribute-saved-activations",
                                          "distribute-checkpointed-activations",
                                          "partition-activations",
                                          "optimizer-cpu-offload",
                                          "use-precision-aware-optimizer",
                                          "fp8-param-gather",
                                          "fp4-param-gather",
                                          "overlap-param-gather-with-optimizer-step",
                                          "fine-grained-activation-offloading",
                                          "moe-pad-expert-input-to-capacity",
                                          "moe-grouped-gemm",
                                          "moe-permute-fusion",
                                          "moe-enable-deepep",
                                          "moe-shared-expert-overlap",
                                          "torch-fsdp2-no-reshard-after-forward",
                                          "disable-vision-class-token",
                                          "moe-use-legacy-grouped-gemm",
                                          "moe-layer-recompute",
                                          "cross-entropy-loss-fusion",
                                          "use-dynamic-batch-size",
                                          "no-pipeline-parallel",
                                          "use-mcore-models",
                                          "moe-tp-extend-ep",
                                          "swap-optimizer",
                                          "reuse-fp32-param",
                                          "swap-attention",
                                          "recompute-activation-function",
                                          "recompute-norm",
                                          "qlora",
                                          "lora-fusion"};

constexpr std::string_view kLists[] = {"recompute-modules",
                                       "cp-comm-type",
                                       "target-modules",
                                       "ds.lora.target-modules",
                                       "hierarchical-context-parallel-sizes",
                                       "rampup-batch-size",
                                       "num-experts",
                                       "lora-target-modules",
                                       "peft-target-modules",
                                       "noop-layers",
                                       "fsdp"};

}  // namespace

std::string current_name(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kCurrentNames[] = {
      {"model-parallel-size", "tensor-model-parallel-size"},
      {"pipe-parallel-size", "pipeline-model-parallel-size"},
      {"batch-size", "micro-batch-size"},
      {"gas", "gradient-accumulation-steps"},
      {"t5-swiglu", "swiglu"},
      {"fp8-hybrid", "fp8-format"},  // switches of 2023
      {"fp8-e4m3", "fp8-format"},
      {"moe-num-experts", "num-experts"},
      {"moe-top-k", "moe-router-topk"},
      {"npernode", "nproc-per-node"},
      {"ntasks-per-node", "nproc-per-node"},
      {"num-gpus", "nproc-per-node"},
      {"local-worker-num", "nproc-per-node"},  // of MindSpore's msrun
      {"worker-num", "ntasks"},
      {"num-nodes", "nnodes"}};
  std::string text(name);
  while (text.ends_with(';')) text.pop_back();  // of a command inside a quoted text
  std::replace(text.begin(), text.end(), '_', '-');
  for (const auto& [old, today] : kCurrentNames)
    if (text == old) return std::string(today);
  return text;
}

void put_flag(YamlNode& map, YamlNode key, YamlNode value) {
  constexpr std::size_t kMaxFlags = 1000;
  for (YamlEntry& entry : map.entries)
    if (entry.key.scalar == key.scalar) {
      entry = {std::move(key), std::move(value)};
      return;
    }
  if (map.entries.size() >= kMaxFlags) return;
  map.entries.push_back({std::move(key), std::move(value)});
}

void put_flag(YamlNode& map, const std::string& name, YamlNode value) {
  YamlNode key = value;
  key.scalar = name;
  put_flag(map, std::move(key), std::move(value));
}

void drop_flag(YamlNode& map, std::string_view name) {
  std::erase_if(map.entries, [&](const YamlEntry& entry) { return entry.key.scalar == name; });
}

bool is_megatron_switch(std::string_view flag) { return is_in(kSwitches, flag); }

void FlagCollector::add(const std::vector<ShellWord>& words) {
  const auto launches = [&](std::string_view program) {
    return std::any_of(words.begin(), words.end(), [&](const ShellWord& word) {
      return word.text == program || word.text.ends_with("/" + std::string(program));
    });
  };
  if (const std::string program = find_program(words); !program.empty()) out_.module = program;
  script_ = find_script(words);
  program_at_ = script_ > 0 && script_ < words.size() ? words[script_].at : text_.size();
  if (script_ < words.size() && words[script_].text.ends_with(".py")) {
    set_program(words[script_].text);
  }
  // A batch beside a micro-batch is that of a step.
  const bool parts = std::any_of(words.begin(), words.end(), [](const ShellWord& word) {
    return word.text.starts_with("--micro_batch_size");
  });
  const bool slurm = launches("srun");
  const bool mpi = launches("mpirun") || launches("mpiexec");
  const bool deepspeed = launches("deepspeed");
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view name = words[i].text;
    if (slurm && (name == "-N" || name == "-n")) {
      flag(name == "-N" ? "nnodes" : "ntasks", words, i, i + 1);
      continue;
    }
    if (mpi && (name == "-np" || name == "-n" || name == "-npernode" || name == "-N")) {
      flag(name == "-np" || name == "-n" ? "ntasks" : "nproc-per-node", words, i, i + 1);
      continue;
    }
    if (deepspeed && i < script_ && name == "-i") {
      flag("include", words, i, i + 1);
      continue;
    }
    if (!name.starts_with("--") || name.size() == 2) continue;
    name.remove_prefix(2);
    const std::size_t equals = name.find('=');
    if (equals != std::string_view::npos) {
      const ShellWord value = cut_value(words[i], equals + 3);
      flag(current_name(name.substr(0, equals)), {words[i], value}, 0, 1, i < script_);
    } else {
      const bool whole = parts && name == "batch_size";
      flag(whole ? "global-batch-size" : current_name(name), words, i, i + 1, i < script_);
    }
  }
}

void FlagCollector::add_overrides(const std::vector<ShellWord>& words) {
  constexpr std::size_t kMaxRemoved = 100;
  for (const ShellWord& word : words) {
    if (out_.program.empty() && word.text.ends_with(".py"))
      out_.program = word.text.substr(word.text.rfind('/') + 1);
    if (word.text.starts_with('~') && out_.removed.size() < kMaxRemoved) {
      const std::string_view key = std::string_view(word.text).substr(1);
      out_.removed.emplace_back(key.substr(0, key.find('=')));
      continue;
    }
    const std::string name = find_override(word.text);
    if (name.empty()) continue;
    const ShellWord value = cut_value(word, word.text.find('=') + 1);
    flag(name, {word, value}, 0, 1, false);
  }
}

void FlagCollector::set_program(const std::vector<ShellWord>& words) {
  for (const ShellWord& word : words)
    if (out_.program.empty() && word.unknown.empty() && word.text.ends_with(".py"))
      set_program(word.text);
}

std::string FlagCollector::find_override(std::string_view word) {
  while (word.starts_with('+')) word.remove_prefix(1);
  const std::size_t end = word.find('=');
  if (end == std::string_view::npos || end == 0) return {};
  const std::string_view name = word.substr(0, end);
  if (word.substr(end).starts_with("==")) return {};  // the version of a package
  const bool plain =
      std::all_of(name.begin(), name.end(), [](char c) { return shell::is_name(c) || c == '.'; });
  const bool lower = name.front() >= 'a' && name.front() <= 'z';
  return plain && lower ? std::string(name) : std::string();
}

ShellWord FlagCollector::cut_value(const ShellWord& word, std::size_t skip) {
  ShellWord value = word;
  value.text = word.text.substr(skip);
  value.at += skip;
  value.width -= std::min(value.width - 1, skip);
  if (value.text.empty()) value.unknown = "an option of the script";
  return value;
}

std::size_t FlagCollector::find_script(const std::vector<ShellWord>& words) {
  const bool trains = std::any_of(words.begin(), words.end(), [](const ShellWord& word) {
    if (!word.text.starts_with("--")) return false;
    const std::string name = current_name(word.text.substr(2, word.text.find('=') - 2));
    return is_in(kTrainingFlags, name) || is_in(kTrainerFlags, name) ||
           is_in(kOpenrlhfFlags, name) || is_in(kSwitches, name);
  });
  if (!trains) return words.size();
  const std::size_t script = find_program_word(words);
  return script == words.size() ? 0 : script;
}

void FlagCollector::set_program(const std::string& path) {
  out_.program_file = path;
  out_.program = path.substr(path.rfind('/') + 1);
}

std::string FlagCollector::strip_quotes(std::string text) {
  while (text.size() > 1 && (text.back() == '"' || text.back() == '\'')) text.pop_back();
  if (text.size() > 1 && (text[0] == '"' || text[0] == '\'')) text.erase(0, 1);
  return text;
}

void FlagCollector::flag(const std::string& name, const std::vector<ShellWord>& words,
                         std::size_t at, std::size_t next, bool launchers) {
  if (launchers) out_.of_launcher.push_back(name);
  std::erase_if(out_.defaults, [&](const auto& one) { return one.flag == name; });
  const YamlNode key = locations_.node(words[at].at, words[at].width, name);
  const bool alone = next >= words.size() || words[next].text.starts_with("--");
  // Launchers of forks, and programs of the Trainer, give switches a value: --bf16 False.
  constexpr std::string_view kOff[] = {"false", "False"};
  std::erase(out_.off, name);
  if (!alone && is_in(kSwitches, name) && is_in(kOff, words[next].text)) {
    out_.off.push_back(name);
    return drop_flag(out_.map, name);
  }
  if (alone || is_in(kSwitches, name))
    return set_known(key, locations_.node(words[at].at, words[at].width, "true"));
  std::string text = strip_quotes(words[next].text);
  const ShellWord& first = words[next];
  if (!first.unknown.empty()) {
    drop_flag(out_.map, name);
    std::erase_if(out_.unknown, [&](const auto& one) { return one.flag == name; });
    out_.unknown.push_back(
        {name, first.unknown, locations_.node(first.at, first.width, ""), first.tail});
    return;
  }
  for (std::size_t i = next + 1; is_in(kLists, name) && i < words.size(); ++i) {
    if (words[i].text.starts_with("-") || !words[i].unknown.empty()) break;
    text += " " + strip_quotes(words[i].text);
  }
  YamlNode value = locations_.node(first.at, first.width, std::move(text));
  if (!first.default_of.empty() && !is_only_choice(words[at], first))
    out_.defaults.push_back({name, first.default_of, value});
  set_known(key, std::move(value));
}

bool FlagCollector::is_only_choice(const ShellWord& flag, const ShellWord& value) const {
  if (flag.at < program_at_ || value.at < flag.at || value.at >= text_.size()) return false;
  const std::size_t end = std::min(flag.at + flag.width, value.at);
  const bool beside =
      text_.substr(end, value.at - end).find_first_not_of(" \t\n\\\"'") == std::string_view::npos;
  const std::string name = flag.text.substr(0, flag.text.find('='));
  const std::size_t once = text_.find(name);
  return beside && text_.substr(value.at, value.text.size()) == value.text &&
         once != std::string_view::npos && text_.find(name, once + 1) == std::string_view::npos;
}

void FlagCollector::set_known(const YamlNode& key, YamlNode value) {
  std::erase_if(out_.unknown, [&](const auto& one) { return one.flag == key.scalar; });
  put_flag(out_.map, key, std::move(value));
}

}  // namespace rankwright::importer
