#include "rankwright/export/launcher/host_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "rankwright/base/check.h"
#include "rankwright/export/quote.h"

namespace rankwright::exporter {
namespace {

constexpr std::string_view kLauncherStates[] = {"world_size", "node_shape", "placement"};

constexpr std::size_t kColumns = 100;
constexpr std::size_t kMaxHostName = 253;  // maximum length of a DNS name

i64 host_devices_of(const plan::TrainingConfig& config) {
  return std::max<i64>(1, config.cluster.host_devices);
}

/// Returns the host number of each rank, by rank, as the cluster numbers hosts.
std::vector<i64> hosts_of_ranks(const plan::TrainingConfig& config) {
  const i64 size = host_devices_of(config);
  std::vector<i64> hosts(std::size_t(config.world), 0);
  for (i64 rank = 0; rank < config.world; ++rank)
    hosts[std::size_t(rank)] = config.plan.placement.device(rank) / size;
  return hosts;
}

/// Groups equal neighbors into runs, and runs of equal length on consecutive hosts into one run.
std::vector<HostRun> group_runs(const std::vector<i64>& hosts) {
  std::vector<HostRun> runs;
  for (std::size_t at = 0; at < hosts.size();) {
    std::size_t end = at;
    while (end < hosts.size() && hosts[end] == hosts[at]) ++end;
    const HostRun run{hosts[at], hosts[at], i64(end - at)};
    if (!runs.empty() && runs.back().last + 1 == run.first && runs.back().ranks == run.ranks)
      runs.back().last = run.first;
    else
      runs.push_back(run);
    at = end;
  }
  return runs;
}

/// A line split around the number that may count up: the last digits before the first space.
struct NumberedLine {
  std::string_view before, digits, after;
};

std::optional<NumberedLine> split_at_number(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(' '));
  const std::size_t last = name.find_last_of("0123456789");
  if (last == std::string_view::npos) return std::nullopt;
  const std::size_t before = name.find_last_not_of("0123456789", last);
  const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
  constexpr std::size_t kExact = 15;  // digits that `seq` counts without rounding
  if (last + 1 - first > kExact) return std::nullopt;
  return NumberedLine{line.substr(0, first), line.substr(first, last + 1 - first),
                      line.substr(last + 1)};
}

i64 parse_digits(std::string_view digits) {
  i64 n = 0;
  for (const char digit : digits) n = n * 10 + (digit - '0');
  return n;
}

/// Returns the width to pad to. Numbers are zero-padded if the first of the run is: 08, 09, 10.
std::size_t padded_width(const NumberedLine& first) {
  return first.digits.front() == '0' ? first.digits.size() : 1;
}

/// Returns how many lines, from `at` on, count up from the first one.
std::size_t count_consecutive(const std::vector<std::string>& lines, std::size_t at) {
  const std::optional<NumberedLine> first = split_at_number(lines[at]);
  if (!first) return 1;
  const i64 from = parse_digits(first->digits);
  std::size_t count = 1;
  while (at + count < lines.size() &&
         lines[at + count] == fmt::format("{}{:0{}}{}", first->before, from + i64(count),
                                          padded_width(*first), first->after))
    ++count;
  return count;
}

}  // namespace

std::span<const std::string_view> list_launcher_keys() { return kLauncherStates; }

std::span<const i64> HostTable::devices_of(i64 host) const {
  const i64 begin = begins[std::size_t(host)], end = begins[std::size_t(host) + 1];
  return std::span(devices).subspan(std::size_t(begin), std::size_t(end - begin));
}

bool HostTable::in_order(i64 host) const {
  i64 next = 0;
  for (const i64 device : devices_of(host))
    if (device != next++) return false;
  return true;
}

bool HostTable::all_in_order() const {
  for (i64 host = 0; host < size(); ++host)
    if (!in_order(host)) return false;
  return true;
}

std::vector<i64> HostTable::by_first_rank() const {
  std::vector<i64> order;
  std::vector<bool> seen(hosts.size(), false);
  for (const HostRun& run : runs)
    for (i64 host = run.first; host <= run.last; ++host) {
      if (seen[std::size_t(host)]) continue;
      seen[std::size_t(host)] = true;
      order.push_back(host);
    }
  return order;
}

