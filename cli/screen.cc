#include "cli/screen.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace rankwright::cli {
namespace {

constexpr std::size_t kNarrowest = 60, kWidest = 400;

}  // namespace

Screen this_screen() {
  Screen screen;
  if (isatty(STDOUT_FILENO) == 1) {
    const char* const no_color = std::getenv("NO_COLOR");
    // An empty one means nothing (no-color.org).
    screen.color = no_color == nullptr || *no_color == '\0';
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
      screen.width = std::clamp<std::size_t>(size.ws_col, kNarrowest, kWidest);
  }
  screen.err_terminal = isatty(STDERR_FILENO) == 1;
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
