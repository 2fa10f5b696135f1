// The settings of a run of verl, wherever they stand: in the overrides of a script, in the YAML
// files that it names or inherits, and in those of EasyR1, a fork with names of its own.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "rankwright/import/framework/foreign.h"
#include "rankwright/import/script/script_flags.h"

namespace rankwright::importer {

/// Settings of EasyR1, a fork of verl, and the names that verl has for them.
struct ForkSetting {
  std::string_view fork, verl;
};
std::span<const ForkSetting> fork_settings();

/// Returns whether the text is EasyR1's.
bool is_easyr1(std::string_view text);

/// Returns the trainer's config that a file inherits from verl's package; empty if it names none.
std::string_view find_inherited_trainer(std::string_view text);

/// Returns the settings of a script or a YAML file, under verl's names, with those that it
/// inherits. Nothing if the file cannot be read, which is reported.
std::optional<ScriptFlags> read_verl_settings(PlanFile& plan, const FileReader& files);

}  // namespace rankwright::importer
