#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rankwright/catalog/catalog.h"
#include "rankwright/catalog/table.h"
#include "rankwright/model/parameters.h"

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

/// Returns the number of parameters that a name such as "30b" states; 0 if it is not one.
double parse_size(std::string_view name) {
  if (name.size() < 2 || (name.back() != 'b' && name.back() != 'B')) return 0;
  const Result<double> billions = parse_real(name.substr(0, name.size() - 1));
  return billions && *billions > 0 ? 1e9 * *billions : 0;
}

/// Returns what to type for a size instead of a name: known models of about that size.
std::string suggest_sizes(double parameters) {
  constexpr double kAlike = 0.15;
  constexpr std::size_t kMaxListed = 4;
  std::vector<std::pair<double, std::string_view>> near;
  for (const KnownModel& one : list_known_models()) {
    const double off = double(count_parameters(one.model).total()) / parameters - 1;
    if (std::abs(off) <= kAlike) near.emplace_back(std::abs(off), one.name);
  }
  std::sort(near.begin(), near.end());
  std::string names;
  for (std::size_t i = 0; i < std::min(near.size(), kMaxListed); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ", near[i].second);
  return fmt::format(
      "{}a config.json, or shapes in a plan file: model: {{architecture: llama, "
      "hidden: 4096, layers: 32, heads: 32, kv_heads: 8, ffn: 14336, vocab: 128256}}",
      names.empty() ? "" : fmt::format("about that size: {}; or ", names));
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
  Diagnostic unknown = unknown_name("model", name, known);
  if (const double size = parse_size(name); size > 0) unknown.hint = suggest_sizes(size);
  return fail(std::move(unknown));
}

}  // namespace rankwright::catalog
