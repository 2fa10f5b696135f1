#include "rankwright/import/plan/plan_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "rankwright/base/format.h"
#include "rankwright/import/log/run_log.h"

namespace rankwright::importer {
namespace {

/// Reads the files that no other format claims. Rejects a file that is neither YAML nor named so.
void read_own_format(PlanFile& plan, const FileReader& files) {
  plan = read_plan(std::move(plan.text), std::move(plan.name), files);
  const bool named_yaml = plan.name.ends_with(".yaml") || plan.name.ends_with(".yml");
  const bool no_yaml = !plan.findings.empty() && plan.findings.front().code == "RW0901";
  if (named_yaml || plan.name == "-" || !no_yaml) return;
  const bool log = read_run_log(plan.text, plan.name).has_value();
  plan.findings = {
      {.code = "RW0603",
       .message = "a file of no known format",
       .detail = log ? "it is the log of a run, without the arguments that it ran with"
                     : "neither its name nor its text is that of a format that is read",
       .hint = log ? "rankwright compare PLAN --log " + make_excerpt(plan.name, 200)
                   : "rankwright import --list",
       .where = {.file = plan.name}}};
}

constexpr PlanFormat kPlanFormats[] = {
    {"megatron", "Megatron-LM's launch script, or its log", rules::Target::megatron,
     claims_megatron, read_megatron, spell_megatron},
    {"torchtitan-0.2", "torchtitan's TOML config", rules::Target::torchtitan_0_2, claims_torchtitan,
     read_torchtitan, spell_torchtitan, check_resolved_torchtitan},
    {"deepspeed", "DeepSpeed's JSON config", rules::Target::deepspeed, claims_deepspeed,
     read_deepspeed, spell_deepspeed, check_resolved_deepspeed},
    {"nanotron", "nanotron's YAML config", rules::Target::nanotron, claims_nanotron, read_nanotron,
     spell_nanotron},
    {"accelerate", "accelerate's YAML config", rules::Target::accelerate, claims_accelerate,
     read_accelerate, spell_accelerate, check_resolved_accelerate},
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
                      const FileReader& files) {
  PlanFile plan{.name = std::move(name), .text = std::move(text)};
  format.read(plan, files);
  plan.format = &format;
  // A file without a single key of the format is something else.
  if (format.target != rules::Target::any && plan.keys.empty() && !has_errors(plan.findings))
    plan.findings.push_back(
        {.code = "RW0603",
         .message = "a file of no known format",
         .detail = fmt::format("no setting of {} that decides a layout stands in it", format.name),
         .hint = "rankwright import --list",
         .where = {.file = plan.name}});
  return plan;
}

PlanFile read_any_plan(std::string text, std::string name, const FileReader& files) {
  const auto format = std::find_if(std::begin(kPlanFormats), std::end(kPlanFormats),
                                   [&](const PlanFormat& one) { return one.claims(name, text); });
  return read_plan_as(*format, std::move(text), std::move(name), files);
}

void assume_world(PlanFile& plan) {
  constexpr i64 kNode = 8;
  Draft& d = plan.draft;
  const bool foreign = plan.format != nullptr && plan.format->target != rules::Target::any;
  if (!foreign || d.world || d.dp || d.shape || d.cluster) return;
  const i64 pp = d.pp.value_or(1), tp = d.tp.value_or(1);
  const std::optional<i64> dense = product({tp, d.cp.value_or(1), pp});
  const std::optional<i64> sparse = product({d.etp.value_or(1), d.ep.value_or(1), pp});
  if (!dense || !sparse || *dense > cluster::kMaxDevices || *sparse > cluster::kMaxDevices) return;
  i64 world = std::lcm(std::lcm(*dense, *sparse), kNode);
  // Together these three determine the number of data ranks.
  if (d.global_batch && d.accumulation && d.micro_batch) return;
  if (d.global_batch) {
    const i64 rest = *d.global_batch / d.micro_batch.value_or(1) / d.accumulation.value_or(1);
    world = *dense * std::gcd(world / *dense, std::max<i64>(1, rest));
  }
  if (world > cluster::kMaxDevices || !divides(*sparse, world)) return;
  d.world = world;
  plan.findings.push_back({.code = "RW0615",
                           .severity = Severity::note,
                           .message = "something that the file leaves open is assumed",
                           .detail = fmt::format("how many ranks there are: {}", count(world)),
                           .hint = "--world N, or --cluster",
                           .where = {.file = plan.name}});
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

std::string spell_edits(const PlanFormat& format, const std::vector<Edit>& edits) {
  std::string text;
  for (const Edit& edit : edits) {
    std::string one = format.spell == nullptr ? std::string() : format.spell(edit);
    if (one.empty()) one = command_option(edit);
    if (one.empty()) one = edit.key.substr(edit.key.rfind('.') + 1) + ": " + edit.value;
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

}  // namespace rankwright::importer
