#include "rankwright/import/framework/recipes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/import/framework/script_report.h"
#include "rankwright/import/syntax/lines.h"

namespace rankwright::importer {
namespace {

/// Adds the entries of `base` that `root` does not have.
void merge_under(YamlNode& root, const YamlNode& base) {
  if (root.kind != YamlNode::Kind::map || base.kind != YamlNode::Kind::map) return;
  for (const YamlEntry& entry : base.entries) {
    const auto found =
        std::find_if(root.entries.begin(), root.entries.end(),
                     [&](const YamlEntry& one) { return one.key.scalar == entry.key.scalar; });
    if (found == root.entries.end())
      root.entries.push_back(entry);
    else
      merge_under(found->value, entry.value);
  }
}

void inherit(YamlNode& root, const std::string& file, const FileReader& files,
             Diagnostics& findings, int depth) {
  constexpr int kMaxDepth = 8;
  const YamlNode* named = find_path(root, "defaults");
  for (const char* const key : {"extends", "bases"})  // Primus
    if (named == nullptr) named = find_path(root, key);
  if (named == nullptr || depth > kMaxDepth) return;
  std::vector<YamlNode> names = named->items;
  if (named->kind == YamlNode::Kind::scalar) names.push_back(*named);
  std::reverse(names.begin(), names.end());  // later ones override earlier ones
  for (const YamlNode& one : names) {
    // "train: 7b" is the file train/7b.yaml, whose settings are under `train`.
    const bool group = one.kind == YamlNode::Kind::map && one.entries.size() == 1 &&
                       one.entries[0].value.kind == YamlNode::Kind::scalar;
    if (!group && (one.kind != YamlNode::Kind::scalar || one.scalar == "_self_")) continue;
    const std::string name =
        group ? fmt::format("{}/{}.yaml", one.entries[0].key.scalar, one.entries[0].value.scalar)
              : one.scalar;
    const std::string path = beside(file, name);
    const Result<std::string> text = files(path);
    Diagnostics ignored;
    Result<YamlNode> base = text ? read_python_yaml(*text, path, ignored) : fail(text.error());
    if (!base) {
      findings.push_back(
          make_assumption(fmt::format("the settings in {}, which this file inherits: it "
                                      "cannot be read",
                                      make_excerpt(name)),
                          "put the file beside this one", location(one, file)));
      continue;
    }
    inherit(*base, path, files, findings, depth + 1);
    move_to(*base, group ? one.entries[0].value : one);
    if (group) {
      YamlNode outer = *base;
      outer.entries = {{one.entries[0].key, std::move(*base)}};
      merge_under(root, outer);
    } else {
      merge_under(root, *base);
    }
  }
}

/// Returns the value that a reference names: "${a.b}" from the root, "${.b}" from the map at
/// `place`, which the reference is in, and "${..b}" from the map around that one. The launcher of
/// NeMo has all of a file under `training`.
const YamlNode* find_reference(const std::string& text, const YamlNode& root,
                               std::vector<std::string> place) {
  if (!text.starts_with("${") || text.find('}') + 1 != text.size()) return nullptr;
  constexpr std::string_view kLauncher = "training.";
  std::string path = text.substr(2, text.size() - 3);
  if (path.starts_with('.')) {
    for (path.erase(0, 1); path.starts_with('.'); path.erase(0, 1))
      if (!place.empty()) place.pop_back();
    for (auto map = place.rbegin(); map != place.rend(); ++map) path = *map + "." + path;
    return find_path(root, path);
  }
  const YamlNode* const target = find_path(root, path);
  if (target != nullptr || !path.starts_with(kLauncher)) return target;
  return find_path(root, path.substr(kLauncher.size()));
}

/// Returns the product that "${mul:${a}, ${b}}" or "${multiply:4, ${.c}}" stands for; nothing if a
/// factor is not known.
std::optional<i64> multiply_references(std::string_view text, const YamlNode& root,
                                       const std::vector<std::string>& place) {
  constexpr std::string_view kStarts[] = {"${mul:", "${multiply:"};
  constexpr std::size_t kLongest = 256;
  const auto start = std::find_if(std::begin(kStarts), std::end(kStarts),
                                  [&](std::string_view one) { return text.starts_with(one); });
  if (start == std::end(kStarts) || !text.ends_with('}') || text.size() > kLongest)
    return std::nullopt;
  text = text.substr(start->size(), text.size() - start->size() - 1);
  i64 all = 1;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    std::string part(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    std::erase(part, ' ');
    const YamlNode* const named = find_reference(part, root, place);
    const Result<i64> n = parse_count(named == nullptr ? part : named->scalar, 1);
    const std::optional<i64> more = n ? product({all, *n}) : std::nullopt;
    if (!more) return std::nullopt;
    all = *more;
  }
  return all;
}

/// Resolves the references in `node`, which is in the map at `place`.
void resolve_in(YamlNode& node, const YamlNode& root, std::vector<std::string>& place, int depth) {
  constexpr int kMaxDepth = 32, kMaxSteps = 8;
  if (depth > kMaxDepth) return;
  for (YamlNode& item : node.items) resolve_in(item, root, place, depth + 1);
  for (YamlEntry& entry : node.entries) {
    const bool map = entry.value.kind == YamlNode::Kind::map;
    if (map) place.push_back(entry.key.scalar);
    resolve_in(entry.value, root, place, depth + 1);
    if (map) place.pop_back();
  }
  if (const std::optional<i64> product = multiply_references(node.scalar, root, place))
    node.scalar = std::to_string(*product);
  for (int step = 0; step < kMaxSteps && node.kind == YamlNode::Kind::scalar; ++step) {
    const YamlNode* const target = find_reference(node.scalar, root, place);
    if (target == nullptr || target->kind != YamlNode::Kind::scalar) return;
    node.scalar = std::string(target->scalar);
  }
}

/// A linear layer of a framework that is several of a plan's.
struct FusedModule {
  std::string_view name;
  plan::LoraModules parts;
};
constexpr plan::LoraModules kQueryKeyValue{true, true, true, false, false, false, false};
constexpr plan::LoraModules kOutput{false, false, false, true, false, false, false};
constexpr plan::LoraModules kGateAndUp{false, false, false, false, true, true, false};
constexpr plan::LoraModules kDown{false, false, false, false, false, false, true};
constexpr FusedModule kFusedModules[] = {
    {"all", {}},
    {"all-linear", {}},
    {"*", {}},
    {"*_proj", {}},
    {"linear_qkv", kQueryKeyValue},
    {"attention_qkv", kQueryKeyValue},
    {"Wqkv", kQueryKeyValue},
    {"qkv_proj", kQueryKeyValue},
    {"query_key_value", kQueryKeyValue},
    {"c_attn", kQueryKeyValue},
    {"c_proj", {false, false, false, true, false, false, true}},  // of both halves of a layer
    {"w1", kGateAndUp},
    {"w3", kGateAndUp},
    {"w2", kDown},
    {"attention", {true, true, true, true, false, false, false}},  // groups of NeMo's layers
    {"mlp", {false, false, false, false, true, true, true}},
    {"linear_proj", kOutput},
    {"dense", kOutput},  // of Megatron-LM before its core, and of MindSpeed
    {"dense_h_to_4h", kGateAndUp},
    {"dense_4h_to_h", kDown},
    {"attention_dense", kOutput},
    {"out_proj", kOutput},
    {"linear_fc1", kGateAndUp},
    {"mlp_fc1", kGateAndUp},
    {"gate_up_proj", kGateAndUp},
    {"linear_fc2", kDown},
    {"mlp_fc2", kDown},
};

/// Adds a linear layer by its name. Names that a plan does not have (embeddings, a router) are left
/// out. Fused layers, which other models have, do not count beside single ones.
void add_lora_module(plan::LoraModules& modules, std::string_view name) {
  const bool single = modules.q_proj && name == "c_attn";
  for (const plan::LoraModuleRow& row : plan::lora_modules()) {
    if (name.ends_with(row.name)) modules.*row.field = true;
    if (single) continue;
    for (const FusedModule& fused : kFusedModules)
      if (name.substr(name.rfind('.') + 1) == fused.name && fused.parts.*row.field)
        modules.*row.field = true;
  }
}

/// Adds the layers of the last group of a pattern: "layers.[0-9]+.mlp.(up|down)_proj".
void add_lora_pattern(plan::LoraModules& modules, std::string_view pattern) {
  const std::size_t open = pattern.rfind('('), close = pattern.find(')', open);
  if (open == std::string_view::npos || close == std::string_view::npos) return;
  const std::string_view rest = pattern.substr(close + 1);
  const std::string_view suffix = rest.substr(0, rest.find_first_of("$)."));
  std::string choices(pattern.substr(open + 1, close - open - 1));
  std::replace(choices.begin(), choices.end(), '|', ',');
  for (const std::string_view choice : split_at_commas(choices))
    add_lora_module(modules, fmt::format("{}{}", choice, suffix));
}

/// Merges the file that `key` of a trainer of Primus names, of primus/configs/FOLDER/FRAMEWORK,
/// under the trainer's overrides.
void inherit_primus_file(YamlNode& trainer, std::string_view folder, std::string_view key,
                         const std::string& file, const FileReader& files, Diagnostics& findings) {
  constexpr int kMaxFolders = 8;
  const YamlNode* const framework = trainer.find("framework");
  const YamlNode* const named = trainer.find(key);
  if (framework == nullptr || named == nullptr) return;
  std::string name = named->scalar;  // "${PRIMUS_MODEL:llama2_7B}.yaml" names a default
  if (const std::size_t colon = name.find(':'); name.starts_with("${") && colon < name.size())
    name = name.substr(colon + 1, name.find('}') - colon - 1) + ".yaml";
  if (name.find_first_of("/$") != std::string::npos) return;
  const YamlNode place = *named;
  std::string path = fmt::format("primus/configs/{}/{}/{}", folder, framework->scalar, name);
  for (int i = 0; i < kMaxFolders; ++i, path = "../" + path) {
    const std::string there = beside(file, path);
    const Result<std::string> text = files(there);
    if (!text) continue;
    Diagnostics ignored;
    Result<YamlNode> base = read_python_yaml(*text, there, ignored);
    if (!base) return;
    inherit(*base, there, files, findings, 0);
    move_to(*base, place);
    for (YamlEntry& entry : trainer.entries)
      if (entry.key.scalar == "overrides") merge_under(entry.value, *base);
    return;
  }
}

constexpr std::string_view kFolders[] = {"HOME", "PWD", "USER", "TMPDIR", "SCRATCH", "WORK"};
constexpr std::string_view kSomeFolder = "folder";

}  // namespace

bool read_known_name(ForeignReading& r, const YamlNode& node) {
  if (std::optional<model::Model> model = find_hub_model(node.scalar)) {
    r.draft.model = std::move(*model);
    return true;
  }
  if (std::optional<model::Model> language = find_language_model(node.scalar)) {
    r.draft.model = std::move(*language);
    report_left_out(r, node, "only the language model is estimated, without its encoder");
    return true;
  }
  if (const std::string similar = find_model_of_size(node.scalar); !similar.empty())
    r.draft.reference_model = similar;
  return false;
}

void read_named_model(ForeignReading& r, const YamlNode& node) {
  if (read_known_name(r, node) || node.scalar.empty() || is_off(node) ||
      node.scalar.find('$') != std::string::npos)
    return;
  r.fields.report(node, make_assumption(fmt::format("the shapes of {}, which the catalog does not "
                                                    "have",
                                                    make_path_excerpt(node.scalar)),
                                        "--model NAME or --model config.json"));
}

void refuse_partial_training(ForeignReading& r, const YamlNode& node) {
  if (is_off(node) || node.scalar == "full" || has_errors(r.fields.findings())) return;
  r.fields.report(node, {.code = "RW0907",
                         .message = "unknown value",
                         .detail = fmt::format("{}: full fine-tuning, LoRA and QLoRA are estimated",
                                               make_excerpt(node.scalar)),
                         .hint = "rankwright plan --model NAME --lora 16"});
}

void read_lora_rank(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node) && node.scalar != "0" && node.scalar != "-1")
    r.draft.lora_rank = r.fields.whole(node, 1, kMaxLoraRank);
}

