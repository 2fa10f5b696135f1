// A YAML document as a small tree in which every key and value knows its line and column. Built on
// yaml-cpp's events, because input is hostile: size, depth and number of nodes are bounded, aliases
// are refused (they can blow a small file up), and a key that stands twice is an error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/base/result.h"

namespace rankwright::importer {

struct YamlEntry;

struct YamlNode {
  enum class Kind : unsigned char { null, scalar, sequence, map };
  Kind kind = Kind::null;
  std::string scalar{};
  int line = 0, column = 0, width = 1;
  std::vector<YamlNode> items{};   // of a sequence
  std::vector<YamlEntry> entries;  // of a map, in the file's order; clang 14 wants no {} here

  /// The value of `key` in a map, or nothing.
  const YamlNode* find(std::string_view key) const;
};

struct YamlEntry {
  YamlNode key;
  YamlNode value;
};

/// What a file of people may be: larger ones are refused with the limit in the message.
struct YamlLimits {
  std::size_t bytes = 4 << 20;
  std::size_t nodes = 300'000;
  std::size_t depth = 32;
  std::size_t keys = 1000;  // of one map: twins are looked for one by one
};

/// The only document of `text`; `file` is what diagnostics name.
Result<YamlNode> read_yaml(std::string_view text, std::string_view file, YamlLimits limits = {});

/// The same for a file that Python reads: of a key that stands twice PyYAML takes the last without
/// a word. So does this, with a warning in `findings`.
Result<YamlNode> read_yaml_of_python(std::string_view text, std::string_view file,
                                     Diagnostics& findings);

Location location(const YamlNode& node, std::string_view file);

}  // namespace rankwright::importer
