#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "cli/io/screen.h"
#include "cli/verb.h"

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
  const rankwright::cli::Screen screen = rankwright::cli::query_screen();
  return rankwright::cli::run(args,
                              {.in = std::cin,
                               .out = std::cout,
                               .err = std::cerr,
                               .color = screen.color,
                               .width = screen.width,
                               .err_terminal = screen.err_terminal,
                               .log_progress = std::getenv("RANKWRIGHT_NO_PROGRESS") == nullptr,
                               .may_exec = true});
}
