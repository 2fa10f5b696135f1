// Words of shell commands: in scripts that are generated, and in commands that the tool suggests
// and a person copies.
#pragma once

#include <string>
#include <string_view>

namespace rankwright {

/// Returns `word` in single quotes, as one word of a POSIX shell: 'it'\''s'.
std::string quote_shell(std::string_view word);

/// Returns `word` as one shell word, quoted where it needs it: plan.yaml, "dgx-h100 x 8", '$(a)'.
/// What does not show is written by its bytes: $'a\x1b'.
std::string shell_word(std::string_view word);

/// Returns a file's name as one shell word that no program takes for a flag: ./-x for -x. "-" alone
/// is standard input and stays.
std::string shell_path(std::string_view path);

}  // namespace rankwright
