// The model that the code of a training program loads: its name, the format of its weights, what
// prepares or freezes it, and the defaults of the releases that the repository pins.
#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/base/trim.h"
#include "rankwright/import/plan/hub_model.h"
#include "rankwright/import/trainer/code_settings.h"

namespace rankwright::importer {
namespace {

/// Names of variables that hold further models.
constexpr std::string_view kFurtherModels[] = {"teacher", "reward", "critic", "draft",
                                               "judge",   "old_",   "model2", "model_2"};

/// Returns the implementation of attention that a model is loaded with, also by its older name.
std::string_view find_attention(const std::vector<PythonArgument>& arguments) {
  const std::string_view named = find_argument(arguments, "attn_implementation");
  return named.empty() ? find_argument(arguments, "_attn_implementation") : named;
}

/// Returns the version that a file pins a package to: "4.28.1" of "transformers==4.28.1", or of
/// a lock file. Empty if it does not.
std::string_view find_pinned(std::string_view text, std::string_view package) {
  constexpr std::string_view kDigits = "0123456789.";
  const std::string pins[] = {fmt::format("{}==", package),
                              fmt::format("name = \"{}\"\nversion = \"", package)};
  for (const std::string& pin : pins)
    for (std::size_t at = text.find(pin); at != std::string_view::npos;
         at = text.find(pin, at + 1)) {
      const bool whole =
          at == 0 || std::string_view("\n\"' ").find(text[at - 1]) != std::string_view::npos;
      const std::string_view rest = text.substr(at + pin.size());
      if (whole) return rest.substr(0, rest.find_first_not_of(kDigits));
    }
  return {};
}

/// Returns whether a version is before MAJOR.MINOR.
bool is_before(std::string_view version, i64 major, i64 minor) {
  const std::size_t dot = version.find('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view rest = version.substr(dot + 1);
  const Result<i64> first = parse_count(version.substr(0, dot), 0);
  const Result<i64> second = parse_count(rest.substr(0, rest.find('.')), 0);
  return first && second && (*first < major || (*first == major && *second < minor));
}

/// Returns whether the class before `from_pretrained` is one of language models.
bool loads_language_model(std::string_view before) {
  constexpr std::string_view kClasses[] = {"CausalLM",  "ConditionalGeneration",
                                           "AutoModel", "LanguageModel",
                                           "FastModel", "FastVisionModel"};
  return has_part(before, kClasses);
}

}  // namespace

void CodeSettings::add_pinned_defaults(const FileReader& files) {
  constexpr std::string_view kFiles[] = {"requirements.txt", "uv.lock", "pyproject.toml",
                                         "environment.yml"};
  constexpr std::string_view kKernels[] = {"flash", "xformers", "sdpa"};
  constexpr std::string_view kKeys[] = {"attn_implementation", "attn_impl", "flash_attn",
                                        "use_flash_attn"};
  const std::string folder = program_.name().substr(0, program_.name().rfind('/') + 1);
  for (const std::string_view file : kFiles) {
    Result<std::string> text = read_named_file(files, plan_.name, folder + std::string(file));
    if (!text) text = read_named_file(files, plan_.name, std::string(file));
    if (!text) continue;
    const std::string_view transformers = find_pinned(*text, "transformers");
    const std::string_view trl = find_pinned(*text, "trl");
    if (!trl.empty() && !is_before(trl, 0, 22) && !has_key(flags_, kNewMark))
      add_key(flags_, kNewMark, "true");
    const bool gemma = lower(stated_model()).find("gemma-2") != std::string::npos;
    if (!transformers.empty() && is_before(transformers, 4, gemma ? 48 : 36) &&
        !states_any(flags_, kKeys) && !has_part(program_.code(), kKernels)) {
      add_key(flags_, "attn_implementation", "eager");
      assume(fmt::format("unfused attention: {} pins transformers {}", file,
                         make_excerpt(transformers)));
    }
    if (!transformers.empty()) return;
  }
}

void CodeSettings::report_frozen() {
  constexpr std::string_view kFor = "for ", kIn = " in ", kParameters = ".parameters():";
  constexpr std::string_view kParts[] = {"model", "backbone", "llm", "decoder", "transformer"};
  if (turns_adapters_on() || states_any(flags_, kRankKeys)) return;
  for (std::size_t i = 0; i + 1 < statements_.size(); ++i) {
    const std::string_view text = statements_[i].text;
    const std::size_t in = text.find(kIn);
    if (!text.starts_with(kFor) || in == std::string_view::npos || !text.ends_with(kParameters) ||
        is_conditional(i))
      continue;
    const std::string_view name = text.substr(kFor.size(), in - kFor.size());
    const std::string_view owner =
        text.substr(in + kIn.size(), text.size() - in - kIn.size() - kParameters.size());
    const PythonArgument set = parse_argument(statements_[i + 1].text);
    if (set.name != fmt::format("{}.requires_grad", name) || set.value != "False" ||
        !has_part(owner.substr(owner.rfind('.') + 1), kParts))
      continue;
    plan_.findings.push_back(
        {.code = "RW0601",
         .severity = Severity::warning,
         .message = "the estimate does not include this setting",
         .detail = fmt::format("{} freezes {}: all parameters are estimated as trained",
                               make_path_excerpt(program_.name()), make_excerpt(owner)),
         .where = {.file = plan_.name}});
    return;
  }
}

void CodeSettings::add_loaded_model() {
  constexpr std::string_view kLoads = ".from_pretrained(";
  const std::string_view code = program_.code();
  std::set<std::string> formats;
  std::vector<std::string> further, lengths;
  std::optional<std::string> model;
  bool loads = false;    // there is such a call
  bool open = false;     // a format is not known
  bool unstated = true;  // no format is stated
  for (const PythonStatement& statement : statements_) {
    const std::size_t at = statement.text.find(kLoads);
    if (at == std::string_view::npos || !loads_language_model(statement.text.substr(0, at)))
      continue;
    loads = true;
    const std::string_view call = statement.text.substr(at + kLoads.size());
    const std::vector<PythonArgument> arguments = list_named_arguments(call);
    const std::string_view variable = parse_argument(statement.text).name;
    if (has_part(lower(variable), kFurtherModels)) {
      further.emplace_back(variable);
      continue;
    }
    std::string_view format = find_argument(arguments, "torch_dtype");
    if (format.empty()) {
      format = find_argument(arguments, "dtype");
      if (!format.empty() && !has_key(flags_, kNewMark)) add_key(flags_, kNewMark, "true");
    }
    unstated = unstated && format.empty() && call.find("quantization_config") == call.npos &&
               call.find("**") == call.npos && call.find("load_in_") == call.npos;
    if (const std::optional<std::string> kernel =
            program_.resolve(flags_, find_attention(arguments));
        kernel && *kernel == "eager" && !has_key(flags_, "attn_implementation"))
      add_key(flags_, "attn_implementation", "eager");
    if (const std::string_view length = find_argument(arguments, "max_seq_length");
        !length.empty() && !states_any(flags_, kLengthKeys))
      add_resolved("max_seq_length", length, lengths);
    if (program_.resolve(flags_, find_argument(arguments, "device_map")) == "auto" &&
        !has_key(flags_, kSpreadMark))
      add_key(flags_, kSpreadMark, "true");
    const std::optional<std::string> value = program_.resolve(flags_, format);
    if (value) formats.insert(*value);
    open = open || (!value && !format.empty());
    if (model) continue;
    const std::vector<std::string_view> all = split_arguments(call);
    std::string_view name = find_argument(arguments, "model_name");
    if (name.empty()) name = find_argument(arguments, "pretrained_model_name_or_path");
    if (name.empty() && !all.empty() && parse_argument(all.front()).name.empty())
      name = all.front();
    model = program_.resolve(flags_, name);
  }
  for (const PythonStatement& statement : statements_)
    if (const PythonArgument one = parse_argument(statement.text);
        one.name.empty() && formats.empty() &&
        statement.text.find("[\"torch_dtype\"] = ") != std::string_view::npos) {
      const std::size_t value = statement.text.find(" = ");
      if (const auto format = program_.resolve(flags_, statement.text.substr(value + 3)))
        formats.insert(*format);
    }
  // The weights that adapters will freeze: TRL's trainer adds them later.
  if (casts_before_adapters()) {
    for (YamlEntry& entry : flags_.map.entries)
      if (entry.key.scalar == "torch_dtype" || entry.key.scalar == "dtype")
        entry.value.scalar = "float32";
    formats = {"float32"};
    open = false;
  }
  if (const std::string cast = find_cast(); !cast.empty()) {
    formats = {cast};
    open = false;
  }
  for (const std::string_view trainer : kTrainers)
    if (const std::optional<std::string> name = program_.resolve(
            flags_, find_argument(list_named_arguments(find_python_call(code, trainer)), "model"));
        !model && name && (name->find('/') != std::string::npos || find_hub_model(*name))) {
      model = name;
      loads = true;  // by the trainer, in fp32 unless its arguments state a format
      unstated = unstated && code.find("model_init_kwargs") == std::string_view::npos;
    }
  std::vector<std::string> added;
  const bool named =
      std::any_of(flags_.map.entries.begin(), flags_.map.entries.end(),
                  [](const YamlEntry& entry) { return is_model_key(entry.key.scalar); });
  if (model && !named) add_resolved("model_name_or_path", "'" + *model + "'", added);
  // A call without a format is that of another branch.
  if (formats.size() == 1 && !open && !has_key(flags_, "dtype"))
    add_resolved("torch_dtype", "'" + *formats.begin() + "'", added);
  // transformers before 5 loads fp32 weights, which adapters leave so.
  constexpr std::string_view kComputes[] = {"bf16", "fp16"};
  if (formats.empty() && loads && unstated && states_any(flags_, kComputes) &&
      !has_key(flags_, "dtype"))
    add_resolved("torch_dtype", "'float32'", added);
  added.insert(added.end(), lengths.begin(), lengths.end());
  report(added, fmt::format("as {} loads the model", make_path_excerpt(program_.name())));
  if (!further.empty())
    assume(fmt::format("{} in {} is not counted: only the trained model is estimated",
                       make_excerpt(fmt::format("{}", fmt::join(further, ", "))),
                       make_path_excerpt(program_.name())));
}

void CodeSettings::add_preparation(std::vector<std::string>& added) {
  constexpr std::string_view kCalls[] = {"prepare_model_for_kbit_training(",
                                         "prepare_model_for_int8_training("};
  constexpr std::string_view kBits[] = {"load_in_4bit",     "load_in_8bit", "bits",
                                        "quantization_bit", "use_4bit",     "use_8bit",
                                        "q_lora",           "qlora"};
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const std::string_view text = statements_[i].text;
    if (!has_part(text, kCalls) || text.starts_with("from ") || text.starts_with("def ")) continue;
    const std::size_t call = text.find("prepare_model_for_");
    const std::string_view switched = find_argument(
        list_named_arguments(text.substr(text.find('(', call) + 1)), "use_gradient_checkpointing");
    const bool few = loads_in("load_in_4bit") || loads_in("load_in_8bit") ||
                     states_any(flags_, kBits) || is_conditional(i);
    const bool off =
        switched == "False" || (!switched.empty() && program_.resolve(flags_, switched) == "False");
    if (few && !off) add_resolved("gradient_checkpointing", "True", added);
    if (!few && !has_key(flags_, "torch_dtype") && !has_key(flags_, "dtype"))
      add_resolved("torch_dtype", "'float32'", added);
    return;
  }
}

bool CodeSettings::casts_before_adapters() const {
  constexpr std::string_view kCasts[] = {".data.to(torch.float32)", ".data.float()"};
  bool passed = false;
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const std::string_view text = statements_[i].text;
    if (text.find("get_peft_model(") != std::string_view::npos && !text.starts_with("def "))
      return false;
    passed = passed || (has_part(text, kCasts) && !is_conditional(i));
  }
  return passed && program_.code().find("peft_config=") != std::string::npos;
}

std::string CodeSettings::find_cast() const {
  constexpr std::pair<std::string_view, const char*> kCasts[] = {
      {"model.bfloat16()", "bfloat16"},
      {"model.half()", "float16"},
      {"model.to(torch.bfloat16)", "bfloat16"},
      {"model.to(torch.float16)", "float16"}};
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const std::string_view text = statements_[i].text;
    for (const auto& [cast, format] : kCasts)
      if (trim(text.substr(text.find('=') + 1)) == cast && !is_conditional(i)) return format;
  }
  return {};
}

}  // namespace rankwright::importer
