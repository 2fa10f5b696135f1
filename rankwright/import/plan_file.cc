#include "rankwright/import/plan_file.h"

#include <algorithm>

#include "rankwright/import/plan_keys.h"

namespace rankwright {
namespace {

std::string_view parent_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

/// What may stand directly in the map `group`: keys, which have a row, and further maps.
struct Entry {
  std::string_view name;
  std::string_view path;
  const KeyRow* row;
};

std::vector<Entry> entries_of(std::string_view group) {
  std::vector<Entry> entries;
  const auto add = [&](std::string_view path, const KeyRow* row) {
    if (parent_of(path) == group) entries.push_back({path.substr(path.rfind('.') + 1), path, row});
  };
  for (const KeyRow& row : key_rows()) add(row.key.path, &row);
  for (const std::string_view path : key_groups()) add(path, nullptr);
  return entries;
}

void read_group(Reading& reading, const YamlNode& node, std::string_view group) {
  const std::vector<Entry> entries = entries_of(group);
  std::vector<std::string_view> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  reading.fields.each(node, names, [&](std::size_t index, const YamlNode& value) {
    const Entry& entry = entries[index];
    if (entry.row != nullptr)
      entry.row->read(reading, value);
    else
      read_group(reading, value, entry.path);
  });
}

}  // namespace

Location PlanFile::where(std::string_view path) const {
  for (std::string_view at = path; !at.empty(); at = parent_of(at))
    for (const FieldReader::Key& key : keys)
      if (key.path == at) return key.where;
  return {.file = name};
}

PlanFile read_plan(std::string text, std::string name, FileReader files) {
  const Result<YamlNode> root = read_yaml(text, name);
  if (root) return read_plan(*root, std::move(text), std::move(name), files);
  PlanFile plan{.name = std::move(name), .text = std::move(text)};
  plan.findings.push_back(root.error());
  return plan;
}

PlanFile read_plan(const YamlNode& root, std::string text, std::string name, FileReader files) {
  PlanFile plan{.name = std::move(name), .text = std::move(text)};
  FieldReader fields(plan.name, plan.findings);
  Reading reading{fields, plan.draft, files};
  if (root.kind == YamlNode::Kind::null)
    fields.report(root, {.code = "RW0912",
                         .message = "something is missing",
                         .detail = "the file is empty",
                         .hint = "such as: parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}"});
  else
    read_group(reading, root, "");
  plan.keys = fields.keys();
  return plan;
}

}  // namespace rankwright
