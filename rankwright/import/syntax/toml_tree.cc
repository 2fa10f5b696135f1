#include "rankwright/import/syntax/toml_tree.h"

// toml++ 3.3 asserts conditions that its parser does not check, such as the digits of a time, and
// in builds without assertions tells the compiler to assume them. Input can violate them, and the
// parser rejects the same text right afterwards like any other fault: so the assertions are turned
// off here in every build.
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "rankwright/base/format.h"
#include "rankwright/import/syntax/lines.h"

namespace rankwright::importer {
namespace {

YamlNode make_node(const toml::source_region& source, YamlNode::Kind kind) {
  YamlNode node;
  node.kind = kind;
  node.line = int(source.begin.line);
  node.column = int(source.begin.column);
  if (source.end.line == source.begin.line && source.end.column > source.begin.column)
    node.width = int(source.end.column - source.begin.column);
  return node;
}

/// Returns strings unchanged, true and false, and numbers as TOML prints them.
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

YamlNode to_tree(const toml::node& value) {
  if (const toml::table* const table = value.as_table()) {
    YamlNode node = make_node(value.source(), YamlNode::Kind::map);
    for (const auto& [key, one] : *table) {
      YamlNode name = make_node(key.source(), YamlNode::Kind::scalar);
      name.scalar = std::string(key.str());
      node.entries.push_back({std::move(name), to_tree(one)});
    }
    return node;
  }
  if (const toml::array* const array = value.as_array()) {
    YamlNode node = make_node(value.source(), YamlNode::Kind::sequence);
    for (const toml::node& one : *array) node.items.push_back(to_tree(one));
    return node;
  }
  YamlNode node = make_node(value.source(), YamlNode::Kind::scalar);
  node.scalar = scalar_text(value);
  return node;
}

/// Returns the offset after the string that opens at `at`; the end of the text if it does not
/// close.
std::size_t skip_toml_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::size_t marks = text.substr(at, 3) == std::string(3, quote) ? 3 : 1;
  const std::string close(marks, quote);
  for (std::size_t i = at + marks; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text.substr(i, marks) == close) {
      return i + marks;
    } else if (marks == 1 && text[i] == '\n') {
      return i;
    }
  }
  return text.size();
}

bool begins_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '"' || c == '\'';
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// toml++ 3.3 treats non-ASCII letters outside its tables as unreachable instead of rejecting them.
/// No setting that is read contains such letters, so each of their bytes is replaced by '?'.
std::string replace_non_ascii(std::string_view text) {
  constexpr std::string_view kMark =
      "\xEF\xBB\xBF";  // byte order mark of UTF-8, which some editors write first
  std::string plain(text);
  for (char& c : plain)
    if (static_cast<unsigned char>(c) >= 0x7F || (c < 0x20 && !is_blank(c))) c = '?';
  if (text.starts_with(kMark)) plain.replace(0, kMark.size(), kMark.size(), ' ');
  return plain;
}

/// Why a text must not be passed to toml++ 3.3, and where; `detail` is null if it may be.
struct TomlFault {
  const char* detail = nullptr;
  std::size_t at = 0;
};

/// Finds headers without a name, which toml++ treats as unreachable, and keys such as a.b.c with
/// more than kMaxKeyParts parts: it bounds the nesting of brackets but not of dotted keys, and each
/// part is one more call when the tree is built or freed. The parts of a header and of the inline
/// tables around a key are counted together.
TomlFault find_toml_fault(std::string_view text) {
  constexpr std::size_t kMaxKeyParts = 64;
  std::vector<std::size_t> open;  // per open bracket: the dots around it
  std::size_t dots = 0;           // of this key, including those around it
  std::size_t around = 0;
  bool fresh = true;  // only blanks on this line so far
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = skip_toml_string(text, i);
      fresh = false;
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (fresh && open.empty() && c == '[') {
      std::size_t name = text.find_first_not_of(" \t", i + (text.substr(i, 2) == "[[" ? 2 : 1));
      name = std::min(name, text.size());
      if (name == text.size() || !begins_key(text[name])) return {"missing name in this header", i};
    }
    if (c == '.' && ++dots >= kMaxKeyParts) return {"a key with more than 64 parts", i};
    if (c == '[' || c == '{') {
      open.push_back(around);
      around = dots;
    } else if ((c == ']' || c == '}') && !open.empty()) {
      around = open.back();
      open.pop_back();
      dots = around;
    } else if (c == ',' || c == '\n') {
      dots = around;
    }
    fresh = c == '\n' || (fresh && (c == ' ' || c == '\t'));
    ++i;
  }
  return {};
}

}  // namespace

Result<YamlNode> read_toml_tree(std::string_view text, std::string_view file) {
  if (text.size() > YamlLimits{}.bytes) return read_yaml(text, file);  // reports the size
  const std::string plain = replace_non_ascii(text);
  if (const TomlFault fault = find_toml_fault(plain); fault.detail != nullptr)
    return fail({.code = "RW0901",
                 .message = "the file cannot be read as TOML",
                 .detail = fault.detail,
                 .where = to_location(plain, fault.at, file)});
  // toml++ reports errors by exceptions; they are caught here. It bounds the nesting of brackets
  // itself (256).
  try {
    return to_tree(toml::parse(plain, file));
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    return fail(
        {.code = "RW0901",
         .message = "the file cannot be read as TOML",
         .detail = make_excerpt(error.description(), 160),
         .where = {.file = std::string(file), .line = int(at.line), .column = int(at.column)}});
  }
}

}  // namespace rankwright::importer