void read_lora_targets(ForeignReading& r, const YamlNode& node) {
  plan::LoraModules modules = plan::kNoLoraModules;
  for (const YamlNode& item : node.items) add_lora_module(modules, item.scalar);
  std::string list = node.scalar;  // a script has it as "[attention_qkv,mlp_fc1]"
  if (list.starts_with('[') && list.ends_with(']')) {
    list = list.substr(1, list.size() - 2);
    std::erase_if(list, [](char c) { return c == '\'' || c == '"'; });
  }
  for (const std::string_view part : split_at_commas(list))
    for (const TextWord& word : split_words(part)) add_lora_module(modules, word.text);
  add_lora_pattern(modules, node.scalar);
  if (node.items.empty() && node.scalar.empty()) return;
  if (modules != plan::kNoLoraModules)
    r.draft.lora_modules = modules;
  else
    report_left_out(r, node, "adapters of these modules are estimated as on all linear layers");
}

void read_lora_map(ForeignReading& r, std::string_view path, std::string_view rank) {
  constexpr i64 kUsualRank = 8;
  const std::string prefix = std::string(path) + ".";
  const YamlNode* const dim = find_path(r.root, prefix + std::string(rank));
  r.draft.lora_rank = kUsualRank;
  if (dim != nullptr)
    r.fields.under("job.lora_rank", *dim,
                   [&] { r.draft.lora_rank = r.fields.whole(*dim, 1, kMaxLoraRank); });
  const YamlNode* const all = find_path(r.root, prefix + "match_all_linear");
  const YamlNode* const targets = find_path(r.root, prefix + "target_modules");
  if (targets != nullptr && (all == nullptr || is_off(*all)))
    r.fields.under("job.lora_modules", *targets, [&] { read_lora_targets(r, *targets); });
}

