#include "rankwright/catalog/failures.h"

#include <fmt/format.h>

#include <cstdlib>

#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"
#include "rankwright/catalog/table.h"

namespace rankwright::catalog {
namespace {

constexpr std::string_view kKinds[] = {"rate", "restart", "storage", "hang"};

FailureRow::Kind read_kind(const std::string& text) {
  for (std::size_t k = 0; k < std::size(kKinds); ++k)
    if (text == kKinds[k]) return FailureRow::Kind(k);
  abort_broken_invariant("a kind of failure row", __FILE__, __LINE__);
}

std::vector<FailureRow> read_rows() {
  const Csv table = parse_shipped_table(kFailuresCsv, "failures.csv");
  std::vector<FailureRow> rows;
  for (const Csv::Row& row : table.rows) {
    const Cells cells(table, row);
    rows.push_back({.kind = read_kind(cells.text("kind")),
                    .name = cells.text("name"),
                    .value = cells.number("value"),
                    .gpus = i64(cells.number("gpus")),
                    .system = cells.text("system"),
                    .source = cells.text("source"),
                    .verified = cells.text("verified"),
                    .notes = cells.text("notes")});
  }
  return rows;
}

}  // namespace

std::span<const FailureRow> list_failure_rows() {
  static const std::vector<FailureRow> all = read_rows();
  return all;
}

const FailureRow& usual(FailureRow::Kind kind) {
  for (const FailureRow& row : list_failure_rows())
    if (row.kind == kind) return row;
  abort_broken_invariant("a row of every kind", __FILE__, __LINE__);
}

Result<FailureRow> find_failure_rate(std::string_view name) {
  std::vector<std::string> known;
  std::string list;
  for (const FailureRow& row : list_failure_rows()) {
    if (row.kind != FailureRow::Kind::rate) continue;
    if (row.name == lower(name)) return row;
    known.push_back(row.name);
    list += (list.empty() ? "" : ", ") + row.name;
  }
  const std::optional<std::string> near = nearest(lower(name), known);
  return fail({.code = "RW0908",
               .message = "unknown name",
               .detail = fmt::format("no failure rate is named '{}'", make_excerpt(name)),
               .hint = near ? fmt::format("did you mean {}?", *near) : "known: " + list});
}

Seconds compute_time_between_failures(const FailureRow& rate, i64 gpus) {
  const double failures_per_day = rate.value / 1000 * double(gpus) / double(kNodeGpus);
  return Seconds{86400 / failures_per_day};
}

const FailureRow& find_nearest_restart(i64 gpus) {
  const FailureRow* nearest = nullptr;
  for (const FailureRow& row : list_failure_rows()) {
    if (row.kind != FailureRow::Kind::restart) continue;
    if (nearest == nullptr || std::abs(row.gpus - gpus) < std::abs(nearest->gpus - gpus))
      nearest = &row;
  }
  RW_CHECK(nearest != nullptr);
  return *nearest;
}

Seconds estimate_restart_time(i64 gpus) {
  const FailureRow* below = nullptr;
  for (const FailureRow& row : list_failure_rows()) {
    if (row.kind != FailureRow::Kind::restart) continue;
    if (gpus <= row.gpus) {
      if (below == nullptr) return Seconds{row.value};
      const double share = double(gpus - below->gpus) / double(row.gpus - below->gpus);
      return Seconds{below->value + share * (row.value - below->value)};
    }
    below = &row;
  }
  RW_CHECK(below != nullptr);
  return Seconds{below->value};
}

}  // namespace rankwright::catalog
