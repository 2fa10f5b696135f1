#include "rankwright/rules/rule.h"

#include <algorithm>

#include "rankwright/rules/proof_findings.h"
#include "rankwright/rules/repair.h"

namespace rankwright::rules {
namespace {

using RulesOfTopic = std::span<const Rule> (*)();

constexpr RulesOfTopic kTopics[] = {
    arithmetic_rules, job_rules,      memory_rules,     placement_rules, data_traffic_rules,
    schedule_rules,   megatron_rules, torchtitan_rules, deepspeed_rules, nanotron_rules,
    accelerate_rules, launcher_rules, runtime_rules};

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

bool holds_for(const Rule& rule, Target target) {
  if (rule.target == Target::any) return true;
  return target != Target::any && (rule.target == target || rule.target == row(target).rules);
}

std::vector<const Rule*> rules() {
  std::vector<const Rule*> all;
  for (const RulesOfTopic rows : kTopics)
    for (const Rule& rule : rows()) all.push_back(&rule);
  std::ranges::stable_sort(all, {}, [](const Rule* rule) { return rule->page.code; });
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

bool newly_refuses(Target target, const plan::TrainingConfig& before,
                   const plan::TrainingConfig& after) {
  const std::vector<const Rule*> refusals = find_refusals(target);
  return std::ranges::any_of(
      refusals, [&](const Rule* rule) { return rule->fault(after) && !rule->fault(before); });
}

const Page* find_page(std::string_view code) {
  for (const Page* page : pages())
    if (page->code == code) return page;
  return nullptr;
}

std::optional<Diagnostic> find_job_fault(const plan::TrainingConfig& config) {
  const std::vector<plan::ConstraintViolation> none;
  for (const Rule& rule : job_rules())
    if (std::optional<Finding> finding = rule.check({config, none, Target::any}))
      return make_diagnostic(rule.page, std::move(*finding));
  return std::nullopt;
}

Diagnostics lint(const plan::TrainingConfig& config, Target target) {
  const std::vector<plan::ConstraintViolation> found = find_violations(config);
  const Subject subject{config, found, target};
  // One fix for all: the fixes of single violations may contradict each other.
  const std::vector<Edit> joint =
      found.size() > 1 ? find_joint_repair(config) : std::vector<Edit>{};
  Diagnostics diagnostics;
  for (const Rule* rule : rules()) {
    if (!holds_for(*rule, target)) continue;
    if (rule->when == Rule::When::without_violations && !found.empty()) continue;
    if (std::optional<Finding> finding = rule->check(subject)) {
      if (!joint.empty() && rule->page.severity == Severity::error) finding->fix = joint;
      diagnostics.push_back(make_diagnostic(rule->page, std::move(*finding)));
    }
  }
  return diagnostics;
}

}  // namespace rankwright::rules
