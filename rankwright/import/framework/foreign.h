// Reads a framework's configuration by a table of its keys: one row a key, which plan key it
// states, and how it is read into a Draft. The file is a tree of values with places, whatever its
// syntax (yaml.h, json_tree.h, toml_tree.h, or flags as a flat map). Most of what stands in such
// files is no matter of layout: it is passed over, and said to be.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rankwright/import/plan/plan_file.h"
#include "rankwright/import/syntax/fields.h"
#include "rankwright/model/architecture.h"
#include "rankwright/rules/rule.h"

namespace rankwright::importer {

/// What a row reads with and into.
struct ForeignReading {
  FieldReader& fields;
  Draft& draft;
  const YamlNode& root;
  const FileReader& files;
  model::Shapes shapes{};  // of formats that state the model's shapes one by one
  bool (*read_apart)(std::string_view path) = nullptr;  // keys without a row that are read, too
};

struct ForeignKey {
  std::string_view path;      // "parallelism.tp", "tensor-model-parallel-size"
  std::string_view plan_key;  // "parallelism.tp_size": findings about that point here
  /// Null where several keys say something together, and the format reads them afterwards.
  void (*read)(ForeignReading&, const YamlNode&) = nullptr;
  bool same = false;  // values are typed as in a plan file, so that a fix can be stated
  /// Why the estimate leaves it out (RW0601), where it changes what a step does or holds.
  std::string_view unmodelled{};
};

/// The value at a dotted path; nothing where there is none or it is null.
const YamlNode* find_path(const YamlNode& root, std::string_view path);

/// Reads every row that the file has, in the table's order, and keeps the places in `plan`; what
/// stands in the file and in no row is `plan.passed_over`.
void read_foreign(ForeignReading& reading, std::span<const ForeignKey> rows, PlanFile& plan);

/// Says that the estimate leaves `value` out (RW0601), and why.
void tell_left_out(ForeignReading& reading, const YamlNode& value, std::string why);

/// The row that states this plan key alone and in the same words; null where there is none.
const ForeignKey* stating(std::span<const ForeignKey> rows, std::string_view plan_key);

/// The whole number at `path`, if it is there and one of at least `least`; else a finding.
std::optional<i64> whole_at(ForeignReading& reading, std::string_view path, i64 min, i64 max);

/// What the target runs on; nothing where it has no row.
std::optional<plan::Software> software_of(rules::Target target);

/// Readers that rows have in common.
template <std::optional<i64> Draft::*member, i64 max>
void whole(ForeignReading& r, const YamlNode& node) {
  r.draft.*member = r.fields.whole(node, 1, max);
}

template <std::optional<bool> Draft::*member>
void flag(ForeignReading& r, const YamlNode& node) {
  r.draft.*member = r.fields.flag(node);
}

template <i64 model::Shapes::*member>
void shape(ForeignReading& r, const YamlNode& node) {
  r.shapes.*member = r.fields.whole(node, 0, kMaxCount).value_or(r.shapes.*member);
}

/// A word that the format uses, and what it means.
template <class Value>
struct Word {
  std::string_view word;
  Value value;
};

/// What one of `words` means; else RW0907 with the nearest.
template <class Value, std::size_t n>
std::optional<Value> meaning(ForeignReading& r, const YamlNode& node,
                             const Word<Value> (&words)[n]) {
  std::string_view names[n];
  for (std::size_t i = 0; i < n; ++i) names[i] = words[i].word;
  const std::optional<std::size_t> index = r.fields.one_of(node, names);
  if (!index) return std::nullopt;
  return words[*index].value;
}

}  // namespace rankwright::importer
