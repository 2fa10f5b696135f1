// The score of collectives against measurements, for people, as Markdown and for machines.
#pragma once

#include <string>

#include "rankwright/report/render/paint.h"
#include "rankwright/validate/collectives.h"

namespace rankwright::report {

std::string collectives_text(const validate::CollectiveScore& score, const Paint& paint = {});

/// The table of errors alone.
std::string collectives_markdown(const validate::CollectiveScore& score);

/// Schema rankwright.collectives/1: errors are fractions, times seconds, sizes bytes.
std::string collectives_json(const validate::CollectiveScore& score);

}  // namespace rankwright::report
