// Quotes words for shell commands: in generated scripts, and in commands that the tool suggests for
// copying.
#pragma once

#include <string>
#include <string_view>

namespace rankwright {

/// Returns `word` in single quotes, as one word of a POSIX shell: 'it'\''s'.
std::string quote_shell(std::string_view word);

/// Returns `word` as one shell word, quoted only if necessary: plan.yaml, "dgx-h100 x 8", '$(a)'.
/// Invisible and unsafe characters are written as escaped bytes: $'a\x1b'.
std::string shell_word(std::string_view word);

/// Returns a path as one shell word that no program takes for a flag: ./-x for -x. "-" alone means
/// standard input and is kept.
std::string quote_shell_path(std::string_view path);

}  // namespace rankwright
