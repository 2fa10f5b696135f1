// Runs a command line inside a test and captures its output.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/verb.h"

namespace rankwright::cli {

struct CommandResult {
  int code = 0;
  std::string out;
  std::string err;
};

/// Runs a command line in the root of the repository, so that paths of examples are short.
inline CommandResult run_command(const std::vector<std::string>& args,
                                 const std::string& input = "", bool color = false,
                                 std::size_t width = 120) {
  std::filesystem::current_path(RANKWRIGHT_SOURCE_DIR);
  std::istringstream in(input);
  std::ostringstream out, err;
  const int code = run(args, {in, out, err, color, width});
  return {code, out.str(), err.str()};
}

/// Runs `rankwright check - FLAGS...` on a plan.
inline CommandResult render_check_text(const std::string& plan,
                                       std::vector<std::string> flags = {}) {
  flags.insert(flags.begin(), {"check", "-"});
  return run_command(flags, plan);
}

/// A temporary file that is removed at the end of the test.
class Scratch {
 public:
  explicit Scratch(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("rankwright-" + name)) {
    std::filesystem::remove_all(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace rankwright::cli
