// Reads torchtitan's settings from a tree with the tables of its TOML config, whatever the syntax
// of the file.
#pragma once

#include "rankwright/import/framework/foreign.h"

namespace rankwright::importer {

/// Returns the tree with today's names. Until the end of 2024, degrees were among the settings of
/// training and of experiments.
YamlNode move_renamed_keys(const YamlNode& root);

std::span<const ForeignKey> torchtitan_keys();

/// Reads the tree into `plan`. `known` are the keys that do not matter; null: unknown keys are not
/// reported. `toml`: defaults that other syntaxes do not have are those of the TOML files.
void read_torchtitan_tree(PlanFile& plan, const YamlNode& tree, const FileReader& files,
                          const KnownKeys* known, bool toml = false);

/// Returns the settings of the config that a function of a Python file returns, as the tables of a
/// TOML config; nothing if there is no such function.
std::optional<YamlNode> read_torchtitan_function(std::string_view text, const std::string& name,
                                                 const std::string& file);

/// Reads the shapes of a flavor that the repository of the config defines itself. Returns false if
/// there are none.
bool read_own_flavor(ForeignReading& r, const std::string& name, const YamlNode& flavor);

}  // namespace rankwright::importer
