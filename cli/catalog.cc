// `rankwright catalog`: what is known by name.
#include "rankwright/catalog/catalog.h"

#include <fmt/format.h>

#include <ostream>

#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"
#include "rankwright/report/catalog_text.h"

namespace rankwright::cli {
namespace {

constexpr const char* kHow = "\nrankwright catalog KIND lists them, KIND NAME shows one.\n";

int unknown_kind(const std::string& kind, const Io& io) {
  std::vector<std::string> names;
  for (const CatalogKind& row : catalog_kinds()) names.emplace_back(row.name);
  io.err << fmt::format("rankwright catalog: there is no kind '{}'\n", excerpt(kind));
  const std::optional<std::string> near = nearest(kind, names);
  io.err << (near ? fmt::format("  help: did you mean {}?\n", *near)
                  : "  help: rankwright catalog lists the kinds\n");
  return kUnreadable;
}

}  // namespace

int catalog(Args args, const Io& io) {
  Options options(verb("catalog"));
  std::string kind;
  std::string name;
  options.add(
      "kind", kind,
      "models, devices, systems, architectures, constants, frameworks, failures, codes or keys");
  options.add("name", name, "one of them");
  if (const std::optional<int> done = options.parse(args, io)) return *done;

  const Paint paint = options.paint(io);
  if (kind.empty()) {
    const Table kinds = catalog_overview();
    return options.write(options.json() ? table_json("kinds", kinds) : kinds.text(paint) + kHow,
                         io);
  }
  const CatalogKind* const row = find_catalog_kind(kind);
  if (row == nullptr) return unknown_kind(kind, io);
  if (name.empty()) {
    const Table table = row->list();
    return options.write(options.json() ? table_json(row->name, table) : table.text(paint), io);
  }
  const Result<Table> one = row->show(name);
  if (!one) {
    io.err << fmt::format("rankwright catalog: {}: {}\n  help: {}\n", one.error().message,
                          one.error().detail, help(one.error()));
    return kUnreadable;
  }
  return options.write(options.json() ? table_json(row->name, *one) : one->text(paint), io);
}

}  // namespace rankwright::cli
