#include "rankwright/base/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string>

#include "rankwright/base/format.h"
#include "rankwright/base/trim.h"

namespace rankwright {
namespace {

struct Unit {
  std::string_view name;
  double value;
};

constexpr Unit kBytes[] = {{"B", 1},        {"kB", 1e3},     {"KB", 1e3},     {"MB", 1e6},
                           {"GB", 1e9},     {"TB", 1e12},    {"PB", 1e15},    {"EB", 1e18},
                           {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
                           {"PiB", 0x1p50}, {"EiB", 0x1p60}};
constexpr Unit kBandwidths[] = {
    {"B/s", 1},         {"kB/s", 1e3},       {"MB/s", 1e6},       {"GB/s", 1e9},
    {"TB/s", 1e12},     {"PB/s", 1e15},      {"EB/s", 1e18},      {"MiB/s", 0x1p20},
    {"GiB/s", 0x1p30},  {"b/s", 0.125},      {"Mb/s", 0.125e6},   {"Gb/s", 0.125e9},
    {"Tb/s", 0.125e12}, {"Mbit/s", 0.125e6}, {"Gbit/s", 0.125e9}, {"Tbit/s", 0.125e12},
    {"Mbps", 0.125e6},  {"Gbps", 0.125e9},   {"Tbps", 0.125e12},  {"GBps", 1e9}};
// Both the micro sign and the Greek letter mu, because keyboards produce either.
constexpr Unit kDurations[] = {{"ns", 1e-9}, {"us", 1e-6},   {"\u00b5s", 1e-6}, {"\u03bcs", 1e-6},
                               {"ms", 1e-3}, {"s", 1},       {"min", 60},       {"h", 3600},
                               {"d", 86400}, {"day", 86400}, {"days", 86400}};
constexpr Unit kFlops[] = {{"FLOP/s", 1},     {"kFLOP/s", 1e3},  {"MFLOP/s", 1e6},
                           {"GFLOP/s", 1e9},  {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15},
                           {"EFLOP/s", 1e18}, {"GFLOPS", 1e9},   {"TFLOPS", 1e12},
                           {"PFLOPS", 1e15},  {"EFLOPS", 1e18}};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns whether the separators in `digits` are placed correctly: commas before every three
/// digits, or underscores between any two.
bool well_grouped(std::string_view digits) {
  if (digits.empty()) return true;
  if (!is_digit(digits.front()) || !is_digit(digits.back())) return false;
  const bool commas = digits.find(',') != std::string_view::npos;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t to_end = digits.size() - i;
    if (commas && is_digit(digits[i]) != (to_end % 4 != 0)) return false;
    if (commas && digits[i] == '_') return false;
    if (!is_digit(digits[i]) && !is_digit(digits[i + 1])) return false;
  }
  return true;
}

/// Returns `text` in the form that std::from_chars reads: without a leading '+' and without
/// thousands separators. Returns nothing if the separators are misplaced.
std::optional<std::string> strip_separators(std::string_view text) {
  std::string result;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    if (text.front() == '-') result = "-";
    text.remove_prefix(1);
    if (!text.empty() && (text.front() == '+' || text.front() == '-')) return std::nullopt;
  }
  const std::size_t end = std::min(text.find_first_not_of("0123456789,_"), text.size());
  if (!well_grouped(text.substr(0, end))) return std::nullopt;
  for (const char c : text.substr(0, end))
    if (is_digit(c)) result += c;
  return result.append(text.substr(end));
}

std::string list_units(std::span<const Unit> units) {
  std::string text;
  for (const Unit& unit : units) text += (text.empty() ? "" : ", ") + std::string(unit.name);
  return text;
}

Diagnostic bad_quantity(std::string_view text, std::string detail, std::string hint) {
  return {.code = "RW0909",
          .message = "not a number with a unit",
          .detail = fmt::format("'{}' {}", make_excerpt(text), detail),
          .hint = std::move(hint)};
}

/// Parses a non-negative number followed by one of `units`. `example` goes into the hint.
Result<double> parse(std::string_view text, std::span<const Unit> units, std::string_view example) {
  const std::string_view whole = trim(text);
  const auto refuse = [&](std::string detail) {
    return fail(bad_quantity(whole, std::move(detail), fmt::format("for example {}", example)));
  };
  const std::optional<std::string> read = strip_separators(whole);
  if (!read) return refuse("does not begin with a number");
  double number = 0;
  const char* const last = read->data() + read->size();
  const auto [end, error] = std::from_chars(read->data(), last, number);
  if (error == std::errc::result_out_of_range) return refuse("is out of range");
  if (error != std::errc{} || !std::isfinite(number)) return refuse("does not begin with a number");
  if (std::signbit(number)) return refuse("is negative");
  const std::string_view unit = trim({end, std::size_t(last - end)});
  if (unit.empty()) return refuse("has no unit");
  for (const Unit& known : units) {
    if (known.name != unit) continue;
    if (!std::isfinite(number * known.value)) return refuse("is out of range");
    return number * known.value;
  }
  return fail(bad_quantity(whole, fmt::format("has the unit '{}'", make_excerpt(unit, 20)),
                           "known units: " + list_units(units)));
}

}  // namespace

