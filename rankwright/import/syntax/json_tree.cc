#include "rankwright/import/syntax/json_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "rankwright/base/format.h"
#include "rankwright/import/syntax/lines.h"

namespace rankwright::importer {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 32;

/// Rejects invalid JSON, with its position, and too deep nesting, before a tree is built.
class JsonChecker final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool key(string_t&) override { return true; }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    at = position;
    return false;
  }

  std::size_t at = 0;  // position of the fault, from 1
  bool too_deep = false;

 private:
  bool open() {
    too_deep = ++depth_ > kMaxDepth;
    return !too_deep;
  }
  bool close() {
    --depth_;
    return true;
  }

  int depth_ = 0;
};

/// Returns the offset after the string that opens at `at`.
std::size_t skip_json_string(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
  }
  return text.size();
}

/// Returns the offset after the comment that begins at `at`; `at` if there is no comment.
std::size_t skip_comment(std::string_view text, std::size_t at) {
  if (text[at] == '#' || text.substr(at, 2) == "//")
    return std::min(text.find('\n', at), text.size());
  if (text.substr(at, 2) != "/*") return at;
  const std::size_t end = text.find("*/", at + 2);
  return end == std::string_view::npos ? text.size() : end + 2;
}

/// Replaces comments and trailing commas by blanks, so that all offsets stay the same.
std::string blank_comments(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n", kBeforeValues = "{[,:";
  std::string plain(text);
  std::size_t comma = text.size();  // offset of a comma after a value with nothing after it yet
  char last = '{';                  // last character that is not in a blank or comment
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (const std::size_t end = skip_comment(text, i); end > i) {
      for (; i < end; ++i)
        if (text[i] != '\n') plain[i] = ' ';
      continue;
    }
    if ((c == '}' || c == ']') && comma < text.size()) plain[comma] = ' ';
    if (kBlanks.find(c) == std::string_view::npos) {
      const bool after_value = kBeforeValues.find(last) == std::string_view::npos;
      comma = c == ',' && after_value ? i : text.size();
      last = c;
    }
    i = c == '"' ? skip_json_string(text, i) : i + 1;
  }
  return plain;
}

}  // namespace

Result<YamlNode> read_commented_json_tree(std::string_view text, std::string_view file) {
  if (text.size() > YamlLimits{}.bytes) return read_yaml(text, file);  // reports the size
  return read_json_tree(blank_comments(text), file);
}

Result<YamlNode> read_json_tree(std::string_view text, std::string_view file) {
  if (text.size() > YamlLimits{}.bytes) return read_yaml(text, file);  // reports the size
  JsonChecker checker;
  if (!Json::sax_parse(text, &checker)) {
    if (checker.too_deep)
      return fail({.code = "RW0906",
                   .message = "the file is too large or too deeply nested",
                   .detail = fmt::format("it is nested more than {} levels deep", kMaxDepth),
                   .where = {.file = std::string(file)}});
    return fail({.code = "RW0901",
                 .message = "the file cannot be read as JSON",
                 .detail = "a missing or extra comma, quote or bracket",
                 .where = to_location(text, checker.at == 0 ? 0 : checker.at - 1, file)});
  }
  // YAML does not allow tabs between values; replacing each by one blank keeps the columns.
  std::string blanks(text);
  std::replace(blanks.begin(), blanks.end(), '\t', ' ');
  return read_yaml(blanks, file);
}

}  // namespace rankwright::importer
