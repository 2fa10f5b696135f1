#include "rankwright/import/framework/megatron_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/import/framework/recipes.h"

namespace rankwright::importer {
namespace {

constexpr std::string_view kFlags[] = {"num-layers",
                                       "encoder-num-layers",
                                       "hidden-size",
                                       "ffn-hidden-size",
                                       "num-attention-heads",
                                       "group-query-attention",
                                       "attention-head-type",
                                       "num-query-groups",
                                       "num-key-value-heads",
                                       "kv-channels",
                                       "swiglu",
                                       "squared-relu",
                                       "quick-geglu",
                                       "normalization",
                                       "untie-embeddings-and-output-weights",
                                       "disable-bias-linear",
                                       "add-qkv-bias",
                                       "qk-layernorm",
                                       "num-experts",
                                       "moe-router-topk",
                                       "moe-router-num-groups",
                                       "moe-router-group-topk",
                                       "moe-ffn-hidden-size",
                                       "moe-shared-expert-intermediate-size",
                                       "moe-shared-expert-gate",
                                       "moe-router-enable-expert-bias",
                                       "moe-layer-freq",
                                       "multi-latent-attention",
                                       "q-lora-rank",
                                       "kv-lora-rank",
                                       "qk-head-dim",
                                       "qk-pos-emb-head-dim",
                                       "v-head-dim",
                                       "mtp-num-layers",
                                       "max-position-embeddings",
                                       "position-embedding-type",
                                       "use-rotary-position-embeddings",
                                       "vocab-size",
                                       "padded-vocab-size",
                                       "tokenizer-type",
                                       "make-vocab-size-divisible-by",
                                       "decoder-num-layers",
                                       "decoder-seq-length",
                                       "window-size",
                                       "window-attn-skip-freq"};

std::string get_word(const ForeignReading& r, std::string_view flag) {
  const YamlNode* const node = find_path(r.root, flag);
  return node == nullptr ? "" : node->scalar;
}

i64 read_size(ForeignReading& r, std::string_view flag, i64 otherwise) {
  return read_whole_at(r, flag, 0, kMaxCount).value_or(otherwise);
}

/// Parses a Python list expression of the characters that Megatron-LM allows: digits and [ ] ( ) +
/// * ,
class PatternReader {
 public:
  PatternReader(std::string_view text, i64 max) : text_(text), max_(std::size_t(max)) {}

  std::optional<std::vector<bool>> read() {
    std::optional<std::vector<bool>> all = read_sum(0);
    skip_blanks();
    return all && at_ == text_.size() ? all : std::nullopt;
  }

 private:
  using List = std::optional<std::vector<bool>>;

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool consume(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<i64> read_number() {
    skip_blanks();
    i64 n = 0;
    const std::size_t first = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && n <= model::kMaxLayers)
      n = n * 10 + (text_[at_++] - '0');
    return at_ == first ? std::nullopt : std::optional(n);
  }

  List read_sum(int depth) {
    List left = product(depth);
    while (left && consume('+')) {
      const List right = product(depth);
      if (!right || left->size() + right->size() > max_) return std::nullopt;
      left->insert(left->end(), right->begin(), right->end());
    }
    return left;
  }

  List product(int depth) {
    List list = read_item(depth);
    while (list && consume('*')) {
      const std::optional<i64> times = read_number();
      if (!times || list->size() * std::size_t(*times) > max_) return std::nullopt;
      const std::vector<bool> once = *list;
      list->clear();
      for (i64 i = 0; i < *times && !once.empty(); ++i)
        list->insert(list->end(), once.begin(), once.end());
    }
    return list;
  }

  List read_item(int depth) {
    constexpr int kMaxNesting = 8;
    if (depth > kMaxNesting) return std::nullopt;
    if (consume('(')) {
      List inner = read_sum(depth + 1);
      return inner && consume(')') ? inner : std::nullopt;
    }
    if (!consume('[')) return std::nullopt;
    std::vector<bool> list;
    while (!consume(']')) {
      const std::optional<i64> n = read_number();
      if (!n || *n > 1 || list.size() >= max_) return std::nullopt;
      list.push_back(*n == 1);
      consume(',');
    }
    return list;
  }

