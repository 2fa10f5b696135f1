#include "rankwright/import/framework/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "rankwright/base/format.h"
#include "rankwright/import/framework/unknown_keys.h"

namespace rankwright::importer {
namespace {

void list_ignored(const YamlNode& node, const std::string& path, std::span<const ForeignKey> rows,
                  std::vector<std::string>& out, const ForeignReading& reading) {
  if (!path.empty() && has_row(rows, path)) return;
  const std::span<const std::string_view> shapes = reading.model_keys;
  if (std::find(shapes.begin(), shapes.end(), path) != shapes.end()) return;
  const bool leaf = node.kind != YamlNode::Kind::map || node.entries.empty();
  if (leaf && !path.empty()) out.push_back(make_excerpt(path, kLongestLabel));
  for (const YamlEntry& entry : node.entries)
    list_ignored(entry.value, path.empty() ? entry.key.scalar : path + "." + entry.key.scalar, rows,
                 out, reading);
}

void report_not_modeled(ForeignReading& reading, const ForeignKey& row, const YamlNode& value) {
  if (is_off(value)) return;
  report_left_out(reading, value, fmt::format("{}: {}", row.path, row.not_modeled));
}

/// Returns the variable that another program fills in: "TP" for "$TP", "${TP}" and "${oc.env:TP}".
/// Nothing if the node has a value.
std::optional<std::string> find_placeholder(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::scalar || !node.scalar.starts_with('$')) return std::nullopt;
  const bool braces = node.scalar.starts_with("${") && node.scalar.ends_with('}');
  std::string name = node.scalar.substr(braces ? 2 : 1);
  if (braces) name.pop_back();
  name.erase(0, name.rfind(':') + 1);
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
  return plain && !name.empty() ? std::optional(std::move(name)) : std::nullopt;
}

void report_placeholder(ForeignReading& r, const YamlNode& value, const ForeignKey& row,
                        const std::string& name, PlanFile& plan) {
  constexpr const char* kHint = "write the value, or set the key in a plan file";
  const std::string shown = make_excerpt(name, kLongestLabel);
  plan.open.push_back({std::string(row.plan_key), "$" + shown, kHint});
  r.fields.report(value, {.code = "RW0614",
                          .severity = Severity::warning,
                          .message = "a value that is known only when the script runs",
                          .detail = fmt::format("{}: the value of ${} is unknown", row.path, shown),
                          .hint = kHint});
}

/// Adds to the states that are on NVMe drives.
void add_to_nvme(ForeignReading& r, plan::NvmeStates states) {
  const bool other = r.draft.offload_nvme && *r.draft.offload_nvme != states;
  r.draft.offload_nvme = other ? plan::NvmeStates::all : states;
}

}  // namespace

bool is_null(const YamlNode& node) {
  using Kind = YamlNode::Kind;
  return node.kind == Kind::null || (node.kind == Kind::scalar && node.scalar == "null");
}

/// Returns whether a setting has no effect with this value.
bool is_off(const YamlNode& node) {
  constexpr std::string_view kOff[] = {"", "false", "False", "none", "None", "0"};
  if (node.kind == YamlNode::Kind::map) return node.entries.empty();
  if (node.kind == YamlNode::Kind::sequence) return node.items.empty();
  return node.kind == YamlNode::Kind::scalar &&
         std::find(std::begin(kOff), std::end(kOff), node.scalar) != std::end(kOff);
}

bool has_row(std::span<const ForeignKey> rows, std::string_view path) {
  return std::any_of(rows.begin(), rows.end(), [&](const ForeignKey& row) {
    return path == row.path || (path.starts_with(row.path) && path[row.path.size()] == '.');
  });
}

void report_left_out(ForeignReading& reading, const YamlNode& value, std::string why) {
  reading.fields.report(value, {.code = "RW0601",
                                .severity = Severity::warning,
                                .message = "the estimate does not include this setting",
                                .detail = std::move(why)});
}

const YamlNode* find_path(const YamlNode& root, std::string_view path) {
  const YamlNode* node = &root;
  // The names of flags may contain dots: try the whole path as one key first.
  const YamlNode* const whole = root.find(path);
  if (whole != nullptr) return is_null(*whole) ? nullptr : whole;
  for (std::size_t begin = 0; begin <= path.size() && node != nullptr;) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    node = node->find(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return node == nullptr || is_null(*node) ? nullptr : node;
}

bool is_on_at(const YamlNode& root, std::string_view path) {
  const YamlNode* const node = find_path(root, path);
  return node != nullptr && !is_off(*node);
}

void read_foreign(ForeignReading& reading, std::span<const ForeignKey> rows, PlanFile& plan) {
  if (!reading.fields.expect(reading.root, YamlNode::Kind::map, "a map of settings")) return;
  for (const ForeignKey& row : rows) {
    const YamlNode* const value = find_path(reading.root, row.path);
    if (value == nullptr) continue;
    reading.fields.under(row.plan_key, *value, [&] {
      const std::optional<std::string> open = find_placeholder(*value);
      if (open && !row.plan_key.empty())
        return report_placeholder(reading, *value, row, *open, plan);
      if (!row.not_modeled.empty()) report_not_modeled(reading, row, *value);
      if (row.read != nullptr) row.read(reading, *value);
    });
  }
  list_ignored(reading.root, "", rows, plan.ignored_keys, reading);
  if (reading.known != nullptr) plan.unknown_keys = report_unknown_keys(reading, rows);
}

void read_offload_optimizer(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.offload_optimizer = 1;
  if (node.scalar == "nvme") add_to_nvme(r, plan::NvmeStates::optimizer);
}

void read_offload_parameters(ForeignReading& r, const YamlNode& node) {
  if (!is_off(node)) r.draft.offload_parameters = true;
  if (node.scalar == "nvme") add_to_nvme(r, plan::NvmeStates::parameters);
}

void read_nvme_path(ForeignReading& r, const YamlNode& node) {
  if (is_off(node) || !r.draft.offload_nvme) return;
  if (r.draft.nvme_path && *r.draft.nvme_path != node.scalar)
    report_left_out(r, node, "a plan has one directory on the drives");
  else
    r.draft.nvme_path = r.fields.path(node);
}

void read_offload_all(ForeignReading& r, const YamlNode& node) {
  read_offload_optimizer(r, node);
  read_offload_parameters(r, node);
}

const ForeignKey* find_row_for(std::span<const ForeignKey> rows, std::string_view plan_key) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const ForeignKey& row) {
    return row.same && row.plan_key == plan_key;
  });
  return found == rows.end() ? nullptr : &*found;
}

std::optional<plan::Software> find_software(rules::Target target) {
  return find_software(row(target).software);
}

std::optional<plan::Software> find_software(std::string_view framework) {
  for (const plan::Software& one : plan::frameworks())
    if (one.name == framework) return one;
  return std::nullopt;
}

std::optional<i64> read_whole_at(ForeignReading& reading, std::string_view path, i64 min, i64 max) {
  const YamlNode* const node = find_path(reading.root, path);
  if (node == nullptr || find_placeholder(*node)) return std::nullopt;
  return reading.fields.whole(*node, min, max);
}

}  // namespace rankwright::importer
