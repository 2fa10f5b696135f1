// Parses and prints host lists as Slurm writes them: n[0-3,7],gpu-[001-128]b. A name may have
// several brackets; the last varies fastest. Leading zeros are kept. Lists are untrusted and can
// expand enormously, so hosts are counted before they are created.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/result.h"

namespace rankwright::importer {

/// Maximum length of one name, and of all names of a list together.
inline constexpr std::size_t kLongestHostName = 255;
inline constexpr std::size_t kMaxHostText = std::size_t{64} << 20;

/// Returns one or more names in order. Fails with RW0620 if the text is not a list or has more than
/// `max` hosts, with the column in `where`; file and line are left to the caller.
Result<std::vector<std::string>> parse_host_list(std::string_view text, std::size_t max);

/// Returns the names as a list, in the same order; consecutive numbers share one bracket.
std::string show_host_list(std::span<const std::string> names);

}  // namespace rankwright::importer
