// The pages of `explain CODE` and `explain KEY`, from the tables that the tool itself runs on.
#pragma once

#include <string>

#include "rankwright/import/plan/plan_keys.h"
#include "rankwright/report/render/paint.h"
#include "rankwright/rules/rule.h"

namespace rankwright {

std::string page_text(const Page& page, const Paint& paint, std::size_t width);
std::string page_json(const Page& page);

std::string key_text(const PlanKey& key, const Paint& paint, std::size_t width);
std::string key_json(const PlanKey& key);

}  // namespace rankwright
