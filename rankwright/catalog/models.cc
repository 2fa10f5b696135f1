#include <algorithm>

#include "rankwright/catalog/catalog.h"
#include "rankwright/catalog/table.h"

namespace rankwright::catalog {
namespace {

model::Shapes read_shapes(const Cells& cells) {
  model::Shapes shapes;
  shapes.name = cells.text("name");
  shapes.architecture = cells.text("architecture");
  for (const model::ShapeField& field : model::list_shape_fields())
    if (const i64 n = cells.count(field.name)) shapes.*field.member = n;
  if (const std::string tied = cells.text("tied"); !tied.empty()) shapes.tied = tied == "yes";
  return shapes;
}

std::vector<KnownModel> read_models() {
  const Csv table = parse_shipped_table(kModelsCsv, "models.csv");
  std::vector<KnownModel> models;
  for (const Csv::Row& row : table.rows) {
    const Cells cells(table, row);
    const Result<model::Model> model = build(read_shapes(cells));
    RW_CHECK(model);
    models.push_back({.name = cells.text("name"),
                      .aliases = split_list(cells.text("aliases")),
                      .model = *model,
                      .source = cells.text("source"),
                      .verified = cells.text("verified")});
  }
  return models;
}

}  // namespace

std::span<const KnownModel> list_known_models() {
  static const std::vector<KnownModel> all = read_models();
  return all;
}

Result<model::Model> find_model(std::string_view name) {
  const std::string wanted = lower(name);
  std::vector<std::string> known;
  for (const KnownModel& model : list_known_models()) {
    if (model.name == wanted) return model.model;
    known.push_back(model.name);
    for (const std::string& alias : model.aliases) {
      if (lower(alias) == wanted) return model.model;
      known.push_back(alias);
    }
  }
  return fail(unknown_name("model", name, known));
}

}  // namespace rankwright::catalog
