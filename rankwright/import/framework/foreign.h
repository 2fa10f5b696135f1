// Reads a framework's configuration by a table of its keys: one row per key, which says which plan
// key it sets and how it is read into a Draft. The file is a tree of values with locations,
// whatever its syntax (yaml.h, json_tree.h, toml_tree.h, or flags as a flat map). Keys without a
// row do not affect the layout; they are ignored and listed as such. unknown_keys.h reports those
// that the framework does not have at all.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rankwright/import/framework/known_keys.h"
#include "rankwright/import/plan/plan_file.h"
#include "rankwright/import/syntax/fields.h"
#include "rankwright/model/architecture.h"
#include "rankwright/rules/rule.h"

namespace rankwright::importer {

/// The inputs and outputs of a row's reader.
struct ForeignReading {
  FieldReader& fields;
  Draft& draft;
  const YamlNode& root;
  const FileReader& files;
  model::Shapes shapes{};  // for formats that state the model's shapes one by one
  /// Keys without a row that are read all the same: the shapes of a model.
  std::span<const std::string_view> model_keys{};
  const KnownKeys* known = nullptr;  // keys that do not matter; null: unknown keys are not reported
  std::string_view dashes{};         // before a key: "--" for flags
  std::vector<std::string> launcher_keys{};  // keys of another program: never unknown
};

/// One key of a framework's configuration.
struct ForeignKey {
  std::string_view path;      // "parallelism.tp", "tensor-model-parallel-size"
  std::string_view plan_key;  // "parallelism.tp_size": findings about that key point here
  /// Null if several keys decide together; the format then reads them after the table.
  void (*read)(ForeignReading&, const YamlNode&) = nullptr;
  bool same =
      false;  // values are typed as in a plan file, so that a fix can be stated in this format
  /// Why the estimate ignores the key although it affects time or memory (RW0601).
  std::string_view not_modeled{};
};

bool is_null(const YamlNode& node);
/// Returns whether a setting has no effect with this value.
bool is_off(const YamlNode& node);
/// Returns whether a row reads `path` or the map that it is in.
bool has_row(std::span<const ForeignKey> rows, std::string_view path);

/// Returns the value at a dotted path; nullptr if it is missing or null.
const YamlNode* find_path(const YamlNode& root, std::string_view path);

/// Returns whether the file has a setting at a dotted path that is not off.
bool is_on_at(const YamlNode& root, std::string_view path);

/// Reads every row whose key is in the file, in table order, and records locations in `plan`. Keys
/// without a row are added to `plan.ignored_keys`.
void read_foreign(ForeignReading& reading, std::span<const ForeignKey> rows, PlanFile& plan);

/// Reports that the estimate ignores `value` (RW0601), and why.
void report_left_out(ForeignReading& reading, const YamlNode& value, std::string why);

/// Why settings are left out that freeze parts of a model.
inline constexpr const char* kAllTrained = "all parameters are estimated as trained";

/// Returns the row that alone sets this plan key, with values typed as in a plan file; nullptr if
/// none does.
const ForeignKey* find_row_for(std::span<const ForeignKey> rows, std::string_view plan_key);

/// Returns the whole number at `path` if it is between `min` and `max`; reports it if not.
std::optional<i64> read_whole_at(ForeignReading& reading, std::string_view path, i64 min, i64 max);

/// Returns the software that the target runs on; nothing if it has no row.
std::optional<plan::Software> find_software(rules::Target target);
std::optional<plan::Software> find_software(std::string_view framework);

/// Readers shared by several rows.
template <std::optional<i64> Draft::*member, i64 max>
void whole(ForeignReading& r, const YamlNode& node) {
  r.draft.*member = r.fields.whole(node, 1, max);
}

template <std::optional<bool> Draft::*member>
void flag(ForeignReading& r, const YamlNode& node) {
  r.draft.*member = r.fields.flag(node);
}

/// Read settings that keep the optimizer's states, the parameters, or both in the host's memory, or
/// on its NVMe drives (`nvme`), unless they are off.
void read_offload_optimizer(ForeignReading& r, const YamlNode& node);
void read_offload_parameters(ForeignReading& r, const YamlNode& node);
void read_offload_all(ForeignReading& r, const YamlNode& node);
/// Reads the directory on the drives, if states are there.
void read_nvme_path(ForeignReading& r, const YamlNode& node);

template <i64 model::Shapes::*member>
void shape(ForeignReading& r, const YamlNode& node) {
  r.shapes.*member = r.fields.whole(node, 0, kMaxCount).value_or(r.shapes.*member);
}

/// A word of the format and its meaning.
template <class Value>
struct Word {
  std::string_view word;
  Value value;
};

/// Returns the meaning of the word in `node`; reports RW0907 with the nearest word if it is
/// unknown.
template <class Value, std::size_t n>
std::optional<Value> parse_word(ForeignReading& r, const YamlNode& node,
                                const Word<Value> (&words)[n]) {
  std::string_view names[n];
  for (std::size_t i = 0; i < n; ++i) names[i] = words[i].word;
  const std::optional<std::size_t> index = r.fields.one_of(node, names);
  if (!index) return std::nullopt;
  return words[*index].value;
}

}  // namespace rankwright::importer
