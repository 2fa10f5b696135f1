// The lint table. A rule is one row: its code, what `explain CODE` says about it, an example that
// breaks it, and a function. Tests run over the whole table: every example is found out, every fix
// that a rule proposes is applied and heals it. To add a rule, add a row to the file of its topic.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/plan/constraint_violation.h"
#include "rankwright/plan/plan.h"

namespace rankwright::rules {

/// The frameworks and launchers that a plan can be checked for. One name everywhere: --for, --to.
enum class Target : unsigned char {
  any,
  megatron,
  megatron_bridge,
  torchtitan_0_2,
  torchtitan,
  deepspeed,
  nanotron,
  accelerate,
  rankwright,  // this project's runtime
  slurm,
  torchrun,
  openmpi,
};

struct TargetRow {
  Target target;
  std::string_view name;
  std::string_view checked;     // the version whose rules these are, and whose files are written
  Target rules;                 // whose rules hold: a second way into the same code has the first's
  std::string_view software{};  // the row of plan/software that it runs on, where there is one
  bool launcher = false;        // starts ranks where they belong; the layout is a framework's
};
std::span<const TargetRow> targets();  // without `any`
const TargetRow* find_target(std::string_view name);
const TargetRow& row(Target target);  // not `any`

/// What trains: the targets that have rules of their own for a layout.
std::vector<const TargetRow*> frameworks_to_check();

/// What a code means, for `explain CODE` and the reference page.
struct Page {
  std::string_view code;
  Severity severity;
  std::string_view title;    // the message of every finding: "degrees do not multiply to ..."
  std::string_view why;      // what goes wrong and how one gets there
  std::string_view remedy;   // what people do about it
  std::string_view source;   // where the rule comes from, where it is not arithmetic
  std::string_view example;  // a plan file that breaks the rule; empty for reading faults
};

/// What a rule looks at. Rules that need groups, traffic or memory run only on a plan without
/// violations.
struct Subject {
  const plan::TrainingConfig& config;
  const std::vector<plan::ConstraintViolation>& violations;
  Target target = Target::any;
};

/// What a rule found; the page gives the rest of the Diagnostic.
struct Finding {
  std::string detail;
  std::string key;
  std::vector<Edit> fix{};
  std::string hint{};
  std::vector<std::string> notes{};
};

/// Whether a config without violations breaks one rule.
using Fault = bool (*)(const plan::TrainingConfig&);

struct Rule {
  enum class When : unsigned char { always, without_misfits };
  Page page;
  Target target = Target::any;
  When when = When::without_misfits;
  std::optional<Finding> (*check)(const Subject&) = nullptr;
  Fault fault = nullptr;  // the same without the words, which take time: a target's rules have it
};

/// Rules of no target hold for all of them.
bool holds_for(const Rule& rule, Target target);

/// All rules, by code.
std::vector<const Rule*> rules();

/// What a target refuses or does otherwise: its rules that are more than a note. Each has its
/// fault.
std::vector<const Rule*> refusals(Target target);

/// The page of a code, of a rule or of a reading fault; nullptr where there is none.
const Page* find_page(std::string_view code);
std::vector<const Page*> pages();

/// Everything that is wrong with the config, for `target` too. Places are filled in by whoever
/// knows the file.
Diagnostics lint(const plan::TrainingConfig& config, Target target);

// The rows, one file a topic.
std::span<const Rule> arithmetic_rules();
std::span<const Rule> memory_rules();
std::span<const Rule> placement_rules();
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
