// `rankwright catalog`: lists the models, clusters and other entries known by name.
#include "cli/io/print_refusal.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/report/catalog/catalog_text.h"

namespace rankwright::cli {
namespace {

/// Returns "models, devices, ... or terms".
std::string join_kinds() {
  std::string text;
  const std::span<const report::CatalogKind> kinds = report::list_catalog_kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i > 0) text += i + 1 == kinds.size() ? " or " : ", ";
    text += kinds[i].name;
  }
  return text;
}

}  // namespace

int catalog(Args args, const Io& io) {
  Options options(verb("catalog"));
  std::string kind;
  std::string name;
  options.add("kind", kind, join_kinds());
  options.add("name", name, "one entry, for example llama-3.1-8b; of systems also a cluster file");
  if (const std::optional<int> done = options.parse(args, io)) return *done;

  const planner::Outcome<report::CatalogAnswer> answer =
      report::show_catalog(kind, name, importer::read_file);
  if (!answer) return print_refusal("catalog", answer.error(), io);
  return options.write(options.json() ? make_table_json(answer->kind, answer->table)
                                      : render_catalog_text(*answer, options.paint(io), io.prose()),
                       io);
}

}  // namespace rankwright::cli
