// Shared by the readers of configs for pretraining: pretraining_yaml.cc, which defines these,
// neox_script.cc, foundry_script.cc and maxtext.cc.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "rankwright/import/framework/recipes.h"

namespace rankwright::importer {

/// Builds the model of the reading's shapes if they are complete; findings about it are at `place`.
void build_shapes(ForeignReading& r, std::string_view architecture, std::string_view place);

/// Returns the value at a path; empty if there is none.
std::string word_at(const ForeignReading& r, std::string_view path);

/// Returns whether a setting is stated and not off.
bool is_on_at_path(const ForeignReading& r, std::string_view path);

/// Sets the vocabulary of a model whose config leaves it to the tokenizer, and reports it.
void assume_vocabulary(ForeignReading& r, i64 vocab);

/// Returns whether the text has one of the marks.
bool has_any(std::string_view text, std::initializer_list<std::string_view> marks);

/// Reads a config of GPT-NeoX. `tree` is the root of the reading; its dashes become underscores.
void read_neox_tree(ForeignReading& reading, YamlNode& tree, PlanFile& plan);
/// As claims_gpt_neox() and read_gpt_neox(), for launch scripts.
bool claims_neox_script(std::string_view file, std::string_view text);
void read_neox_script(PlanFile& plan, const FileReader& files);

/// The keys of llm-foundry, and the reader of a tree that has them at its root.
std::span<const ForeignKey> foundry_keys();
void read_foundry_tree(ForeignReading& reading, PlanFile& plan);
/// Returns the config in a file of Composer's launcher, with the settings of FSDP at their first
/// place.
YamlNode unwrap_foundry(const YamlNode& root);
/// As claims_llm_foundry() and read_llm_foundry(), for launch scripts.
bool claims_foundry_script(std::string_view file, std::string_view text);
void read_foundry_script(PlanFile& plan, const FileReader& files);

}  // namespace rankwright::importer
