// Reads a TOML document into the tree of yaml.h, so that every value has its line and column. Built
// on toml++; the size limit is that of YAML files.
#pragma once

#include <string_view>

#include "rankwright/import/syntax/yaml.h"

namespace rankwright::importer {

/// Fails with RW0901 and the location if the text is not TOML.
Result<YamlNode> read_toml_tree(std::string_view text, std::string_view file);

}  // namespace rankwright::importer
