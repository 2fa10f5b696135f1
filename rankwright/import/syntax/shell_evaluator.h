// Expands the words of a shell script: quotes, variables, defaults, arithmetic. Commands and
// branches are in shell_words.cc. Private to shell_*.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/import/syntax/shell_words.h"

namespace rankwright::importer::shell {

/// Cost charged per word, in addition to its characters.
inline constexpr std::size_t kWordCost = 64;

/// Marks an unknown value in a text.
inline constexpr char kUnknown = '\x01';

/// Characters and the offset of each in the script.
struct Text {
  std::string chars{};
  std::vector<std::uint32_t> at{};
  std::uint32_t begin = 0;

  void add(char c, std::size_t place);
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
  explicit Expander(std::string_view text) : text_(text), budget_(kBudget + 8 * text.size()) {}

  /// Expands the word at the current offset up to a blank or an operator; with `split`, also splits
  /// at blanks of unquoted expansions.
  void expand_word(WordBuilder& out, bool split);
  ShellWord finish_word(const Text& text) const;
  /// Splits at all blanks.
  std::vector<ShellWord> split_at_blanks(const Text& text) const;

  void set(const std::string& name, Value value) { variables_[name] = std::move(value); }
  const Value* find(const std::string& name) const;
  const std::map<std::string, Value>& variables() const { return variables_; }

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool starts(std::string_view with) const { return text_.substr(at_).starts_with(with); }
  bool done() const { return at_ >= text_.size() || spent_; }
  bool spent() const { return spent_; }
  std::size_t at() const { return at_; }
  std::string_view rest() const { return text_.substr(at_); }
  void skip(std::size_t n) { at_ = std::min(at_ + n, text_.size()); }
  /// Skips blanks and continued lines, not line breaks.
  void skip_blanks();
  void skip_line();
  void charge(std::size_t work);

 private:
  bool expand_quoted(WordBuilder& out);                        // at a '"'
  bool expand_single_quoted(WordBuilder& out);                 // at a '\''
  void expand_dollar(WordBuilder& out, bool split);            // at a '$'
  bool expand_braced(WordBuilder& out, bool split);            // at "${"
  bool expand_arithmetic(WordBuilder& out);                    // at "$(("
  bool expand_until(Text& out, char close, int& parentheses);  // up to `close`
  void put(WordBuilder& out, const Text& value, bool split, std::size_t from, std::size_t to);
  void put_variable(WordBuilder& out, const std::string& name, bool all, bool split,
                    std::size_t from);
  void put_unknown(WordBuilder& out, std::string name, std::size_t at);
  std::string substitute_names(const Text& expression, std::string& unknown) const;
  bool at_continuation() const;

  static constexpr std::size_t kBudget = std::size_t{1}
                                         << 20;  // in addition to the length of the text
  static constexpr int kMaxDepth = 12;

  std::string_view text_;
  std::size_t budget_;
  std::size_t at_ = 0;
  std::size_t work_ = 0;
  bool spent_ = false;
  int depth_ = 0;
  std::map<std::string, Value> variables_{};
  std::map<std::uint32_t, std::string>
      unknown_{};  // names of unknown values by the offset of their marks
};

/// Sets Slurm's variables from the #SBATCH lines, as they would be when the script runs.
void set_slurm_variables(std::string_view text, Expander& words);

}  // namespace rankwright::importer::shell
