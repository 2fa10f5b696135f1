// What fills a device when it is fullest, one bar an entry of a MemoryEstimate, against what the
// device has; and in one line how full the other pp ranks are. The entries are
// cost/memory/memory.h's.
#pragma once

#include <span>
#include <string>

#include "rankwright/cost/estimate.h"
#include "rankwright/report/render/paint.h"
#include "rankwright/report/render/table.h"

namespace rankwright::report {

std::string_view words(cost::Instant instant);  // "in the backward of a layer"

/// "fits", "does not fit, but the error is as large".
std::string memory_verdict(Bytes total, Bytes capacity, const cost::ErrorBand& band);

/// "pp rank 0 in the backward of a layer: 68.1 of 79.1 GiB ±9 %, fits", and "memory of" that.
std::string memory_line(const cost::MemoryEstimate& estimate_memory, Bytes capacity,
                        const cost::ErrorBand& band);
std::string memory_title(const cost::MemoryEstimate& estimate_memory, Bytes capacity,
                         const cost::ErrorBand& band);

/// Entries of nothing are left out, and those of less than a five-hundredth of the device joined.
std::string memory_text(const cost::MemoryEstimate& estimate_memory, Bytes capacity,
                        const cost::ErrorBand& band, const Paint& paint, std::size_t width);
Table memory_table(const cost::MemoryEstimate& estimate_memory, Bytes capacity);

/// "by pp rank: 0 68.1 GiB, 1-2 61 GiB, 3 64.2 GiB"; of many the least and the most. Empty where
/// there is one.
std::string totals_text(std::span<const Bytes> totals);

}  // namespace rankwright::report
