// Expands the words of a shell script: quotes, variables, defaults, arithmetic. Commands are in
// shell_script.h, and the output of commands is in shell_output.cc. Private to shell_*.cc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankwright/import/syntax/shell_words.h"

namespace rankwright::importer::shell {

/// Cost charged per word, in addition to its characters.
inline constexpr std::size_t kWordCost = 64;

/// Marks an unknown value in a text.
inline constexpr char kUnknown = '\x01';

/// Characters, the offset of each in the script, and where each comes from: 0, or the number of the
/// variable whose default it is (Expander::name_origin).
struct Text {
  std::string chars{};
  std::vector<std::uint32_t> at{};
  std::vector<std::uint16_t> origin{};
  std::uint32_t begin = 0;

  void add(char c, std::size_t place, std::uint16_t from = 0);
};

/// The value of a variable: one item, or several for an array.
struct Value {
  std::vector<Text> items{};
};

/// A word under construction: blanks of an unquoted expansion end one field and begin the next.
struct WordBuilder {
  std::vector<Text> fields{};
  Text open{};
  bool begun = false;

  void end();
};

bool is_blank(char c);  // including line breaks
bool is_name(char c);

/// Expands words from the current offset on, and holds the variables. All work is charged to one
/// budget, so that no script takes long, however it refers to itself.
class Expander {
 public:
  Expander(std::string_view text, const ShellInput& input)
      : text_(text), main_size_(text.size()), input_(input), budget_(kBudget + 8 * text.size()) {}

  /// Expands the word at the current offset up to a blank or an operator; with `split`, also splits
  /// at blanks of unquoted expansions.
  void expand_word(WordBuilder& out, bool split);
  ShellWord finish_word(const Text& text) const;
  /// Splits at all blanks.
  std::vector<ShellWord> split_at_blanks(const Text& text) const;

  void set(const std::string& name, Value value) { variables_[name] = std::move(value); }
  void forget(const std::string& name) { variables_.erase(name); }
  /// Adds the characters of `more` to the first item of a variable, or its items if `list`.
  void append(const std::string& name, Value more, bool list);
  /// Returns the value of a variable: the script's own, else the input's; nullptr if there is none.
  const Value* find(const std::string& name);
  /// Returns the names of the input's variables that the script used.
  const std::set<std::string>& used() const { return used_; }

  /// Returns the defaults of unset variables that the script used, by name.
  const std::map<std::string, std::string>& defaults() const { return defaults_; }
  /// Says whether the words that follow are evaluated: the defaults of others are not used.
  void set_active(bool active) { active_ = active; }

  /// Marks the literal text that follows as that of a branch that an unset variable decides: its
  /// words have this `default_of`. An empty one ends it.
  void set_origin(const std::string& default_of) {
    guess_ = default_of.empty() ? std::uint16_t{0} : name_origin(default_of);
  }

  /// Moves past `[key]` and returns the key, whose variables and quotes are resolved; moves nowhere
  /// and returns nothing if there is none.
  std::optional<std::string> take_key();
  /// Returns a word as the value of a variable.
  Text make_text(const ShellWord& word);
  /// Returns the words between two distances from here, expanded and joined by blanks, and moves to
  /// their end.
  Text take_part(std::size_t from, std::size_t to);
  /// Returns the value of `text` as an arithmetic expression.
  Text calculate(const Text& text);

  /// Returns the next `size` characters with their variables expanded, as in a here-document. An
  /// unknown value is "$NAME". Moves past them.
  std::string expand_document(std::size_t size);

