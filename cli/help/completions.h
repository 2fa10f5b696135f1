// The scripts that teach shells to complete `rankwright`: the files of cli/shells, as they are
// installed and as `rankwright completions SHELL` prints them.
#pragma once

#include <span>
#include <string_view>

namespace rankwright::cli {

struct ShellScript {
  std::string_view shell;  // "bash"
  std::string_view text;
};
std::span<const ShellScript> shell_scripts();

}  // namespace rankwright::cli
