#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "cli/verb.h"

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
  rankwright::cli::Io io{std::cin, std::cout, std::cerr};
  if (isatty(STDOUT_FILENO) == 1) {
    const char* const no_color = std::getenv("NO_COLOR");
    io.color =
        no_color == nullptr || *no_color == '\0';  // an empty one means nothing (no-color.org)
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
      io.width = std::clamp<std::size_t>(size.ws_col, 60, 400);
  }
  io.err_terminal = isatty(STDERR_FILENO) == 1;
  return rankwright::cli::run(args, io);
}
