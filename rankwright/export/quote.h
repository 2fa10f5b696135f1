// Quotes text as one value of a generated file, one function per language. write_yaml_text() quotes
// YAML, nlohmann-json's dump() quotes JSON, and comment.h handles comments.
#pragma once

#include <string>
#include <string_view>

#include "rankwright/base/shell_word.h"  // quote_shell

namespace rankwright::exporter {

/// Returns `text` as a Python string: "a". Everything but printable ASCII is escaped; invalid UTF-8
/// becomes U+FFFD.
std::string quote_python(std::string_view text);

/// Returns `text` as a TOML basic string, with the same escapes.
std::string quote_toml(std::string_view text);

/// Returns `word` unchanged if a shell takes it literally, else quoted by quote_shell().
std::string quote_script_word(std::string_view word);

}  // namespace rankwright::exporter
