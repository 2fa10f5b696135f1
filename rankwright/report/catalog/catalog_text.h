// The tables of `catalog`: one per kind of entry, and one per entry.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankwright/base/result.h"
#include "rankwright/import/syntax/file.h"
#include "rankwright/planner/input/outcome.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {

/// A kind of catalog entry, with a table of all entries and a table of one.
struct CatalogKind {
  std::string_view name;  // "models"
  std::string_view summary;
  Table (*list)();
  Result<Table> (*show)(std::string_view name);
  bool prose = false;  // the last column is prose, which is wrapped
};

std::span<const CatalogKind> list_catalog_kinds();
const CatalogKind* find_catalog_kind(std::string_view name);

/// Lists the kinds and the number of entries of each.
Table make_catalog_overview();

/// The table that `catalog` shows: the kinds, the entries of a kind, or one entry.
struct CatalogAnswer {
  std::string_view kind;
  Table table;
  bool prose = false;  // the last column is prose, which is wrapped
};

/// Finds the requested table. An empty `kind` requests the list of kinds, an empty `name` all
/// entries of a kind. A system that the catalog does not have may be a cluster file.
planner::Outcome<CatalogAnswer> show_catalog(
    const std::string& kind, const std::string& name,
    const importer::FileReader& files = importer::refuse_file);

/// Formats the table; below the list of kinds, explains how to see more. Prose is wrapped between
/// words to lines of `width` characters.
std::string render_catalog_text(const CatalogAnswer& answer, const Paint& paint,
                                std::size_t width = 120);

/// Writes schema rankwright.catalog/1: one object per row, keyed by the columns.
std::string make_table_json(std::string_view kind, const Table& table);

}  // namespace rankwright::report
