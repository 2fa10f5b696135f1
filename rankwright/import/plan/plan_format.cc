#include "rankwright/import/plan/plan_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "rankwright/base/format.h"
#include "rankwright/base/shell_word.h"
#include "rankwright/base/trim.h"
#include "rankwright/import/log/run_log.h"

namespace rankwright::importer {
namespace {

bool is_shell_script(std::string_view name, std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  return name.ends_with(".sh") || name.ends_with(".sbatch") ||
         (first.starts_with("#!") && first.ends_with("sh"));
}

/// Returns the scripts that a shell script runs or sources, but none that only sets up an
/// environment: those that it runs first. One in a folder that the script enters is listed there,
/// too.
std::vector<std::string> list_named_scripts(std::string_view text) {
  constexpr std::size_t kMaxScripts = 8;
  constexpr std::string_view kStops = " \t;&|()\"'";
  std::vector<std::string> files, sourced;
  std::string folder;
  while (!text.empty() && files.size() + sourced.size() < kMaxScripts) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('#')) continue;
    std::string_view before;
    for (bool first = true; !line.empty(); first = false) {
      const std::size_t begin = line.find_first_not_of(kStops);
      if (begin == std::string_view::npos) break;
      const std::size_t stop = std::min(line.find_first_of(kStops, begin), line.size());
      const std::string_view word = line.substr(begin, stop - begin);
      line.remove_prefix(stop);
      constexpr std::string_view kRuns[] = {"bash", "sh", "source", ".", "exec"};
      const bool runs = std::find(std::begin(kRuns), std::end(kRuns), before) != std::end(kRuns) ||
                        before.starts_with("-") || first;
      if (before == "cd") folder = word;
      const bool script = word.ends_with(".sh") && (runs || word.starts_with("./"));
      const bool source = (before == "source" || before == ".") && !word.starts_with('-');
      if ((script || source) && !is_environment_script(word)) {
        std::vector<std::string>& list = source ? sourced : files;
        list.emplace_back(word);
        if (!folder.empty() && !word.starts_with('/')) list.push_back(folder + "/" + list.back());
      }
      before = word;
    }
  }
  files.insert(files.end(), sourced.begin(), sourced.end());
  return files;
}

/// Refuses a shell script without flags: names the file that may have them.
Diagnostic refuse_script(const PlanFile& plan) {
  const std::vector<std::string> named = list_named_scripts(plan.text);
  const std::string file = named.empty() ? "" : make_excerpt(named.front(), 200);
  Diagnostic found{.code = "RW0603",
                   .message = "no training settings in this script",
                   .detail = "a script of another launcher or framework",
                   .hint = "rankwright import --list",
                   .where = {.file = plan.name}};
  if (file.empty()) return found;
  found.detail = fmt::format("it runs {}: check that file", file);
  found.hint = "rankwright check " + quote_shell_path(file);
  return found;
}

/// Reads the files that no other format claims. Rejects a file that is neither YAML nor named so.
void read_own_format(PlanFile& plan, const FileReader& files) {
  if (is_shell_script(plan.name, plan.text)) {
    plan.findings = {refuse_script(plan)};
    return;
  }
  // A job of MosaicML's or another scheduler, which runs a command in an image.
  if (plan.text.find("\ncommand:") != std::string::npos &&
      plan.text.find("\nimage:") != std::string::npos) {
    plan.findings = {{.code = "RW0603",
                      .message = "unrecognized file format",
                      .detail = "a job of a scheduler: its command is not read",
                      .hint = "put the command into a script, and check that",
                      .where = {.file = plan.name}}};
    return;
  }
  plan = read_plan(std::move(plan.text), std::move(plan.name), files);
  const bool named_yaml = plan.name.ends_with(".yaml") || plan.name.ends_with(".yml");
  const bool no_yaml = !plan.findings.empty() && plan.findings.front().code == "RW0901";
  if (named_yaml || plan.name == "-" || !no_yaml) return;
  const bool log = read_run_log(plan.text, plan.name).has_value();
  plan.findings = {
      {.code = "RW0603",
       .message = "unrecognized file format",
       .detail = log ? "it is the log of a run, and does not include the run's arguments"
                     : "neither its name nor its content matches a supported format",
       .hint = log ? "rankwright compare PLAN --log " + make_excerpt(plan.name, 200)
                   : "rankwright import --list",
       .where = {.file = plan.name}}};
}

