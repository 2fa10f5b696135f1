// The arguments that the code of a training program gives its trainer, and the defaults of its
// options.
#include "rankwright/import/trainer/code_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/base/trim.h"

namespace rankwright::importer {
namespace {

/// The classes of arguments that programs construct, and the methods of TRL's.
struct ArgumentsClass {
  std::string_view name, method{};
};
constexpr ArgumentsClass kArgumentsClasses[] = {
    {"GRPOConfig", "grpo"},       {"DPOConfig", "dpo"},  {"ORPOConfig", "orpo"},
    {"GKDConfig", "gkd"},         {"GOLDConfig", "gkd"}, {"SFTConfig"},
    {"Seq2SeqTrainingArguments"}, {"TrainingArguments"}};

constexpr std::string_view kOtherLengths[] = {
    "cutoff_len", "model_max_length",  "block_size",        "source_max_len",
    "seq_length", "max_source_length", "max_target_length", "context_length",
    "max_len",    "seq_len",           "max_prompt_length"};

constexpr std::string_view kTrainerArguments[] = {"max_length", "max_seq_length",
                                                  "max_prompt_length"};

/// Keys that a switch turns on: they count only if it is on.
constexpr std::string_view kAdapterParts[] = {"job.lora_rank", "job.lora_modules",
                                              "job.base_dtype"};

/// Parts of the names of variables that hold arguments, and keys that only these have.
constexpr std::string_view kCollections[] = {"kwargs", "_args", "config"};

constexpr std::string_view kArgumentKeys[] = {
    "per_device_train_batch_size", "gradient_accumulation_steps", "gradient_checkpointing"};

/// Returns the first class of arguments that a program constructs; nullptr if there is none.
const ArgumentsClass* find_arguments_class(std::string_view code) {
  for (const ArgumentsClass& row : kArgumentsClasses)
    if (const std::string_view call = find_python_call(code, row.name);
        trim(call).starts_with("**") || !list_named_arguments(call).empty())
      return &row;
  return nullptr;
}
}  // namespace

void CodeSettings::drop_unused_kernels() {
  constexpr std::string_view kSwitch = "use_liger";
  constexpr std::string_view kCalls[] = {"apply_liger", "AutoLiger", "use_liger_kernel"};
  if (flags_.map.find(kSwitch) == nullptr || !program_.defaults().contains(kSwitch) ||
      calls_any(kCalls))
    return;
  for (YamlEntry& entry : flags_.map.entries)
    if (entry.key.scalar == kSwitch) entry.value.scalar = "false";
  assume(fmt::format("no Liger kernels: {} defines the switch and never applies them",
                     make_path_excerpt(program_.name())));
}

void CodeSettings::add_arguments() {
  std::vector<std::string> added;
  add_preparation(added);
  constexpr std::string_view kUnsloth[] = {"FastLanguageModel.get_peft_model",
                                           "FastVisionModel.get_peft_model",
                                           "FastModel.get_peft_model"};
  if (const std::string_view adapters = find_python_call(program_.code(), "get_peft_model");
      !adapters.empty() && calls_any(kUnsloth)) {  // which recomputes unless told otherwise
    const std::string_view recomputes =
        find_argument(list_named_arguments(adapters), "use_gradient_checkpointing");
    add_resolved("gradient_checkpointing", recomputes == "False" ? "False" : "True", added);
  }
  constexpr std::string_view kEnable = ".gradient_checkpointing_enable(";
  for (std::size_t i = 0; i < statements_.size(); ++i)
    if (statements_[i].text.find(kEnable) != std::string_view::npos && !is_conditional(i))
      add_resolved("gradient_checkpointing", "True", added);
  add_assigned(added);
  for (const std::string_view trainer : kTrainers) {
    const std::vector<PythonArgument> lengths =
        list_named_arguments(find_python_call(program_.code(), trainer));
    for (const std::string_view key : kTrainerArguments)
      add_resolved(key, find_argument(lengths, key), added);
  }
  if (const ArgumentsClass* const row = find_arguments_class(program_.code())) {
    const std::string_view call = find_python_call(program_.code(), row->name);
    const std::vector<PythonArgument> arguments = list_named_arguments(call);
    for (const ForeignKey& known : fine_tuning_keys())
      add_resolved(known.path, find_argument(arguments, known.path), added);
    add_collected(call, added);
  }
  add_method();
  add_tokenized_length(added);
  constexpr std::string_view kTuners[] = {"SFTTrainer", "SFTConfig"};
  if (calls_any(kTuners) && !has_key(flags_, kTrlMark)) add_key(flags_, kTrlMark, "true");
  report(added, fmt::format("as {} has them", make_path_excerpt(program_.name())));
}

void CodeSettings::add_defaults() {
  const std::vector<std::string_view> stated = list_stated();
  const bool adapters = turns_adapters_on();
  std::vector<std::string> added;
  std::set<std::string_view> decided(stated.begin(), stated.end());
  for (const ForeignKey& known : fine_tuning_keys()) {
    const auto found = program_.defaults().find(known.path);
    if (found == program_.defaults().end() || has_key(flags_, known.path)) continue;
    if (is_abbreviated(known.path)) continue;
    const bool of_adapters = std::find(std::begin(kAdapterParts), std::end(kAdapterParts),
                                       known.plan_key) != std::end(kAdapterParts);
    if (of_adapters ? !adapters : !known.plan_key.empty() && !decided.insert(known.plan_key).second)
      continue;
    if (known.path == "lora_r" && states_any(flags_, kRankKeys)) continue;
    add_key(flags_, known.path, found->second);
    added.push_back(fmt::format("{} {}", known.path, make_excerpt(found->second)));
  }
  report(added, fmt::format("the defaults of {}", make_path_excerpt(program_.name())));
}

void CodeSettings::add_tokenized_length(std::vector<std::string>& added) {
  constexpr std::string_view kLength = "max_length=";
  constexpr i64 kShortest = 32;
  if (states_any(flags_, kLengthKeys) || states_any(flags_, kOtherLengths)) return;
  std::optional<i64> longest;
  for (const PythonStatement& statement : statements_) {
    const std::size_t at = statement.text.find(kLength);
    if (at == std::string_view::npos || statement.text.find("truncation") == std::string_view::npos)
      continue;
    const std::optional<std::string> value = program_.resolve(
        flags_, find_argument(list_named_arguments(statement.text.substr(at)), "max_length"));
    const Result<i64> n = parse_count(value.value_or(""), kShortest);
    if (n && (!longest || *n > *longest)) longest = *n;
  }
  if (longest) add_resolved("max_seq_length", std::to_string(*longest), added);
}

void CodeSettings::add_method() {
  const ArgumentsClass* row = find_arguments_class(program_.code());
  for (const ArgumentsClass& one : kArgumentsClasses)
    if (row == nullptr && program_.parsed_classes().contains(one.name)) row = &one;
  if (row != nullptr && !row->method.empty() && !has_key(flags_, "rl") &&
      !has_key(flags_, "rlhf_type"))
    add_key(flags_, "rl", row->method);
}

void CodeSettings::add_assigned(std::vector<std::string>& added) {
  constexpr std::string_view kOwner = "_args.";
  for (const PythonStatement& statement : statements_) {
    const PythonArgument assigned = parse_argument(statement.text);
    const std::size_t at = assigned.name.find(kOwner);
    if (at == std::string_view::npos) continue;
    const std::string_view key = assigned.name.substr(at + kOwner.size());
    if (has_row(fine_tuning_keys(), key)) add_resolved(key, assigned.value, added);
  }
}

bool CodeSettings::states_map(std::string_view name) const {
  return std::any_of(statements_.begin(), statements_.end(), [&](const PythonStatement& one) {
    const PythonArgument made = parse_argument(one.text);
    return made.name == name &&
           (made.value.starts_with("dict(") ||
            (made.value.starts_with('{') && made.value.find(" for ") == std::string_view::npos));
  });
}

void CodeSettings::add_collected(std::string_view call_text, std::vector<std::string>& added) {
  std::vector<std::string_view> passed;
  for (const std::string_view one : split_arguments(call_text))
    if (one.starts_with("**") && states_map(trim(one.substr(2))))
      passed.push_back(trim(one.substr(2)));
  for (const PythonStatement& statement : statements_) {
    const PythonArgument one = parse_argument(statement.text);
    if (!passed.empty() && std::find(passed.begin(), passed.end(), one.name) == passed.end())
      continue;
    if (!has_part(lower(one.name.substr(0, kLongestLabel)), kCollections) &&
        !has_part(one.value, kArgumentKeys))
      continue;
    for (const PythonArgument& item : list_map_items(one.value))
      if (has_row(fine_tuning_keys(), item.name)) add_resolved(item.name, item.value, added);
  }
}

std::vector<PythonArgument> CodeSettings::list_call_arguments(std::string_view name) const {
  const std::string_view call = find_python_call(program_.code(), name);
  std::vector<PythonArgument> all = list_named_arguments(call);
  for (const std::string_view one : split_arguments(call)) {
    if (!one.starts_with("**")) continue;
    for (const PythonStatement& statement : statements_) {
      const PythonArgument made = parse_argument(statement.text);
      if (made.name != trim(one.substr(2))) continue;
      const std::vector<PythonArgument> items = list_map_items(made.value);
      all.insert(all.end(), items.begin(), items.end());
      break;
    }
  }
  return all;
}

bool CodeSettings::calls_any(std::span<const std::string_view> names) const {
  for (const PythonStatement& statement : statements_)
    if (!statement.text.starts_with("from ") && !statement.text.starts_with("import ") &&
        has_part(statement.text, names))
      return true;
  return false;
}

bool CodeSettings::is_conditional(std::size_t at) const {
  std::size_t indent = statements_[at].indent;
  for (std::size_t i = at; i-- > 0 && indent > 0;) {
    const PythonStatement& one = statements_[i];
    if (one.indent >= indent) continue;
    indent = one.indent;
    if (one.text.starts_with("if ") || one.text.starts_with("elif ") ||
        one.text.starts_with("else"))
      return true;
  }
  return false;
}

bool CodeSettings::is_abbreviated(std::string_view option) const {
  constexpr std::size_t kShortest = 4;
  return std::any_of(flags_.map.entries.begin(), flags_.map.entries.end(),
                     [&](const YamlEntry& entry) {
                       const std::string_view flag = entry.key.scalar;
                       return flag.size() >= kShortest && option.starts_with(flag);
                     });
}

std::vector<std::string_view> CodeSettings::list_stated() const {
  std::vector<std::string_view> stated;
  for (const ForeignKey& known : fine_tuning_keys())
    if (!known.plan_key.empty() && has_key(flags_, known.path)) stated.push_back(known.plan_key);
  return stated;
}

void CodeSettings::add_resolved(std::string_view key, std::string_view expression,
                                std::vector<std::string>& added) {
  if (has_key(flags_, key)) return;
  const std::optional<std::string> value = program_.resolve(flags_, expression);
  if (!value) return open_setting(key, expression);
  add_key(flags_, key, *value);
  added.push_back(fmt::format("{} {}", key, make_excerpt(*value)));
}

void CodeSettings::open_setting(std::string_view key, std::string_view expression) {
  constexpr std::string_view kOpened[] = {"per_device_train_batch_size",
                                          "gradient_accumulation_steps",
                                          "max_length",
                                          "max_seq_length",
                                          "max_prompt_length",
                                          "max_completion_length",
                                          "gradient_checkpointing",
                                          "optim"};
  const bool opened = std::find(std::begin(kOpened), std::end(kOpened), key) != std::end(kOpened);
  if (opened && !expression.empty() && expression != "None")
    flags_.unknown.push_back({std::string(key), "an expression", YamlNode{}});
}

std::string CodeSettings::stated_model() const {
  for (const YamlEntry& entry : flags_.map.entries)
    if (is_model_key(entry.key.scalar)) return entry.value.scalar.substr(0, kLongestLabel);
  return {};
}

void CodeSettings::report(const std::vector<std::string>& added, const std::string& source) {
  if (!added.empty()) assume(fmt::format("{}, {}", fmt::join(added, ", "), source));
}

void CodeSettings::assume(std::string text) {
  plan_.findings.push_back(make_assumption(std::move(text), "", {.file = plan_.name}));
}

bool constructs_arguments(std::string_view code) {
  return find_arguments_class(blank_python_comments(std::string(code))) != nullptr;
}

bool runs_trainer_program(std::string_view text, const std::string& name, const FileReader& files,
                          ShellInput variables) {
  if (text.find(".py") == std::string_view::npos && text.find(" -m ") == std::string_view::npos)
    return false;
  variables.file = name;
  variables.files = files;
  const std::string program = read_script_flags(text, variables).module;
  if (program.empty()) return false;
  const Result<std::string> code =
      read_named_file(files, name, program.ends_with(".py") ? program : find_module_file(program));
  return code && constructs_arguments(*code);
}

bool add_code_settings(ScriptFlags& flags, const FileReader& files, PlanFile& plan) {
  const std::optional<TrainerProgram> program = TrainerProgram::read(flags, plan.name, files);
  if (!program) return false;
  CodeSettings settings(flags, *program, plan);
  settings.drop_unused_kernels();
  settings.add_adapters();
  settings.add_arguments();
  settings.add_defaults();
  settings.add_loaded_model();
  settings.report_frozen();
  settings.add_pinned_defaults(files);
  return true;
}

}  // namespace rankwright::importer
