// Host lists as Slurm writes them: n[0-3,7],gpu-[001-128]b. Brackets may stand several times in a
// name; the last varies fastest. Leading zeros are kept. Lists come from outside and are short for
// what they unfold to, so the hosts are counted before they are made.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/result.h"

namespace rankwright::importer {

/// The most characters of one name, and of all names of a list.
inline constexpr std::size_t kLongestHostName = 255;
inline constexpr std::size_t kMaxHostText = std::size_t{64} << 20;

/// The names in order, one or more. RW0620 where it is no list, or one of more than `most` hosts,
/// with the column in `where`; the file and line are the caller's.
Result<std::vector<std::string>> parse_host_list(std::string_view text, std::size_t max);

/// The same names in the same order as a list: neighbours that count up stand in one bracket.
std::string show_host_list(std::span<const std::string> names);

}  // namespace rankwright::importer