  /// A position to continue at: in the script or in a file that it sources.
  struct Position {
    std::string_view text;
    std::size_t base = 0, at = 0;
  };
  Position position() const { return {text_, base_, at_}; }
  void go_to(const Position& there);
  /// Continues at the beginning of another file. Words of it have the offset `place` of the command
  /// that sources it. Returns false if too many files are open. Requires: `text` outlives this.
  bool enter(std::string_view text, std::size_t place);
  /// Returns where the last text in single quotes begins that has arrays of its own, which may be a
  /// script for another shell; nothing if there was none since the last call.
  std::optional<Position> take_quoted() { return std::exchange(quoted_, std::nullopt); }
  /// Returns where the last here-document begins that `$(cat <<EOF` expanded to and that starts a
  /// program: it is the script of another shell. Nothing if there was none since the last call.
  std::optional<Position> take_document() { return std::exchange(document_, std::nullopt); }
  const std::map<std::string, Value>& variables() const { return variables_; }

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool starts(std::string_view with) const { return text_.substr(at_).starts_with(with); }
  bool done() const { return at_ >= text_.size() || spent_; }
  bool spent() const { return spent_; }
  std::size_t at() const { return base_ + at_; }
  /// As at(), but in a sourced file that of the command that sources it.
  std::size_t place() const { return locate(std::uint32_t(at())); }
  std::string_view rest() const { return text_.substr(at_); }
  void skip(std::size_t n) { at_ = std::min(at_ + n, text_.size()); }
  /// Skips blanks and continued lines, not line breaks.
  void skip_blanks();
  void skip_line();
  /// Skips empty lines and comments.
  void skip_lines();
  void charge(std::size_t work);

 private:
  bool expand_quoted(WordBuilder& out);              // at a '"'
  bool expand_single_quoted(WordBuilder& out);       // at a '\''
  void expand_dollar(WordBuilder& out, bool split);  // at a '$'
  bool expand_braced(WordBuilder& out, bool split);  // at "${"
  bool expand_arithmetic(WordBuilder& out);
  /// Skips the here-document of `cat <<EOF` at `begin`; returns where the search for the end of the
  /// command goes on.
  std::size_t find_document(std::size_t begin);
  void expand_command(WordBuilder& out);  // at "$(" or '`', in shell_output.cc
  /// Returns what a command between two offsets of the text prints; nothing if that is not known.
  std::optional<Text> find_output(std::size_t from, std::size_t to);
  /// Expands the words between two offsets of the text, and joins them by blanks.
  Text expand_part(std::size_t from, std::size_t to);
  void put_arithmetic(WordBuilder& out, const Text& body, std::size_t from);
  bool expand_until(Text& out, char close, int& parentheses);  // up to `close`
  void put(WordBuilder& out, const Text& value, bool split, std::size_t from, std::size_t to);
  void put_variable(WordBuilder& out, const std::string& name, bool all, bool split,
                    std::size_t from);
  void put_unknown(WordBuilder& out, std::string name, std::size_t at);
  void put_size(WordBuilder& out, const std::string& name, bool items, std::size_t from);
  std::string name_of(const std::string& name);
  std::string substitute_names(const Text& expression, std::string& unknown, std::uint16_t& from);
  bool at_continuation() const;
  std::uint32_t locate(std::uint32_t place) const;  // of a sourced word: the command that sources
  std::uint16_t name_origin(const std::string& variable);

  static constexpr std::size_t kBudget = std::size_t{1}
                                         << 23;  // in addition to the length of the text
  static constexpr int kMaxDepth = 12;
  static constexpr std::size_t kMaxSources = 32;

  /// A sourced file: its words have offsets from `base` on.
  struct Sourced {
    std::size_t base, place;
  };

  std::string_view text_;
  std::size_t main_size_;
  std::size_t base_ = 0;  // offset of text_
  std::vector<Sourced> sources_{};
  std::size_t last_size_ = 0;  // of the last sourced file, with a line break
  const ShellInput& input_;
  std::set<std::string> used_{};
  std::map<std::string, std::string> defaults_{};
  bool active_ = true;
  std::vector<std::string> origins_{};  // variables whose defaults are used
  std::uint16_t guess_ = 0;             // origin of literal text
  std::size_t budget_;
  std::size_t at_ = 0;
  std::optional<Position> quoted_{};  // where the last text with arrays in single quotes begins
  std::optional<Position> document_{};
  std::size_t work_ = 0;
  bool spent_ = false;
  int depth_ = 0;
  // Offsets after which there is no such closing character. Without them, nested openings are tried
  // once for each combination of those before.
  std::set<std::pair<std::size_t, char>> unclosed_{};
  std::map<std::string, Value> variables_{};
  std::map<std::uint32_t, std::string>
      unknown_{};  // names of unknown values by the offset of their marks
};

/// Sets Slurm's variables from the #SBATCH lines, as they would be when the script runs.
void set_slurm_variables(std::string_view text, Expander& words);

}  // namespace rankwright::importer::shell
