#include "rankwright/import/plan/plan_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rankwright/base/shell_word.h"
#include "rankwright/import/plan/plan_format.h"
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

/// A tool whose files are known by their keys, and are not read.
struct OtherTool {
  std::string_view name;
  std::array<std::string_view, 2> keys;  // both of them, in any map; empty: one is enough
};

// To name another tool, add a row.
constexpr OtherTool kOtherTools[] = {
    {"verl", {"actor_rollout_ref"}},
    {"NeMo-RL", {"policy", "grpo"}},
    {"NeMo", {"trainer", "exp_manager"}},
    {"NeMo Automodel", {"recipe", "step_scheduler"}},
    {"GPT-NeoX", {"pipe_parallel_size", "model_parallel_size"}},
    {"MaxText", {"base_emb_dim"}},
    {"LLM Foundry", {"max_seq_len", "global_train_batch_size"}},
    {"Kubernetes", {"apiVersion", "kind"}},
};

bool has_key(const YamlNode& node, std::string_view name, int depth = 0) {
  constexpr int kMaxDepth = 3;
  if (depth > kMaxDepth) return false;
  return std::any_of(node.entries.begin(), node.entries.end(), [&](const YamlEntry& entry) {
    return entry.key.scalar == name || has_key(entry.value, name, depth + 1);
  });
}

/// Returns the tool that the file is for; empty if it is not known.
std::string_view find_other_tool(const YamlNode& root) {
  for (const OtherTool& tool : kOtherTools)
    if (std::all_of(tool.keys.begin(), tool.keys.end(),
                    [&](std::string_view key) { return key.empty() || has_key(root, key); }))
      return tool.name;
  return {};
}

/// Returns whether the keys at the top are those of a plan: one that only plans have, or more known
/// keys than unknown ones.
bool is_plan_map(const FieldReader& fields, const YamlNode& root) {
  constexpr std::string_view kOwn[] = {"parallelism", "world_size", "node_shape", "placement",
                                       "cluster"};
  std::size_t known = 0;
  for (const FieldReader::Key& key : fields.keys()) {
    if (std::find(std::begin(kOwn), std::end(kOwn), key.path) != std::end(kOwn)) return true;
    if (key.path.find('.') == std::string::npos && key.path != "name") ++known;
  }
  return 2 * known >= root.entries.size() && known > 0;
}

/// Rejects a map of other keys than those of a plan: it would be read as a plan for one GPU.
void reject_other_maps(FieldReader& fields, const YamlNode& root, const std::string& file) {
  if (root.kind != YamlNode::Kind::map || root.entries.size() <= fields.keys().size() ||
      is_plan_map(fields, root))
    return;
  const std::string_view tool = find_other_tool(root);
  constexpr std::size_t kManyKeys = 6;  // a file of its own kind, not a plan with typos
  if (!tool.empty() || root.entries.size() > kManyKeys) {
    std::vector<std::string_view> formats;
    for (const PlanFormat& format : plan_formats()) formats.push_back(format.name);
    fields.findings().clear();
    fields.findings().push_back(
        {.code = "RW0603",
         .message = "unrecognized file format",
         .detail = tool.empty()
                       ? fmt::format("it has none of the {} keys of a plan, and no framework's",
                                     key_rows().size())
                       : fmt::format("it looks like a file of {}, which cannot be read", tool),
         .hint = fmt::format("supported: {} (rankwright import --list)", fmt::join(formats, ", ")),
         .where = {.file = file}});
    return;
  }
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
