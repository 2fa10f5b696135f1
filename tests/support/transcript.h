// Commands and what they print, collected into one text for a golden file.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/golden.h"
#include "tests/support/run_command.h"

namespace rankwright::cli {

/// Returns the first line that starts with `start`, and the lines after it that are indented
/// deeper. Fails the test if there is no such line.
inline std::string section_of(const std::string& text, const std::string& start) {
  const auto indent = [](const std::string& line) { return line.find_first_not_of(' '); };
  std::string section;
  for (const std::string& line : golden::lines(text)) {
    if (section.empty() ? line.starts_with(start) : !line.empty() && indent(line) > indent(start))
      section += line + "\n";
    else if (!section.empty())
      break;
  }
  EXPECT_NE(section, "") << "no line starts with '" << start << "':\n" << text;
  return section;
}

/// Returns the lines that contain `part`. Fails the test if there are none.
inline std::string lines_with(const std::string& text, const std::string& part) {
  std::string found;
  for (const std::string& line : golden::lines(text))
    if (line.find(part) != std::string::npos) found += line + "\n";
  EXPECT_NE(found, "") << "no line contains '" << part << "':\n" << text;
  return found;
}

/// Returns `text` with every `part` replaced.
inline std::string replace_all(std::string text, const std::string& part,
                               const std::string& replacement) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos;
       at += replacement.size())
    text.replace(at, part.size(), replacement);
  return text;
}

/// Shows a command as "$ rankwright ...", its input behind "< ", its standard output as it is, its
/// standard error behind "! ", and its exit code unless that is 0.
class Transcript {
 public:
  /// Shows `path`, which depends on the machine, as `name`.
  void rename(const std::string& path, const std::string& name) { names_.emplace_back(path, name); }

  /// Runs a command and appends it with its input and everything that it prints.
  CommandResult run(const std::vector<std::string>& args, const std::string& input = "") {
    const CommandResult said = run_command(args, input);
    std::string text = prefixed("< ", input) + said.out + prefixed("! ", said.err);
    if (said.code != 0) text += "exit " + std::to_string(said.code) + "\n";
    add_output(args, text);
    return said;
  }

  /// Appends a command that was run, and a part of its output.
  void add_output(const std::vector<std::string>& args, const std::string& part) {
    std::string line = "$ rankwright";
    for (const std::string& arg : args)
      line += " " + (arg.find_first_of(" \"") == std::string::npos ? arg : "'" + arg + "'");
    add(line, part);
  }

  /// Appends a text under its title.
  void add(const std::string& title, const std::string& text) {
    text_ += (text_.empty() ? "" : "\n") + title + "\n" + text;
  }

  /// Expects everything so far to equal the golden file.
  void expect(const std::string& golden_file) const {
    std::string text = text_;
    for (const auto& [path, name] : names_) text = replace_all(text, path, name);
    golden::expect(golden_file, text);
  }

 private:
  static std::string prefixed(const std::string& prefix, const std::string& text) {
    std::string all;
    for (const std::string& line : golden::lines(text)) all += prefix + line + "\n";
    return all;
  }

  std::vector<std::pair<std::string, std::string>> names_;
  std::string text_;
};

}  // namespace rankwright::cli
