#include "rankwright/import/plan/model_file.h"

#include <algorithm>
#include <span>
#include <vector>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/import/plan/hf_config.h"
#include "rankwright/model/architecture.h"

namespace rankwright::importer {
namespace {

/// A key of a model map that is neither a number nor a flag of Shapes.
struct OtherField {
  std::string_view key;
  void (*read)(FieldReader&, const YamlNode&, model::Shapes&);
};

constexpr OtherField kOthers[] = {
    {"name",
     [](FieldReader& r, const YamlNode& n, model::Shapes& s) { s.name = r.label(n).value_or(""); }},
    {"architecture", [](FieldReader& r, const YamlNode& n,
                        model::Shapes& s) { s.architecture = r.text(n).value_or(""); }},
    {"pattern", [](FieldReader& r, const YamlNode& n,
                   model::Shapes& s) { s.pattern = r.text(n).value_or(""); }},
};

std::optional<model::Model> read_shapes(FieldReader& reader, const YamlNode& node) {
  model::Shapes shapes;
  shapes.name = "this model";
  const std::span<const model::ShapeField> numbers = model::list_shape_fields();
  const std::span<const model::ShapeFlag> flags = model::list_shape_flags();
  const std::size_t found_before = reader.findings().size();
  std::vector<std::string_view> keys;
  for (const OtherField& other : kOthers) keys.push_back(other.key);
  for (const model::ShapeFlag& flag : flags) keys.push_back(flag.name);
  for (const model::ShapeField& number : numbers) keys.push_back(number.name);
  reader.each(node, keys, [&](std::size_t key, const YamlNode& value) {
    if (key < std::size(kOthers)) return kOthers[key].read(reader, value, shapes);
    key -= std::size(kOthers);
    if (key < flags.size()) {
      shapes.*flags[key].member = reader.flag(value);
      return;
    }
    i64& number = shapes.*numbers[key - flags.size()].member;
    number = reader.whole(value, 0, kMaxCount).value_or(number);
  });
  // A shape that could not be read is already reported; do not also report it as missing.
  if (std::any_of(reader.findings().begin() + std::ptrdiff_t(found_before), reader.findings().end(),
                  [](const Diagnostic& d) { return d.severity == Severity::error; }))
    return std::nullopt;
  Result<model::Model> model = build(shapes);
  if (model) return std::move(*model);
  // build() names the faulty shape; the key in the file has the same name.
  const YamlNode* const value = node.find(model.error().key);
  model.error().key = "model." + model.error().key;
  return reader.take(value ? *value : node, std::move(model));
}

}  // namespace

Result<model::Model> read_model_argument(const std::string& argument, const FileReader& files) {
  const bool file = argument.ends_with(".json");
  if (!file) {
    Result<model::Model> known = catalog::find_model(argument);
    if (known) return known;
    const std::string inside = beside(argument + "/", "config.json");
    const Result<std::string> text = files(inside);
    if (text) return read_hf_config(*text, inside);
    return known;
  }
  const Result<std::string> text = files(argument);
  if (!text) return fail(text.error());
  return read_hf_config(*text, argument);
}

std::optional<model::Model> read_model(FieldReader& reader, const YamlNode& node,
                                       const FileReader& files) {
  if (node.kind == YamlNode::Kind::map) return read_shapes(reader, node);
  const std::optional<std::string> name = reader.text(node);
  if (!name) return std::nullopt;
  const bool file = name->ends_with(".json");
  return reader.take(node, read_model_argument(file ? beside(reader.file(), *name) : *name, files));
}

}  // namespace rankwright::importer
