// The pages of `explain CODE` and `explain KEY`, from the tables that the tool itself uses.
#pragma once

#include <string>

#include "rankwright/catalog/glossary.h"
#include "rankwright/import/plan/plan_keys.h"
#include "rankwright/report/render/paint.h"
#include "rankwright/rules/rule.h"

namespace rankwright::report {

std::string render_page_text(const rules::Page& page, const Paint& paint, std::size_t width);
std::string make_page_json(const rules::Page& page);

std::string render_key_text(const importer::PlanKey& key, const Paint& paint, std::size_t width);
std::string make_key_json(const importer::PlanKey& key);

std::string render_term_text(const catalog::Term& term, const Paint& paint, std::size_t width);
std::string make_term_json(const catalog::Term& term);

}  // namespace rankwright::report
