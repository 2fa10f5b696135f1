// Names the settings of training programs that no table knows (RW0618), and further models
// (RW0601).
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/import/framework/unknown_keys.h"
#include "rankwright/import/trainer/trainer_parts.h"

namespace rankwright::importer {
namespace {

/// Parts of names that speak of memory or of time: settings with them are named first.
constexpr std::string_view kWeighty[] = {
    "lora",   "adapter", "peft",    "freez",      "froz",   "tune_",  "trainable",
    "bit",    "quant",   "offload", "checkpoint", "dpo",    "expert", "moe",
    "sparse", "vision",  "encoder", "optim",      "fp8",    "fused",  "parallel",
    "batch",  "accum",   "attn",    "attention",  "memory", "length"};

/// Parts of names that speak of data, of files and of logs.
constexpr std::string_view kLight[] = {
    "path",  "dir",   "folder",   "file",      "data",   "eval",   "test",       "valid",
    "log",   "wandb", "prompt",   "image",     "video",  "audio",  "seed",       "save",
    "print", "name",  "template", "tokenizer", "url",    "warmup", "lr",         "rate",
    "decay", "port",  "host",     "key",       "column", "epoch",  "temperature"};

/// Names of further models: a role, and how a flag names a model.
constexpr std::string_view kRoles[] = {"reward", "critic",   "reference", "teacher",  "draft",
                                       "value",  "verifier", "diffusion", "assistant"};
constexpr std::string_view kModelEnds[] = {"_model",    "_model_name",   "_model_path",
                                           "_model_id", "_name_or_path", "_pretrained"};

bool names_second_model(std::string_view key) {
  const auto begins = [&](std::string_view role) { return key.starts_with(role); };
  const auto ends = [&](std::string_view end) { return key.ends_with(end); };
  const bool of_program = key.ends_with("_model_name_or_path") && !key.starts_with("base_");
  return of_program || (std::any_of(std::begin(kRoles), std::end(kRoles), begins) &&
                        std::any_of(std::begin(kModelEnds), std::end(kModelEnds), ends));
}

}  // namespace

void report_unread_settings(ForeignReading& r, std::span<const ForeignKey> rows) {
  constexpr std::size_t kMaxListed = 16;
  const KnownKeys& known = KnownKeys::find("fine-tuning");
  std::vector<std::string> weighty, others;
  const YamlNode* first = nullptr;
  for (const YamlEntry& entry : r.root.entries) {
    const std::string_view key = entry.key.scalar;
    const bool section = entry.value.kind == YamlNode::Kind::map;
    if (section || has_row(rows, key) || known.contains(key) || is_off(entry.value)) continue;
    const std::string name = lower(key.substr(0, kLongestLabel));
    if (names_second_model(name)) {
      report_left_out(r, entry.value, "only the trained model is counted, without this one");
      continue;
    }
    const bool weighs = has_part(name, kWeighty);
    if (!weighs && has_part(name, kLight)) continue;
    if (first == nullptr) first = &entry.key;
    (weighs ? weighty : others).push_back(fmt::format("{}{}", r.dashes, make_excerpt(key)));
  }
  if (first == nullptr) return;
  weighty.insert(weighty.end(), others.begin(), others.end());
  report_ignored_names(r, *first, weighty, kMaxListed);
}

}  // namespace rankwright::importer
