// The verbs about tables for Python: validate and catalog.
#include <memory>

#include "python/verbs.h"
#include "rankwright/planner/plan/source_files.h"
#include "rankwright/planner/validate.h"
#include "rankwright/report/catalog/catalog_text.h"
#include "rankwright/report/validation/collectives_text.h"
#include "rankwright/report/validation/validation_text.h"

namespace rankwright::python {
namespace {

std::vector<planner::SourceFile> read_tables(const std::vector<std::string>& names) {
  std::vector<planner::SourceFile> files;
  for (const std::string& name : names) files.push_back(planner::read_source(name));
  return files;
}

}  // namespace

planner::Outcome<Answer> validate(const Arguments& args, const planner::SearchControl&) {
  const bool all = args.has("all");
  planner::Outcome<planner::ValidateAnswer> outcome =
      planner::validate_runs({.files = read_tables(args.files),
                              .with = read_tables(args.all("with")),
                              .leave_one_family_out = args.has("leave-one-family-out"),
                              .calibrate_one = args.has("calibrate-one"),
                              .runs_only = all});
  if (!outcome) return tl::unexpected(std::move(outcome.error()));
  const auto made = std::make_shared<const planner::ValidateAnswer>(std::move(*outcome));
  if (made->collectives)
    return Answer{
        .json = [made] { return report::make_collectives_json(*made->collectives); },
        .text = [made] { return report::render_collectives_text(*made->collectives, {}); }};
  return Answer{.json =
                    [made] {
                      return report::make_validation_json(made->runs->validation,
                                                          made->runs->source);
                    },
                .text =
                    [made, all] {
                      return report::render_validation_text(made->runs->validation,
                                                            made->runs->source, all, {});
                    }};
}

planner::Outcome<Answer> catalog(const Arguments& args, const planner::SearchControl&) {
  const auto word = [&](std::size_t k) {
    return k < args.files.size() ? args.files[k] : std::string();
  };
  using A = report::CatalogAnswer;
  return make_answer(
      report::show_catalog(word(0), word(1)),
      [](const A& a) { return make_table_json(a.kind, a.table); },
      [](const A& a) { return render_catalog_text(a, {}); });
}

}  // namespace rankwright::python
