#include "rankwright/rules/rule.h"

#include <algorithm>

#include "rankwright/base/check.h"
#include "rankwright/rules/proof_findings.h"

namespace rankwright::rules {
namespace {

constexpr TargetRow kTargets[] = {
    {Target::megatron, "megatron", "Megatron-LM main of 2026-08, core 0.20 dev", Target::megatron,
     "megatron-core"},
    {Target::megatron_bridge, "megatron-bridge", "Megatron-Bridge 0.7 dev", Target::megatron,
     "megatron-core"},
    {Target::torchtitan_0_2, "torchtitan-0.2", "torchtitan v0.2.2", Target::torchtitan,
     "torchtitan"},
    {Target::torchtitan, "torchtitan", "torchtitan main of mid-2026", Target::torchtitan,
     "torchtitan"},
    {Target::deepspeed, "deepspeed", "DeepSpeed 0.19.6", Target::deepspeed, "deepspeed"},
    {Target::nanotron, "nanotron", "nanotron 0.4", Target::nanotron},
    {Target::accelerate, "accelerate", "accelerate 1.15 dev", Target::accelerate, "fsdp"},
    {Target::rankwright, "rankwright", "this version's runtime", Target::rankwright, "rankwright"},
    {Target::slurm, "slurm", "Slurm 22.05", Target::slurm, "", true},
    {Target::torchrun, "torchrun", "torchrun of PyTorch 2, never run", Target::torchrun, "", true},
    {Target::openmpi, "openmpi", "Open MPI 4.1.4", Target::openmpi, "", true},
};

using RulesOfTopic = std::span<const Rule> (*)();

constexpr RulesOfTopic kTopics[] = {arithmetic_rules, memory_rules,   placement_rules,
                                    schedule_rules,   megatron_rules, torchtitan_rules,
                                    deepspeed_rules,  nanotron_rules, accelerate_rules,
                                    launcher_rules,   runtime_rules};

Diagnostic make_diagnostic(const Page& page, Finding finding) {
  // Every error carries advice: without a fix or a hint, use the remedy of the page.
  const bool no_advice = finding.fix.empty() && finding.hint.empty();
  if (no_advice && page.severity == Severity::error) finding.hint = page.remedy;
  return {.code = page.code,
          .severity = page.severity,
          .message = std::string(page.title),
          .detail = std::move(finding.detail),
          .notes = std::move(finding.notes),
          .hint = std::move(finding.hint),
          .fix = std::move(finding.fix),
          .key = std::move(finding.key)};
}

}  // namespace

std::span<const TargetRow> targets() { return kTargets; }

const TargetRow* find_target(std::string_view name) {
  const auto found = std::find_if(std::begin(kTargets), std::end(kTargets),
                                  [&](const TargetRow& row) { return row.name == name; });
  return found == std::end(kTargets) ? nullptr : found;
}

const TargetRow& row(Target target) {
  const auto found = std::find_if(std::begin(kTargets), std::end(kTargets),
                                  [&](const TargetRow& one) { return one.target == target; });
  RW_CHECK(found != std::end(kTargets));
  return *found;
}

std::vector<const TargetRow*> frameworks_to_check() {
  std::vector<const TargetRow*> all;
  for (const TargetRow& one : kTargets)
    if (one.rules == one.target && !one.launcher) all.push_back(&one);
  return all;
}

bool holds_for(const Rule& rule, Target target) {
  if (rule.target == Target::any) return true;
  return target != Target::any && rule.target == row(target).rules;
}

std::vector<const Rule*> rules() {
  std::vector<const Rule*> all;
  for (const RulesOfTopic rows : kTopics)
    for (const Rule& rule : rows()) all.push_back(&rule);
  return all;
}

std::vector<const Page*> pages() {
  std::vector<const Page*> all;
  for (const Rule* rule : rules()) all.push_back(&rule->page);
  for (const Page& page : proof_pages()) all.push_back(&page);
  for (const Page& page : exchange_pages()) all.push_back(&page);
  for (const Page& page : running_pages()) all.push_back(&page);
  for (const Page& page : reading_pages()) all.push_back(&page);
  return all;
}

std::vector<const Rule*> find_refusals(Target target) {
  std::vector<const Rule*> found;
  for (const Rule* rule : rules())
    if (rule->target != Target::any && holds_for(*rule, target) && rule->fault != nullptr &&
        rule->page.severity != Severity::note)
      found.push_back(rule);
  return found;
}

const Page* find_page(std::string_view code) {
  for (const Page* page : pages())
    if (page->code == code) return page;
  return nullptr;
}

Diagnostics lint(const plan::TrainingConfig& config, Target target) {
  const std::vector<plan::ConstraintViolation> found = find_violations(config);
  const Subject subject{config, found, target};
  Diagnostics diagnostics;
  for (const Rule* rule : rules()) {
    if (!holds_for(*rule, target)) continue;
    if (rule->when == Rule::When::without_violations && !found.empty()) continue;
    if (std::optional<Finding> finding = rule->check(subject))
      diagnostics.push_back(make_diagnostic(rule->page, std::move(*finding)));
  }
  return diagnostics;
}

}  // namespace rankwright::rules