void read_eager_attention(ForeignReading& r, const YamlNode& node) {
  if (node.scalar == "eager") r.draft.attention = plan::AttentionKernel::unfused;
}

void read_full_recompute(ForeignReading& r, const YamlNode& node) {
  r.draft.recompute = is_off(node) ? plan::Recompute::none : plan::Recompute::full;
}

void report_layers_at_once(ForeignReading& r, const YamlNode& node, i64 layers) {
  report_left_out(r, node,
                  fmt::format("full recomputation of {} layers at once: estimated with a "
                              "checkpoint in front of every layer",
                              layers));
}

void read_end_stages(ForeignReading& r, const std::string& prefix) {
  Draft& d = r.draft;
  const i64 pp = d.pp.value_or(1);
  const std::optional<i64> first =
      read_whole_at(r, prefix + "num_layers_in_first_pipeline_stage", 1, model::kMaxLayers);
  const std::optional<i64> last =
      read_whole_at(r, prefix + "num_layers_in_last_pipeline_stage", 1, model::kMaxLayers);
  const i64 others = pp - (first ? 1 : 0) - (last ? 1 : 0);
  if ((!first && !last) || !d.model || others < 1 || pp > plan::kMaxStages) return;
  const i64 rest = d.model->layers() - first.value_or(0) - last.value_or(0);
  if (rest < others || !divides(others, rest)) return;
  std::vector<i64> layers(std::size_t(pp), rest / others);
  if (first) layers.front() = *first;
  if (last) layers.back() = *last;
  d.stage_layers = std::move(layers);
}

