// A TOML document as the tree of yaml.h, every value with its line and column. Read by toml++,
// inside the limits of YAML files.
#pragma once

#include <string_view>

#include "rankwright/import/syntax/yaml.h"

namespace rankwright::importer {

/// RW0901 where it is no TOML, with the place.
Result<YamlNode> read_toml_tree(std::string_view text, std::string_view file);

}  // namespace rankwright::importer
