// Runs a command line inside a test and captures its output.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
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

/// A temporary file in a folder of its own, so that tests may run twice at a time. Both are removed
/// at the end of the test.
class Scratch {
 public:
  explicit Scratch(const std::string& name) {
    std::string folder = (std::filesystem::temp_directory_path() / "rankwright-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder: " + folder);
    folder_ = folder;
    path_ = folder_ / ("rankwright-" + name);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path folder_, path_;
};

}  // namespace rankwright::cli
