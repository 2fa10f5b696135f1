#include "rankwright/import/toml_tree.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "rankwright/base/format.h"

namespace rankwright {
namespace {

YamlNode placed(const toml::source_region& source, YamlNode::Kind kind) {
  YamlNode node;
  node.kind = kind;
  node.line = int(source.begin.line);
  node.column = int(source.begin.column);
  if (source.end.line == source.begin.line && source.end.column > source.begin.column)
    node.width = int(source.end.column - source.begin.column);
  return node;
}

/// Text as it stands, true and false, numbers as TOML prints them.
std::string scalar_text(const toml::node& value) {
  if (const toml::value<std::string>* const text = value.as_string()) return text->get();
  if (const toml::value<std::int64_t>* const n = value.as_integer())
    return std::to_string(n->get());
  if (const toml::value<bool>* const flag = value.as_boolean())
    return flag->get() ? "true" : "false";
  std::ostringstream text;
  value.visit([&](const auto& one) { text << one; });
  return text.str();
}

YamlNode tree(const toml::node& value) {
  if (const toml::table* const table = value.as_table()) {
    YamlNode node = placed(value.source(), YamlNode::Kind::map);
    for (const auto& [key, one] : *table) {
      YamlNode name = placed(key.source(), YamlNode::Kind::scalar);
      name.scalar = std::string(key.str());
      node.entries.push_back({std::move(name), tree(one)});
    }
    return node;
  }
  if (const toml::array* const array = value.as_array()) {
    YamlNode node = placed(value.source(), YamlNode::Kind::sequence);
    for (const toml::node& one : *array) node.items.push_back(tree(one));
    return node;
  }
  YamlNode node = placed(value.source(), YamlNode::Kind::scalar);
  node.scalar = scalar_text(value);
  return node;
}

}  // namespace

Result<YamlNode> read_toml_tree(std::string_view text, std::string_view file) {
  if (text.size() > YamlLimits{}.bytes) return read_yaml(text, file);  // says so
  // toml++ reports by exceptions; they end here. It bounds the depth by itself (256).
  try {
    return tree(toml::parse(text, file));
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    return fail(
        {.code = "RW0901",
         .message = "the file cannot be read as TOML",
         .detail = excerpt(error.description(), 160),
         .where = {.file = std::string(file), .line = int(at.line), .column = int(at.column)}});
  }
}

}  // namespace rankwright