Result<Bytes> parse_bytes(std::string_view text) {
  return parse(text, kBytes, "80 GB").map([](double v) { return Bytes{v}; });
}

Result<BytesPerSecond> parse_bandwidth(std::string_view text) {
  return parse(text, kBandwidths, "450 GB/s").map([](double v) { return BytesPerSecond{v}; });
}

Result<Seconds> parse_duration(std::string_view text) {
  return parse(text, kDurations, "2 us").map([](double v) { return Seconds{v}; });
}

Result<FlopsPerSecond> parse_flops(std::string_view text) {
  return parse(text, kFlops, "989 TFLOP/s").map([](double v) { return FlopsPerSecond{v}; });
}

Result<i64> parse_count(std::string_view text, i64 min) {
  const std::string whole = make_excerpt(trim(text));
  const auto out_of_range = [&](std::string_view relation, std::string bound) {
    return fail({.code = "RW0904",
                 .message = "number out of range",
                 .detail = fmt::format("{} is {} than {}", whole, relation, bound)});
  };
  std::string_view number = trim(text);
  const bool kilo = number.size() > 1 && (number.back() == 'k' || number.back() == 'K') &&
                    is_digit(number[number.size() - 2]);
  if (kilo) number.remove_suffix(1);
  const std::string digits = strip_separators(number).value_or("");
  const char* const last = digits.data() + digits.size();
  i64 n = 0;
  const auto [end, error] = std::from_chars(digits.data(), last, n);
  if (end != last || error == std::errc::invalid_argument)
    return fail({.code = "RW0903",
                 .message = "not a whole number",
                 .detail = fmt::format("'{}' is not a whole number", whole)});
  const bool overflows = error == std::errc::result_out_of_range || (kilo && n > kMaxCount / 1024);
  if (kilo && !overflows) n *= 1024;
  if (overflows ? digits.front() == '-' : n < min) return out_of_range("less", std::to_string(min));
  if (overflows || n > kMaxCount) return out_of_range("more", count(kMaxCount) + " (2^50)");
  return n;
}

Result<double> parse_real(std::string_view text) {
  const std::string whole = make_excerpt(trim(text));
  const std::string digits = strip_separators(trim(text)).value_or("");
  const char* const last = digits.data() + digits.size();
  double n = 0;
  const auto [end, error] = std::from_chars(digits.data(), last, n);
  if (digits.empty() || end != last || error != std::errc{} || !std::isfinite(n))
    return fail({.code = "RW0903",
                 .message = "not a number",
                 .detail = fmt::format("'{}' is not a number", whole),
                 .hint = "for example 0.25"});
  return n;
}

}  // namespace rankwright
