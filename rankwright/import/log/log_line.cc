#include "rankwright/import/log/log_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace rankwright::importer {
namespace {

constexpr double kLargest = 1e18;
constexpr std::size_t kLongestNumber = 40;

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim_left(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

/// A parsed number and the text after it.
struct ParsedNumber {
  double value = 0;
  std::string_view rest{};
};

/// Parses the number that `text` begins with, after blanks.
std::optional<ParsedNumber> parse_leading_number(std::string_view text) {
  text = trim_left(text);
  std::string digits;
  std::size_t used = 0;
  while (used < text.size() && used < kLongestNumber) {
    const char c = text[used];
    // A comma separates thousands only if a digit follows.
    if (c == ',' && !(used + 1 < text.size() && is_decimal_digit(text[used + 1]))) break;
    const bool exponent = (c == 'e' || c == 'E') && !digits.empty();
    const bool sign =
        (c == '-' || c == '+') && !digits.empty() && (digits.back() == 'e' || digits.back() == 'E');
    if (!is_decimal_digit(c) && c != '.' && c != ',' && !exponent && !sign) break;
    if (c != ',') digits += c;
    ++used;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end == digits.data()) return std::nullopt;
  if (!std::isfinite(value) || value < 0 || value > kLargest) return std::nullopt;
  return ParsedNumber{value, text.substr(used)};
}

struct Unit {
  std::string_view name;
  double bytes;
};
// As PyTorch writes them.
constexpr Unit kUnits[] = {
    {"TiB", 0x1p40}, {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"bytes", 1},
};

std::optional<Bytes> parse_memory(std::string_view text) {
  const std::optional<ParsedNumber> number = parse_leading_number(text);
  if (!number) return std::nullopt;
  const std::string_view unit = trim_left(number->rest);
  for (const Unit& known : kUnits)
    if (unit.starts_with(known.name)) return Bytes{number->value * known.bytes};
  return std::nullopt;
}

}  // namespace

std::string strip_escapes(std::string_view line) {
  std::string plain;
  plain.reserve(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\033' && i + 1 < line.size() && line[i + 1] == '[') {
      i += 2;  // skip to the letter that ends the sequence
      while (i < line.size() && !(line[i] >= '@' && line[i] <= '~')) ++i;
    } else if (line[i] == '\t') {
      plain += ' ';
    } else if (static_cast<unsigned char>(line[i]) >= 0x20) {
      plain += line[i];
    }
  }
  return plain;
}

std::optional<i64> parse_rank_label(std::string_view line) {
  line = trim_left(line);
  for (const std::string_view before : {"[rank", "[default", "[Rank "}) {
    if (!line.starts_with(before)) continue;
    const std::optional<ParsedNumber> rank = parse_leading_number(line.substr(before.size()));
    if (rank && rank->rest.starts_with(']') && rank->value < double(kMaxCount))
      return i64(rank->value);
  }
  if (line.empty() || !is_decimal_digit(line.front())) return std::nullopt;
  const std::optional<ParsedNumber> rank = parse_leading_number(line);
  // In a time of day, the colon is followed by digits.
  if (!rank || !rank->rest.starts_with(": ") || rank->value >= double(kMaxCount))
    return std::nullopt;
  return i64(rank->value);
}

std::optional<double> find_number_after(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  const std::optional<ParsedNumber> number = parse_leading_number(text.substr(at + label.size()));
  if (!number) return std::nullopt;
  return number->value;
}

std::optional<i64> find_count_after(std::string_view text, std::string_view label) {
  const std::optional<double> number = find_number_after(text, label);
  if (!number || *number != std::floor(*number) || *number > double(kMaxCount)) return std::nullopt;
  return i64(*number);
}

std::optional<Bytes> find_memory_after(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  return parse_memory(text.substr(at + label.size()));
}

std::optional<Bytes> find_memory_before(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  // The last two words: a number and its unit.
  std::string_view before = text.substr(0, at);
  while (before.ends_with(' ')) before.remove_suffix(1);
  const std::size_t unit = before.rfind(' ');
  if (unit == std::string_view::npos || unit == 0) return std::nullopt;
  const std::size_t number = before.rfind(' ', unit - 1);
  return parse_memory(before.substr(number == std::string_view::npos ? 0 : number + 1));
}

}  // namespace rankwright::importer
