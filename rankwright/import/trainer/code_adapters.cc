// The adapters that the code of a training program makes, and the bits of the weights below them.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/base/trim.h"
#include "rankwright/import/trainer/code_settings.h"

namespace rankwright::importer {
namespace {

/// Flags that decide whether a program trains adapters, whatever its code has.
constexpr std::string_view kAdapterFlags[] = {"lora", "peft", "adapter", "finetuning_type",
                                              "train_type"};

/// Flags that state the bits of frozen weights.
constexpr std::string_view kBitFlags[] = {
    "bits", "quantization_bit", "load_in_4bit", "load_in_8bit", "q_lora", "qlora", "use_qlora"};

/// Flags that state the layers with adapters.
constexpr std::string_view kTargetKeys[] = {"lora_target_modules", "lora_target",
                                            "target_modules",      "peft_target_modules",
                                            "lora_target_linear",  "trainable"};

/// Returns the rank in the name of a folder: "sft-r32", "rank16". Empty if there is none.
std::string find_rank(std::string_view path) {
  for (const std::string_view mark : {"rank", "-r", "_r"}) {
    const std::size_t at = path.rfind(mark);
    if (at == std::string_view::npos) continue;
    std::string_view rest = path.substr(at + mark.size());
    const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
    if (!digits.empty() && digits.size() < 5) return std::string(digits);
  }
  return {};
}

/// Returns whether a condition asks for adapters, and not for the bits of the weights below them.
bool names_adapters(std::string_view condition) {
  constexpr std::string_view kBitNames[] = {"q_lora", "qlora", "quant"};
  constexpr std::string_view kAdapterNames[] = {"lora", "peft"};
  const std::string words = lower(condition);
  return condition.find('(') == std::string_view::npos && !has_part(words, kBitNames) &&
         has_part(words, kAdapterNames);
}

}  // namespace

void CodeSettings::add_adapters() {
  const bool decided =
      std::any_of(flags_.map.entries.begin(), flags_.map.entries.end(),
                  [](const YamlEntry& entry) { return has_part(entry.key.scalar, kAdapterFlags); });
  if ((!decided || !turns_adapters_on()) && !applies_adapters()) return;
  const auto [name, arguments] = find_adapters();
  if (name.empty() && program_.code().find("is_trainable=True") != std::string::npos)
    return continue_adapters();
  const std::optional<std::string> rank = program_.resolve(flags_, find_argument(arguments, "r"));
  if (!rank || !parse_count(*rank, 1)) return;
  // PEFT adapts queries and values of most models unless told otherwise.
  const std::string_view stated_targets = find_argument(arguments, "target_modules");
  const std::optional<std::string> option =
      is_dotted_name(stated_targets) ? program_.resolve(flags_, stated_targets) : std::nullopt;
  const std::string_view targets = option ? std::string_view(*option) : stated_targets;
  const std::string modules = targets.empty() && name == "LoraConfig" ? "q_proj,v_proj"
                              : option                                ? *option
                                                                      : read_names(targets);
  const bool adds_rank = !states_any(flags_, kRankKeys);
  const bool adds_modules = !modules.empty() && !states_any(flags_, kTargetKeys);
  if (!decided || !turns_adapters_on()) add_key(flags_, "use_lora", "true");
  if (adds_rank) add_key(flags_, "lora_r", *rank);
  if (adds_modules) add_key(flags_, "lora_target_modules", modules);
  for (const char* const bits : {"load_in_4bit", "load_in_8bit"})
    if (!has_key(flags_, bits) && !states_any(flags_, kBitFlags) && loads_in(bits))
      add_key(flags_, bits, "true");
  if (adds_rank || adds_modules)
    assume(fmt::format("adapters{}{}, as {} in {} has them",
                       adds_rank ? " of rank " + make_excerpt(*rank) : "",
                       adds_modules ? " on " + make_excerpt(modules) : "", name,
                       make_path_excerpt(program_.name())));
}

void CodeSettings::continue_adapters() {
  constexpr std::string_view kPaths[] = {"adapter_path", "adapter_name_or_path", "lora_path",
                                         "peft_path"};
  add_key(flags_, "use_lora", "true");
  std::string rank;
  for (const std::string_view path : kPaths)
    if (const YamlNode* const named = flags_.map.find(path); named != nullptr && rank.empty())
      rank = find_rank(named->scalar);
  if (!rank.empty()) add_key(flags_, "lora_r", rank);
  assume(fmt::format("adapters{} that {} trains further", rank.empty() ? "" : " of rank " + rank,
                     make_path_excerpt(program_.name())));
}

std::pair<std::string_view, std::vector<PythonArgument>> CodeSettings::find_adapters() const {
  for (const std::string_view name : {"LoraConfig", "get_peft_model"})
    if (std::vector<PythonArgument> arguments = list_call_arguments(name);
        !find_argument(arguments, "r").empty())
      return {name, std::move(arguments)};
  return {};
}

bool CodeSettings::applies_adapters() const {
  constexpr std::string_view kCalls[] = {"get_peft_model(", ".add_adapter("};
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const std::string_view text = statements_[i].text;
    if (text.starts_with("def ") || text.starts_with("from ")) continue;
    const bool given = text.find("peft_config=") != std::string_view::npos && passes_config(text);
    if ((has_part(text, kCalls) || given) && !asks_for_adapters(i)) return true;
  }
  const auto has = [&](std::string_view part) {
    return program_.code().find(part) != std::string::npos;
  };
  // Adapters of a checkpoint that are trained further.
  if (has("is_trainable=True") ||
      (has("PeftModel.from_pretrained(") && has("lora_") && has("requires_grad_(True)")))
    return true;
  return has("LoraConfig(") && !mentions_adapters();
}