constexpr PlanFormat kPlanFormats[] = {
    {"verl", "verl launch script or YAML: the training of the actor", rules::Target::any,
     claims_verl, read_verl, nullptr, nullptr, false, true},
    {"openrlhf", "OpenRLHF launch script: the training of the actor", rules::Target::any,
     claims_openrlhf, read_openrlhf, nullptr, nullptr, false, true},
    {"nemo-rl", "NeMo-RL YAML or launch script: the training of the policy", rules::Target::any,
     claims_nemo_rl, read_nemo_rl, nullptr, nullptr, false, true},
    {"automodel", "NeMo Automodel YAML config", rules::Target::any, claims_automodel,
     read_automodel},
    {"gpt-neox", "GPT-NeoX YAML config or launch script", rules::Target::any, claims_gpt_neox,
     read_gpt_neox, nullptr, nullptr, false, true},
    {"llm-foundry", "llm-foundry YAML config or launch script", rules::Target::any,
     claims_llm_foundry, read_llm_foundry, nullptr, nullptr, false, true},
    {"maxtext", "MaxText YAML config or launch script", rules::Target::any, claims_maxtext,
     read_maxtext, nullptr, nullptr, false, true},
    {"torchtitan-python", "torchtitan Python config: its first function", rules::Target::any,
     claims_torchtitan_python, read_torchtitan_python, nullptr, nullptr, false, true},
    {"torchtitan-script", "torchtitan launch script", rules::Target::any, claims_torchtitan_script,
     read_torchtitan_script, nullptr, nullptr, false, true},
    {"megatron", "Megatron-LM launch script, YAML arguments or log", rules::Target::megatron,
     claims_megatron, read_megatron, spell_megatron, nullptr, true, true},
    {"torchtitan-0.2", "torchtitan TOML config", rules::Target::torchtitan_0_2, claims_torchtitan,
     read_torchtitan, spell_torchtitan, check_resolved_torchtitan, true},
    {"deepspeed", "DeepSpeed JSON config", rules::Target::deepspeed, claims_deepspeed,
     read_deepspeed, spell_deepspeed, check_resolved_deepspeed},
    {"fine-tuning", "LLaMA-Factory, axolotl or TRL YAML, or script of the Trainer",
     rules::Target::any, claims_fine_tuning, read_fine_tuning, nullptr, nullptr, false, true},
    {"nanotron", "nanotron YAML config", rules::Target::nanotron, claims_nanotron, read_nanotron,
     spell_nanotron, nullptr, true},
    {"accelerate", "accelerate YAML config", rules::Target::accelerate, claims_accelerate,
     read_accelerate, spell_accelerate, check_resolved_accelerate, true},
    {"rankwright", "a plan file", rules::Target::any,
     [](std::string_view, std::string_view) { return true; }, read_own_format},
};

}  // namespace

std::span<const PlanFormat> plan_formats() { return kPlanFormats; }

const PlanFormat* find_plan_format(std::string_view name) {
  const auto found = std::find_if(std::begin(kPlanFormats), std::end(kPlanFormats),
                                  [&](const PlanFormat& format) { return format.name == name; });
  return found == std::end(kPlanFormats) ? nullptr : found;
}

PlanFile read_plan_as(const PlanFormat& format, std::string text, std::string name,
                      const FileReader& files, const ShellInput& variables) {
  PlanFile plan{.name = std::move(name), .text = std::move(text), .variables = variables};
  format.read(plan, files);
  plan.format = &format;
  if (!variables.variables.empty() && !format.scripts)
    plan.findings.push_back({.code = "RW0902",
                             .severity = Severity::warning,
                             .message = "unknown key, ignored",
                             .detail = fmt::format("--set {}: only scripts have variables",
                                                   variables.variables.begin()->first),
                             .where = {.file = plan.name}});
  // A file without a single key of the format is something else.
  const bool states = plan.draft.model || plan.draft.micro_batch || plan.draft.lora_rank;
  if (format.read != read_own_format && plan.keys.empty() && !states && !has_errors(plan.findings))
    plan.findings.push_back(
        {.code = "RW0603",
         .message = "unrecognized file format",
         .detail = fmt::format("it has no {} setting that affects the layout", format.name),
         .hint = "rankwright import --list",
         .where = {.file = plan.name}});
  return plan;
}

namespace {

/// Returns the format of the script that another one runs or sources, which may set its variables;
/// nullptr if it cannot be read or has none.
const PlanFormat* find_format_of_run(std::string_view text, const std::string& name,
                                     const FileReader& files) {
  for (std::string file : list_named_scripts(text)) {
    if (const std::size_t folder = file.rfind("}/"); folder != std::string::npos)
      file.erase(0, folder + 2);  // "${DIR}/train.sh"
    else if (file.starts_with('$') && file.find('/') != std::string::npos)
      file.erase(0, file.find('/') + 1);
    const Result<std::string> there = read_named_file(files, name, file);
    if (!there) continue;
    const auto found =
        std::find_if(std::begin(kPlanFormats), std::end(kPlanFormats),
                     [&](const PlanFormat& one) { return one.claims(file, *there); });
    if (found->scripts && found->read != read_own_format) return &*found;
  }
  return nullptr;
}

/// Returns the format of the YAML file that one inherits by `defaults: FILE`; nullptr if it names
/// none that is a config of Megatron-Bridge, whose children need not have a setting of their own.
const PlanFormat* find_format_of_parent(std::string_view text, const std::string& name,
                                        const FileReader& files) {
  constexpr std::string_view kKey = "\ndefaults:";
  const std::string lines = "\n" + std::string(text.substr(0, 1 << 16));
  const std::size_t at = lines.find(kKey);
  if (at == std::string::npos) return nullptr;
  const std::string_view rest = std::string_view(lines).substr(at + kKey.size());
  const std::string path(trim(rest.substr(0, rest.find_first_of("\n#"))));
  if (!is_yaml_file(path)) return nullptr;
  const Result<std::string> parent = files(beside(name, path));
  const PlanFormat* const format = find_plan_format("megatron");
  const bool bridge = parent && parent->find("megatron.bridge") != std::string::npos;
  return bridge || (parent && format->claims(path, *parent)) ? format : nullptr;
}

}  // namespace

