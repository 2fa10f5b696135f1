#include "rankwright/import/plan/plan_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/shell_word.h"
#include "rankwright/import/plan/plan_keys.h"

namespace rankwright::importer {
namespace {

std::string_view parent_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

/// An entry that the map `group` may contain: a key, which has a row, or another map.
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

constexpr std::string_view kExample =
    "for example: parallelism: {tp_size: 8, pp_size: 4, dp_size: 2}";

/// Returns a hint for a map of foreign keys: what it looks like, and the command to use instead.
std::string hint_for_other_map(const YamlNode& root, const std::string& file) {
  const auto has = [&](std::string_view name) {
    return std::any_of(root.entries.begin(), root.entries.end(),
                       [&](const YamlEntry& entry) { return entry.key.scalar == name; });
  };
  if (has("levels") || has("device"))
    return fmt::format(
        "it looks like a cluster file: rankwright catalog systems {0} shows it, "
        "rankwright plan --model llama-3.1-8b --cluster {0} uses it",
        quote_shell_path(file));
  if (has("model_type") || has("architectures"))
    return fmt::format(
        "it looks like a Hugging Face config: rankwright plan --model {} --cluster dgx-h100",
        quote_shell_path(file));
  return std::string(kExample);
}

/// Rejects a map of which at most `name` is a known key: it would be read as a plan for one GPU.
void reject_other_maps(FieldReader& fields, const YamlNode& root, const std::string& file) {
  const bool known = std::any_of(fields.keys().begin(), fields.keys().end(),
                                 [](const FieldReader::Key& key) { return key.path != "name"; });
  if (known || root.kind != YamlNode::Kind::map || root.entries.size() <= fields.keys().size())
    return;
  // Report the known keys once, not for every unknown key; keep the spelling suggestions.
  std::erase_if(fields.findings(), [](const Diagnostic& d) {
    return d.code == "RW0902" && !d.hint.starts_with("did you mean");
  });
  fields.report(
      root, {.code = "RW0912",
             .message = "missing value",
             .detail = fmt::format("the file has none of the {} keys of a plan", key_rows().size()),
             .hint = hint_for_other_map(root, file)});
}

}  // namespace

Location PlanFile::where(std::string_view path) const {
  for (std::string_view at = path; !at.empty(); at = parent_of(at))
    for (const FieldReader::Key& key : keys)
      if (key.path == at) return key.where;
  return {.file = name};
}

PlanFile read_plan(std::string text, std::string name, const FileReader& files) {
  const Result<YamlNode> root = read_yaml(text, name);
  if (root) return read_plan(*root, std::move(text), std::move(name), files);
  PlanFile plan{.name = std::move(name), .text = std::move(text)};
  plan.findings.push_back(root.error());
  return plan;
}

PlanFile read_plan(const YamlNode& root, std::string text, std::string name,
                   const FileReader& files) {
  PlanFile plan{.name = std::move(name), .text = std::move(text)};
  FieldReader fields(plan.name, plan.findings);
  fields.set_hints(key_hints());
  Reading reading{fields, plan.draft, files};
  if (root.kind == YamlNode::Kind::null)
    fields.report(root, {.code = "RW0912",
                         .message = "missing value",
                         .detail = "the file is empty",
                         .hint = std::string(kExample)});
  else
    read_group(reading, root, "");
  reject_other_maps(fields, root, plan.name);
  plan.keys = fields.keys();
  return plan;
}

}  // namespace rankwright::importer
