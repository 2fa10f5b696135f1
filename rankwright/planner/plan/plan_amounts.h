// Parses amounts as users type them: GPU counts, excluded hosts, tokens, prices, days.
// plan_options.h maps options to them.
#pragma once

#include <string_view>

#include "rankwright/base/result.h"
#include "rankwright/planner/plan/plan_request.h"

namespace rankwright::planner {

Result<MemoryLimit> parse_memory_limit(std::string_view text);      // 72GiB, 90%
Result<double> parse_slowdown(std::string_view text);               // 5%, 5: 0.05
Result<i64> parse_nodes(std::string_view text);                     // 8
Result<i64> parse_top(std::string_view text);                       // 1 to 1,000
Result<Price> parse_budget(std::string_view text);                  // $2M, 500k EUR
Result<search::Range> parse_gpus(std::string_view text);            // 64, 8..512
Result<ExcludedHosts> parse_excluded(std::string_view text);        // hosts: 3; 3,17,120-123
Result<ExcludedHosts> parse_excluded_count(std::string_view text);  // their number: 4
Result<double> parse_tokens(std::string_view text);                 // 15T, 300 B, 1e12
Result<Price> parse_price(std::string_view text);                   // 2.10, $2.10, 2.10 EUR
Result<Seconds> parse_days(std::string_view text);                  // 30
Result<Seconds> parse_search_time(std::string_view text);           // 30s, 10min; more than 0
Result<int> parse_threads(std::string_view text);                   // 1 to 1,024

}  // namespace rankwright::planner
