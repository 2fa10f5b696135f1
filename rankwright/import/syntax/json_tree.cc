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

/// Refuses what is no JSON, by its place, and what is nested too deep, before any tree is built.
class Checker final : public nlohmann::json_sax<Json> {
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

  std::size_t at = 0;  // of the fault; counts from 1
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

/// Behind the string that opens at `at`.
std::size_t behind_json_string(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
  }
  return text.size();
}

/// Behind the comment that begins at `at`; `at` where none does.
std::size_t behind_comment(std::string_view text, std::size_t at) {
  if (text[at] == '#' || text.substr(at, 2) == "//")
    return std::min(text.find('\n', at), text.size());
  if (text.substr(at, 2) != "/*") return at;
  const std::size_t end = text.find("*/", at + 2);
  return end == std::string_view::npos ? text.size() : end + 2;
}

/// JSON in its own place: comments and commas behind the last value are blanks.
std::string without_comments(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n", kBeforeValues = "{[,:";
  std::string plain(text);
  std::size_t comma = text.size();  // behind a value, and nothing has followed yet
  char last = '{';                  // before it, blanks and comments left out
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (const std::size_t end = behind_comment(text, i); end > i) {
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
    i = c == '"' ? behind_json_string(text, i) : i + 1;
  }
  return plain;
}

}  // namespace

Result<YamlNode> read_commented_json_tree(std::string_view text, std::string_view file) {
  if (text.size() > YamlLimits{}.bytes) return read_yaml(text, file);  // says so
  return read_json_tree(without_comments(text), file);
}

Result<YamlNode> read_json_tree(std::string_view text, std::string_view file) {
  if (text.size() > YamlLimits{}.bytes) return read_yaml(text, file);  // says so
  Checker checker;
  if (!Json::sax_parse(text, &checker)) {
    if (checker.too_deep)
      return fail({.code = "RW0906",
                   .message = "the file is larger or more tangled than such a file needs to be",
                   .detail = fmt::format("it is nested more than {} deep", kMaxDepth),
                   .where = {.file = std::string(file)}});
    return fail({.code = "RW0901",
                 .message = "the file cannot be read as JSON",
                 .detail = "a comma, a quote or a bracket is missing or stands too much here",
                 .where = place_of(text, checker.at == 0 ? 0 : checker.at - 1, file)});
  }
  // YAML knows no tabs between values; a blank in each one's place keeps the columns.
  std::string blanks(text);
  std::replace(blanks.begin(), blanks.end(), '\t', ' ');
  return read_yaml(blanks, file);
}

}  // namespace rankwright::importer
