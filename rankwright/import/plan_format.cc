#include "rankwright/import/plan_format.h"

#include <fmt/format.h>

#include <algorithm>

namespace rankwright {
namespace {

void read_own(PlanFile& plan, FileReader files) {
  plan = read_plan(std::move(plan.text), std::move(plan.name), files);
}

constexpr PlanFormat kFormats[] = {
    {"megatron", "Megatron-LM's launch script, or its log", Target::megatron, claims_megatron,
     read_megatron, spell_megatron},
    {"torchtitan-0.2", "torchtitan's TOML config", Target::torchtitan_0_2, claims_torchtitan,
     read_torchtitan, spell_torchtitan, torchtitan_against},
    {"deepspeed", "DeepSpeed's JSON config", Target::deepspeed, claims_deepspeed, read_deepspeed,
     spell_deepspeed, deepspeed_against},
    {"nanotron", "nanotron's YAML config", Target::nanotron, claims_nanotron, read_nanotron,
     spell_nanotron},
    {"accelerate", "accelerate's YAML config", Target::accelerate, claims_accelerate,
     read_accelerate, spell_accelerate, accelerate_against},
    {"rankwright", "a plan file", Target::any,
     [](std::string_view, std::string_view) { return true; }, read_own},
};

}  // namespace

std::span<const PlanFormat> plan_formats() { return kFormats; }

const PlanFormat* find_plan_format(std::string_view name) {
  const auto found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                  [&](const PlanFormat& format) { return format.name == name; });
  return found == std::end(kFormats) ? nullptr : found;
}

PlanFile read_plan_as(const PlanFormat& format, std::string text, std::string name,
                      FileReader files) {
  PlanFile plan{.name = std::move(name), .text = std::move(text)};
  format.read(plan, files);
  plan.format = &format;
  return plan;
}

PlanFile read_any_plan(std::string text, std::string name, FileReader files) {
  const auto format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                   [&](const PlanFormat& one) { return one.claims(name, text); });
  return read_plan_as(*format, std::move(text), std::move(name), files);
}

namespace {

/// What no framework's file states is given beside it.
std::string beside_the_file(const Edit& edit) {
  constexpr std::pair<std::string_view, std::string_view> kFlags[] = {
      {"model", "--model"}, {"cluster", "--cluster"}, {"world_size", "--world"}};
  for (const auto& [key, flag] : kFlags)
    if (edit.key == key) return fmt::format("{} \"{}\"", flag, edit.value);
  return "";
}

}  // namespace

std::string spelt(const PlanFormat& format, const std::vector<Edit>& edits) {
  std::string text;
  for (const Edit& edit : edits) {
    std::string one = format.spell == nullptr ? std::string() : format.spell(edit);
    if (one.empty()) one = beside_the_file(edit);
    if (one.empty()) one = edit.key.substr(edit.key.rfind('.') + 1) + ": " + edit.value;
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

}  // namespace rankwright