void read_dispatcher_type(ForeignReading& r, const YamlNode& node) {
  constexpr Word<plan::Dispatcher> kWords[] = {{"alltoall", plan::Dispatcher::alltoall},
                                               {"allgather", plan::Dispatcher::alltoall},
                                               {"alltoall_seq", plan::Dispatcher::alltoall},
                                               {"flex", plan::Dispatcher::deepep}};
  r.draft.dispatcher = parse_word(r, node, kWords);
}

void read_trainer_dtype(ForeignReading& r, const YamlNode& node) {
  const std::string word = lower(node.scalar.substr(0, kLongestLabel));
  if (word.find("bf16") != std::string::npos || word.find("bfloat16") != std::string::npos)
    r.draft.param_dtype = plan::Dtype::bf16;
  else if (word.find("fp16") != std::string::npos || word.find("float16") != std::string::npos)
    r.draft.param_dtype = plan::Dtype::fp16;
  else if (word.find("32") != std::string::npos)
    r.draft.param_dtype = plan::Dtype::fp32;
}

void keep_node_gpus(std::optional<i64> gpus, Draft& draft) {
  if (gpus > 1 && *gpus <= cluster::kMaxDevices) draft.node_gpus = gpus;
}

void read_node_shape(ForeignReading& r, std::string_view nodes, std::string_view gpus,
                     std::optional<i64> usual_nodes, std::optional<i64> usual_gpus,
                     const ScriptFlags* flags, PlanFile* plan) {
  constexpr i64 kMaxGpus = 4096;  // per node
  // Names of the launcher; dashes may have been replaced.
  constexpr std::string_view kLauncher[] = {"nnodes", "ntasks", "nproc-per-node", "nproc_per_node"};
  const auto concerns = [&](const auto& one) {
    return one.flag == nodes || one.flag == gpus ||
           (nodes == "nodes" &&
            std::find(std::begin(kLauncher), std::end(kLauncher), one.flag) != std::end(kLauncher));
  };
  std::optional<i64> g = read_whole_at(r, gpus, 1, kMaxGpus);
  keep_node_gpus(g, r.draft);
  if (flags != nullptr && std::any_of(flags->unknown.begin(), flags->unknown.end(), concerns))
    return;
  std::optional<i64> n = read_whole_at(r, nodes, 1, kMaxDegree);
  if (!n && !g) return;
  if (!n) n = usual_nodes;
  if (!g) g = usual_gpus;
  if (!n || !g || product({*n, *g}).value_or(kMaxDegree + 1) > cluster::kMaxDevices) return;
  r.draft.shape = NodeShape{.nodes = *n, .gpus = *g};
  if (flags == nullptr || plan == nullptr) return;
  const auto open = std::find_if(flags->defaults.begin(), flags->defaults.end(), concerns);
  if (open == flags->defaults.end()) return;
  r.draft.shape.reset();
  plan->usual_world = *n * *g;
  plan->usual_source = describe_default(open->variable);
}

