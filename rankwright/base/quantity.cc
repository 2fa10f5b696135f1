#include "rankwright/base/quantity.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <span>

namespace rankwright {
namespace {

struct Unit {
  std::string_view name;
  double value;
};

constexpr Unit kBytes[] = {{"B", 1},           {"kB", 1e3},     {"KB", 1e3},    {"MB", 1e6},
                           {"GB", 1e9},        {"TB", 1e12},    {"PB", 1e15},   {"KiB", 1024},
                           {"MiB", 1048576.0}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
constexpr Unit kBandwidths[] = {
    {"B/s", 1},          {"kB/s", 1e3},     {"MB/s", 1e6},      {"GB/s", 1e9},
    {"TB/s", 1e12},      {"MiB/s", 0x1p20}, {"GiB/s", 0x1p30},  {"b/s", 0.125},
    {"Mb/s", 0.125e6},   {"Gb/s", 0.125e9}, {"Tb/s", 0.125e12}, {"Mbit/s", 0.125e6},
    {"Gbit/s", 0.125e9}, {"Mbps", 0.125e6}, {"Gbps", 0.125e9},  {"GBps", 1e9}};
constexpr Unit kDurations[] = {{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3},
                               {"s", 1},     {"min", 60},  {"h", 3600},  {"d", 86400}};
constexpr Unit kFlops[] = {{"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15},
                           {"TFLOPS", 1e12}, {"PFLOPS", 1e15},  {"GFLOPS", 1e9}};

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string listed(std::span<const Unit> units) {
  std::string text;
  for (const Unit& unit : units) text += (text.empty() ? "" : ", ") + std::string(unit.name);
  return text;
}

Diagnostic bad_quantity(std::string_view text, std::string detail, std::string hint) {
  return {.code = "RW0909",
          .message = "not a quantity with a unit",
          .detail = fmt::format("'{}' {}", text.substr(0, 40), detail),
          .hint = std::move(hint)};
}

/// `example` is what the hint tells the user to type.
Result<double> parse(std::string_view text, std::span<const Unit> units, std::string_view example) {
  const std::string_view whole = trim(text);
  double number = 0;
  const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), number);
  if (error != std::errc{} || !std::isfinite(number))
    return fail(
        bad_quantity(whole, "does not begin with a number", fmt::format("such as {}", example)));
  if (number < 0)
    return fail(bad_quantity(whole, "is negative", fmt::format("such as {}", example)));
  const std::string_view unit = trim(whole.substr(std::size_t(end - whole.data())));
  if (unit.empty())
    return fail(bad_quantity(whole, "has no unit", fmt::format("such as {}", example)));
  for (const Unit& known : units)
    if (known.name == unit) return number * known.value;
  return fail(bad_quantity(whole, fmt::format("has the unit '{}'", unit.substr(0, 20)),
                           "known units: " + listed(units)));
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

Result<i64> parse_count(std::string_view text, i64 least) {
  const std::string_view whole = trim(text);
  std::string digits;
  for (const char c : whole)
    if (c != ',' && c != '_') digits += c;
  i64 n = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  const bool number = error == std::errc{} && end == digits.data() + digits.size();
  const bool too_large = error == std::errc::result_out_of_range || (number && n > kMaxCount);
  if (too_large)
    return fail(
        {.code = "RW0904",
         .message = "number out of range",
         .detail = fmt::format("{} is more than {} (2^50)", whole.substr(0, 40), kMaxCount)});
  if (!number)
    return fail({.code = "RW0903",
                 .message = "not a whole number",
                 .detail = fmt::format("'{}' is not a whole number", whole.substr(0, 40))});
  if (n < least)
    return fail({.code = "RW0904",
                 .message = "number out of range",
                 .detail = fmt::format("{} is less than {}", n, least)});
  return n;
}

}  // namespace rankwright
