#include "rankwright/import/syntax/shell_words.h"

#include <algorithm>
#include <optional>

#include "rankwright/import/syntax/shell_evaluator.h"

namespace rankwright::importer {
namespace {

using shell::Expander;
using shell::set_slurm_variables;
using shell::Text;
using shell::Value;
using shell::WordBuilder;

constexpr std::string_view kOperators = ";&|()<>";

bool ends_word(char c) {
  return c == '\0' || shell::is_blank(c) || kOperators.find(c) != std::string_view::npos;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// An open `if` or `case`.
struct Branch {
  bool outer = true;      // whether the surrounding code is executed
  bool taken = false;     // one of its branches was taken
  bool guessed = false;   // the condition was unknown
  std::size_t where = 0;  // offset of its condition
  std::size_t effects = 0;
  std::optional<ShellWord> subject{};  // of a case
};

/// Evaluates a script from top to bottom.
class ShellEvaluator {
 public:
  explicit ShellEvaluator(std::string_view text) : words_(text) {
    set_slurm_variables(text, words_);
  }

  ShellScript evaluate() {
    while (!words_.done()) {
      read_list_item();
      read_separator();
    }
    for (const auto& [name, value] : words_.variables())
      if (!value.items.empty()) script_.variables[name] = words_.finish_word(value.items[0]);
    script_.cut = words_.spent();
    return std::move(script_);
  }

 private:
  enum class Join : unsigned char { none, both, either };
  static constexpr std::size_t kMaxDepth = 64;
  static constexpr std::size_t kMaxWords = 200'000;

  void read_list_item();
  void read_separator();
  bool read_keyword(std::string_view word);
  Truth read_command();
  void assign();
  bool at_assignment() const;
  void for_loop();
  void open_case();
  void read_patterns();
  void open_branch();
  void take(Truth truth);
  void close_branch();
  void record_guess(Branch& branch);
  void record(std::vector<ShellWord> words, bool assigned);
  std::string_view bare_word() const;
  bool active() const { return active_ && !skipped_; }

  Expander words_;
  ShellScript script_{};
  std::vector<Branch> branches_{};
  bool active_ = true;
  bool skipped_ = false;    // by a preceding && or ||
  bool in_test_ = false;    // between [[ and ]]
  bool condition_ = false;  // between if and then
  Truth last_ = Truth::yes;
  Join join_ = Join::none;
  std::size_t effects_ = 0;
  std::size_t recorded_ = 0;
};

/// Evaluates one command of a list, or skips it depending on the one before.
void ShellEvaluator::read_list_item() {
  skipped_ =
      (join_ == Join::both && last_ == Truth::no) || (join_ == Join::either && last_ != Truth::no);
  const Truth result = read_command();
  if (!skipped_) {
    const bool doubtful = join_ == Join::both && last_ == Truth::unknown;
    last_ = doubtful && result != Truth::no ? Truth::unknown : result;
  }
  skipped_ = false;
}

void ShellEvaluator::read_separator() {
  join_ = Join::none;
  if (words_.starts("&&")) {
    join_ = Join::both;
    words_.skip(2);
  } else if (words_.starts("||")) {
    join_ = Join::either;
    words_.skip(2);
  } else if (words_.starts(";;") || words_.starts(";&")) {
    words_.skip(2);
    read_patterns();
  } else if (ends_word(words_.peek())) {
    words_.skip(1);
  }
  words_.charge(1);
}

std::string_view ShellEvaluator::bare_word() const {
  static constexpr std::size_t kLongest = 16;
  std::size_t n = 0;
  while (n < kLongest && !ends_word(words_.peek(n))) ++n;
  return words_.rest().substr(0, n);
}

void ShellEvaluator::open_branch() {
  if (branches_.size() >= kMaxDepth) return;
  branches_.push_back({.outer = active(), .where = words_.at()});
}

void ShellEvaluator::record_guess(Branch& branch) {
  if (branch.guessed && effects_ > branch.effects) script_.guesses.push_back(branch.where);
  branch.guessed = false;
}

void ShellEvaluator::take(Truth truth) {
  if (branches_.empty()) return;
  Branch& branch = branches_.back();
  record_guess(branch);
  active_ = branch.outer && !branch.taken && truth != Truth::no;
  branch.guessed = active_ && truth == Truth::unknown;
  branch.effects = effects_;
  branch.taken = branch.taken || active_;
}

void ShellEvaluator::close_branch() {
  if (branches_.empty()) return;
  record_guess(branches_.back());
  active_ = branches_.back().outer;
  branches_.pop_back();
}

/// Returns whether `word` is a keyword; if so, processes it.
bool ShellEvaluator::read_keyword(std::string_view word) {
  if (is_one_of(word, {"{", "}", "do", "done", "while", "until", "time", "function"})) {
    words_.skip(word.size());
    return true;
  }
  if (!is_one_of(word, {"if", "elif", "then", "else", "fi", "for", "case", "esac"})) return false;
  words_.skip(word.size());
  if (word == "if") {
    open_branch();
    condition_ = true;
  } else if (word == "elif") {
    if (!branches_.empty()) {
      record_guess(branches_.back());
      active_ = branches_.back().outer && !branches_.back().taken;
      branches_.back().where = words_.at();
    }
    condition_ = true;
  } else if (word == "then") {
    condition_ = false;
    take(last_);
  } else if (word == "else") {
    take(Truth::yes);
  } else if (word == "fi" || word == "esac") {
    close_branch();
  } else if (word == "for") {
    for_loop();
  } else {
    open_case();
  }
  join_ = Join::none;
  return true;
}

void ShellEvaluator::for_loop() {
  words_.skip_blanks();
  WordBuilder name;
  words_.expand_word(name, false);
  words_.skip_blanks();
  if (bare_word() != "in") return;
  words_.skip(2);
  words_.skip_blanks();
  WordBuilder first;
  words_.expand_word(first, true);
  name.end();
  first.end();
  if (active() && !name.fields.empty() && !first.fields.empty())
    words_.set(name.fields[0].chars, {{first.fields[0]}});
  while (!ends_word(words_.peek()) || words_.peek() == ' ') words_.skip(1);
}

void ShellEvaluator::open_case() {
  words_.skip_blanks();
  open_branch();
  WordBuilder subject;
  words_.expand_word(subject, false);
  subject.end();
  if (!branches_.empty() && !subject.fields.empty())
    branches_.back().subject = words_.finish_word(subject.fields[0]);
  words_.skip_blanks();
  if (bare_word() == "in") words_.skip(2);
  read_patterns();
}

/// Reads the patterns up to the ')' of the next branch of a case.
void ShellEvaluator::read_patterns() {
  if (branches_.empty() || !branches_.back().subject) return;
  Branch& branch = branches_.back();
  Truth matched = Truth::no;
  for (;;) {
    words_.skip_blanks();
    const char c = words_.peek();
    if (words_.done() || bare_word() == "esac") return;
    if (c == ')') break;
    if (c == '#') words_.skip_line();
    if (ends_word(c) || c == '#') {
      words_.skip(1);
      continue;
    }
    WordBuilder pattern;
    words_.expand_word(pattern, false);
    pattern.end();
    for (const Text& one : pattern.fields) {
      const bool same = one.chars == "*" || one.chars == branch.subject->text;
      if (same) matched = Truth::yes;
    }
  }
  words_.skip(1);
  if (!branch.subject->unknown.empty()) matched = Truth::unknown;
  take(matched);
}

bool ShellEvaluator::at_assignment() const {
  std::size_t n = 0;
  while (n < 256 && shell::is_name(words_.peek(n))) ++n;
  const bool digit = words_.peek() >= '0' && words_.peek() <= '9';
  if (n == 0 || digit) return false;
  return words_.peek(n) == '=' || (words_.peek(n) == '+' && words_.peek(n + 1) == '=');
}

void ShellEvaluator::assign() {
  std::size_t n = 0;
  while (shell::is_name(words_.peek(n))) ++n;
  const std::string name(words_.rest().substr(0, n));
  const bool adds = words_.peek(n) == '+';
  words_.skip(n + (adds ? 2 : 1));
  WordBuilder items;
  const bool list = words_.peek() == '(';
  if (list) {
    words_.skip(1);
    while (!words_.done() && words_.peek() != ')') {
      words_.charge(1);
      if (words_.peek() == '#') {
        words_.skip_line();
      } else if (ends_word(words_.peek())) {
        words_.skip(1);
      } else {
        words_.expand_word(items, true);
        items.end();
        words_.skip_blanks();
      }
    }
    words_.skip(1);
  } else {
    items.begun = true;
    items.open.begin = std::uint32_t(words_.at());
    words_.expand_word(items, false);
    items.end();
  }
  if (!active()) return;
  ++effects_;
  std::vector<ShellWord> flags;
  for (const Text& item : items.fields)
    for (ShellWord& word : words_.split_at_blanks(item)) flags.push_back(std::move(word));
  Value value{std::move(items.fields)};
  if (const Value* const old = words_.find(name); adds && old != nullptr) {
    Value joined = *old;
    if (list) {
      joined.items.insert(joined.items.end(), value.items.begin(), value.items.end());
    } else if (!value.items.empty()) {
      if (joined.items.empty()) joined.items.emplace_back();
      Text& text = joined.items[0];
      for (std::size_t i = 0; i < value.items[0].chars.size(); ++i)
        text.add(value.items[0].chars[i], value.items[0].at[i]);
    }
    for (const Text& item : joined.items) words_.charge(item.chars.size() + shell::kWordCost);
    value = std::move(joined);
  }
  words_.set(name, std::move(value));
  record(std::move(flags), true);
}

void ShellEvaluator::record(std::vector<ShellWord> words, bool assigned) {
  const bool flags = std::any_of(words.begin(), words.end(),
                                 [](const ShellWord& word) { return word.text.starts_with("-"); });
  recorded_ += words.size();
  effects_ += flags ? 1 : 0;
  if (flags && recorded_ <= kMaxWords) script_.commands.push_back({std::move(words), assigned});
}

Truth ShellEvaluator::read_command() {
  std::vector<ShellWord> tested, recorded;
  bool may_assign = true;
  for (bool first = true; !words_.done(); first = false) {
    words_.skip_blanks();
    const char c = words_.peek();
    words_.charge(1);
    if (c == '#') {
      words_.skip_line();
      break;
    }
    if (c == '<' || c == '>') {  // redirections
      while (std::string_view("<>&").find(words_.peek()) != std::string_view::npos &&
             !words_.done())
        words_.skip(1);
      continue;
    }
    if (words_.done() || ends_word(c)) break;
    if (may_assign && at_assignment()) {
      assign();
      continue;
    }
    const std::string_view word = bare_word();
    if (first && read_keyword(word)) {
      first = true;
      return last_;
    }
    if (first && is_one_of(word, {"export", "local", "declare", "readonly", "typeset"})) {
      words_.skip(word.size());
      continue;
    }
    const bool option = tested.empty() && c == '-';  // declare -a
    may_assign = may_assign && option;
    WordBuilder grown;
    words_.expand_word(grown, true);
    grown.end();
    for (const Text& field : grown.fields) {
      tested.push_back(words_.finish_word(field));
      for (ShellWord& one : words_.split_at_blanks(field)) recorded.push_back(std::move(one));
    }
  }
  if (tested.empty()) return Truth::yes;
  if (active()) record(std::move(recorded), false);
  bool negated = false;
  if (tested[0].text == "!" && tested.size() > 1) {
    negated = true;
    tested.erase(tested.begin());
  }
  const std::string opening = tested[0].text;
  const bool test = in_test_ || is_one_of(opening, {"[", "[[", "test"});
  if (!test) {
    const bool known = is_one_of(opening, {"true", ":", "false"});
    if (known) return (opening == "false") != negated ? Truth::no : Truth::yes;
    return condition_ ? Truth::unknown : Truth::yes;
  }
  if (!in_test_) tested.erase(tested.begin());
  const bool closed = !tested.empty() && is_one_of(tested.back().text, {"]", "]]"});
  if (closed) tested.pop_back();
  in_test_ = (opening == "[[" || in_test_) && !closed;
  const Truth truth = evaluate_test(tested);
  if (truth == Truth::unknown || !negated) return truth;
  return truth == Truth::yes ? Truth::no : Truth::yes;
}

}  // namespace

ShellScript read_shell(std::string_view text) { return ShellEvaluator(text).evaluate(); }

}  // namespace rankwright::importer
