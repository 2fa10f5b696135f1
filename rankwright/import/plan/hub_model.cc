#include "rankwright/import/plan/hub_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/import/syntax/fields.h"
#include "rankwright/model/parameters.h"

namespace rankwright::importer {
namespace {

/// Names whose shapes are those of another model, and words that do not change the shapes.
constexpr std::pair<std::string_view, std::string_view> kSameShapes[] = {
    {"deepseek-r1-distill-qwen-1.5b", "deepseek-r1-distill-qwen-1.5b"},  // untied
    {"deepscaler-1.5b", "deepseek-r1-distill-qwen-1.5b"},
    {"deepseek-r1-distill-qwen-", "qwen2.5-"},
    {"deepseek-r1-distill-llama-8b", "llama-3.1-8b"},
    {"deepseek-r1-distill-llama-70b", "llama-3.1-70b"},
    {"deepseek-r1-671b", "deepseek-v3"},
    {"deepseek-v3-671b", "deepseek-v3"},
    {"deepseek-r1", "deepseek-v3"},
    {"meta-llama-", "llama-"},
    {"qwen2.5-math-", "qwen2.5-"},
    {"qwen2.5-coder-", "qwen2.5-"},
    {"qwen2-math-", "qwen2-"},
    {"qwen3-coder-30b", "qwen3-30b"},
    {"mistral-nemo-", "mistral-nemo-12b-"},
    {"vicuna-7b", "llama-2-7b"},
    {"vicuna-13b", "llama-2-13b"},
    {"vicuna-v1-3-7b", "llama-2-7b"},  // names of LLaVA's checkpoints
    {"vicuna-v1-3-13b", "llama-2-13b"},
    {"codellama-7b", "llama-2-7b"},
    {"codellama-13b", "llama-2-13b"},
    {"zephyr-7b", "mistral-7b"},
    {"meditron-7b", "llama-2-7b"},
    {"typhoon-7b", "mistral-7b"},
    {"openhermes-2.5-mistral-7b", "mistral-7b"},
    {"llama-3.1-tulu-3-", "llama-3.1-"},
    {"llama-3-tulu-", "llama-3-"},
    {"deepseek-coder-6.7b", "llama-2-7b"},
    {"deepseek-moe-lite", "deepseek-v2-lite"},
    {"qwen25-500m", "qwen2.5-0.5b"},  // names of NeMo's recipes
    {"qwen2-500m", "qwen2-0.5b"},
    {"qwen3-moe-30b", "qwen3-30b-a3b"},  // names of Megatron-Bridge's examples
    {"qwen3-moe-235b", "qwen3-235b-a22b"},
    {"deepseek2-16b", "deepseek-v2-lite"},  // names of MaxText
    {"deepseek3-671b", "deepseek-v3"},
};

/// Returns letters and digits only: "llama3.1_8B" and "llama-3.1-8b" are the same name.
std::string strip_marks(std::string_view name) {
  std::string text;
  for (const char c : name)
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) text += c;
  return text;
}

/// Returns whether a name states a size, as "7b" or "125m" does: without one, "llama" could be any.
bool states_size(std::string_view name) {
  for (std::size_t i = 1; i < name.size(); ++i)
    if ((name[i] == 'b' || name[i] == 'm') && name[i - 1] >= '0' && name[i - 1] <= '9') return true;
  return false;
}

/// Models with an encoder, and the language model behind it.
constexpr std::pair<std::string_view, std::string_view> kLanguageModels[] = {
    {"qwen2-vl-2b", "qwen2-1.5b"},   {"qwen2-vl-", "qwen2-"},
    {"qwen3-vl-2b", "qwen3-1.7b"},   {"qwen2.5-vl-", "qwen2.5-"},
    {"qwen3-vl-", "qwen3-"},         {"qwen2-audio-7b", "qwen2-7b"},
    {"llava-v1.5-7b", "llama-2-7b"}, {"llava-v1.5-13b", "llama-2-13b"},
};

/// Returns whether the last part of a path is that of a cache or a trainer, and no name:
/// "checkpoint-500", "snapshots", a revision.
bool is_a_place(std::string_view part) {
  constexpr std::string_view kPlaces[] = {
      "snapshots", "actor", "policy", "huggingface", "hf",     "final",       "latest", "best",
      "merged",    "ckpt",  "ckpts",  "model",       "models", "checkpoints", "weights"};
  constexpr std::string_view kBeginnings[] = {"checkpoint", "global-step", "step", "epoch", "iter"};
  constexpr std::size_t kRevision = 12;  // digits of a hash, at least
  const auto counts = [&](std::string_view beginning) {
    return part.starts_with(beginning) &&
           part.find_first_not_of("0123456789-.", beginning.size()) == std::string_view::npos;
  };
  const bool hash = part.size() >= kRevision &&
                    part.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return part.empty() || hash || counts("") || counts("v") ||
         std::find(std::begin(kPlaces), std::end(kPlaces), part) != std::end(kPlaces) ||
         std::any_of(std::begin(kBeginnings), std::end(kBeginnings), counts);
}

/// Returns the part of a path that names the model, in lower case and with dashes. The cache of a
/// hub has it as "models--ORGANIZATION--NAME".
std::string find_label(std::string_view path) {
  constexpr int kMaxParts = 5;
  constexpr std::string_view kCache = "models--";
  std::string label;
  if (const std::size_t cache = path.rfind(kCache); cache != std::string_view::npos)
    path = path.substr(0, path.find('/', cache));
  for (int i = 0; i < kMaxParts; ++i) {
    const std::size_t slash = path.rfind('/');
    const std::string_view part = path.substr(slash + 1);
    label = lower(part.substr(0, kLongestLabel));
    std::replace(label.begin(), label.end(), '_', '-');
    if (label.starts_with(kCache)) label.erase(0, label.rfind("--") + 2);
    // "qwen__qwen3-8b", as some name their folders
    if (const std::size_t owner = label.find("--"); owner != std::string::npos && owner > 0)
      label.erase(0, owner + 2);
    if (!is_a_place(label) || slash == std::string_view::npos) break;
    path = path.substr(0, slash);
  }
  for (const std::string_view end : {".yaml", ".nemo"})
    if (label.ends_with(end)) label.erase(label.size() - end.size());
  return label;
}

/// Returns the size in a name, "1.7b" or "350m", in parameters; 0 if it has none. The sizes of
/// experts ("8x7b", "30b-a3b") are no sizes of dense models.
double find_stated_size(std::string_view name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  constexpr std::size_t kLongest = 8;
  for (std::size_t begin = 0; begin < name.size(); ++begin) {
    if (!is_digit(name[begin]) || (begin > 0 && name[begin - 1] != '-')) continue;
    std::size_t end = begin;
    while (end < name.size() && end - begin < kLongest && (is_digit(name[end]) || name[end] == '.'))
      ++end;
    const bool whole = end + 1 == name.size() || (end + 1 < name.size() && name[end + 1] == '-');
    if (!whole || (name[end] != 'b' && name[end] != 'm')) continue;
    const std::string_view rest = name.substr(end + 1);
    if (rest.size() > 2 && rest[1] == 'a' && is_digit(rest[2])) return 0;
    const double number =
        std::strtod(std::string(name.substr(begin, end - begin)).c_str(), nullptr);
    return number * (name[end] == 'b' ? 1e9 : 1e6);
  }
  return 0;
}

/// "llama-3.1-8b-instruct-sft", "llama-3.1-8b-instruct", "llama-3.1-8b"
std::optional<model::Model> find_by_label(std::string text) {
  for (bool whole = true; !text.empty(); whole = false) {
    const std::string bare = strip_marks(text);
    if (whole || states_size(text))
      for (const catalog::KnownModel& known : catalog::list_known_models())
        if (strip_marks(known.model.name) == bare) return known.model;
    const std::size_t dash = text.find_last_of("-_");
    text.erase(dash == std::string::npos ? 0 : dash);
  }
  return std::nullopt;
}

}  // namespace

