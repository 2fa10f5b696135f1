// Reads a flavor that a fork of torchtitan defines beside its configs, in the __init__.py of the
// model: llama3_configs = {"1B": TransformerModelArgs(dim=2048, n_layers=16, ...)}.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/import/framework/recipes.h"
#include "rankwright/import/framework/torchtitan.h"
#include "rankwright/import/syntax/python_calls.h"
#include "rankwright/model/shapes.h"

namespace rankwright::importer {
namespace {

constexpr std::size_t kMaxCode = 1 << 20;

i64 read_size(const std::vector<PythonArgument>& arguments, std::string_view name, i64 usual) {
  const Result<i64> n = parse_count(find_argument(arguments, name), 1);
  return n && *n <= kMaxCount ? *n : usual;
}

/// Returns the width of torchtitan's feed-forward layers: two thirds of four times the hidden size,
/// times a factor, rounded up to a multiple (models/llama3/model/model.py).
i64 compute_width(const std::vector<PythonArgument>& arguments, i64 hidden) {
  constexpr double kMaxFactor = 100;
  const i64 multiple = read_size(arguments, "multiple_of", 256);
  i64 width = std::min(hidden, kMaxCount / 16) * 4 * 2 / 3;
  const std::string factor(find_argument(arguments, "ffn_dim_multiplier"));
  const double by = std::strtod(factor.c_str(), nullptr);
  if (by > 0 && by < kMaxFactor) width = i64(std::floor(double(width) * by));
  return (width + multiple - 1) / multiple * multiple;
}

/// torchtitan's own debugmodel, whose vocabulary is that of its test tokenizer
/// (torchtitan/models/llama3/__init__.py).
bool read_debug_model(ForeignReading& r, const std::string& name, const YamlNode& flavor) {
  if (!name.starts_with("llama") || flavor.scalar != "debugmodel") return false;
  model::Shapes s{.name = "this model"};
  s.architecture = "llama";
  s.hidden = 256;
  s.layers = 6;
  s.heads = s.kv_heads = 16;
  s.ffn = 768;
  s.vocab = 2048;
  r.fields.report(flavor,
                  make_assumption("torchtitan's own debugmodel: 6 layers of 256", "--model FILE"));
  r.fields.under("model", flavor, [&] { r.draft.model = r.fields.take(flavor, model::build(s)); });
  return r.draft.model.has_value();
}

}  // namespace

bool read_own_flavor(ForeignReading& r, const std::string& name, const YamlNode& flavor) {
  constexpr std::string_view kFamilies[] = {"llama", "llama2", "llama3", "qwen3"};
  if (std::find(std::begin(kFamilies), std::end(kFamilies), name) == std::end(kFamilies))
    return false;
  const std::string file = std::string(r.fields.file());
  const std::string family = name.substr(0, name.find_first_of("0123456789"));
  for (const std::string& path :
       {std::string("../__init__.py"), fmt::format("torchtitan/models/{}/__init__.py", name),
        fmt::format("torchtitan/models/{}/__init__.py", family)}) {
    const Result<std::string> text = read_named_file(r.files, file, path);
    if (!text || text->size() > kMaxCode) continue;
    const std::string code = blank_python_comments(*text);
    const std::size_t key = code.find(fmt::format("\"{}\":", flavor.scalar));
    const std::size_t open = key == std::string::npos ? key : code.find('(', key);
    if (open == std::string::npos) continue;
    const std::vector<PythonArgument> arguments =
        list_named_arguments(std::string_view(code).substr(open + 1));
    model::Shapes s{.name = "this model"};
    s.architecture = find_argument(arguments, "qk_norm") == "True" ? "qwen3" : "llama";
    s.hidden = read_size(arguments, "dim", 0);
    s.layers = read_size(arguments, "n_layers", 0);
    s.heads = read_size(arguments, "n_heads", 0);
    const bool other =
        std::any_of(arguments.begin(), arguments.end(), [](const PythonArgument& one) {
          return one.name.find("moe") != std::string_view::npos ||
                 one.name.find("expert") != std::string_view::npos ||
                 one.name.find("lora_rank") != std::string_view::npos;  // latent attention
        });
    if (other || s.hidden == 0 || s.layers == 0 || s.heads == 0) continue;
    s.kv_heads = read_size(arguments, "n_kv_heads", s.heads);
    s.head_dim = read_size(arguments, "head_dim", 0);
    s.ffn = read_size(arguments, "hidden_dim", compute_width(arguments, s.hidden));
    s.vocab = read_size(arguments, "vocab_size", 0);
    constexpr i64 kLlama3 = 128256;
    if (s.vocab == 0) {
      s.vocab = kLlama3;
      r.fields.report(
          flavor,
          make_assumption(fmt::format("vocabulary size {}: the tokenizer sets it", count(s.vocab)),
                          "--model FILE"));
    }
    r.fields.under("model", flavor,
                   [&] { r.draft.model = r.fields.take(flavor, model::build(s)); });
    return r.draft.model.has_value();
  }
  return read_debug_model(r, name, flavor);
}

}  // namespace rankwright::importer
