#include "rankwright/import/framework/megatron_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/syntax/shell_evaluator.h"
#include "rankwright/import/syntax/shell_words.h"

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

/// Flags that only a training program has.
constexpr std::string_view kTrainingFlags[] = {"tensor-model-parallel-size", "num-layers",
                                               "hidden-size", "micro-batch-size"};

/// A flag that only a program with the arguments of Hugging Face's Trainer has.
constexpr std::string_view kTrainerFlags[] = {"per-device-train-batch-size", "train-batch-size",
                                              "gradient-accumulation-steps", "num-train-epochs",
                                              "learning-rate"};

/// As above, for the programs of OpenRLHF.
constexpr std::string_view kOpenrlhfFlags[] = {"micro-train-batch-size", "train.micro-batch-size"};

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

/// Sets a flag; later ones override earlier ones.
void put(YamlNode& map, YamlNode key, YamlNode value) {
  constexpr std::size_t kMaxFlags = 1000;
  for (YamlEntry& entry : map.entries)
    if (entry.key.scalar == key.scalar) {
      entry = {std::move(key), std::move(value)};
      return;
    }
  if (map.entries.size() >= kMaxFlags) return;
  map.entries.push_back({std::move(key), std::move(value)});
}

/// As above, for a value that does not stand beside its flag.
void put(YamlNode& map, const std::string& name, YamlNode value) {
  YamlNode key = value;
  key.scalar = name;
  put(map, std::move(key), std::move(value));
}

void drop(YamlNode& map, std::string_view name) {
  std::erase_if(map.entries, [&](const YamlEntry& entry) { return entry.key.scalar == name; });
}

class FlagCollector {
 public:
  FlagCollector(std::string_view text, MegatronFlags& out)
      : text_(text), locations_(text), out_(out) {}

