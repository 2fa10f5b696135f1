#include "rankwright/import/model_file.h"

#include "rankwright/catalog/catalog.h"
#include "rankwright/import/hf_config.h"
#include "rankwright/model/architecture.h"

namespace rankwright {
namespace {

constexpr i64 kMaxShape = i64{1} << 32;

struct ShapeField {
  std::string_view key;
  void (*read)(FieldReader&, const YamlNode&, Shapes&);
};

template <i64 Shapes::*member>
void whole(FieldReader& reader, const YamlNode& node, Shapes& shapes) {
  shapes.*member = reader.whole(node, 0, kMaxShape).value_or(0);
}

constexpr ShapeField kFields[] = {
    {"name", [](FieldReader& r, const YamlNode& n, Shapes& s) { s.name = r.text(n).value_or(""); }},
    {"architecture",
     [](FieldReader& r, const YamlNode& n, Shapes& s) { s.architecture = r.text(n).value_or(""); }},
    {"hidden", whole<&Shapes::hidden>},
    {"layers", whole<&Shapes::layers>},
    {"heads", whole<&Shapes::heads>},
    {"kv_heads", whole<&Shapes::kv_heads>},
    {"head_dim", whole<&Shapes::head_dim>},
    {"ffn", whole<&Shapes::ffn>},
    {"vocab", whole<&Shapes::vocab>},
    {"positions", whole<&Shapes::positions>},
    {"tied", [](FieldReader& r, const YamlNode& n, Shapes& s) { s.tied = r.flag(n); }},
    {"experts", whole<&Shapes::experts>},
    {"active_experts", whole<&Shapes::active_experts>},
    {"expert_ffn", whole<&Shapes::expert_ffn>},
    {"shared_ffn", whole<&Shapes::shared_ffn>},
    {"first_dense", whole<&Shapes::first_dense>},
    {"sparse_every", whole<&Shapes::sparse_every>},
    {"q_rank", whole<&Shapes::q_rank>},
    {"kv_rank", whole<&Shapes::kv_rank>},
    {"nope_dim", whole<&Shapes::nope_dim>},
    {"rope_dim", whole<&Shapes::rope_dim>},
    {"value_dim", whole<&Shapes::value_dim>},
    {"mtp_layers", whole<&Shapes::mtp_layers>},
};

std::optional<Model> read_shapes(FieldReader& reader, const YamlNode& node) {
  Shapes shapes;
  shapes.name = "this model";
  std::vector<std::string_view> keys;
  for (const ShapeField& field : kFields) keys.push_back(field.key);
  reader.each(node, keys, [&](std::size_t field, const YamlNode& value) {
    kFields[field].read(reader, value, shapes);
  });
  Result<Model> model = build(shapes);
  // build() names the shape that is wrong; the file's key has the same name.
  if (!model) model.error().key = "model." + model.error().key;
  return reader.take(node, std::move(model));
}

}  // namespace

Result<Model> read_model_argument(const std::string& argument, FileReader files) {
  if (!argument.ends_with(".json")) return find_model(argument);
  const Result<std::string> text = files(argument);
  if (!text) return fail(text.error());
  return read_hf_config(*text, argument);
}

std::optional<Model> read_model(FieldReader& reader, const YamlNode& node, FileReader files) {
  if (node.kind == YamlNode::Kind::map) return read_shapes(reader, node);
  const std::optional<std::string> name = reader.text(node);
  if (!name) return std::nullopt;
  const bool file = name->ends_with(".json");
  return reader.take(node, read_model_argument(file ? beside(reader.file(), *name) : *name, files));
}

}  // namespace rankwright
