// Formats inputs and the messages about them for golden files: each line of an input begins with
// "> ", and the message follows it.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace rankwright {

/// Returns `input` as lines that begin with "> ". Bytes other than printable ASCII are escaped.
inline std::string quote_input(std::string_view input) {
  if (input.ends_with('\n')) input.remove_suffix(1);
  std::string text = ">";
  bool first = true;  // of a line
  for (const char c : input) {
    if (c == '\n') {
      text += "\n>";
      first = true;
      continue;
    }
    if (first) text += ' ';
    first = false;
    if (c >= ' ' && c <= '~')
      text += c;
    else
      text += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
  }
  return text + "\n";
}

/// Returns one case of a transcript: the input, or a description of it, then the message.
inline std::string format_case(std::string_view input, std::string_view message) {
  std::string text = quote_input(input) + std::string(message);
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

/// Returns the cases of all `inputs`, each with the message that `message_of` returns for it.
inline std::string transcribe(std::initializer_list<std::string> inputs,
                              const std::function<std::string(const std::string&)>& message_of) {
  std::string text;
  for (const std::string& input : inputs) text += format_case(input, message_of(input));
  return text;
}

}  // namespace rankwright
