// The exporters: each writes a plan as the files that one framework or launcher reads, and is one
// row of a table. No setting is dropped silently: find_unsupported() lists every plan key that the
// target cannot express, from the target's rules, from the exporter's own check of the plan, and
// from the keys that its files never state.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/export/comment.h"
#include "rankwright/plan/plan.h"
#include "rankwright/rules/rule.h"

namespace rankwright::exporter {

/// A setting of the plan that the target cannot express: its key and the reason.
struct UnsupportedSetting {
  std::string key;
  std::string why;

  friend bool operator==(const UnsupportedSetting&, const UnsupportedSetting&) = default;
};

/// Input of launcher exporters that is not part of the plan.
struct ExportOptions {
  std::vector<std::string>
      hosts{};  // names, indexed by host number in the cluster; empty: resolved at run time
  std::string script{};  // name of the file that is written, for its usage; empty: the default name
};

/// One generated file.
struct ExportFile {
  std::string name;  // without a folder: "torchtitan.toml"
  std::string text;
};

/// One row of the exporter table: a target and the functions that write its files. The row of a
/// target is in the file that writes for it; rows.h lists them.
struct Exporter {
  rules::Target target;
  std::string_view summary;  // one line of `rankwright export --list`
  /// Returns the plan keys that the files state or imply. The name of a map covers all keys in it.
  std::span<const std::string_view> (*states)();
  /// Returns those stated keys whose value in this plan the files cannot express. Null: none.
  std::vector<UnsupportedSetting> (*lost)(const plan::TrainingConfig&) = nullptr;
  /// Returns the files, the main one first. Each begins with `head` as comments in its own format.
  /// Requires: a config without constraint violations.
  std::vector<ExportFile> (*write)(const plan::TrainingConfig&, const ExportOptions&,
                                   const std::vector<std::string>& head) = nullptr;
};

/// Returns all exporters, in the order of targets().
std::span<const Exporter* const> exporters();

/// Returns the exporter of the target called `name`, or null.
const Exporter* find_exporter(std::string_view name);

/// Returns every setting of the plan that the target cannot express, in plan-file order.
std::vector<UnsupportedSetting> find_unsupported(const Exporter& exporter,
                                                 const plan::TrainingConfig& config);

/// Returns the first lines of every file: the target's version, the layout and the settings that
/// are left out. Names in them are safe in comments.
std::vector<std::string> make_head_lines(const Exporter& exporter,
                                         const plan::TrainingConfig& config);

/// Returns the exporter's files for `config`, each with its head. Requires: a config without
/// constraint violations.
std::vector<ExportFile> export_plan(const Exporter& exporter, const plan::TrainingConfig& config,
                                    const ExportOptions& options = {});

}  // namespace rankwright::exporter
