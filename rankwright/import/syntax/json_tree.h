// A JSON document as the tree of yaml.h, so that every value knows its line and column: JSON is
// YAML in flow style, and the library for JSON keeps no places. Limits are those of YAML files.
#pragma once

#include <string_view>

#include "rankwright/import/syntax/yaml.h"

namespace rankwright::importer {

/// RW0901 where it is no JSON, with the place.
Result<YamlNode> read_json_tree(std::string_view text, std::string_view file);

/// The same of what Hjson allows besides and people write: comments (#, // and /* */) and a comma
/// behind the last value. DeepSpeed reads its files so.
Result<YamlNode> read_commented_json_tree(std::string_view text, std::string_view file);

}  // namespace rankwright::importer
