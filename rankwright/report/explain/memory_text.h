// The memory of a device at its peak as bars, one per item of a MemoryEstimate, compared with the
// device's memory; and the totals of the other pp ranks in one line. cost/memory/memory.h computes
// the estimate.
#pragma once

#include <span>
#include <string>

#include "rankwright/cost/estimate.h"
#include "rankwright/report/render/paint.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {

/// Describes an instant of the step: "in the backward of a layer".
std::string_view words(cost::Instant instant);

/// Summarizes a memory estimate in one line: "pp rank 0 in the backward of a layer: 68.1 of 79.1
/// GiB ±9 %, fits with margin".
std::string summarize_memory(const cost::MemoryEstimate& memory, Bytes capacity,
                             const cost::ErrorBand& band);
/// Returns that line with "memory of" before it.
std::string write_memory_title(const cost::MemoryEstimate& memory, Bytes capacity,
                               const cost::ErrorBand& band);

/// Draws one bar per item. Empty items are left out; items below 0.2 % of the device are merged.
std::string render_memory_text(const cost::MemoryEstimate& memory, Bytes capacity,
                               const cost::ErrorBand& band, const Paint& paint, std::size_t width);
/// Lists all nonempty items with their origin, meaning and formula.
Table make_memory_table(const cost::MemoryEstimate& memory, Bytes capacity);

/// Lists the totals by pp rank: "by pp rank: 0 has 68.1 GiB, 1-2 have 61 GiB, 3 has 64.2 GiB", or
/// only the smallest, largest and last if there are many. Empty for a single rank.
std::string format_totals(std::span<const Bytes> totals);

}  // namespace rankwright::report