  std::string_view text_;
  std::size_t max_;
  std::size_t at_ = 0;
};

void warn(ForeignReading& r, std::string_view flag, std::string detail) {
  const YamlNode* const node = find_path(r.root, flag);
  r.fields.report(node == nullptr ? r.root : *node,
                  {.code = "RW0601",
                   .severity = Severity::warning,
                   .message = "the estimate does not include this setting",
                   .detail = fmt::format("{}: {}", flag, detail)});
}

/// Returns the architecture nearest to these shapes and sets the shapes that override the rest.
/// Only learned positions cannot be combined with every family: they are reported.
const model::Architecture& find_family(ForeignReading& r, model::Shapes& s, bool positions,
                                       bool latent, bool sparse) {
  const bool gated = is_on(r, "swiglu") || is_on(r, "quick-geglu");
  const bool biased_norms = lower(get_word(r, "normalization")) != "rmsnorm";
  const bool qk_norm =
      is_on(r, "qk-layernorm") && !latent;  // latent attention has its own norms in any case
  const bool gate = is_on(r, "moe-shared-expert-gate") && s.shared_ffn > 0;
  const bool router_bias = is_on(r, "moe-router-enable-expert-bias");
  const auto distance = [&](const model::Architecture& a) {
    return (positions && !a.learned_positions ? 16 : 0) + (gated != (a.matrices == 3) ? 8 : 0) +
           (qk_norm != a.qk_norm ? 4 : 0) + (biased_norms != a.norm_bias ? 4 : 0) +
           (gate != (a.shared_gate && s.shared_ffn > 0) ? 2 : 0) +
           (router_bias != a.router_bias ? 1 : 0);
  };
  const model::Architecture* best = nullptr;
  for (const model::Architecture& a : model::architectures()) {
    const bool usual = a.norms == 2 && !a.head_bias && a.latent == latent && a.sparse == sparse &&
                       a.pattern.find_first_not_of("FW") == std::string_view::npos && !a.sinks &&
                       !a.indexer && !a.embedding_norm && !(a.qk_norm && a.wide_norm);
    if (usual && (best == nullptr || distance(a) < distance(*best))) best = &a;
  }
  if (positions && !best->learned_positions)
    warn(r, "position-embedding-type", fmt::format("estimated as in {}", best->name));
  if (qk_norm != best->qk_norm) s.qk_norm = qk_norm;
  if (biased_norms != best->norm_bias) s.norm_bias = biased_norms;
  if (sparse && gate != (best->shared_gate && s.shared_ffn > 0)) s.shared_gate = gate;
  if (sparse && router_bias != best->router_bias) s.router_bias = router_bias;
  return *best;
}

/// Sets first_dense and sparse_every, which can express regular patterns only.
void read_expert_pattern(ForeignReading& r, model::Shapes& s) {
  const std::string text = get_word(r, "moe-layer-freq");
  if (text.empty() || text == "1") return;
  const std::optional<std::vector<bool>> pattern = parse_layer_pattern(text, s.layers);
  if (!pattern || i64(pattern->size()) != s.layers) {
    warn(r, "moe-layer-freq",
         fmt::format("'{}' is not a pattern of {} layers: all layers are estimated with experts",
                     make_excerpt(text), count(s.layers)));
    return;
  }
  std::vector<i64> at;
  for (i64 i = 0; i < s.layers && at.size() < 2; ++i)
    if ((*pattern)[std::size_t(i)]) at.push_back(i);
  s.first_dense = at.empty() ? s.layers : at[0];
  if (at.size() == 2) s.sparse_every = at[1] - at[0];
  bool same = true;
  for (i64 i = 0; i < s.layers; ++i)
    same =
        same && (*pattern)[std::size_t(i)] == (i >= s.first_dense && (i + 1) % s.sparse_every == 0);
  if (!same) warn(r, "moe-layer-freq", "estimated with evenly spaced expert layers");
}

/// Returns the number of experts per layer; the mean of a list, which has one number for each layer
/// with experts or one for all (PR-MoE of Megatron-DeepSpeed).
i64 read_expert_number(ForeignReading& r) {
  const std::string list = get_word(r, "num-experts");
  if (list.find(' ') == std::string::npos) return read_size(r, "num-experts", 0);
  i64 sum = 0, numbers = 0;
  for (std::size_t at = 0; at < list.size(); ++numbers) {
    const std::size_t end = std::min(list.find(' ', at), list.size());
    const Result<i64> n = parse_count(std::string_view(list).substr(at, end - at), 1);
    if (!n || *n > kMaxCount || numbers > model::kMaxLayers) return 0;
    sum += *n;
    at = end + 1;
  }
  const i64 mean = (sum + numbers / 2) / numbers;
  if (mean * numbers != sum || list.substr(0, list.find(' ')) != std::to_string(mean))
    warn(r, "num-experts",
         fmt::format("layers with different numbers of experts are estimated with {} each",
                     count(mean)));
  return mean;
}

void read_experts(ForeignReading& r, model::Shapes& s) {
  s.experts = read_expert_number(r);
  // Megatron-DeepSpeed's way to state a dense model. Megatron-LM visits two experts by default.
  if (s.experts == 1 && find_path(r.root, "moe-router-topk") == nullptr) s.experts = 0;
  if (s.experts == 0) return;
  s.active_experts = read_size(r, "moe-router-topk", 2);
  s.expert_groups = read_size(r, "moe-router-num-groups", 0);
  s.active_groups = read_size(r, "moe-router-group-topk", 0);
  s.expert_ffn = read_size(r, "moe-ffn-hidden-size", s.ffn);
  s.shared_ffn = read_size(r, "moe-shared-expert-intermediate-size", 0);
  read_expert_pattern(r, s);
}

void read_latent(ForeignReading& r, model::Shapes& s, bool sparse) {
  s.q_rank = read_size(r, "q-lora-rank", 0);
  s.kv_rank = read_size(r, "kv-lora-rank", 512);
  s.nope_dim = read_size(r, "qk-head-dim", 128);
  s.rope_dim = read_size(r, "qk-pos-emb-head-dim", 64);
  s.value_dim = read_size(r, "v-head-dim", 128);
  s.head_dim = 0;
  if (sparse) return;
  s.first_dense = s.layers;  // architectures with latent attention have experts; none are used here
  s.experts = s.active_experts = s.expert_ffn = 1;
}

/// Sets the window of sliding-window attention: "(127,0)", and "127 0" of a list, is the token
/// itself and 127 before it. window-attn-skip-freq gives every n-th layer full attention, or lists
/// a 1 per layer with a window.
void read_window(ForeignReading& r, model::Shapes& s) {
  std::string text = get_word(r, "window-size");
  text.erase(0, text.find_first_not_of("([ "));
  const Result<i64> before = parse_count(text.substr(0, text.find_first_of(", ")), 0);
  if (!before) return;  // -1 is none
  s.window = *before + 1;
  s.pattern = "W";
  std::string skip = get_word(r, "window-attn-skip-freq");
  if (skip.find(' ') != std::string::npos && skip.find('[') == std::string::npos) {
    std::replace(skip.begin(), skip.end(), ' ', ',');  // the words of a list
    skip = "[" + skip + "]";
  }
  if (skip.empty() || s.layers > model::kMaxLayers) return;
  const Result<i64> every = parse_count(skip, 1);
  if (every) {
    s.pattern = std::string(std::size_t(std::min(*every, s.layers)), 'W');
    if (*every <= s.layers) s.pattern.back() = 'F';
    return;
  }
  const std::optional<std::vector<bool>> layers = parse_layer_pattern(skip, s.layers);
  if (!layers || i64(layers->size()) != s.layers)
    return warn(r, "window-attn-skip-freq",
                fmt::format("'{}' is not a pattern of {} layers: all have a window in the estimate",
                            make_excerpt(skip), count(s.layers)));
  s.pattern.clear();
  for (const bool windowed : *layers) s.pattern += windowed ? 'W' : 'F';
}

/// Returns the number of 5 to 7 digits at the end of a file's folder or name, as in
/// "tokenizer_131072/vocab.json"; 0 if there is none.
i64 find_size_in_path(std::string_view path) {
  for (int part = 0; part < 2 && !path.empty(); ++part) {
    const std::size_t slash = path.rfind('/');
    std::string_view name = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
    name = name.substr(0, name.find('.'));
    const std::size_t last = name.find_last_not_of("0123456789");
    const std::string_view digits =
        name.substr(last == std::string_view::npos ? name.size() : last + 1);
    if (digits.size() >= 5 && digits.size() <= 7) return parse_count(digits, 1).value_or(0);
  }
  return 0;
}

/// Reads the name of the files of a byte-pair tokenizer, which may be another one than GPT-2's, and
/// reports the size that is taken.
void read_bpe_files(ForeignReading& r, model::Shapes& s) {
  const YamlNode* const file = find_path(r.root, "vocab-file");
  if (file == nullptr || file->scalar.starts_with('<') ||  // a template's "<path>"
      lower(file->scalar).find("gpt") != std::string::npos)
    return;
  const std::string name = lower(file->scalar.substr(file->scalar.rfind('/') + 1));
  if (name == file->scalar && find_size_in_path(name) == 0) return;  // no folder that names it
  const i64 stated = find_size_in_path(file->scalar);
  if (stated > 0) s.vocab = stated;
  r.fields.report(
      *file,
      make_assumption(fmt::format("vocabulary size {}: {}", count(s.vocab),
                                  stated > 0 ? "by the name of --vocab-file"
                                             : "that of GPT-2; --vocab-file may have another"),
                      "--model NAME or --model config.json"));
}

/// Sets the vocabulary size, which flags mostly leave to the tokenizer. Records where it is stated.
void read_vocabulary(ForeignReading& r, model::Shapes& s) {
  for (const std::string_view flag : {"padded-vocab-size", "vocab-size", "tokenizer-type"})
    if (const YamlNode* const stated = find_path(r.root, flag)) {
      r.fields.under("model.vocab", *stated, [] {});
      break;
    }
  for (const std::string_view flag : {"padded-vocab-size", "vocab-size"})
    if (s.vocab == 0) s.vocab = read_size(r, flag, 0);
  if (s.vocab > 0) return;
  constexpr std::pair<std::string_view, i64> kTokenizers[] = {{"GPT2BPETokenizer", 50257},
                                                              {"Llama2Tokenizer", 32000}};
  std::string type = get_word(r, "tokenizer-type");
  // The default of pretrain_gpt.py if no tokenizer is named.
  if (type.empty() && find_path(r.root, "merge-file") != nullptr) type = "GPT2BPETokenizer";
  for (const auto& [name, size] : kTokenizers)
    if (type == name) s.vocab = size;
  if (type == kTokenizers[0].first) read_bpe_files(r, s);
  if (s.vocab > 0) return;
  std::string why = "the tokenizer sets it";
  std::string tokenizer = get_word(r, "tokenizer-model");
  const char* flag = "--tokenizer-model";
  if (tokenizer.empty()) {
    tokenizer = get_word(r, "tokenizer-name-or-path");  // Megatron-DeepSpeed
    flag = "--tokenizer-name-or-path";
  }
  const std::string owner = lower(tokenizer.substr(tokenizer.rfind('/') + 1));
  if (const std::optional<model::Model> named = find_hub_model(owner)) {
    s.vocab = named->vocab;
    why = fmt::format("that of {}, which {} names", named->name, flag);
  }
  for (const catalog::KnownModel& known : catalog::list_known_models()) {
    if (s.vocab > 0) break;
    const model::Model& m = known.model;
    const model::Layer& layer = m.layer(m.layers() - 1);
    const bool latent = layer.attention.kind == model::Attention::Kind::latent;
    const i64 width = layer.ffn.sparse() ? layer.ffn.expert_width : layer.ffn.width;
    if (m.hidden != s.hidden || m.layers() != s.layers || layer.attention.heads != s.heads ||
        (!latent && layer.attention.kv_heads != s.kv_heads) ||
        width != (layer.ffn.sparse() ? s.expert_ffn : s.ffn) ||
        (layer.ffn.matrices == 3) != is_on(r, "swiglu"))
      continue;
    s.vocab = m.vocab;
    why = fmt::format("as in {}, which has the same shapes", m.name);
  }
  constexpr i64 kUsual = 128256;
  if (s.vocab == 0) s.vocab = kUsual;
  const YamlNode* const node = find_path(r.root, "tokenizer-type");
  const YamlNode* const shapes = find_path(r.root, "hidden-size");
  r.fields.report(node != nullptr     ? *node
                  : shapes != nullptr ? *shapes
                                      : r.root,
                  make_assumption(fmt::format("vocabulary size {}: {}", count(s.vocab), why),
                                  "--model NAME or --model config.json"));
}

/// Returns the flag that makes layers of Mamba: a switch, the part of attention layers, or the
/// specification of the layers (pretrain_mamba.py); nullptr if all are attention layers.
const char* find_hybrid_flag(const ForeignReading& r) {
  if (is_on(r, "is-hybrid-model")) return "is-hybrid-model";
  for (const char* const ratio : {"hybrid-attention-ratio", "hybrid-mlp-ratio"})
    if (get_word(r, ratio).find_first_of("123456789") != std::string::npos) return ratio;
  return get_word(r, "spec").find("mamba") != std::string::npos ? "spec" : nullptr;
}

}  // namespace

std::span<const std::string_view> megatron_model_flags() { return kFlags; }

bool is_on(const ForeignReading& reading, std::string_view flag) {
  const YamlNode* const node = find_path(reading.root, flag);
  return node != nullptr && node->scalar == "true";
}

std::optional<std::vector<bool>> parse_layer_pattern(std::string_view text, i64 layers) {
  if (layers < 1 || layers > model::kMaxLayers) return std::nullopt;
  if (text.find('[') != std::string_view::npos) return PatternReader(text, layers).read();
  i64 every = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || every > model::kMaxLayers) return std::nullopt;
    every = every * 10 + (c - '0');
  }
  if (every < 1) return std::nullopt;
  std::vector<bool> pattern(std::size_t(layers), false);
  for (i64 i = 0; i < layers; i += every) pattern[std::size_t(i)] = true;
  return pattern;
}

