// What fills a device when it is fullest, one bar an entry of a Ledger, against what the device
// has; and in one line how full the other pp ranks are. The entries are cost/memory.h's.
#pragma once

#include <span>
#include <string>

#include "rankwright/cost/estimate.h"
#include "rankwright/report/paint.h"
#include "rankwright/report/table.h"

namespace rankwright {

std::string_view words(Instant instant);  // "in the backward of a layer"

/// "fits", "does not fit, but the error is as large".
std::string ledger_verdict(Bytes total, Bytes capacity, const ErrorBand& band);

/// "pp rank 0 in the backward of a layer: 68.1 of 79.1 GiB ±9 %, fits", and "memory of" that.
std::string ledger_line(const Ledger& ledger, Bytes capacity, const ErrorBand& band);
std::string ledger_title(const Ledger& ledger, Bytes capacity, const ErrorBand& band);

/// Entries of nothing are left out, and those of less than a five-hundredth of the device joined.
std::string ledger_text(const Ledger& ledger, Bytes capacity, const ErrorBand& band,
                        const Paint& paint, std::size_t width);
Table ledger_table(const Ledger& ledger, Bytes capacity);

/// "by pp rank: 0 68.1 GiB, 1-2 61 GiB, 3 64.2 GiB"; of many the least and the most. Empty where
/// there is one.
std::string totals_text(std::span<const Bytes> totals);

}  // namespace rankwright
