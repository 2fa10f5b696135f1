#include "rankwright/base/format.h"

#include <fmt/format.h>

#include <cmath>

namespace rankwright {
namespace {

/// Three significant digits, without an exponent and without trailing zeros: 1.5, 41, 134, 1,340.
std::string digits(double value) {
  if (value == 0) return "0";
  if (std::abs(value) >= 999.5) return count(std::llround(value));
  const int before = value == 0 ? 1 : int(std::floor(std::log10(std::abs(value)))) + 1;
  std::string text = fmt::format("{:.{}f}", value, std::max(0, 3 - before));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

/// `value` with the largest of the prefixes that keeps it at or above 1.
std::string scaled(double value, double step, std::initializer_list<std::string_view> units) {
  if (!std::isfinite(value)) return "unbounded";
  const std::string_view* unit = units.begin();
  // 999.5 rounds to 1,000 of the smaller unit, so it is 1 of the next.
  while (std::abs(value) >= step - 0.5 && unit + 1 != units.end()) {
    value /= step;
    ++unit;
  }
  return fmt::format("{} {}", digits(value), *unit);
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

std::string short_count(double n) {
  if (std::abs(n) < 999.5) return digits(n);
  return scaled(n / 1e3, 1e3, {"k", "M", "B", "T", "P"});
}

std::string show(Bytes b) {
  return scaled(b.value, 1e3, {"B", "kB", "MB", "GB", "TB", "PB", "EB"});
}

std::string show_memory(Bytes b) {
  return scaled(b.value, 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"});
}

std::string show(Seconds s) {
  if (s.value >= 86400) return digits(s.value / 86400) + " days";
  if (s.value >= 7200) return digits(s.value / 3600) + " h";
  if (s.value >= 0.9995) return digits(s.value) + " s";
  if (s.value == 0) return "0 s";
  return scaled(s.value * 1e9, 1e3, {"ns", "us", "ms", "s"});
}

std::string show(BytesPerSecond r) { return show(Bytes{r.value}) + "/s"; }

std::string show(Flops f) {
  return scaled(f.value, 1e3, {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"});
}

std::string show(FlopsPerSecond r) {
  return scaled(r.value / 1e12, 1e3, {"TFLOP/s", "PFLOP/s", "EFLOP/s"});
}

std::string percent(double fraction) { return digits(fraction * 100) + " %"; }

}  // namespace rankwright
