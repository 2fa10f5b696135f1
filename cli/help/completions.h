// The completion scripts of the shells: the files of cli/shells, as installed and as `rankwright
// completions SHELL` prints them.
#pragma once

#include <span>
#include <string_view>

namespace rankwright::cli {

/// The completion script of one shell.
struct ShellScript {
  std::string_view shell;  // "bash"
  std::string_view text;
};
std::span<const ShellScript> list_shell_scripts();

}  // namespace rankwright::cli
