#include "rankwright/export/model_file.h"

#include <fmt/format.h>

#include <optional>

#include "rankwright/base/check.h"
#include "rankwright/export/comment.h"
#include "rankwright/export/typed.h"
#include "rankwright/model/shapes.h"

namespace rankwright::exporter {

std::string write_model_map(const model::Model& model, std::size_t column) {
  const std::optional<model::Shapes> shapes = derive_shapes(model);
  RW_CHECK(shapes.has_value());
  std::string map;
  const auto add = [&](std::string_view key, std::string_view value) {
    map += fmt::format("\n{:{}}{}: {}", "", column, key, value);
  };
  if (shapes->name != "this model")
    add("name", write_yaml_text(shapes->name));  // unnamed models are called this
  add("architecture", write_yaml_text(shapes->architecture));
  const model::Shapes defaults{};
  for (const model::ShapeField& field : model::list_shape_fields())
    if (const i64 n = (*shapes).*field.member; n != defaults.*field.member)
      add(field.name, std::to_string(n));
  if (!shapes->pattern.empty()) add("pattern", write_yaml_text(shapes->pattern));
  for (const model::ShapeFlag& flag : model::list_shape_flags())
    if (const std::optional<bool>& value = (*shapes).*flag.member)
      add(flag.name, write_yaml_value(*value));
  return map;
}

std::string write_model_yaml(const model::Model& model, const std::vector<std::string>& head) {
  return write_comments(head, "#") + "model:" + write_model_map(model, 2) + "\n";
}

}  // namespace rankwright::exporter
