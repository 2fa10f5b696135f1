// Evaluates the commands of a shell script: shell_words.cc reads commands and assignments,
// shell_branches.cc conditions and loops, shell_calls.cc functions, other scripts and
// here-documents. Private to shell_*.cc.
#pragma once

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankwright/import/syntax/shell_evaluator.h"

namespace rankwright::importer::shell {

inline constexpr std::string_view kOperators = ";&|()<>";

inline bool ends_word(char c) {
  return c == '\0' || is_blank(c) || kOperators.find(c) != std::string_view::npos;
}

inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// An open `if`, `case` or loop.
struct Branch {
  bool outer = true;      // whether the surrounding code is executed
  bool taken = false;     // one of its branches was taken
  bool guessed = false;   // the condition was unknown
  std::string unknown{};  // the variable that decides a guessed condition
  std::string decider{};  // the unset variable whose default decides a known one
  std::string unset{};    // the variable without a value that a branch needs, which is not taken
  std::size_t where = 0;  // offset of its condition
  std::size_t effects = 0;
  std::optional<ShellWord> subject{};             // of a case
  bool loop = false;                              // a `while` or `for`
  std::size_t rounds = 0;                         // of a `while` that shifts known arguments
  std::optional<Expander::Position> condition{};  // of a `while`
  bool options = false;  // a loop over the script's arguments, which has none
};

/// A function of the script: where its body begins.
struct Function {
  Expander::Position body;
  bool called = false;
};

/// A here-document whose text begins on the next line.
struct Document {
  std::string end;       // the line that ends it
  bool quoted = false;   // variables are not expanded
  bool data = false;     // not commands
  bool read = false;     // by a command of an executed branch
  std::string target{};  // the file that it is written to
};

/// Evaluates a script from top to bottom.
class ShellEvaluator {
 public:
  ShellEvaluator(std::string_view text, const ShellInput& input)
      : words_(text, input), input_(input) {
    set_slurm_variables(text, words_);
    Text here;  // the script's folder is taken for the one that it runs in
    here.add('.', 0);
    words_.set("PWD", {{here}});
    for (const auto& [name, value] : input.variables)
      if (name.starts_with("SLURM_") || name == "PWD")
        words_.forget(name);  // as `sbatch --nodes` overrides #SBATCH
  }

  ShellScript evaluate() {
    read_all();
    // Functions that other programs call, such as `srun bash -c name`.
    for (const std::string& name : order_)
      if (!functions_.at(name).called) call(name, {});
    for (const auto& [name, value] : words_.variables())
      if (!value.items.empty()) script_.variables[name] = words_.finish_word(value.items[0]);
    script_.cut = words_.spent();
    script_.used = words_.used();
    script_.defaults = words_.defaults();
    return std::move(script_);
  }

 private:
  enum class Join : unsigned char { none, both, either };
  /// Whether flags on the next line were cut off from the command before: it has flags, or they
  /// already follow it.
  enum class Cut : unsigned char { none, possible, done };
  static constexpr std::size_t kMaxDepth = 64;
  static constexpr std::size_t kMaxWords = 200'000;
  static constexpr std::size_t kMaxCalls = 16;  // nested calls and sourced files
  static constexpr std::size_t kMaxFunctions = 256;

  void read_all();
  bool read_function();
  void skip_body();
  void call(const std::string& name, const std::vector<ShellWord>& arguments);
  void set_arguments(std::vector<Text> arguments);
  void shift(const std::vector<ShellWord>& command);
  void run_with(const std::vector<ShellWord>& arguments, const Expander::Position& there);
  std::optional<Expander::Position> open(const ShellWord& file);
  bool run_script(const std::vector<ShellWord>& command);
  void source(const ShellWord& file);
  void read_redirection();
  void read_documents();
  void read_variables(const std::vector<ShellWord>& command, bool separated);
  void write_printed(const std::vector<ShellWord>& command);
  void write_substituted(const std::vector<ShellWord>& command);
  void run_at(const Expander::Position& there);
  void read_list_item();
  void read_separator();
  bool read_keyword(std::string_view word);
  Truth read_arithmetic();
  Truth read_command();
  void assign();
  bool at_assignment() const;
  bool repeat_loop();
  void for_loop();
  void open_case();
  void read_patterns();
  void open_branch();
  void take(Truth truth);
  void close_branch();
  void record_guess(Branch& branch);
  void mark_guess();
  void record(std::vector<ShellWord> words, bool assigned);
  std::string_view bare_word() const;
  bool active() const { return active_ && !skipped_; }

  Expander words_;
  const ShellInput& input_;
  ShellScript script_{};
  std::vector<Branch> branches_{};
  std::map<std::string, Function> functions_{};
  std::vector<std::string> order_{};   // names of functions_, as they are defined
  std::deque<std::string> sourced_{};  // texts of sourced files; views of them stay valid
  std::size_t calls_ = 0;              // nested calls and sourced files
  int braces_ = 0;                     // open braces of the body that is being read
  bool body_ended_ = false;
  bool active_ = true;
  bool skipped_ = false;     // by a preceding && or ||
  bool in_test_ = false;     // between [[ and ]]
  bool condition_ = false;   // between if and then
  bool arithmetic_ = false;  // after let
  bool unset_ = false;       // the condition asks whether a variable without a value has one
  bool shifted_ = false;     // an argument was taken off in this round of a loop
  Truth last_ = Truth::yes;
  std::vector<Document> documents_{};   // of the current line
  std::vector<std::string> targets_{};  // files that the current command writes
  bool redirected_ = false;             // the next word is one of them
  std::string folder_{};                // that the last `cd` entered
  bool here_string_ = false;            // the current command reads a word: <<< WORD
  bool appends_ = false;                // it is written to their end
  std::string unknown_{};               // variable of the last condition of unknown value
  std::string decider_{};  // variable whose default decides the condition before a branch
  Join join_ = Join::none;
  Cut cut_ = Cut::none;
  std::size_t effects_ = 0;
  std::size_t recorded_ = 0;
};

}  // namespace rankwright::importer::shell
