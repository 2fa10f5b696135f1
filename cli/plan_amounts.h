// Amounts as people type them on the command line of `plan`: counts of GPUs, hosts that are out,
// tokens, money. Text in, value out; which flag they belong to is plan_flags.
#pragma once

#include <string_view>

#include "cli/plan_flags.h"
#include "rankwright/base/result.h"

namespace rankwright::cli {

Result<Range> parse_gpus(std::string_view text);         // 64, 8..512
Result<Excluded> parse_excluded(std::string_view text);  // 4; 3,17,120-123; 3,
Result<double> parse_tokens(std::string_view text);      // 15T, 300 B, 1e12
Result<Price> parse_price(std::string_view text);        // 2.10, $2.10, 2.10 EUR
Result<Seconds> parse_days(std::string_view text);       // 30
Result<int> parse_threads(std::string_view text);        // 1 to 1,024

}  // namespace rankwright::cli