std::optional<model::Model> find_hub_model(std::string_view name) {
  std::string text = find_label(name);
  // Vicuna's names have their version before or behind the size.
  if (text.find("vicuna") != std::string::npos)
    for (const char* const size : {"7b", "13b"})
      if (text.find(size) != std::string::npos)
        return find_by_label(fmt::format("llama-2-{}", size));
  for (const auto& [from, to] : kSameShapes)
    if (text.starts_with(from)) {
      text = std::string(to) + text.substr(from.size());
      break;
    }
  return find_by_label(text);
}

std::optional<model::Model> find_language_model(std::string_view name) {
  const std::string text = find_label(name);
  for (const auto& [from, to] : kLanguageModels)
    if (text.starts_with(from)) return find_by_label(std::string(to) + text.substr(from.size()));
  return std::nullopt;
}

std::string find_model_of_size(std::string_view name) {
  constexpr double kNear = 2;
  const double size = find_stated_size(find_label(name));
  if (size <= 0) return {};
  std::string nearest, smallest;
  double least = std::log(kNear), lowest = 0;  // of the smallest model
  for (const catalog::KnownModel& known : catalog::list_known_models()) {
    // Models of today are the likelier shapes: dense, with gated feed-forward layers.
    if (known.model.sparse() || known.model.layer(0).ffn.matrices != 3) continue;
    const double parameters = double(count_parameters(known.model).total());
    if (smallest.empty() || parameters < lowest) {
      lowest = parameters;
      smallest = known.model.name;
    }
    const double ratio = parameters / size;
    const double distance = std::abs(std::log(ratio));
    if (distance >= least) continue;
    least = distance;
    nearest = known.model.name;
  }
  return nearest.empty() && size < lowest ? smallest : nearest;
}

}  // namespace rankwright::importer
