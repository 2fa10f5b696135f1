// The lint table. A rule is one row: its code, its `explain CODE` page, an example that breaks it,
// and a check. Tests run over the whole table: every example must be reported, and every proposed
// fix is applied and must remove the finding. To add a rule, add a row to the file of its topic.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/plan/plan.h"
#include "rankwright/rules/target.h"

namespace rankwright::rules {

/// The page of one code, for `explain CODE` and the reference manual.
struct Page {
  std::string_view code;
  Severity severity;
  std::string_view title;    // message of every finding: "degrees do not multiply to ..."
  std::string_view why;      // what goes wrong, and how plans get there
  std::string_view remedy;   // how to fix it
  std::string_view source;   // origin of the rule, unless it is arithmetic
  std::string_view example;  // a plan file that breaks the rule; empty for file-reading errors
};

/// The input of a rule. Rules that need groups, traffic or memory run only on a plan without
/// violations.
struct Subject {
  const plan::TrainingConfig& config;
  const std::vector<plan::ConstraintViolation>& violations;
  Target target = Target::any;
};

/// The result of a rule that fired; its page supplies the rest of the Diagnostic.
struct Finding {
  std::string detail;
  std::string key;
  std::vector<Edit> fix{};
  std::string hint{};
  std::vector<std::string> notes{};
};

/// Returns whether a config breaks one rule, without describing it. Requires: no violations.
using Fault = bool (*)(const plan::TrainingConfig&);

struct Rule {
  enum class When : unsigned char { always, without_violations };
  Page page;
  Target target = Target::any;
  When when = When::without_violations;
  std::optional<Finding> (*check)(const Subject&) = nullptr;
  Fault fault =
      nullptr;  // `check` without the description, which is slow; set for the rules of targets
  bool expressible = false;  // the target's files can state the setting that the rule warns of
  /// The choices besides model, job and degrees that `fault` depends on. A search tests a rule once
  /// per such choice, not for every plan.
  enum class Depends : unsigned char {
    plan,
    order,
    schedule,
    even_stages,
    sequence_parallel,
    zero
  };
  Depends depends = Depends::plan;
};

/// Returns whether the rule applies to `target`. Rules of `Target::any` apply to every target.
bool holds_for(const Rule& rule, Target target);

/// Returns all rules, grouped by topic.
std::vector<const Rule*> rules();

/// Returns the rules of `target` that are errors or warnings and have a `fault`.
std::vector<const Rule*> find_refusals(Target target);

/// Returns whether `target` refuses `after`, and does not refuse `before` for the same reason: a
/// fix that leads to such a config is not proposed.
bool newly_refuses(Target target, const plan::TrainingConfig& before,
                   const plan::TrainingConfig& after);

/// Returns the page of a code, with or without a rule; nullptr if the code is unknown.
const Page* find_page(std::string_view code);
std::vector<const Page*> pages();

/// Returns the first error of job_rules(): a problem of model, device and job that no layout mends.
std::optional<Diagnostic> find_job_fault(const plan::TrainingConfig& config);

/// Returns everything that is wrong with the config, including the rules of `target`. Locations are
/// left empty: the caller that read the file fills them in.
Diagnostics lint(const plan::TrainingConfig& config, Target target);

// The rows of the table, one file per topic.
std::span<const Rule> arithmetic_rules();
std::span<const Rule> job_rules();
std::span<const Rule> memory_rules();
std::span<const Rule> placement_rules();
std::span<const Rule> data_traffic_rules();
std::span<const Rule> schedule_rules();
std::span<const Rule> megatron_rules();
std::span<const Rule> torchtitan_rules();
std::span<const Rule> deepspeed_rules();
std::span<const Rule> nanotron_rules();
std::span<const Rule> accelerate_rules();
std::span<const Rule> launcher_rules();
std::span<const Rule> runtime_rules();
std::span<const Page> exchange_pages();
std::span<const Page> reading_pages();
std::span<const Page> running_pages();

}  // namespace rankwright::rules