void read_megatron_model(ForeignReading& r) {
  model::Shapes s{.name = "this model"};
  s.layers = read_size(r, "num-layers", read_size(r, "encoder-num-layers", 0));
  s.hidden = read_size(r, "hidden-size", 0);
  s.heads = read_size(r, "num-attention-heads", 0);
  if (s.layers == 0 || s.hidden == 0 || s.heads == 0) return;
  s.layers = std::max<i64>(1, s.layers - i64(read_noop_layers(r).size()));
  // The decoder of examples/multimodal is the language model, which the other flags describe.
  const bool vision = is_on(r, "disable-vision-class-token");
  if (vision && find_path(r.root, "decoder-seq-length") != nullptr)
    r.draft.sequence = read_whole_at(r, "decoder-seq-length", 1, kMaxSequence);
  for (const std::string_view flag : {"decoder-num-layers", "decoder-seq-length"})
    if (find_path(r.root, flag) != nullptr && !vision)
      return warn(r, flag, "models with an encoder and a decoder are not estimated: pass --model");
  if (const char* const flag = find_hybrid_flag(r))
    return warn(r, flag,
                "layers of Mamba or linear attention are not estimated from flags: pass --model");
  const bool gated = is_on(r, "swiglu"), latent = is_on(r, "multi-latent-attention");
  const i64 usual_ffn = gated ? std::min(s.hidden, kMaxCount / 16) * 8 / 3 / 64 * 64
                              : std::min(s.hidden, kMaxCount / 16) * 4;
  s.ffn = read_size(r, "ffn-hidden-size", usual_ffn);
  s.kv_heads = is_on(r, "group-query-attention")
                   ? read_size(r, "num-query-groups", 1)
                   : read_size(r, "num-key-value-heads", s.heads);         // Megatron-DeepSpeed
  if (get_word(r, "attention-head-type") == "multiquery") s.kv_heads = 1;  // BigCode's
  if (const YamlNode* const groups = find_path(r.root, "num-query-groups");
      groups != nullptr && !is_on(r, "group-query-attention") && s.kv_heads == s.heads &&
      groups->scalar != std::to_string(s.heads) && groups->scalar != "1")
    report_left_out(r, *groups,
                    "--num-query-groups has no effect without --group-query-attention: estimated "
                    "with as many key-value heads as heads");
  s.head_dim = read_size(r, "kv-channels", 0);
  s.mtp_layers = read_size(r, "mtp-num-layers", 0);
  read_experts(r, s);
  const bool sparse = s.experts > 0;
  if (latent) read_latent(r, s, sparse);
  const std::string type = get_word(r, "position-embedding-type");
  const bool learned =
      !is_on(r, "use-rotary-position-embeddings") && (type.empty() || type == "learned_absolute");
  const i64 longest = read_size(r, "max-position-embeddings", 0);
  if (learned) s.positions = longest;
  // The flag is mandatory and must cover the sequence: if it equals the sequence, it carries no
  // information.
  if (!learned && longest != r.draft.sequence) s.max_sequence = longest;
  const bool bias = !is_on(r, "disable-bias-linear");
  s.tied = !is_on(r, "untie-embeddings-and-output-weights");
  s.ffn_bias = bias;
  if (!latent) s.qkv_bias = bias || is_on(r, "add-qkv-bias");
  if (!latent) s.out_bias = bias;
  const YamlNode& place = *find_path(r.root, "hidden-size");
  s.gated = gated || is_on(r, "quick-geglu");
  read_window(r, s);
  r.fields.under("model", place, [&] {
    read_vocabulary(r, s);
    const model::Architecture& row = find_family(r, s, s.positions > 0, latent, sparse || latent);
    s.architecture = row.name;
    if (!row.learned_positions) s.positions = 0;
    r.draft.model = r.fields.take(place, build(s));
  });
}

