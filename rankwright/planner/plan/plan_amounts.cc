#include "rankwright/planner/plan/plan_amounts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/base/trim.h"

namespace rankwright::planner {
namespace {

constexpr double kMaxTokens = 1e18;
constexpr double kMaxMoney = 1e9;  // per GPU-hour
constexpr double kMaxDays = 1e5;
constexpr double kMaxBudget = 1e15;
constexpr i64 kMaxThreads = 1024;
constexpr i64 kMaxTop = 1000;
constexpr std::size_t kLongestCurrency = 8;

tl::unexpected<Diagnostic> refuse(std::string detail, std::string hint) {
  return fail({.code = "RW0904",
               .message = "number out of range",
               .detail = std::move(detail),
               .hint = std::move(hint)});
}

Result<i64> parse_bounded(std::string_view text, i64 min, i64 max) {
  Result<i64> n = parse_count(text, min);
  if (n && *n > max) return refuse(fmt::format("{} is more than {}", count(*n), count(max)), "");
  return n;
}

/// Returns 1e3, 1e6, 1e9 or 1e12 for k, M, B or T in either case; 1 for other letters.
double find_scale(char letter) {
  struct Suffix {
    char letter;
    double value;
  };
  constexpr Suffix kSuffixes[] = {{'k', 1e3}, {'m', 1e6}, {'b', 1e9}, {'t', 1e12}};
  for (const Suffix& suffix : kSuffixes)
    if (std::tolower(static_cast<unsigned char>(letter)) == suffix.letter) return suffix.value;
  return 1;
}

/// Parses a number above 0 and up to `max`.
Result<double> parse_amount(std::string_view text, double max, std::string_view example) {
  const Result<double> n = parse_real(text);
  if (!n || *n <= 0 || *n > max)
    return refuse(
        fmt::format("'{}' is not a number above 0 and up to {:g}", make_excerpt(text), max),
        fmt::format("such as {}", example));
  return *n;
}

}  // namespace

Result<MemoryLimit> parse_memory_limit(std::string_view text) {
  text = trim(text);
  if (text.empty() || text.back() != '%')
    return parse_bytes(text).map([](Bytes size) { return MemoryLimit{.size = size}; });
  return parse_amount(trim(text.substr(0, text.size() - 1)), 100, "90%").map([](double n) {
    return MemoryLimit{.share = n / 100};
  });
}

Result<double> parse_slowdown(std::string_view text) {
  text = trim(text);
  if (text.ends_with('%')) text = trim(text.substr(0, text.size() - 1));
  const Result<double> n = parse_real(text);
  if (!n || *n < 0 || *n > 1000)
    return refuse(fmt::format("'{}' is not a percentage from 0 to 1000", make_excerpt(text)),
                  "such as 5%");
  return *n / 100;
}

Result<i64> parse_nodes(std::string_view text) {
  return parse_bounded(trim(text), 1, cluster::kMaxDevices);
}

Result<i64> parse_top(std::string_view text) { return parse_bounded(trim(text), 1, kMaxTop); }

Result<search::Range> parse_gpus(std::string_view text) {
  const std::size_t dots = text.find("..");
  const Result<i64> min = parse_bounded(trim(text.substr(0, dots)), 1, cluster::kMaxDevices);
  if (!min) return refuse(min.error().detail, "--gpus 64 or --gpus 8..512");
  if (dots == std::string_view::npos) return search::Range{*min, *min};
  const Result<i64> max = parse_bounded(trim(text.substr(dots + 2)), 1, cluster::kMaxDevices);
  if (!max) return refuse(max.error().detail, "--gpus 64 or --gpus 8..512");
  if (*max < *min)
    return refuse(fmt::format("{} is less than {}", count(*max), count(*min)),
                  fmt::format("--gpus {}..{}", *max, *min));
  return search::Range{*min, *max};
}

Result<ExcludedHosts> parse_excluded(std::string_view text) {
  constexpr std::string_view kSuch =
      "--exclude-nodes 3,17,120-123: hosts by their place in the cluster, from 0; "
      "--exclude-count 4 if only their number is known";
  const auto number = [&](std::string_view part) -> Result<i64> {
    const Result<i64> n = parse_bounded(trim(part), 0, cluster::kMaxDevices);
    if (!n) return refuse(n.error().detail, std::string(kSuch));
    return n;
  };
  std::set<i64> hosts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = trim(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (part.empty()) continue;
    const std::size_t dash = std::min(part.find('-'), part.size());
    const Result<i64> first = number(part.substr(0, dash));
    if (!first) return fail(first.error());
    Result<i64> last = first;
    if (dash < part.size()) last = number(part.substr(dash + 1));
    if (!last) return fail(last.error());
    if (*last < *first)
      return refuse(fmt::format("{} is not a range of hosts", make_excerpt(part)),
                    fmt::format("{}-{}", *last, *first));
    for (i64 host = *first; host <= *last; ++host) hosts.insert(host);
  }
  if (hosts.empty()) return refuse("the list names no host", std::string(kSuch));
  return ExcludedHosts{.count = i64(hosts.size()), .hosts = {hosts.begin(), hosts.end()}};
}

Result<ExcludedHosts> parse_excluded_count(std::string_view text) {
  const Result<i64> n = parse_bounded(trim(text), 1, cluster::kMaxDevices);
  if (!n) return refuse(n.error().detail, "--exclude-count 4");
  return ExcludedHosts{.count = *n};
}

Result<double> parse_tokens(std::string_view text) {
  text = trim(text);
  const double scale = text.empty() ? 1 : find_scale(text.back());
  if (scale > 1) text.remove_suffix(1);
  return parse_amount(trim(text), kMaxTokens / scale, "15T").map([&](double n) {
    return n * scale;
  });
}

namespace {

/// Parses an amount of money up to `max` with its currency before or after it; if `scaled`, k, M, B
/// or T may precede the currency.
Result<Price> parse_money(std::string_view text, double max, bool scaled, std::string_view such) {
  constexpr std::string_view kDigits = "0123456789.,_";
  const std::string kSuch = fmt::format("such as {}", such);
  const std::size_t first = text.find_first_of(kDigits);
  if (first == std::string_view::npos)
    return refuse(fmt::format("'{}' has no number", make_excerpt(text)), kSuch);
  const std::size_t last = text.find_last_of(kDigits);
  const std::string before(trim(text.substr(0, first))), after(trim(text.substr(last + 1)));
  // "M EUR" is a scale and a currency.
  const bool scale = scaled && after.size() > 2 && after[1] == ' ' && find_scale(after[0]) > 1;
  const std::string currency = before + (scale ? after.substr(2) : after);
  const bool words = currency.find_first_of(" \t+-") == std::string::npos;
  if (!words || before.size() > kLongestCurrency || after.size() > kLongestCurrency)
    return refuse(fmt::format("'{}' is not an amount of money", make_excerpt(text)), kSuch);
  return parse_amount(text.substr(first, last - first + 1), max, such).map([&](double n) {
    return Price{n, make_excerpt(before), make_excerpt(after)};
  });
}

}  // namespace

Result<Price> parse_price(std::string_view text) {
  return parse_money(text, kMaxMoney, false, "2.10, $2.10 or \"2.10 EUR\"");
}

Result<Price> parse_budget(std::string_view text) {
  constexpr std::string_view kSuch = "$2M, 500k or \"1.5M EUR\"";
  Result<Price> budget = parse_money(text, kMaxBudget, true, kSuch);
  if (!budget || budget->after.empty()) return budget;
  const double scale = find_scale(budget->after.front());
  // "EUR" alone is a currency; "M" and "M EUR" begin with a scale.
  if (scale == 1 || (budget->after.size() > 1 && budget->after[1] != ' ')) return budget;
  budget->amount *= scale;
  budget->after = std::string(trim(budget->after.substr(1)));
  if (budget->amount > kMaxBudget)
    return refuse(fmt::format("'{}' is more than {:g}", make_excerpt(text), kMaxBudget),
                  std::string(kSuch));
  return budget;
}

Result<Seconds> parse_days(std::string_view text) {
  return parse_amount(trim(text), kMaxDays, "30").map([](double n) { return Seconds{n * 86400}; });
}

Result<Seconds> parse_search_time(std::string_view text) {
  Result<Seconds> time = parse_duration(text);
  if (time && !(*time > Seconds{}))
    return fail({.code = "RW0904",
                 .message = "not a time",
                 .detail = "a search takes more than 0 s",
                 .hint = "30s or 10min"});
  return time;
}

Result<int> parse_threads(std::string_view text) {
  return parse_bounded(trim(text), 1, kMaxThreads).map([](i64 n) { return int(n); });
}

}  // namespace rankwright::planner
