// What `catalog` lists and shows: one row a kind of thing, each with a table of all and a table of
// one.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankwright/base/result.h"
#include "rankwright/planner/input/outcome.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {

struct CatalogKind {
  std::string_view name;  // "models"
  std::string_view summary;
  Table (*list)();
  Result<Table> (*show)(std::string_view name);
};

std::span<const CatalogKind> catalog_kinds();
const CatalogKind* find_catalog_kind(std::string_view name);

/// The kinds themselves, and how many of each are known.
Table catalog_overview();

/// What `catalog` shows: the kinds, the things of a kind, or one of them.
struct CatalogAnswer {
  std::string_view kind;
  Table table;
};

/// An empty kind asks for the kinds, an empty name for all of a kind.
planner::Outcome<CatalogAnswer> show_catalog(const std::string& kind, const std::string& name);

/// Returns the table, below the kinds with how to see more.
std::string catalog_text(const CatalogAnswer& answer, const Paint& paint);

/// Schema rankwright.catalog/1: an object a row, keyed by the columns.
std::string table_json(std::string_view kind, const Table& table);

}  // namespace rankwright::report
