#include "rankwright/base/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "rankwright/base/terminal_text.h"
#include "rankwright/base/utf8.h"

namespace rankwright {
namespace {

/// Formats with three significant digits, without trailing zeros: 0.15, 1.5, 41, 134, 1,340. Values
/// from 1,000 up to 1e15 keep all their integer digits; values below half a millionth print as 0.
std::string digits(double value) {
  if (std::abs(value) >= 1e15) return fmt::format("{:.3g}", value);
  if (std::abs(value) >= 999.5) return count(std::llround(value));
  if (std::abs(value) < 0.5e-6) return "0";
  const int before = int(std::floor(std::log10(std::abs(value)))) + 1;
  std::string text = fmt::format("{:.{}f}", value, std::max(0, 3 - before));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

/// Returns the word for a value that has no digits (NaN, infinity); empty for any other value.
std::string without_digits(double value) {
  if (std::isnan(value)) return "undefined";
  if (std::isinf(value)) return value > 0 ? "unbounded" : "-unbounded";
  return {};
}

/// Formats `value` with the largest unit that keeps it at or above 1, followed by `suffix`.
std::string scaled(double value, double step, std::initializer_list<std::string_view> units,
                   std::string_view suffix = "") {
  if (std::string word = without_digits(value); !word.empty()) return word;
  const std::string_view* unit = units.begin();
  // 999.5 would print as 1,000 of the smaller unit, so it becomes 1 of the next.
  while (std::abs(value) >= step - 0.5 && unit + 1 != units.end()) {
    value /= step;
    ++unit;
  }
  return fmt::format("{} {}{}", digits(value), *unit, suffix);
}

std::string scaled_bytes(double value, std::string_view suffix) {
  return scaled(value, 1e3, {"B", "kB", "MB", "GB", "TB", "PB", "EB"}, suffix);
}

std::string scaled_flops(double value, std::string_view suffix) {
  return scaled(value, 1e3, {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"}, suffix);
}

}  // namespace

std::string count(i64 n) {
  std::string text = std::to_string(n);
  const std::size_t first = n < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string plural(i64 n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count(n), n == 1 ? one : many);
}

std::string format_short_count(double n) {
  if (std::abs(n) < 999.5) return digits(n);  // false for NaN
  return scaled(n / 1e3, 1e3, {"k", "M", "B", "T", "P"});
}

std::string show(Bytes b) { return scaled_bytes(b.value, ""); }

std::string show_memory(Bytes b) {
  return scaled(b.value, 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"});
}

std::string show_memory(Bytes part, Bytes whole) {
  std::string first = show_memory(part);
  const std::string second = show_memory(whole);
  const std::size_t unit = first.rfind(' ');
  // Print a shared unit only once.
  if (unit != std::string::npos && second.ends_with(first.substr(unit))) first.erase(unit);
  return first + " of " + second;
}

std::string show(Seconds s) {
  if (std::string word = without_digits(s.value); !word.empty()) return word;
  if (s.value == 0) return "0 s";
  if (s.value < 0) return "-" + show(Seconds{-s.value});
  if (s.value >= 86400) {
    const std::string days = digits(s.value / 86400);
    return days + (days == "1" ? " day" : " days");
  }
  if (s.value >= 7199.5) return digits(s.value / 3600) + " h";
  if (s.value >= 0.9995) return digits(s.value) + " s";
  return scaled(s.value * 1e9, 1e3, {"ns", "us", "ms", "s"});
}

std::string show(BytesPerSecond r) { return scaled_bytes(r.value, "/s"); }

std::string show(Flops f) { return scaled_flops(f.value, ""); }

std::string show(FlopsPerSecond r) { return scaled_flops(r.value, "/s"); }

std::string percent(double fraction) {
  if (std::string word = without_digits(fraction); !word.empty()) return word;
  return digits(fraction * 100) + " %";
}

std::string format_exact_percent(double fraction) {
  return fmt::format("{:.1f} %", 100 * fraction);
}
std::string format_signed_percent(double fraction) {
  return fmt::format("{:+.1f} %", 100 * fraction);
}

std::string show_signed(Seconds time) { return (time > Seconds{} ? "+" : "") + show(time); }

std::string make_excerpt(std::string_view text, std::size_t max) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = decode_character(text.substr(at));
    const std::size_t bytes = c.bytes > 0 ? c.bytes : 1;
    if (bytes > max - at) break;
    out += c.bytes == 0 || is_unsafe_to_show(c.code) ? "?" : text.substr(at, bytes);
    at += bytes;
  }
  return out;
}

std::string make_path_excerpt(std::string_view path, std::size_t max) {
  constexpr std::string_view kCut = "...";
  const std::string whole = make_excerpt(path, path.size());
  if (whole.size() <= max) return whole;
  const std::size_t slash = whole.find('/', whole.size() - (max - kCut.size()));
  return slash == std::string::npos ? make_excerpt(path, max)
                                    : std::string(kCut) + whole.substr(slash);
}

std::string lower(std::string_view text) {
  std::string low(text);
  for (char& c : low)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return low;
}

}  // namespace rankwright