PlanFile read_any_plan(std::string text, std::string name, const FileReader& files,
                       const ShellInput& variables) {
  const PlanFormat* format =
      std::find_if(std::begin(kPlanFormats), std::end(kPlanFormats),
                   [&](const PlanFormat& one) { return one.claims(name, text); });
  if (format->read == read_own_format && is_yaml_file(name))
    if (const PlanFormat* const parent = find_format_of_parent(text, name, files)) format = parent;
  if (format->read == read_own_format && is_shell_script(name, text)) {
    if (runs_trainer_config(text, name, files, variables) ||
        runs_trainer_program(text, name, files, variables))
      format = find_plan_format("fine-tuning");
    else if (sources_megatron(text, name, files, variables) ||
             runs_bridge_program(text, name, files, variables))
      format = find_plan_format("megatron");
    else if (const PlanFormat* const inner = find_format_of_run(text, name, files))
      format = inner;
  }
  return read_plan_as(*format, std::move(text), std::move(name), files, variables);
}

void assume_world(PlanFile& plan) {
  Draft& d = plan.draft;
  const i64 node = d.node_gpus.value_or(8);
  const bool foreign = plan.format != nullptr && plan.format->read != read_own_format;
  if (!foreign || d.world || d.dp || d.shape || d.cluster) return;
  const i64 pp = d.pp.value_or(1), tp = d.tp.value_or(1);
  const std::optional<i64> dense = product({tp, d.cp.value_or(1), pp});
  const std::optional<i64> sparse = product({d.etp.value_or(1), d.ep.value_or(1), pp});
  if (!dense || !sparse || *dense > cluster::kMaxDevices || *sparse > cluster::kMaxDevices) return;
  i64 world = std::lcm(std::lcm(*dense, *sparse), node);
  const auto shares_batch = [&](i64 ranks) {
    const std::optional<i64> at_once =
        product({ranks / *dense, d.micro_batch.value_or(1), d.accumulation.value_or(1)});
    return !d.global_batch || (at_once && divides(*at_once, *d.global_batch));
  };
  const std::optional<i64> usual = plan.usual_world;
  const bool use_usual =
      usual && divides(*dense, *usual) && divides(*sparse, *usual) && shares_batch(*usual);
  // Together these three determine the number of data ranks.
  if (d.global_batch && d.accumulation && d.micro_batch) return;
  if (use_usual) {
    world = *usual;
  } else if (d.global_batch) {
    const i64 rest = *d.global_batch / d.micro_batch.value_or(1) / d.accumulation.value_or(1);
    world = *dense * std::gcd(world / *dense, std::max<i64>(1, rest));
  }
  if (world > cluster::kMaxDevices || !divides(*sparse, world)) return;
  d.world = world;
  plan.open.push_back({"world_size", plural(world, "rank", "ranks"), "--world N"});
  const std::string source = use_usual ? plan.usual_source : std::string();
  plan.findings.push_back(
      make_assumption(fmt::format("number of ranks: {}{}", count(world), source),
                      "--world N, or --cluster", {.file = plan.name}));
}

namespace {

/// Returns the command-line option for values that framework files do not state; empty if there is
/// none.
std::string command_option(const Edit& edit) {
  constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
      {"model", "--model"}, {"cluster", "--cluster"}, {"world_size", "--world"}};
  for (const auto& [key, flag] : kOptions)
    if (edit.key == key) return fmt::format("{} \"{}\"", flag, edit.value);
  return "";
}

}  // namespace

std::string spell_edits(const PlanFormat& format, const std::vector<Edit>& edits,
                        std::string (*dialect)(const Edit&)) {
  const auto spell = dialect != nullptr ? dialect : format.spell;
  std::string text;
  for (const Edit& edit : edits) {
    std::string one = spell == nullptr ? std::string() : spell(edit);
    if (one.empty()) one = command_option(edit);
    if (one.empty()) one = edit.key.substr(edit.key.rfind('.') + 1) + ": " + edit.value;
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

}  // namespace rankwright::importer