void fill_packed_micro_batch(ForeignReading& r, i64 tokens, const YamlNode& node, PlanFile& plan) {
  Draft& d = r.draft;
  const i64 most = std::clamp<i64>(tokens / d.sequence.value_or(tokens), 1, kMaxMicroBatch);
  i64 each = d.global_batch.value_or(most);  // sequences per data rank
  const std::optional<i64> rest = product({d.tp.value_or(1), d.cp.value_or(1), d.pp.value_or(1)});
  if (d.shape && rest) {
    const i64 ranks = std::max<i64>(1, d.shape->nodes * d.shape->gpus / *rest);
    if (divides(ranks, each)) each /= ranks;
  }
  i64 micro = std::min(most, std::max<i64>(1, each));
  while (micro > 1 && !divides(micro, each)) --micro;
  d.micro_batch = micro;
  plan.open.push_back({"parallelism.micro_batch", plural(micro, "sequence", "sequences"),
                       "set micro_batch in a plan file"});
  r.fields.report(
      node, make_assumption(fmt::format("micro-batches of {}: the trainer packs up to {} "
                                        "tokens into one",
                                        plural(micro, "sequence", "sequences"), count(tokens))));
}

void pad_sequence(Draft& draft) {
  const i64 tp = draft.sequence_parallel == true ? draft.tp.value_or(1) : 1;
  const i64 cp = draft.cp.value_or(1);
  const i64 unit = cp > 1 ? cp * std::lcm(i64{2}, tp) : tp;  // kMaxContext * kMaxDegree at most
  if (!draft.sequence || *draft.sequence > kMaxSequence - unit) return;
  draft.sequence = (*draft.sequence + unit - 1) / unit * unit;
}

void add_answer_length(ForeignReading& r, i64 answer, std::string_view key) {
  Draft& d = r.draft;
  if (!d.sequence || *d.sequence > kMaxSequence / 2) return;
  const i64 prompt = *d.sequence;
  d.sequence = prompt + answer;
  const YamlNode* const node = find_path(r.root, key);
  r.fields.report(node == nullptr ? r.root : *node,
                  make_assumption(fmt::format("sequences of {} tokens: a prompt of up to {} and an "
                                              "answer of up to {}",
                                              count(*d.sequence), count(prompt), count(answer))));
}

void resolve_references(YamlNode& root) {
  const YamlNode values = root;
  std::vector<std::string> place;
  resolve_in(root, values, place, 0);
}

void inherit_defaults(YamlNode& root, const std::string& file, const FileReader& files,
                      Diagnostics& findings) {
  inherit(root, file, files, findings, 0);
}

void set_path(YamlNode& root, std::string_view path, const YamlNode& value) {
  constexpr std::ptrdiff_t kDeepest = 16;  // deeper maps are no settings
  if (std::count(path.begin(), path.end(), '.') > kDeepest) return;
  YamlNode* map = &root;
  const auto find_or_add = [&](std::string_view name) -> YamlNode& {
    map->kind = YamlNode::Kind::map;
    for (YamlEntry& entry : map->entries)
      if (entry.key.scalar == name) return entry.value;
    YamlEntry entry{value, {}};
    entry.key.scalar = name;
    entry.value.line = value.line;
    entry.value.column = value.column;
    map->entries.push_back(std::move(entry));
    return map->entries.back().value;
  };
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    map = &find_or_add(path.substr(0, dot));
    path.remove_prefix(dot + 1);
  }
  find_or_add(path) = value;
}

