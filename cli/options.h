// What every verb's command line has in common: help that opens with an example, errors that name
// the flag, --json, --no-color, -o.
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

/// A flag or argument that was added to a command line, to say more about it. Lives as long as the
/// Options that made it.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& type_name(const std::string& name);  // what help shows for its value: FILE
  Option& group(const std::string& heading);   // the heading that help lists it under
  Option& required();
  Option& range(i64 min, i64 max);
  Option& range(double min, double max);
  Option& show_default();
  Option& needs(const Option& other);
  Option& one_value_each();  // may be repeated, with one value each time

 private:
  CLI::Option* option_;
};

class Options {
 public:
  explicit Options(const Verb& verb);
  ~Options();

  /// Adds a flag with a value ("-o,--output"), or an argument without a flag ("plan"). The value is
  /// written to `into` by parse().
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

  /// Nothing when the verb shall go on; else the exit code, with help or the fault printed.
  std::optional<int> parse(Args args, const Io& io);

  bool json() const { return json_; }
  bool quiet() const { return quiet_; }
  report::Paint paint(const Io& io) const {
    return {.on = io.color && !no_color_ && output_.empty()};
  }

  /// The file of -o; for a verb that writes something else there than what it prints.
  const std::string& output() const { return output_; }
  /// Of what is printed, whatever -o is for.
  report::Paint paint_printed(const Io& io) const { return {.on = io.color && !no_color_}; }
  int print(const std::string& text, const Io& io) const;

  /// For a verb that prints its answer besides what it writes to -o.
  void prints_besides() { prints_besides_ = true; }
  /// A document that a flag asks for has standard output for itself: "--html -".
  bool stdout_taken() const { return stdout_taken_; }

  /// 0, or the exit code with the reason printed where one of these files cannot be written; to be
  /// asked before what takes long.
  int refuse_unwritable(const std::vector<std::string>& paths, const Io& io) const;

  /// Writes to the file of -o, or to standard output where no other document goes there.
  int write(const std::string& text, const Io& io) const;

  /// Writes to a file that another flag names, whole or not at all; - is standard output.
  int save(const std::string& text, const std::string& path, const Io& io) const;
  /// The same for what is not text.
  int save_bytes(const std::string& bytes, const std::string& path, const Io& io) const;

 private:
  /// Says which argument nobody takes, and which was meant.
  int unexpected(const Io& io) const;
  int complain(const std::string& what, const std::string& help, int code, const Io& io) const;
  /// 0, or the exit code: files that would be written over one another or over what is read, and
  /// documents that would mix.
  int refuse_outputs(const Io& io);
  /// `printed`: flags whose documents go to standard output.
  int refuse_mixed(std::vector<std::string> printed, const Io& io) const;

  std::unique_ptr<CLI::App> app_;
  std::string name_;
  std::string output_{};
  bool json_ = false;
  bool no_color_ = false;
  bool quiet_ = false;
  bool prints_besides_ = false;
  bool stdout_taken_ = false;
};

}  // namespace rankwright::cli
