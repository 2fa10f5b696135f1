// Reads a JSON document into the tree of yaml.h, so that every value has its line and column: JSON
// is YAML in flow style, and the JSON library keeps no locations. The limits are those of YAML
// files.
#pragma once

#include <string_view>

#include "rankwright/import/syntax/yaml.h"

namespace rankwright::importer {

/// Reads strict JSON. Fails with RW0901 and the location if it is invalid.
Result<YamlNode> read_json_tree(std::string_view text, std::string_view file);

/// As above, but accepts two extensions of Hjson that users rely on: comments (#, // and /* */) and
/// trailing commas. DeepSpeed reads its files this way.
Result<YamlNode> read_commented_json_tree(std::string_view text, std::string_view file);

}  // namespace rankwright::importer
