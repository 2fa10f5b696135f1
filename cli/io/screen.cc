#include "cli/io/screen.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace rankwright::cli {
namespace {

constexpr std::size_t kNarrowest = 60, kWidest = 400;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Returns COLUMNS if it is a number; else the terminal's width, else nothing.
std::optional<std::size_t> columns() {
  const std::string stated = variable("COLUMNS");
  std::size_t n = 0;
  const auto [end, error] = std::from_chars(stated.data(), stated.data() + stated.size(), n);
  if (error == std::errc{} && end == stated.data() + stated.size() && n > 0) return n;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return std::nullopt;
}

}  // namespace

Screen query_screen() {
  Screen screen;
  const bool dumb = variable("TERM") == "dumb";  // does not support escapes
  // An empty NO_COLOR is ignored (no-color.org).
  screen.color = isatty(STDOUT_FILENO) == 1 && !dumb && variable("NO_COLOR").empty();
  if (const std::optional<std::size_t> n = columns())
    screen.width = std::clamp(*n, kNarrowest, kWidest);
  screen.err_terminal = isatty(STDERR_FILENO) == 1 && !dumb;
  return screen;
}

std::string show(const Screen& screen) {
  return fmt::format("color={:d} terminal={:d} width={}", screen.color, screen.err_terminal,
                     screen.width);
}

std::optional<Screen> parse_screen(std::string_view text) {
  unsigned color = 0, terminal = 0, width = 0;
  const std::string line(text);
  if (std::sscanf(line.c_str(), "color=%1u terminal=%1u width=%3u", &color, &terminal, &width) != 3)
    return std::nullopt;
  return Screen{.color = color != 0,
                .err_terminal = terminal != 0,
                .width = std::clamp<std::size_t>(width, kNarrowest, kWidest)};
}

}  // namespace rankwright::cli
