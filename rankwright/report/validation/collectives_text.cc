#include "rankwright/report/validation/collectives_text.h"

#include <fmt/format.h>

#include "rankwright/base/format.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {
namespace {

void add_rows(Table& table, std::span<const validate::RowClass> classes, const std::string& system,
              const validate::ErrorTable& given, const validate::ErrorTable& held_out) {
  std::string label = make_excerpt(system, 60);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const validate::ErrorStats& with = given[c];
    const validate::ErrorStats without = held_out.empty() ? validate::ErrorStats{} : held_out[c];
    if (with.rows == 0) continue;
    table.rows.push_back({label, std::string(classes[c].name), count(with.rows),
                          format_exact_percent(with.mean_absolute),
                          format_signed_percent(with.bias), format_exact_percent(with.p90),
                          format_signed_percent(with.worst),
                          without.rows == 0 ? "-" : format_exact_percent(without.mean_absolute),
                          without.rows == 0 ? "-" : format_signed_percent(without.bias),
                          without.rows == 0 ? "-" : format_exact_percent(without.p90)});
    label.clear();
  }
}

Table make_error_table(const validate::CollectiveScore& score) {
  const std::span<const validate::RowClass> classes = list_classes(score.measured);
  Table table{{{"system"},
               {score.measured.dispatches ? "call" : "size"},
               {"rows", kRight},
               {"error", kRight},
               {"bias", kRight},
               {"p90", kRight},
               {"worst", kRight},
               {"held out", kRight},
               {"bias", kRight},
               {"p90", kRight}}};
  add_rows(table, classes, "all", score.total, score.total_held_out);
  for (const validate::SystemScore& system : score.systems)
    add_rows(table, classes, system.system, system.given, system.held_out);
  return table;
}

Table make_constant_table(const validate::CollectiveScore& score) {
  Table table{{{"constant"}, {"given", kRight}, {"fitted", kRight}, {"unit"}, {"meaning"}}};
  for (const cluster::Constant c : list_fitted(score.measured)) {
    const catalog::ConstantRow& row = catalog::constants()[std::size_t(c)];
    table.rows.push_back({row.name, fmt::format("{:.3g}", score.given[c]),
                          fmt::format("{:.3g}", score.fitted.constants[c]), row.unit, row.meaning});
  }
  if (score.measured.dispatches) return table;
  table.rows.push_back({"latency", "1", fmt::format("{:.3g}", score.fitted.latency), "",
                        "catalog latencies marked as calibrated, relative to their values"});
  return table;
}

Table make_unscored_table(const validate::CollectiveScore& score) {
  Table table{{{"rows not scored", kRight}, {"because"}, {"systems"}}};
  for (const validate::Unscored& one : score.measured.unscored) {
    std::string systems;
    for (const std::string& system : one.systems)
      systems += (systems.empty() ? "" : "; ") + make_excerpt(system, 60);
    table.rows.push_back(
        {count(one.rows), make_excerpt(one.reason, 100), make_excerpt(systems, 200)});
  }
  return table;
}

}  // namespace

std::string render_collectives_text(const validate::CollectiveScore& score, const Paint& paint) {
  std::string out = fmt::format(
      "{} of {} on {}. Error: mean of |predicted / measured - 1| with the\n"
      "shipped constants. Held out: with constants fitted without the system.\n"
      "\n",
      plural(i64(score.measured.rows.size()), "measurement", "measurements"),
      score.measured.dispatches ? "all-to-all, dispatch and combine" : "collectives",
      plural(i64(score.measured.systems.size()), "system", "systems"));
  out += make_error_table(score).text(paint) + "\n" + make_constant_table(score).text(paint);
  if (!score.measured.unscored.empty()) out += "\n" + make_unscored_table(score).text(paint);
  return out;
}

std::string render_collectives_markdown(const validate::CollectiveScore& score) {
  return make_error_table(score).markdown();
}

}  // namespace rankwright::report
