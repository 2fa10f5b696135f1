// The terminal that the process writes to: whether it shows color and redrawn lines. Queried once;
// a launcher passes it to ranks, whose own output is a pipe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rankwright::cli {

/// The properties of the terminal.
struct Screen {
  bool color = false;         // standard output is a terminal, and NO_COLOR is not set
  bool err_terminal = false;  // standard error is a terminal
  std::size_t width = 120;    // characters per line

  friend bool operator==(const Screen&, const Screen&) = default;
};

/// Queries the terminal of this process.
Screen query_screen();

/// Converts to text such as "color=1 terminal=0 width=120", and back; nothing if it cannot be
/// parsed.
std::string show(const Screen& screen);
std::optional<Screen> parse_screen(std::string_view text);

}  // namespace rankwright::cli
