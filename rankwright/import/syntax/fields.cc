#include "rankwright/import/syntax/fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/base/suggest.h"

namespace rankwright::importer {
namespace {

std::string_view name(YamlNode::Kind kind) {
  constexpr std::string_view kNames[] = {"nothing", "a single value", "a list", "a map"};
  return kNames[std::size_t(kind)];
}

std::vector<std::string> strings(std::span<const std::string_view> words) {
  return {words.begin(), words.end()};
}

std::string joined(std::span<const std::string_view> words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string shown(const YamlNode& node) { return make_excerpt(node.scalar); }

}  // namespace

Diagnostic make_assumption(std::string detail, std::string hint, Location where) {
  return {.code = "RW0615",
          .severity = Severity::note,
          .message = "assumed a value that the file does not give",
          .detail = std::move(detail),
          .hint = std::move(hint),
          .where = std::move(where)};
}

void FieldReader::report(const YamlNode& node, Diagnostic diagnostic) {
  if (diagnostic.key.empty()) diagnostic.key = path_;
  // A file that cannot be opened has no lines: point at the place that names it.
  if (diagnostic.code == "RW0910" && !diagnostic.where.file.empty()) {
    diagnostic.detail = diagnostic.where.file + ": " + diagnostic.detail;
    diagnostic.where = {};
  }
  if (diagnostic.where.file.empty()) diagnostic.where = location(node, file_);
  findings_.push_back(std::move(diagnostic));
}

bool FieldReader::expect(const YamlNode& node, YamlNode::Kind kind, std::string_view what) {
  if (node.kind == kind) return true;
  report(node, {.code = "RW0903",
                .message = "wrong type of value",
                .detail = fmt::format("expected {}, not {}", what, name(node.kind))});
  return false;
}

std::optional<std::string> FieldReader::text(const YamlNode& node) {
  if (!expect(node, YamlNode::Kind::scalar, "a word")) return std::nullopt;
  return node.scalar;
}

std::optional<std::string> FieldReader::label(const YamlNode& node) {
  const std::optional<std::string> whole = text(node);
  if (!whole) return std::nullopt;
  return make_excerpt(*whole, kLongestLabel);
}

std::optional<std::string> FieldReader::path(const YamlNode& node) {
  constexpr std::size_t kLongestPath = 255;
  const std::optional<std::string> whole = text(node);
  if (!whole || make_excerpt(*whole, kLongestPath) == *whole) return whole;
  report(node, {.code = "RW0903",
                .message = "wrong type of value",
                .detail = "expected a path of at most 255 characters, without control characters"});
  return std::nullopt;
}

std::optional<i64> FieldReader::whole(const YamlNode& node, i64 min, i64 max) {
  if (!expect(node, YamlNode::Kind::scalar, "a whole number")) return std::nullopt;
  const std::optional<i64> n = take(node, parse_count(node.scalar, min));
  if (n && *n > max) {
    report(node, {.code = "RW0904",
                  .message = "number out of range",
                  .detail = fmt::format("{} exceeds {}", shown(node), count(max))});
    return std::nullopt;
  }
  return n;
}

std::optional<double> FieldReader::number(const YamlNode& node, double min, double max) {
  if (!expect(node, YamlNode::Kind::scalar, "a number")) return std::nullopt;
  const Result<double> n = parse_real(node.scalar);
  if (!n || *n < min || *n > max) {
    report(node,
           {.code = "RW0904",
            .message = "number out of range",
            .detail = fmt::format("'{}' is not a number from {} to {}", shown(node), min, max)});
    return std::nullopt;
  }
  return *n;
}

std::optional<bool> FieldReader::flag(const YamlNode& node) {
  constexpr std::string_view kWords[] = {"false", "true", "no", "yes", "off", "on"};
  const std::optional<std::size_t> word = one_of(node, kWords);
  if (!word) return std::nullopt;
  return *word % 2 == 1;
}

std::optional<std::size_t> FieldReader::one_of(const YamlNode& node,
                                               std::span<const std::string_view> words) {
  if (!expect(node, YamlNode::Kind::scalar, "one of " + joined(words))) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), node.scalar);
  if (found != words.end()) return std::size_t(found - words.begin());
  const std::optional<std::string> near = nearest(node.scalar, strings(words));
  report(node, {.code = "RW0907",
                .message = "unknown value",
                .detail = fmt::format("'{}' is not one of {}", shown(node), joined(words)),
                .hint = near ? fmt::format("did you mean {}?", *near) : ""});
  return std::nullopt;
}

std::optional<std::size_t> FieldReader::known_key(const YamlNode& key,
                                                  const std::vector<std::string_view>& known) {
  const auto found = std::find(known.begin(), known.end(), key.scalar);
  if (found != known.end()) return std::size_t(found - known.begin());
  const auto hint = std::find_if(hints_.begin(), hints_.end(), [&](const WordHint& one) {
    return one.word == key.scalar &&
           (one.key.empty() || std::find(known.begin(), known.end(), one.key) != known.end());
  });
  std::optional<std::string> near = nearest(key.scalar, strings(known));
  if (hint != hints_.end())
    near = hint->key.empty() ? std::nullopt : std::optional(std::string(hint->key));
  Diagnostic unknown{.code = "RW0902",
                     .severity = Severity::warning,
                     .message = "unknown key, ignored",
                     .detail = fmt::format("unknown key '{}'", shown(key)),
                     .hint = near                   ? fmt::format("did you mean {}?", *near)
                             : hint != hints_.end() ? std::string(hint->hint)
                                                    : fmt::format("known keys: {}", joined(known))};
  if (near) unknown.respelling = Respelling{key.scalar, *near};
  report(key, std::move(unknown));
  return std::nullopt;
}

}  // namespace rankwright::importer
