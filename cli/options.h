// The command line that all verbs share: help that starts with an example, errors that name the
// flag,
// --json, --no-color, -o.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "rankwright/base/integer.h"
#include "rankwright/report/render/paint.h"

namespace CLI {  // CLI11, which takes seconds to compile: only options.cc includes it
class App;
class Option;
}  // namespace CLI

namespace rankwright::cli {

/// A handle to configure a flag or argument of a command line. Valid as long as the Options that
/// created it.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& type_name(const std::string& name);  // the placeholder of its value in help: FILE
  Option& group(const std::string& heading);   // the heading that help lists it under
  Option& required();
  Option& range(i64 min, i64 max);
  Option& range(double min, double max);
  Option& show_default();
  Option& needs(const Option& other);
  Option& one_value_each();  // may be repeated, with one value per occurrence

 private:
  CLI::Option* option_;
};

/// The command line of one verb.
class Options {
 public:
  explicit Options(const Verb& verb);
  ~Options();

  /// Adds a flag with a value ("-o,--output") or a positional argument ("plan"). parse() writes the
  /// value to `into`.
  Option add(const std::string& name, std::string& into, const std::string& help);
  Option add(const std::string& name, std::vector<std::string>& into, const std::string& help);
  Option add(const std::string& name, i64& into, const std::string& help);
  Option add(const std::string& name, std::optional<i64>& into, const std::string& help);
  Option add(const std::string& name, std::uint64_t& into, const std::string& help);
  Option add(const std::string& name, double& into, const std::string& help);

  /// Adds a flag without a value.
  Option add_switch(const std::string& name, bool& into, const std::string& help);

  /// Replaces the help text of an option that every verb has.
  void describe(const std::string& name, const std::string& help);

  /// Parses the arguments. Returns nothing if the verb is to continue; else the exit code, after
  /// printing help or the error.
  std::optional<int> parse(Args args, const Io& io);

  bool json() const { return json_; }
  bool quiet() const { return quiet_; }
  report::Paint paint(const Io& io) const {
    return {.on = io.color && !no_color_ && output_.empty()};
  }

  /// Returns the file of -o, for verbs that write something else there than they print.
  const std::string& output() const { return output_; }
  /// Returns the colors of printed text, whether or not -o is given.
  report::Paint paint_printed(const Io& io) const { return {.on = io.color && !no_color_}; }
  /// Prints text, its lines broken to fit the terminal unless they are those of a file.
  int print(const std::string& text, const Io& io) const;

  /// Declares that the verb writes files, whose lines must not be broken to fit the terminal.
  void keep_lines() { keeps_lines_ = true; }

  /// Declares that the verb prints its answer in addition to writing to -o.
  void prints_besides() { prints_besides_ = true; }
  /// Returns whether a flag such as "--html -" writes a document to standard output.
  bool stdout_taken() const { return stdout_taken_; }

  /// Returns 0, or prints the reason and returns the exit code if one of these files cannot be
  /// written. Call it before long computations.
  int refuse_unwritable(const std::vector<std::string>& paths, const Io& io) const;

  /// Writes to the file of -o, or to standard output if no other document goes there.
  int write(const std::string& text, const Io& io) const;

  /// Writes to a file that another flag names, atomically; - is standard output.
  int save(const std::string& text, const std::string& path, const Io& io) const;
  /// Writes bytes that are not text, like save().
  int save_bytes(const std::string& bytes, const std::string& path, const Io& io) const;

 private:
  int print_as_is(const std::string& text, const Io& io) const;
  /// Prints the unknown argument and the nearest known one.
  int unexpected(const Io& io) const;
  int complain(const std::string& what, const std::string& help, int code, const Io& io) const;
  /// Returns 0, or the exit code if outputs would overwrite each other or an input, or if two
  /// documents would mix on standard output.
  int refuse_outputs(const Io& io);
  /// Refuses more than one document on standard output. `printed` are the flags that write there.
  int refuse_mixed(std::vector<std::string> printed, const Io& io) const;

  std::unique_ptr<CLI::App> app_;
  std::string name_;
  std::string output_{};
  bool json_ = false;
  bool no_color_ = false;
  bool quiet_ = false;
  bool prints_besides_ = false;
  bool stdout_taken_ = false;
  bool keeps_lines_ = false;
};

}  // namespace rankwright::cli