void override_shapes(ForeignReading& r) {
  constexpr std::string_view kSizes[] = {
      "hidden-size",      "ffn-hidden-size",     "num-attention-heads",
      "num-query-groups", "kv-channels",         "num-experts",
      "moe-router-topk",  "moe-ffn-hidden-size", "moe-shared-expert-intermediate-size",
      "moe-layer-freq"};
  if (!r.draft.model) return;
  model::Model& model = *r.draft.model;
  if (const i64 layers = read_size(r, "num-layers", 0); layers > 0) {
    i64 rest = std::min<i64>(layers, model::kMaxLayers);
    for (model::LayerRun& run : model.runs) {
      run.count = std::min(run.count, rest);
      rest -= run.count;
    }
    model.runs.back().count += rest;
    std::erase_if(model.runs, [](const model::LayerRun& run) { return run.count == 0; });
  }
  if (const YamlNode* const modules = find_path(r.root, "mtp-num-layers"))
    model.mtp_layers = is_off(*modules) ? 0 : read_size(r, "mtp-num-layers", 0);
  if (is_on(r, "untie-embeddings-and-output-weights")) model.tied = false;
  for (const std::string_view flag : kSizes)
    if (const YamlNode* const node = find_path(r.root, flag); node != nullptr && !is_off(*node))
      report_left_out(r, *node,
                      fmt::format("{} {}: estimated with that of {}", flag,
                                  make_excerpt(node->scalar), model.name));
}

}  // namespace rankwright::importer
