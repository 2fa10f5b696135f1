// Reads a YAML document into a small tree in which every key and value has its line and column.
// Built on yaml-cpp's events, because input is untrusted: size, depth and number of nodes are
// bounded, aliases are rejected in plan files and count toward the bounds in those of frameworks
// (they can make a small file expand without bound), and a duplicate key is an error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/diagnostic.h"
#include "rankwright/base/result.h"

namespace rankwright::importer {

struct YamlEntry;

/// One value, or one key.
struct YamlNode {
  enum class Kind : unsigned char { null, scalar, sequence, map };
  Kind kind = Kind::null;
  std::string scalar{};
  int line = 0, column = 0, width = 1;
  std::vector<YamlNode> items{};   // of a sequence
  std::vector<YamlEntry> entries;  // of a map, in file order; no {} here: clang 14 rejects it

  /// Returns the value of `key` in a map; nullptr if there is none.
  const YamlNode* find(std::string_view key) const;
};

struct YamlEntry {
  YamlNode key;
  YamlNode value;
};

/// Limits of a file written by hand; larger files are rejected with the limit in the message.
struct YamlLimits {
  std::size_t bytes = 4 << 20;
  std::size_t nodes = 300'000;
  std::size_t depth = 32;
  std::size_t keys = 1000;  // per map; bounds the linear search for duplicates
};

/// Returns the only document of `text`. `file` is the name in diagnostics.
Result<YamlNode> read_yaml(std::string_view text, std::string_view file, YamlLimits limits = {});

/// As above, for files that Python reads: like PyYAML, takes the last of duplicate keys, with a
/// warning in `findings`, and expands aliases (*name) and merges (<<: *name).
Result<YamlNode> read_python_yaml(std::string_view text, std::string_view file,
                                  Diagnostics& findings);

Location location(const YamlNode& node, std::string_view file);

}  // namespace rankwright::importer
