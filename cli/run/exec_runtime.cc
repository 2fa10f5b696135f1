#include "cli/run/exec_runtime.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "cli/run/engine_env.h"

namespace rankwright::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProgram = "rankwright-runtime";

/// Returns the path next to the running program, or in the installation's libexec folder; empty if
/// there is none.
std::string find_program() {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  if (failed) return {};
  for (const fs::path& path :
       {self.parent_path() / kProgram, self.parent_path().parent_path() / "libexec" / kProgram})
    if (access(path.c_str(), X_OK) == 0) return path.string();
  return {};
}

int missing(std::string_view verb, const Io& io) {
  io.err << fmt::format(
      "rankwright {}: the runtime is not installed: no {} next to the program\n"
      "  help: install the package rankwright-runtime; from source: apt install libtorch-dev "
      "libopenblas-dev libopenmpi-dev openmpi-bin, then cmake --preset release && cmake --build "
      "--preset release\n",
      verb, kProgram);
  return kUnreadable;
}

}  // namespace

bool can_exec_runtime(const Io& io) { return io.may_exec && !find_program().empty(); }

int exec_runtime(std::string_view verb, Args args, const Io& io) {
  const std::string program = io.may_exec ? find_program() : std::string();
  if (program.empty()) return missing(verb, io);
  set_engine_env();  // before the libraries are loaded
  std::vector<std::string> words{program, std::string(verb)};
  words.insert(words.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  io.out.flush();
  io.err.flush();
  execv(program.c_str(), argv.data());
  io.err << fmt::format("rankwright {}: cannot start {}\n", verb, program);
  return kUnreadable;
}

}  // namespace rankwright::cli
