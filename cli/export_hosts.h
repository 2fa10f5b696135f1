// The names of `rankwright export --hosts`: a list such as n[0-7], or a file with one on each line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankwright/base/result.h"
#include "rankwright/plan/plan.h"

namespace rankwright::cli {

/// `argument` as a file where there is one of that name, else as a list. Names that are no host
/// names, or stand twice, are a fault.
Result<std::vector<std::string>> read_hosts(const std::string& argument);

/// The same from the text of a file: a name or a list on each line, '#' begins a comment.
Result<std::vector<std::string>> read_host_lines(std::string_view text, std::string_view file);

/// As read, if each host that the plan uses has a name.
Result<std::vector<std::string>> hosts_for(const Setup& setup, const std::string& argument);

}  // namespace rankwright::cli