HostTable make_host_table(const plan::TrainingConfig& config) {
  HostTable table;
  table.host_devices = host_devices_of(config);
  std::vector<i64> host = hosts_of_ranks(config);
  // Renumber the hosts: only those in use count.
  std::vector<i64> new_number(std::size_t(1 + *std::max_element(host.begin(), host.end())), -1);
  for (const i64 one : host) new_number[std::size_t(one)] = 0;
  for (std::size_t i = 0; i < new_number.size(); ++i)
    if (new_number[i] == 0) {
      new_number[i] = table.size();
      table.hosts.push_back(i64(i));
    }
  for (i64& one : host) one = new_number[std::size_t(one)];
  table.runs = group_runs(host);
  // Count the ranks per host, then turn the counts into offsets.
  table.begins.assign(table.hosts.size() + 1, 0);
  for (const i64 one : host) ++table.begins[std::size_t(one) + 1];
  table.max = *std::max_element(table.begins.begin(), table.begins.end());
  std::partial_sum(table.begins.begin(), table.begins.end(), table.begins.begin());
  std::vector<i64> next = table.begins;
  table.devices.resize(host.size());
  for (i64 rank = 0; rank < config.world; ++rank)
    table.devices[std::size_t(next[std::size_t(host[std::size_t(rank)])]++)] =
        config.plan.placement.device(rank) % table.host_devices;
  return table;
}

i64 count_hosts_to_name(const plan::TrainingConfig& config) {
  i64 last = 0;
  for (i64 rank = 0; rank < config.world; ++rank)
    last = std::max(last, config.plan.placement.device(rank));
  return last / host_devices_of(config) + 1;
}

std::vector<std::string> name_hosts(const HostTable& table, const ExportOptions& options) {
  std::vector<std::string> names;
  names.reserve(table.hosts.size());
  for (const i64 host : table.hosts) {
    if (options.hosts.empty()) {
      names.push_back(fmt::format("host{}", host));
      continue;
    }
    RW_CHECK(host < i64(options.hosts.size()) && is_host_name(options.hosts[std::size_t(host)]));
    names.push_back(options.hosts[std::size_t(host)]);
  }
  return names;
}

std::vector<std::string> format_host_runs(const std::vector<HostRun>& runs) {
  std::vector<std::string> words;
  words.reserve(runs.size());
  for (const HostRun& run : runs)
    words.push_back(run.first == run.last
                        ? fmt::format("{}x{}", run.first, run.ranks)
                        : fmt::format("{}-{}x{}", run.first, run.last, run.ranks));
  return words;
}

std::string join_devices(std::span<const i64> devices) {
  return fmt::format("{}", fmt::join(devices, ","));
}

std::string wrap_words(const std::vector<std::string>& words, std::string_view indent) {
  std::string text;
  std::size_t column = 0;
  for (const std::string& word : words) {
    const bool fits = column > 0 && column + 1 + word.size() <= kColumns;
    if (!fits && column > 0) text += '\n';
    text += fits ? " " : std::string(indent);
    column = (fits ? column + 1 : indent.size()) + word.size();
    text += word;
  }
  return text.empty() ? text : text + '\n';
}

std::string write_print_commands(const std::vector<std::string>& lines, std::string_view indent) {
  std::string text;
  std::vector<std::string> single;
  const auto flush = [&] {
    if (single.empty()) return;
    text += fmt::format("{0}printf '%s\\n' \\\n", indent);
    std::string words = wrap_words(single, std::string(indent) + "  ");
    words.pop_back();
    for (const char c : words) text += c == '\n' ? std::string(" \\\n") : std::string(1, c);
    text += '\n';
    single.clear();
  };
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t count = count_consecutive(lines, at);
    constexpr std::size_t kWorth = 3;  // from this many lines on, `seq` is shorter
    if (count < kWorth) {
      single.push_back(quote_shell(lines[at++]));
      continue;
    }
    flush();
    const NumberedLine first = *split_at_number(lines[at]);
    const i64 from = parse_digits(first.digits);
    const std::string format =
        fmt::format("{}%0{}.0f{}", first.before, padded_width(first), first.after);
    text += fmt::format("{}seq -f {} {} {}\n", indent, quote_shell(format), from,
                        from + i64(count) - 1);
    at += count;
  }
  flush();
  return text;
}

std::string name_script(const ExportOptions& options, std::string_view usual) {
  return options.script.empty() ? std::string(usual) : safe_name(options.script);
}

std::string write_usage_check(std::string_view usage) {
  return fmt::format(
      "if [ $# -eq 0 ]; then\n"
      "  echo {} >&2\n"
      "  exit 64\n"
      "fi\n",
      quote_shell(fmt::format("usage: {}", usage)));
}

bool is_host_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxHostName && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.' || c == '_';
         });
}

}  // namespace rankwright::exporter
