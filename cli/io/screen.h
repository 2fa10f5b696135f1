// What the process writes to: whether there is somebody who sees colour and lines that move. Asked
// of the system once; a launcher hands it on to ranks whose own output is a pipe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rankwright::cli {

struct Screen {
  bool color = false;         // standard output is a terminal, and NO_COLOR is not set
  bool err_terminal = false;  // standard error is one
  std::size_t width = 120;    // characters a line

  friend bool operator==(const Screen&, const Screen&) = default;
};

Screen this_screen();

/// "color=1 terminal=0 width=120", and back; nothing where it is no such text.
std::string show(const Screen& screen);
std::optional<Screen> parse_screen(std::string_view text);

}  // namespace rankwright::cli
