// For tests: a command line, run inside the test, and what it said. Not part of the program.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/verb.h"

namespace rankwright::cli {

struct Said {
  int code = 0;
  std::string out;
  std::string err;
};

/// Runs from the repository's root, so that names of examples are short.
inline Said say(const std::vector<std::string>& args, const std::string& input = "",
                bool color = false) {
  std::filesystem::current_path(RANKWRIGHT_SOURCE_DIR);
  std::istringstream in(input);
  std::ostringstream out, err;
  const int code = run(args, {in, out, err, color});
  return {code, out.str(), err.str()};
}

/// What `rankwright check - FLAGS...` says about a plan.
inline Said check_text(const std::string& plan, std::vector<std::string> flags = {}) {
  flags.insert(flags.begin(), {"check", "-"});
  return say(flags, plan);
}

/// A file that is gone when the test is over.
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
