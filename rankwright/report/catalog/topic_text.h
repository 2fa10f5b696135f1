// The pages of `explain CODE` and `explain KEY`, from the tables that the tool itself uses.
#pragma once

#include <string>

#include "rankwright/catalog/glossary.h"
#include "rankwright/import/plan/plan_keys.h"
#include "rankwright/report/render/paint.h"
#include "rankwright/rules/rule.h"

namespace rankwright::report {

std::string page_text(const rules::Page& page, const Paint& paint, std::size_t width);
std::string page_json(const rules::Page& page);

std::string key_text(const importer::PlanKey& key, const Paint& paint, std::size_t width);
std::string key_json(const importer::PlanKey& key);

std::string term_text(const catalog::Term& term, const Paint& paint, std::size_t width);
std::string term_json(const catalog::Term& term);

}  // namespace rankwright::report
