// The score of predicted collectives against measurements, as text, Markdown and JSON.
#pragma once

#include <string>

#include "rankwright/report/render/paint.h"
#include "rankwright/validate/collectives.h"

namespace rankwright::report {

std::string render_collectives_text(const validate::CollectiveScore& score,
                                    const Paint& paint = {});

/// Writes only the table of errors.
std::string render_collectives_markdown(const validate::CollectiveScore& score);

/// Writes schema rankwright.collectives/1: errors are fractions, times seconds, sizes bytes.
std::string make_collectives_json(const validate::CollectiveScore& score);

}  // namespace rankwright::report