void move_to(YamlNode& node, const YamlNode& place) {
  node.line = place.line;
  node.column = place.column;
  node.width = place.width;
  for (YamlNode& item : node.items) move_to(item, place);
  for (YamlEntry& entry : node.entries) {
    move_to(entry.key, place);
    move_to(entry.value, place);
  }
}

bool inherit_file(YamlNode& root, const YamlNode& named, const std::string& file,
                  const FileReader& files) {
  const YamlNode place = named;  // it may be in `root`
  const Result<std::string> text = read_named_file(files, file, place.scalar);
  Diagnostics ignored;
  Result<YamlNode> base =
      text ? read_python_yaml(*text, place.scalar, ignored) : Result<YamlNode>(fail(text.error()));
  if (!base) return false;
  move_to(*base, place);
  merge_under(root, *base);
  return true;
}

void inherit_primus_model(YamlNode& root, const std::string& file, const FileReader& files,
                          Diagnostics& findings) {
  YamlNode* node = nullptr;
  for (YamlEntry& modules : root.entries)
    if (modules.key.scalar == "modules")
      for (YamlEntry& entry : modules.value.entries)
        if (node == nullptr && entry.key.scalar.ends_with("_trainer")) node = &entry.value;
  if (node == nullptr) return;
  inherit_primus_file(*node, "models", "model", file, files, findings);
  const YamlNode* const framework = node->find("framework");
  // Those of Megatron-LM state every default of the program as well.
  if (framework != nullptr && framework->scalar == "torchtitan")
    inherit_primus_file(*node, "modules", "config", file, files, findings);
}

void read_optimizer_class(ForeignReading& r, const YamlNode& node) {
  const std::string word = lower(node.scalar.substr(0, kLongestLabel));
  const auto has = [&](std::string_view part) { return word.find(part) != std::string::npos; };
  if (has("adam") && (has("8bit") || has("flashoptim")))  // its moments have 8 bits by default
    r.draft.optimizer = plan::Optimizer::adam_8bit;
  else if (has("muon"))
    r.draft.optimizer = plan::Optimizer::muon;
  else if (has("adafactor"))
    r.draft.optimizer = plan::Optimizer::adafactor;
  else if (has("adam"))
    r.draft.optimizer = plan::Optimizer::adam;
  else
    report_left_out(
        r, node,
        fmt::format("optimizer {}: estimated with Adam's states", make_excerpt(node.scalar)));
}

void read_moment_dtype(ForeignReading& r, const YamlNode& node) {
  if (node.scalar.find("bfloat16") != std::string::npos) r.draft.moment_dtype = plan::Dtype::bf16;
}

ShellInput make_script_input(const PlanFile& plan, const FileReader& files) {
  ShellInput input = plan.variables;
  input.file = plan.name;
  input.files = files;
  input.environment =
      [outer = input.environment](const std::string& name) -> std::optional<std::string> {
    if (std::optional<std::string> value = outer ? outer(name) : std::nullopt) return value;
    if (std::find(std::begin(kFolders), std::end(kFolders), name) == std::end(kFolders))
      return std::nullopt;
    return std::string(kSomeFolder);
  };
  return input;
}

void forget_usual_folders(ScriptFlags& flags) {
  // A model in a folder that only the running script knows has a name all the same.
  std::erase_if(flags.unknown, [&](const ScriptFlags::Unknown& one) {
    const bool begins = !one.tail.empty() && std::isalnum(static_cast<unsigned char>(one.tail[0]));
    const bool name = begins || one.tail.find('/') != std::string::npos;
    if (!name || (!find_hub_model(one.tail) && find_model_of_size(one.tail).empty())) return false;
    YamlEntry entry{one.place, one.place};
    entry.key.scalar = one.flag;
    entry.value.kind = YamlNode::Kind::scalar;
    entry.value.scalar = one.tail;
    flags.map.entries.push_back(std::move(entry));
    return true;
  });
  for (const std::string_view folder : kFolders) flags.used.erase(std::string(folder));
  // A default that is a folder of the user does not decide which model it contains.
  std::erase_if(flags.defaults, [&](const ScriptFlags::Default& one) {
    const auto value = flags.default_values.find(one.variable);
    return value != flags.default_values.end() && value->second.starts_with(kSomeFolder);
  });
}

}  // namespace rankwright::importer