bool CodeSettings::passes_config(std::string_view text) const {
  const std::string_view given =
      find_argument(list_named_arguments(text.substr(text.find("peft_config="))), "peft_config");
  if (is_dotted_name(given)) return given != "None";
  constexpr std::string_view kIf = " if ", kElse = " else ";
  const std::size_t condition = given.find(kIf), other = given.find(kElse);
  if (condition == std::string_view::npos || other == std::string_view::npos || condition > other)
    return given.find("LoraConfig(") != std::string_view::npos;
  const std::string choice =
      fmt::format("True if {} else False",
                  given.substr(condition + kIf.size(), other - condition - kIf.size()));
  return program_.resolve(flags_, choice) == "True";
}

bool CodeSettings::asks_for_adapters(std::size_t at) const {
  std::size_t indent = statements_[at].indent;
  for (std::size_t i = at; i-- > 0 && indent > 0;) {
    const PythonStatement& one = statements_[i];
    if (one.indent >= indent) continue;
    indent = one.indent;
    const bool condition = one.text.starts_with("if ") || one.text.starts_with("elif ");
    if (condition && names_adapters(one.text)) return true;
  }
  return false;
}

bool CodeSettings::mentions_adapters() const {
  return std::any_of(statements_.begin(), statements_.end(), [](const PythonStatement& one) {
    const std::size_t condition = one.text.find(" if ");
    const bool opens = one.text.starts_with("if ") || one.text.starts_with("elif ");
    return (opens && names_adapters(one.text)) ||
           (condition != std::string_view::npos && names_adapters(one.text.substr(condition)));
  });
}

bool CodeSettings::loads_in(std::string_view bits) const {
  constexpr std::string_view kIf = " if ", kElse = " else ";
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const std::string_view text = statements_[i].text;
    const std::size_t at = text.find(bits);
    // TRL's ModelConfig only collects settings.
    if (at == std::string_view::npos || is_conditional(i) || text.starts_with("def ") ||
        text.find("ModelConfig(") != std::string_view::npos)
      continue;
    const std::string_view given = find_argument(list_named_arguments(text.substr(at)), bits);
    const bool loads = text.find("from_pretrained(") != std::string_view::npos;
    if (given != "True" &&
        !(loads && is_dotted_name(given) && program_.resolve(flags_, given) == "True"))
      continue;
    const std::size_t condition = text.find(kIf, at);
    const std::size_t other = text.find(kElse, at);
    if (condition == std::string_view::npos || other == std::string_view::npos || condition > other)
      return true;
    const std::string choice =
        fmt::format("True if {} else False",
                    text.substr(condition + kIf.size(), other - condition - kIf.size()));
    if (program_.resolve(flags_, choice) == "True") return true;
  }
  return false;
}

bool CodeSettings::turns_adapters_on() const {
  for (const ForeignKey& known : fine_tuning_keys()) {
    const bool rank =
        std::find(std::begin(kRankKeys), std::end(kRankKeys), known.path) != std::end(kRankKeys);
    if (known.plan_key != "job.lora_rank" || rank) continue;
    const YamlNode* const stated = flags_.map.find(known.path);
    const bool on = stated != nullptr && !is_off(*stated) && stated->scalar != "full" &&
                    !stated->scalar.starts_with("freeze");
    if (stated != nullptr ? on : program_.defaults().contains(known.path)) return true;
  }
  return false;
}

}  // namespace rankwright::importer
