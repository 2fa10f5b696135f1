#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "cli/verb.h"

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const bool no_color = std::getenv("NO_COLOR") != nullptr;
  return rankwright::cli::run(
      args, {std::cin, std::cout, std::cerr, !no_color && isatty(STDOUT_FILENO) == 1});
}