  void add(const std::vector<ShellWord>& words) {
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

  /// Adds the words of the form `a.b=value`, `+a.b=value`: overrides of a config. `~a.b` deletes.
  void add_overrides(const std::vector<ShellWord>& words) {
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

  /// Sets the program of a command whose settings are in a file.
  void set_program(const std::vector<ShellWord>& words) {
    for (const ShellWord& word : words)
      if (out_.program.empty() && word.unknown.empty() && word.text.ends_with(".py"))
        set_program(word.text);
  }

  /// Returns "a.b" for "+a.b=value"; empty if the word is not an override.
  static std::string find_override(std::string_view word) {
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

 private:
  /// Returns the part of "--name=value" after the first `skip` characters. An empty one is that of
  /// an option that the script takes and was not given.
  static ShellWord cut_value(const ShellWord& word, std::size_t skip) {
    ShellWord value = word;
    value.text = word.text.substr(skip);
    value.at += skip;
    value.width -= std::min(value.width - 1, skip);
    if (value.text.empty()) value.unknown = "an option of the script";
    return value;
  }

  /// Returns the index of the training script: flags before it are its launcher's. Returns 0 for a
  /// list of flags, and the number of words for a command that does not train.
  static std::size_t find_script(const std::vector<ShellWord>& words) {
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

  void set_program(const std::string& path) {
    out_.program_file = path;
    out_.program = path.substr(path.rfind('/') + 1);
  }

  /// Strips the quotes that a nested string leaves.
  static std::string strip_quotes(std::string text) {
    while (text.size() > 1 && (text.back() == '"' || text.back() == '\'')) text.pop_back();
    if (text.size() > 1 && (text[0] == '"' || text[0] == '\'')) text.erase(0, 1);
    return text;
  }

  void flag(const std::string& name, const std::vector<ShellWord>& words, std::size_t at,
            std::size_t next, bool launchers = true) {
    if (launchers) out_.of_launcher.push_back(name);
    std::erase_if(out_.defaults, [&](const auto& one) { return one.flag == name; });
    const YamlNode key = locations_.node(words[at].at, words[at].width, name);
    const bool alone = next >= words.size() || words[next].text.starts_with("--");
    // Launchers of forks, and programs of the Trainer, give switches a value: --bf16 False.
    constexpr std::string_view kOff[] = {"false", "False"};
    std::erase(out_.off, name);
    if (!alone && is_in(kSwitches, name) && is_in(kOff, words[next].text)) {
      out_.off.push_back(name);
      return drop(out_.map, name);
    }
    if (alone || is_in(kSwitches, name))
      return set_known(key, locations_.node(words[at].at, words[at].width, "true"));
    std::string text = strip_quotes(words[next].text);
    const ShellWord& first = words[next];
    if (!first.unknown.empty()) {
      drop(out_.map, name);
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

  /// Returns whether a flag and its value are typed behind the program, and the flag nowhere else:
  /// a condition around the command then decides whether it runs, not which value it has.
  bool is_only_choice(const ShellWord& flag, const ShellWord& value) const {
    if (flag.at < program_at_ || value.at < flag.at || value.at >= text_.size()) return false;
    const std::size_t end = std::min(flag.at + flag.width, value.at);
    const bool beside =
        text_.substr(end, value.at - end).find_first_not_of(" \t\n\\\"'") == std::string_view::npos;
    const std::string name = flag.text.substr(0, flag.text.find('='));
    const std::size_t once = text_.find(name);
    return beside && text_.substr(value.at, value.text.size()) == value.text &&
           once != std::string_view::npos && text_.find(name, once + 1) == std::string_view::npos;
  }

  void set_known(const YamlNode& key, YamlNode value) {
    std::erase_if(out_.unknown, [&](const auto& one) { return one.flag == key.scalar; });
    put(out_.map, key, std::move(value));
  }

  std::string_view text_;
  LocationIndex locations_;
  std::size_t script_ = 0;                           // words before it belong to the launcher
  std::size_t program_at_ = std::string_view::npos;  // offset of that word
  MegatronFlags& out_;
};

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 16 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// A number that the launcher gets, and the variable whose default it is.
struct LaunchValue {
  YamlNode node;
  std::string default_of{};

  i64 number() const { return std::stoll(node.scalar); }
};

/// Returns the first number among the flags, then among the variables.
std::optional<LaunchValue> find_launch_value(const MegatronFlags& flags, const ShellScript& script,
                                             const LocationIndex& locations,
                                             std::initializer_list<const char*> names,
                                             std::initializer_list<const char*> variables) {
  for (const char* name : names)
    if (const YamlNode* const node = flags.map.find(name);
        node != nullptr && is_number(node->scalar)) {
      const auto open = std::find_if(flags.defaults.begin(), flags.defaults.end(),
                                     [&](const auto& one) { return one.flag == name; });
      return LaunchValue{*node, open == flags.defaults.end() ? "" : open->variable};
    }
  for (const char* name : variables) {
    const auto found = script.variables.find(name);
    if (found == script.variables.end()) continue;
    const ShellWord& word = found->second;
    if (word.unknown.empty() && is_number(word.text))
      return LaunchValue{locations.node(word.at, word.width, word.text), word.default_of};
  }
  return std::nullopt;
}

/// Sets the layers that have experts where a loop of the script counts them: slime's scripts name
/// the number of dense layers before them.
void add_counted_layers(MegatronFlags& flags, const ShellScript& script) {
  const auto number = [&](const char* name) -> std::optional<i64> {
    const auto found = script.variables.find(name);
    if (found == script.variables.end() || !found->second.unknown.empty()) return std::nullopt;
    const Result<i64> n = parse_count(found->second.text, 0);
    return n ? std::optional(*n) : std::nullopt;
  };
  const std::optional<i64> dense = number("FIRST_K_DENSE_REPLACE"), layers = number("NLAYERS");
  const auto open = std::find_if(flags.unknown.begin(), flags.unknown.end(),
                                 [](const auto& one) { return one.flag == "moe-layer-freq"; });
  if (open == flags.unknown.end() || !dense || !layers || *dense >= *layers) return;
  YamlNode value = open->place;
  value.kind = YamlNode::Kind::scalar;
  value.scalar = fmt::format("[0]*{}+[1]*{}", *dense, *layers - *dense);
  if (*dense == 0) value.scalar = fmt::format("[1]*{}", *layers);
  put(flags.map, "moe-layer-freq", value);
  flags.unknown.erase(open);
}

/// Returns whether a command has flags of a training program.
bool has_run_words(const std::vector<ShellWord>& words) {
  return std::any_of(words.begin(), words.end(), [](const ShellWord& word) {
    if (!word.text.starts_with("--")) return false;
    const std::string name = current_name(word.text.substr(2, word.text.find('=') - 2));
    return is_in(kTrainingFlags, name) || is_in(kTrainerFlags, name) || is_in(kOpenrlhfFlags, name);
  });
}

/// Returns whether a variable is set for one command only (`A=1 python data.py`), and another
/// command trains.
bool is_set_for_other_command(const ShellScript& script, const ShellWord& value,
                              std::string_view text) {
  if (value.at >= text.size()) return false;
  const std::size_t after = text.find_first_not_of(" \t", value.at + value.width);
  if (after == std::string_view::npos || text[after] == '\n' || text[after] == ';') return false;
  const std::size_t line = text.rfind('\n', value.at) + 1;
  if (text.substr(line, value.at - line).find("export ") != std::string_view::npos) return false;
  std::size_t end = text.find('\n', value.at);
  while (end != std::string_view::npos && text[end - 1] == '\\') end = text.find('\n', end + 1);
  bool trains = false;
  for (const ShellCommand& command : script.commands) {
    if (command.assigned || !has_run_words(command.words)) continue;
    trains = true;
    if (std::any_of(command.words.begin(), command.words.end(),
                    [&](const ShellWord& word) { return word.at >= value.at && word.at < end; }))
      return false;
  }
  return trains;
}

/// Returns the number of GPUs that a script makes visible to the training ("0,1,2"); nothing if it
/// is not stated.
std::optional<MegatronFlags::VisibleGpus> count_visible_gpus(const ShellScript& script,
                                                             std::string_view text) {
  const auto found = script.variables.find("CUDA_VISIBLE_DEVICES");
  if (found == script.variables.end()) return std::nullopt;
  const ShellWord& list = found->second;
  if (is_set_for_other_command(script, list, text)) return std::nullopt;
  const bool plain = !list.text.empty() && list.unknown.empty() &&
                     list.text.find_first_not_of("0123456789,") == std::string::npos;
  if (!plain || list.text.front() == ',' || list.text.back() == ',') return std::nullopt;
  return MegatronFlags::VisibleGpus{1 + i64(std::count(list.text.begin(), list.text.end(), ',')),
                                    list.default_of};
}

/// Sets the ranks that the launcher of DeepSpeed starts on the GPUs that --include lists:
/// "node1:0,1@node2:0,1". A node without a list has all of its GPUs, which are not known.
void add_included_gpus(MegatronFlags& flags) {
  const YamlNode* const listed = flags.map.find("include");
  if (listed == nullptr || listed->scalar.find(':') == std::string::npos) return;
  YamlNode value = *listed;
  const auto set = [&](const char* name, i64 number) {
    value.scalar = std::to_string(number);
    put(flags.map, name, value);
  };
  i64 nodes = 0, all = 0, first = 0;
  bool even = true;
  std::string_view rest = listed->scalar;
  while (!rest.empty()) {
    const std::string_view node = rest.substr(0, rest.find('@'));
    rest.remove_prefix(std::min(rest.size(), node.size() + 1));
    if (node.find(':') == std::string_view::npos) return;
    const i64 gpus = 1 + i64(std::count(node.begin(), node.end(), ','));
    if (++nodes == 1) first = gpus;
    even = even && gpus == first;
    all += gpus;
  }
  if (even) set("nnodes", nodes);
  set(even ? "nproc-per-node" : "ntasks", even ? first : all);
}

/// Returns the nodes of a launch that states all its tasks: they are its ranks, or one launcher per
/// node if there are fewer than ranks of a node. Some platforms count nodes by WORLD_SIZE.
std::optional<LaunchValue> derive_nodes(const LaunchValue& tasks, const LaunchValue& gpus) {
  const i64 all = tasks.number(), each = gpus.number();
  const bool fewer = all < each;
  if (all < 1 || each < 1 || (!fewer && !divides(each, all))) return std::nullopt;
  LaunchValue nodes = tasks;
  nodes.node.scalar = std::to_string(fewer ? all : all / each);
  return nodes;
}

void add_launch(MegatronFlags& flags, const ShellScript& script, std::string_view text,
                const LocationIndex& locations) {
  add_included_gpus(flags);
  std::optional<LaunchValue> nodes =
      find_launch_value(flags, script, locations, {"nnodes", "nodes"},
                        {"NNODES", "NUM_NODES", "N_NODES", "NODES", "SLURM_NNODES", "nnodes",
                         "num_nodes", "num_node"});
  const std::optional<LaunchValue> gpus =
      find_launch_value(flags, script, locations, {"nproc-per-node", "gpus-per-node"},
                        {"GPUS_PER_NODE", "NPROC_PER_NODE", "NUM_GPUS_PER_NODE", "N_GPUS_PER_NODE",
                         "GPUS_PER_HOST", "SLURM_GPUS_ON_NODE", "SLURM_NTASKS_PER_NODE",
                         "gpus_per_node", "num_gpus_pernode", "num_gpus_per_node"});
  std::optional<LaunchValue> world =
      find_launch_value(flags, script, locations, {"ntasks"},
                        {"WORLD_SIZE", "SLURM_NTASKS", "NUM_GPUS", "num_gpus", "world_size"});
  if (!nodes && !gpus && !world) flags.visible_gpus = count_visible_gpus(script, text);
  // torchrun's default is one node.
  const bool stated = std::any_of(flags.unknown.begin(), flags.unknown.end(), [](const auto& one) {
    return one.flag == "nnodes" || one.flag == "nodes" || one.flag == "ntasks";
  });
  const bool launcher = flags.map.find("nproc-per-node") != nullptr;
  if (!nodes && gpus && world && !stated) {
    nodes = derive_nodes(*world, *gpus);
    if (nodes) world.reset();
  } else if (!nodes && gpus && !stated && launcher) {
    nodes = *gpus;
    nodes->node.scalar = "1";
    nodes->default_of.clear();
  }
  for (const std::string_view name :
       {"nnodes", "nodes", "nproc-per-node", "gpus-per-node", "ntasks"})
    drop(flags.map, name);
  // The defaults of variables are open: they describe no particular run.
  const std::optional<LaunchValue>* const values[] = {&nodes, &gpus, &world};
  for (const std::optional<LaunchValue>* const one : values) {
    if (!*one || (*one)->default_of.empty()) continue;
    if (one == &world && nodes && gpus) continue;
    MegatronFlags::OpenRanks open{.variable = (*one)->default_of};
    if (nodes) open.nodes = nodes->number();
    if (gpus) open.gpus = gpus->number();
    if (world && !(nodes && gpus)) open.world = world->number();
    flags.open_ranks = std::move(open);
    return;
  }
  if (nodes) put(flags.map, "nodes", nodes->node);
  if (gpus) put(flags.map, "gpus-per-node", gpus->node);
  if (world) put(flags.map, "world-size", world->node);
}

/// Returns the YAML file with all settings of a training command: `llamafactory-cli train X.yaml`,
/// `axolotl train X.yaml`, the value of `--config`, or the only positional argument of a program
/// that a launcher starts, as Hugging Face's parsers take it. Returns nullptr for other commands.
const ShellWord* find_config(const std::vector<ShellWord>& words) {
  constexpr std::string_view kTools[] = {"llamafactory-cli", "axolotl", "axolotl.cli.train",
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
  const bool launched = runs(kLaunchers), tool = runs(kTools);
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

/// Returns the words of a command that are no flags: its programs, and values.
std::string list_programs(const std::vector<ShellWord>& words) {
  constexpr std::size_t kMaxWords = 64;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMaxWords, words.size()); ++i)
    if (!words[i].text.starts_with("-")) text += " " + words[i].text;
  return text + " ";
}

/// Returns whether a command runs a recipe of Megatron-Bridge: run_recipe.py --recipe NAME.
bool runs_recipe(const std::vector<ShellWord>& words) {
  const auto has = [&](auto matches) { return std::any_of(words.begin(), words.end(), matches); };
  return has([](const ShellWord& word) { return word.text.ends_with("run_recipe.py"); }) &&
         has([](const ShellWord& word) {
           return word.text == "--recipe" || word.text.starts_with("--recipe=");
         });
}

/// Returns whether a command runs a program in Python.
bool runs_python(const std::vector<ShellWord>& words) {
  return std::any_of(words.begin(), words.end(), [](const ShellWord& word) {
    return word.text == "-m" || word.text.ends_with(".py");
  });
}

/// Records the last YAML file that a command names.
void set_config(MegatronFlags& flags, const std::vector<ShellWord>& words,
                const LocationIndex& locations) {
  for (const ShellWord& word : words)
    if (word.unknown.empty() && is_yaml_file(word.text) && word.text.find('=') == std::string::npos)
      flags.config = locations.node(word.at, word.width, word.text);
}

/// Returns the value of an option; the part after the last variable if one is unknown.
std::string find_option_text(const MegatronFlags& flags, std::string_view name) {
  if (const YamlNode* const value = flags.map.find(name)) return value->scalar;
  for (const MegatronFlags::Unknown& one : flags.unknown)
    if (one.flag == name) return one.tail;
  return {};
}

/// Sets the config that Hydra's options name, --config-path and --config-name. The path is relative
/// to the folder of the program, which is `conf` there by default.
void set_hydra_config(MegatronFlags& flags, const std::vector<ShellWord>& words) {
  std::string name = find_option_text(flags, "config-name");
  const YamlNode* const place = flags.map.find("config-name");
  if (name.empty() || place == nullptr) return;
  if (!is_yaml_file(name)) name += ".yaml";
  std::string folder = find_option_text(flags, "config-path");
  if (folder.empty()) folder = "conf";
  const auto program = std::find_if(words.begin(), words.end(), [](const ShellWord& word) {
    return word.text.ends_with(".py") || word.tail.ends_with(".py");
  });
  YamlNode config = *place;
  config.scalar = folder + "/" + name;
  if (program != words.end() && !folder.starts_with('/'))
    config.scalar = beside(program->unknown.empty() ? program->text : program->tail, config.scalar);
  flags.hydra_config = std::move(config);
}

/// Records the kernels of attention that the script turns off in Transformer Engine.
void add_disabled_kernels(MegatronFlags& flags, const ShellScript& script) {
  for (const char* const name : {"NVTE_FLASH_ATTN", "NVTE_FUSED_ATTN"}) {
    const auto found = script.variables.find(name);
    if (found != script.variables.end() && found->second.unknown.empty() &&
        found->second.default_of.empty() && found->second.text == "0")
      flags.disabled_kernels.insert(name);
  }
}

bool prints(const ShellCommand& command) {
  constexpr std::string_view kPrinters[] = {"echo", "printf", "cat", "log", "tee"};
  return !command.assigned && !command.words.empty() &&
         is_in(kPrinters, command.words.front().text);
}

/// Adds the sources and configs that `sed -i` changes: what it puts into them is not known.
void add_edited_files(const std::vector<ShellWord>& words, const LocationIndex& locations,
                      MegatronFlags& flags) {
  constexpr std::string_view kEnds[] = {".py", ".json", ".yaml", ".yml", ".toml"};
  constexpr std::size_t kMaxFiles = 100;
  const bool edits = words.size() > 2 && words[0].text == "sed" &&
                     std::any_of(words.begin(), words.end(), [](const ShellWord& word) {
                       return word.text.starts_with("-i") || word.text.starts_with("--in-place");
                     });
  for (std::size_t i = 1; edits && i < words.size() && flags.edited.size() < kMaxFiles; ++i)
    if (std::any_of(std::begin(kEnds), std::end(kEnds),
                    [&](std::string_view end) { return words[i].text.ends_with(end); }))
      flags.edited.push_back(locations.node(words[i].at, words[i].width, words[i].text));
}

/// Returns whether the flags are those of a training run.
bool has_run_flags(const MegatronFlags& flags) {
  return std::any_of(flags.map.entries.begin(), flags.map.entries.end(), [](const YamlEntry& one) {
    const std::string& name = one.key.scalar;
    return is_in(kTrainingFlags, name) || is_in(kTrainerFlags, name) || is_in(kOpenrlhfFlags, name);
  });
}

/// Returns whether a command trains.
bool is_run(const ShellCommand& command) {
  return !command.assigned && !prints(command) &&
         (has_run_words(command.words) || find_config(command.words) != nullptr);
}

/// Returns the commands whose flags count, in order. If one trains, those of other programs do not:
/// converters, too, have flags of training.
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

/// Returns whether two commands give one flag different values, or have different configs.
bool conflict(const MegatronFlags& a, const MegatronFlags& b) {
  if (a.config.scalar != b.config.scalar) return true;
  return std::any_of(a.map.entries.begin(), a.map.entries.end(), [&](const YamlEntry& entry) {
    const YamlNode* const other = b.map.find(entry.key.scalar);
    return other != nullptr && other->scalar != entry.value.scalar;
  });
}

/// Adds what the reading of the script found beside flags.
void add_script_facts(MegatronFlags& flags, const ShellScript& script,
                      const LocationIndex& locations) {
  for (const std::size_t at : script.guesses) flags.guesses.push_back(locations.node(at, 1, ""));
  for (const std::size_t at : script.cut_off) flags.cut_off.push_back(locations.node(at, 1, ""));
  flags.cut = script.cut;
  flags.used = script.used;
  flags.default_values = script.defaults;
  flags.unread = script.sources;
  flags.written = script.written;
}

/// Returns the flags of one command that trains, and the config that it names.
MegatronFlags read_run(const ShellCommand& command, std::string_view text) {
  MegatronFlags one;
  one.map.kind = YamlNode::Kind::map;
  FlagCollector collector(text, one);
  collector.add(command.words);
  if (const ShellWord* const config = find_config(command.words)) {
    one.config = LocationIndex(text).node(config->at, config->width, config->text);
    collector.set_program(command.words);
  }
  one.command = list_programs(command.words);
  return one;
}

MegatronFlags read_script(std::string_view text, const ShellInput& input) {
  MegatronFlags commands, all, first;
  commands.map.kind = all.map.kind = first.map.kind = YamlNode::Kind::map;
  const ShellScript script = read_shell(text, input);
  FlagCollector launched_ones(text, commands), everything(text, all);
  std::vector<const ShellCommand*> runs;
  for (const ShellCommand* const command : list_commands(script)) {
    everything.add(command->words);
    if (command->assigned) continue;
    if (!is_run(*command)) {
      launched_ones.add(command->words);
      continue;
    }
    const MegatronFlags one = read_run(*command, text);
    if (runs.empty()) {
      first = one;
      commands.config = all.config = one.config;
    }
    // A second run with other settings is another plan.
    if (conflict(first, one))
      ++commands.other_commands;
    else
      runs.push_back(command);
  }
  // The flags of a command that trains count more than those of others.
  for (const ShellCommand* const command : runs) launched_ones.add(command->words);
  for (MegatronFlags* const chosen : {&commands, &all}) {
    chosen->command = first.command;
    if (!first.module.empty()) chosen->module = first.module;
    if (chosen->program.empty()) chosen->program = first.program;
    if (chosen->program_file.empty()) chosen->program_file = first.program_file;
  }
  // Lists of flags that are not passed to a command count only if no command has training flags.
  const bool run = has_run_flags(commands) || !commands.config.scalar.empty();
  MegatronFlags flags = run ? std::move(commands) : std::move(all);
  const LocationIndex locations(text);
  for (const ShellCommand& command : script.commands)
    if (!command.assigned) add_edited_files(command.words, locations, flags);
  add_counted_layers(flags, script);
  add_disabled_kernels(flags, script);
  add_launch(flags, script, text, locations);
  add_script_facts(flags, script, locations);
  return flags;
}

/// Returns the commands that override a config: those that run a recipe or a program that trains by
/// its name, or else those with several overrides. Fewer are variables of one command.
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

/// A line of an argument dump, after any launcher prefix: "  tensor_model_parallel_size ........
/// 8".
struct DumpLine {
  std::string_view name, value;
};

std::optional<DumpLine> parse_dump_line(std::string_view line) {
  const std::size_t dots = line.find(" ..");
  if (dots == std::string_view::npos) return std::nullopt;
  std::size_t begin = dots;
  while (begin > 0 && shell::is_name(line[begin - 1])) --begin;
  const std::size_t end = line.find_first_not_of('.', dots + 1);
  if (begin == dots || (begin > 0 && line[begin - 1] != ' ') || end == std::string_view::npos ||
      line[end] != ' ')
    return std::nullopt;
  std::size_t first = line.find_first_not_of(' ', end), last = line.find_last_not_of(" \r\t");
  if (first == std::string_view::npos || last < first) return std::nullopt;
  return DumpLine{line.substr(begin, dots - begin), line.substr(first, last + 1 - first)};
}

/// Returns "p2p a2a" for "['p2p', 'a2a']".
std::string flatten_list(std::string_view value) {
  if (value.find('\'') == std::string_view::npos) return std::string(value);
  std::string text(value);
  std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == '\'' || c == ','; });
  return text;
}

/// Some arguments are named differently from the flags that set them, or have the opposite sense.
void put_argument(YamlNode& map, std::string_view argument, YamlNode value) {
  struct Renamed {
    std::string_view argument;
    std::string_view flag;
    bool opposite = false;
  };
  constexpr Renamed kRenamed[] = {{"fp8", "fp8-format"},
                                  {"fp4", "fp4-format"},
                                  {"overlap-p2p-comm", "no-overlap-p2p-communication", true},
                                  {"add-bias-linear", "disable-bias-linear", true}};
  std::string name = current_name(argument);
  bool opposite = false;
  for (const Renamed& one : kRenamed)
    if (name == one.argument) {
      name = one.flag;
      opposite = one.opposite;
    }
  const bool yes = value.scalar == "True", no = value.scalar == "False";
  if (value.scalar == "None" || (opposite ? yes : no)) return drop(map, name);
  if (yes || no) value.scalar = "true";
  put(map, name, std::move(value));
}

/// Reads "using world size: 64, data-parallel size: 2, ...".
/// Returns the arguments that it sets, as dumps name them.
std::vector<const char*> add_world_line(std::string_view line, std::size_t at,
                                        const LocationIndex& locations, YamlNode& map) {
  struct Size {
    std::string_view label;
    const char *flag, *argument;
  };
  constexpr Size kSizes[] = {
      {"world size: ", "world-size", "world_size"},
      {"data-parallel size: ", "data-parallel-size", "data_parallel_size"},
      {" context-parallel size: ", "context-parallel-size", "context_parallel_size"},
      {"tensor-model-parallel size: ", "tensor-model-parallel-size", "tensor_model_parallel_size"},
      {"pipeline-model-parallel size: ", "pipeline-model-parallel-size",
       "pipeline_model_parallel_size"}};
  std::vector<const char*> set;
  for (const auto& [label, name, argument] : kSizes) {
    const std::size_t found = line.find(label);
    if (found == std::string_view::npos) continue;
    const std::size_t first = found + label.size();
    std::size_t end = first;
    while (end < line.size() && line[end] >= '0' && line[end] <= '9') ++end;
    if (end == first) continue;
    put(map, name,
        locations.node(at + first, end - first, std::string(line.substr(first, end - first))));
    set.push_back(argument);
  }
  return set;
}

/// Reads the first dump. Later lines of this form are those of a restart, or of other programs: the
/// first value of an argument is kept.
MegatronFlags read_log(std::string_view text) {
  MegatronFlags flags;
  flags.map.kind = YamlNode::Kind::map;
  const LocationIndex locations(text);
  std::set<std::string_view> seen;
  bool world = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (!world && line.find("using world size: ") != std::string_view::npos) {
      world = true;
      for (const char* const name : add_world_line(line, begin, locations, flags.map))
        seen.insert(name);
    }
    const std::optional<DumpLine> one = parse_dump_line(line);
    if (one && seen.insert(one->name).second)
      put_argument(flags.map, one->name,
                   locations.node(std::size_t(one->value.data() - text.data()), one->value.size(),
                                  flatten_list(one->value)));
    begin = end + 1;
  }
  return flags;
}

}  // namespace

bool has_argument_dump(std::string_view text) {
  return text.find("tensor_model_parallel_size ..") != std::string_view::npos;
}

MegatronFlags read_megatron_flags(std::string_view text, const ShellInput& input) {
  return has_argument_dump(text) ? read_log(text) : read_script(text, input);
}

MegatronFlags read_overrides(std::string_view text, const ShellInput& input) {
  MegatronFlags flags, all;
  flags.map.kind = all.map.kind = YamlNode::Kind::map;
  const ShellScript script = read_shell(text, input);
  const LocationIndex locations(text);
  FlagCollector collector(text, flags), everything(text, all);
  for (const ShellCommand& command : script.commands) {
    if (runs_other_program(command.words)) continue;
    everything.add_overrides(command.words);
    if (all.config.scalar.empty() && runs_python(command.words))
      set_config(all, command.words, locations);
  }
  const std::vector<const ShellCommand*> runs = find_overriding_commands(script);
  if (!runs.empty()) {
    const std::vector<ShellWord>& words = runs.front()->words;
    flags.other_commands = runs.size() - 1;
    collector.add(words);
    collector.add_overrides(words);
    set_config(flags, words, locations);
    set_hydra_config(flags, words);
  } else {
    flags = std::move(all);
  }
  add_disabled_kernels(flags, script);
  add_launch(flags, script, text, locations);
  add_script_facts(flags, script, locations);
  return flags;
}

FileReader with_written_files(const FileReader& files, const std::string& file,
                              const MegatronFlags& flags) {
  return [&files, file, written = flags.written](const std::string& path) -> Result<std::string> {
    for (const auto& [name, text] : written)
      if (path == name || path == beside(file, name)) return text;
    return files(path);
  };
}

bool is_open(const MegatronFlags& flags, std::string_view name) {
  return flags.map.find(name) == nullptr &&
         std::find(flags.off.begin(), flags.off.end(), name) == flags.off.end();
}

bool is_megatron_switch(std::string_view flag) { return is_in(kSwitches, flag); }

bool has_training_flags(const MegatronFlags& flags) {
  return std::any_of(std::begin(kTrainingFlags), std::end(kTrainingFlags),
                     [&](std::string_view name) { return flags.map.find(name) != nullptr; });
}

}  // namespace rankwright::importer
