// rankwright-runtime: the program that `rankwright run` and `rankwright probe` exec.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/io/clean_io.h"
#include "cli/io/screen.h"
#include "cli/run/engine_env.h"
#include "cli/run/run_flags.h"
#include "cli/runtime/launch.h"
#include "cli/runtime/verbs.h"

namespace {

using namespace std::string_view_literals;
using rankwright::cli::Args;
using rankwright::cli::Io;
using rankwright::cli::Screen;

struct Row {
  std::string_view name;
  int (*run)(Args args, const Io& io);
};

constexpr Row kRows[] = {{"run", rankwright::cli::run_plan},
                         {"probe", rankwright::cli::probe_machine}};

/// Returns the launcher's screen. A rank's own output is a pipe or a pseudo-terminal of mpirun, so
/// only the launcher knows the real terminal.
Screen screen_of_rank() {
  if (const char* const text = std::getenv(rankwright::cli::kScreenVariable))
    if (const std::optional<Screen> handed = rankwright::cli::parse_screen(text)) return *handed;
  Screen screen = rankwright::cli::query_screen();
  if (rankwright::cli::find_launcher()) screen.color = false;
  return screen;
}

}  // namespace

int main(int argc, char** argv) {
  // Libraries read their settings when loaded, which was before this line.
  if (rankwright::cli::set_engine_env()) execv("/proc/self/exe", argv);
  rankwright::cli::end_with_mpirun();
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const Screen screen = screen_of_rank();
  const Io io{.in = std::cin,
              .out = std::cout,
              .err = std::cerr,
              .color = screen.color,
              .width = screen.width,
              .err_terminal = screen.err_terminal};
  for (const Row& row : kRows)
    if (!words.empty() && row.name == words[0])
      return rankwright::cli::with_clean_io(
          io, [&](const Io& clean) { return row.run(Args(words).subspan(1), clean); });
  std::cerr << "rankwright-runtime: this program is started by rankwright, not by users\n"
               "  help: rankwright run --help\n";
  return rankwright::cli::kUsage;
}
