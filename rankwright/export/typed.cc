#include "rankwright/export/typed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rankwright/base/check.h"
#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/base/terminal_text.h"
#include "rankwright/base/utf8.h"

namespace rankwright::exporter {
namespace {

constexpr std::size_t kMaxLine = 100;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Returns whether YAML reads the word as something other than text, in any case.
bool is_yaml_keyword(std::string_view word) {
  constexpr std::string_view kWords[] = {"null", "true", "false", "yes", "no",
                                         "on",   "off",  "y",     "n"};
  return std::find(std::begin(kWords), std::end(kWords), lower(word)) != std::end(kWords);
}

/// Returns whether YAML reads the text unquoted as itself, also inside {} and []. Stricter than
/// YAML's rules, so that every YAML parser agrees: a letter, then characters without meaning in
/// YAML.
bool is_plain(std::string_view text) {
  constexpr std::string_view kSafe = "0123456789_-./+*|() ";
  if (text.empty() || !is_letter(text.front()) || text.back() == ' ') return false;
  for (const char c : text)
    if (!is_letter(c) && kSafe.find(c) == std::string_view::npos) return false;
  return !is_yaml_keyword(text);
}

/// Returns whether the character may appear unescaped: YAML accepts it, and a person sees it.
bool is_shown(char32_t c) {
  constexpr char32_t kNoBreakSpace = 0xA0;
  const bool is_character =
      (c & 0xFFFE) != 0xFFFE;  // the last two code points of each plane are noncharacters
  return is_character && c != kNoBreakSpace && !is_unsafe_to_show(c);
}

std::string escape(char32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  if (c <= 0xFF) return fmt::format("\\x{:02x}", unsigned(c));
  if (c <= 0xFFFF) return fmt::format("\\u{:04x}", unsigned(c));
  return fmt::format("\\U{:08x}", unsigned(c));
}

/// Returns `value` in `unit` as a decimal that reads back exactly, or an empty string. Also tries
/// the neighbors of the quotient, because the reader's multiplication rounds too.
template <class Quantity>
std::string write_in_unit(Quantity value, std::string_view unit,
                          Result<Quantity> (*parse)(std::string_view)) {
  const double factor = parse(fmt::format("1 {}", unit))->value;
  const double near = value.value / factor;
  constexpr double kEnd = std::numeric_limits<double>::infinity();
  std::string best;
  for (const double number : {near, std::nextafter(near, 0.0), std::nextafter(near, kEnd)}) {
    if (!std::isfinite(number) || number * factor != value.value) continue;
    std::string text = fmt::format("{} {}", number, unit);
    if (best.empty() || text.size() < best.size()) best = std::move(text);
  }
  return best;
}

/// Returns the shortest text over `units`; ties go to the earlier unit. Requires: `units` has the
/// unit of factor 1, so that a text always exists.
template <class Quantity>
std::string write_shortest(Quantity value, std::initializer_list<std::string_view> units,
                           Result<Quantity> (*parse)(std::string_view)) {
  std::string best;
  for (const std::string_view unit : units) {
    std::string text = write_in_unit(value, unit, parse);
    if (!text.empty() && (best.empty() || text.size() < best.size())) best = std::move(text);
  }
  RW_CHECK(!best.empty());
  return best;
}

}  // namespace

std::string write_yaml_text(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
  if (is_plain(text)) return std::string(text);
  std::string out = "\"";
  while (!text.empty()) {
    const Character c = decode_character(text);
    const std::string_view itself = text.substr(0, std::max<std::size_t>(1, c.bytes));
    if (c.bytes == 0)
      out += kReplacement;
    else if (c.code == '"' || c.code == '\\')
      out += "\\" + std::string(itself);
    else
      out += is_shown(c.code) ? std::string(itself) : escape(c.code);
    text.remove_prefix(itself.size());
  }
  return out + "\"";
}

std::string write_yaml_value(bool flag) { return flag ? "true" : "false"; }

std::string write_yaml_value(double number) { return fmt::format("{}", number); }

std::string write_yaml_value(Bytes b) {
  return write_shortest(b, {"GB", "GiB", "MiB", "MB", "TB", "TiB", "KiB", "kB", "B"}, parse_bytes);
}

std::string write_yaml_value(BytesPerSecond r) {
  return write_shortest(r, {"GB/s", "TB/s", "MB/s", "kB/s", "B/s"}, parse_bandwidth);
}

std::string write_yaml_value(Seconds s) {
  return write_shortest(s, {"us", "ms", "ns", "s"}, parse_duration);
}

std::string write_yaml_value(FlopsPerSecond r) {
  return write_shortest(r, {"TFLOP/s", "PFLOP/s", "GFLOP/s", "MFLOP/s", "FLOP/s"}, parse_flops);
}

std::string write_yaml_value(std::span<const i64> numbers, std::size_t column) {
  std::string text = "[";
  std::size_t at = column + 1;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::string number = std::to_string(numbers[i]);
    if (i > 0) text += ",";
    if (i > 0 && at + number.size() + 3 > kMaxLine) {
      text += "\n" + std::string(column + 1, ' ');
      at = column + 1;
    } else if (i > 0) {
      text += " ";
    }
    text += number;
    at += number.size() + 2;
  }
  return text + "]";
}

}  // namespace rankwright::exporter
