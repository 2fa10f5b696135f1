// Conditions, cases and loops of a shell script.
#include "rankwright/import/syntax/shell_parameters.h"
#include "rankwright/import/syntax/shell_script.h"

namespace rankwright::importer::shell {

void ShellEvaluator::open_branch() {
  if (branches_.size() >= kMaxDepth) return;
  branches_.push_back({.outer = active(), .where = words_.place()});
}

void ShellEvaluator::record_guess(Branch& branch) {
  if (branch.guessed && effects_ > branch.effects) script_.guesses.push_back(branch.where);
  branch.guessed = false;
}

void ShellEvaluator::take(Truth truth) {
  if (branches_.empty()) return;
  Branch& branch = branches_.back();
  record_guess(branch);
  if (truth == Truth::unknown && std::exchange(unset_, false)) {
    branch.unset = unknown_;
    truth = Truth::no;
  }
  active_ = branch.outer && !branch.taken && truth != Truth::no;
  branch.guessed = active_ && (truth == Truth::unknown || !branch.unset.empty());
  branch.unknown = !branch.guessed ? "" : truth == Truth::unknown ? unknown_ : branch.unset;
  if (!decider_.empty()) branch.decider = std::exchange(decider_, {});
  branch.effects = effects_;
  branch.taken = branch.taken || active_;
  mark_guess();
}

void ShellEvaluator::close_branch() {
  if (branches_.empty()) return;
  record_guess(branches_.back());
  active_ = branches_.back().outer;
  branches_.pop_back();
  mark_guess();
}

/// Marks what follows as guessed if a surrounding branch is, or as decided by a default.
void ShellEvaluator::mark_guess() {
  const auto guessed = std::find_if(branches_.begin(), branches_.end(),
                                    [](const Branch& branch) { return !branch.unknown.empty(); });
  if (guessed != branches_.end()) return words_.set_origin("?" + guessed->unknown);
  const auto decided = std::find_if(branches_.begin(), branches_.end(),
                                    [](const Branch& branch) { return !branch.decider.empty(); });
  words_.set_origin(decided == branches_.end() ? "" : decided->decider);
}

/// Returns whether `word` is a keyword; if so, processes it.
bool ShellEvaluator::read_keyword(std::string_view word) {
  if (is_one_of(word, {"{", "}", "time"})) {
    words_.skip(word.size());
    braces_ += word == "{" ? 1 : word == "}" ? -1 : 0;
    body_ended_ = braces_ < 0;
    return true;
  }
  if (!is_one_of(word, {"if", "elif", "then", "else", "fi", "for", "case", "esac", "while", "until",
                        "do", "done"}))
    return false;
  words_.skip(word.size());
  if (word == "while" || word == "until") {
    open_branch();
    if (!branches_.empty()) {
      branches_.back().loop = true;
      branches_.back().condition = words_.position();
    }
    shifted_ = false;
    condition_ = true;
  } else if (word == "do") {
    // The condition of a `while` decides; an unknown one is false. A `for` runs once.
    const bool loop = condition_ && !branches_.empty() && branches_.back().loop;
    condition_ = false;
    const bool arguments = last_ == Truth::unknown && (unknown_ == "#" || unknown_ == "1");
    if (loop && arguments && active()) branches_.back().options = true;
    if (loop) take(last_ == Truth::no || last_ == Truth::unknown ? Truth::no : Truth::yes);
  } else if (word == "done") {
    if (!branches_.empty() && branches_.back().loop && !repeat_loop()) close_branch();
  } else if (word == "if") {
    open_branch();
    unset_ = false;
    condition_ = true;
  } else if (word == "elif") {
    if (!branches_.empty()) {
      record_guess(branches_.back());
      active_ = branches_.back().outer && !branches_.back().taken;
      branches_.back().where = words_.at();
    }
    unset_ = false;
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

/// Continues at the condition of a `while` whose body took arguments off a known list; other loops
/// run once. Returns false if the loop ends.
bool ShellEvaluator::repeat_loop() {
  constexpr std::size_t kMaxRounds = 64;
  Branch& loop = branches_.back();
  if (!active() || !loop.condition || !std::exchange(shifted_, false) ||
      ++loop.rounds >= kMaxRounds)
    return false;
  words_.go_to(*loop.condition);
  loop.taken = false;
  condition_ = true;
  return true;
}

void ShellEvaluator::for_loop() {
  open_branch();
  if (!branches_.empty()) branches_.back().loop = true;
  words_.skip_blanks();
  WordBuilder name;
  words_.expand_word(name, false);
  words_.skip_blanks();
  if (bare_word() != "in") return;
  words_.skip(2);
  words_.skip_blanks();
  // The script has no arguments: a loop over them does not run.
  const bool arguments = words_.starts("\"$@\"") || words_.starts("$@");
  if (arguments && words_.find("@") == nullptr && !branches_.empty()) {
    branches_.back().options = true;
    take(Truth::no);
  }
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
      words_.charge(one.chars.size() * (branch.subject->text.size() + 1));
      if (matches_pattern(one.chars, branch.subject->text)) matched = Truth::yes;
    }
  }
  words_.skip(1);
  if (!branch.subject->unknown.empty()) {
    matched = Truth::unknown;
    unknown_ = branch.subject->unknown;
  }
  decider_ = branch.subject->default_of;
  take(matched);
}

}  // namespace rankwright::importer::shell
