#include "rankwright/planner/input/host_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "rankwright/base/format.h"
#include "rankwright/base/trim.h"
#include "rankwright/export/launcher/host_table.h"
#include "rankwright/import/cluster/host_list.h"

namespace rankwright::planner {
namespace {

constexpr std::string_view kHint = "use --hosts n[0-7], or --hosts FILE with one name per line";

Diagnostic make_error(std::string detail) {
  return {.code = "RW0620",
          .message = "invalid host list",
          .detail = std::move(detail),
          .hint = std::string(kHint)};
}

/// Returns the names unchanged, or the first error in them.
Result<std::vector<std::string>> check_names(std::vector<std::string> names) {
  for (const std::string& name : names)
    if (!exporter::is_host_name(name))
      return fail(make_error(
          fmt::format("'{}' is not a host name: use letters, digits, '-', '.' and '_', at most 253",
                      make_excerpt(name))));
  // Sorted, not hashed, because names could be chosen to collide. Numbered names are already in
  // this order.
  const auto shorter = [](std::string_view a, std::string_view b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  };
  std::vector<std::string_view> sorted(names.begin(), names.end());
  if (!std::is_sorted(sorted.begin(), sorted.end(), shorter))
    std::sort(sorted.begin(), sorted.end(), shorter);
  if (const auto twin = std::adjacent_find(sorted.begin(), sorted.end()); twin != sorted.end())
    return fail(make_error(fmt::format("{} is named twice", make_excerpt(*twin))));
  if (names.empty()) return fail(make_error("it has no names"));
  return names;
}

/// Returns the line without its comment and without blanks around it.
std::string_view trim_line(std::string_view line) { return trim(line.substr(0, line.find('#'))); }

}  // namespace

Result<std::vector<std::string>> read_host_lines(std::string_view text, std::string_view file) {
  std::vector<std::string> names;
  for (i64 number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    Result<std::vector<std::string>> more =
        importer::parse_host_list(line, std::size_t(cluster::kMaxDevices) - names.size());
    if (!more)
      return fail(make_error(
          fmt::format("{}:{}: {}", make_excerpt(file, 200), number, more.error().detail)));
    names.insert(names.end(), std::make_move_iterator(more->begin()),
                 std::make_move_iterator(more->end()));
  }
  return check_names(std::move(names));
}

Result<std::vector<std::string>> read_hosts(const HostNames& given) {
  if (given.file) {
    if (given.file->unreadable) return fail(*given.file->unreadable);
    return read_host_lines(given.file->text, given.file->name);
  }
  Result<std::vector<std::string>> names =
      importer::parse_host_list(given.list, std::size_t(cluster::kMaxDevices));
  if (!names) return fail(make_error(names.error().detail));
  return check_names(std::move(*names));
}

Result<std::vector<std::string>> read_hosts_for(const plan::TrainingConfig& config,
                                                const HostNames& given) {
  Result<std::vector<std::string>> names = read_hosts(given);
  if (!names) return names;
  const i64 needed = exporter::count_hosts_to_name(config);
  if (i64(names->size()) < needed)
    return fail(make_error(
        fmt::format("the plan needs {}, but there {}", plural(needed, "host", "hosts"),
                    names->size() == 1 ? std::string("is 1 name")
                                       : "are " + plural(i64(names->size()), "name", "names"))));
  return names;
}

}  // namespace rankwright::planner
