#include "rankwright/import/syntax/shell_words.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "rankwright/import/syntax/shell_script.h"

namespace rankwright::importer {
namespace shell {

namespace {

constexpr std::size_t kLongestKey = 256;  // of an array's item, with the array's name

/// Returns whether the words have the form `key=value` of settings often enough: fewer may be
/// variables of another program.
bool has_settings(const std::vector<ShellWord>& words) {
  constexpr std::ptrdiff_t kFewest = 3;
  return std::count_if(words.begin(), words.end(), [](const ShellWord& word) {
           const std::size_t name = word.text.find('=');
           return name != std::string::npos && name > 0 && word.text[0] >= 'a' &&
                  word.text[0] <= 'z' &&
                  std::all_of(word.text.begin(), word.text.begin() + std::ptrdiff_t(name), is_name);
         }) >= kFewest;
}

/// Returns whether a word names a YAML file, which may hold all settings of a command.
bool names_config(const ShellWord& word) {
  return word.text.ends_with(".yaml") || word.text.ends_with(".yml");
}

/// Returns whether a word names a program that trains: its command may have no flags.
bool names_training_program(const ShellWord& word) {
  const std::string_view text = word.text;
  const std::string_view name = text.substr(text.rfind('/') + 1);
  constexpr std::string_view kWords[] = {"train", "sft", "tune", "dpo", "grpo"};
  return name.ends_with(".py") &&
         std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view one) {
           return name.find(one) != std::string_view::npos;
         });
}

/// Variables with the number of a rank or a node.
constexpr std::string_view kNumbers[] = {"RANK",          "NODE_RANK",    "NODERANK",
                                         "MACHINE_RANK",  "SLURM_NODEID", "SLURM_PROCID",
                                         "PET_NODE_RANK", "GROUP_RANK",   "INDEX"};

/// Makes the number of a rank or a node 0 where a script compares it: what the first one runs is
/// the training run, with the ranks that it states.
void take_first_rank(ShellWord& word) {
  const auto names_rank = [&](std::string_view name) {
    return std::find(std::begin(kNumbers), std::end(kNumbers), name) != std::end(kNumbers);
  };
  if (names_rank(word.default_of)) word.default_of.clear();
  if (!names_rank(word.unknown)) return;
  word.text = "0";
  word.unknown.clear();
}

/// Returns the index of the option of `bash -c TEXT` in a command, else their number.
std::size_t find_command_option(const std::vector<ShellWord>& words) {
  for (std::size_t i = 1; i + 1 < words.size(); ++i)
    if (is_one_of(words[i].text, {"-c", "-lc", "-cl"}) &&
        is_one_of(words[i - 1].text, {"bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash"}))
      return i;
  return words.size();
}

/// Returns whether a test asks for a variable of the environment to have a value, which is not
/// known: `-n "$NAME"`, `! -z "$NAME"`.
bool needs_value(std::span<const ShellWord> test, bool negated) {
  while (test.size() > 1 && test[0].text == "!") {
    test = test.subspan(1);
    negated = !negated;
  }
  if (test.empty() || test.size() > 2) return false;
  const std::string& name = test.back().unknown;
  const bool variable =
      !name.empty() && is_name(name[0]) && name[0] > '9' && name.find(' ') == name.npos;
  const std::string_view asked = test.size() == 1 ? "-n" : std::string_view(test[0].text);
  return variable && asked == (negated ? "-z" : "-n");
}

/// Returns whether a test compares an argument of the script, which has none, with the name of a
/// run that is not the training: `"$1" == "debug"`.
bool asks_for_a_trial(std::span<const ShellWord> test) {
  constexpr std::string_view kTrials[] = {"debug", "test", "smoke", "dry", "help", "-h"};
  if (test.size() != 3 || !is_one_of(test[1].text, {"=", "=="})) return false;
  const std::string& name = test[0].unknown;
  const bool argument = name.size() == 1 && name[0] > '0' && name[0] <= '9';
  return argument && std::any_of(std::begin(kTrials), std::end(kTrials), [&](std::string_view one) {
           return test[2].text.find(one) != std::string::npos;
         });
}

}  // namespace

void ShellEvaluator::read_all() {
  while (!words_.done() && !body_ended_) {
    read_list_item();
    read_separator();
  }
}

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
  if (words_.peek() == '\n' && !documents_.empty()) {
    words_.skip(1);
    return read_documents();
  }
  if (words_.starts("&&") || words_.starts("||")) {
    join_ = words_.peek() == '&' ? Join::both : Join::either;
    words_.skip(2);
    words_.skip_lines();
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

bool ShellEvaluator::at_assignment() const {
  std::size_t n = 0;
  while (n < 256 && is_name(words_.peek(n))) ++n;
  const bool digit = words_.peek() >= '0' && words_.peek() <= '9';
  if (n == 0 || digit) return false;
  if (words_.peek(n) == '[') {  // of an array
    const std::size_t end = words_.rest().substr(0, kLongestKey).find(']');
    return end != std::string_view::npos && words_.peek(end + 1) == '=';
  }
  return words_.peek(n) == '=' || (words_.peek(n) == '+' && words_.peek(n + 1) == '=');
}

void ShellEvaluator::assign() {
  std::size_t n = 0;
  while (is_name(words_.peek(n))) ++n;
  std::string name(words_.rest().substr(0, n));
  const bool adds = words_.peek(n) == '+';
  if (words_.peek(n) == '[') {
    words_.skip(n);
    const std::optional<std::string> key = words_.take_key();
    name += key ? "[" + *key + "]" : "[?]";
    while (!words_.done() && words_.peek() != '=') words_.skip(1);
    words_.skip(1);
  } else {
    words_.skip(n + (adds ? 2 : 1));
  }
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
    if (arithmetic_ && !items.fields.empty())
      items.fields.front() = words_.calculate(items.fields.front());
  }
  if (const auto script = words_.take_document(); script && active() && calls_ < kMaxCalls)
    run_at(*script);
  // An option that is not given leaves its variable as it is: empty, if nothing else sets it.
  const bool option = std::any_of(branches_.begin(), branches_.end(),
                                  [](const Branch& branch) { return branch.options; });
  if (option && !active() && words_.find(name) == nullptr) words_.set(name, {{Text{}}});
  if (!active()) return;
  ++effects_;
  std::vector<ShellWord> flags;
  for (const Text& item : items.fields)
    for (ShellWord& word : words_.split_at_blanks(item)) flags.push_back(std::move(word));
  Value value{std::move(items.fields)};
  if (adds && words_.find(name) != nullptr)
    words_.append(name, std::move(value), list);
  else
    words_.set(name, std::move(value));
  record(std::move(flags), true);
}

void ShellEvaluator::record(std::vector<ShellWord> words, bool assigned) {
  const bool settings = !assigned && has_settings(words);
  const bool flags =
      settings || std::any_of(words.begin(), words.end(), [assigned](const ShellWord& word) {
        // An override of a config is a setting too: a.b=value
        const std::size_t dot = word.text.find('.');
        return word.text.starts_with("-") || names_config(word) ||
               (!assigned && names_training_program(word)) ||
               (dot != std::string::npos && dot < word.text.find('=') &&
                word.text.find('=') != std::string::npos);
      });
  recorded_ += words.size();
  effects_ += flags ? 1 : 0;
  if (flags && recorded_ <= kMaxWords) script_.commands.push_back({std::move(words), assigned});
}

/// Reads `((expression))`. One that cannot be evaluated, such as `((i++))`, is true.
Truth ShellEvaluator::read_arithmetic() {
  const std::string_view rest = words_.rest();
  const std::size_t end = rest.find("))");
  if (end == std::string_view::npos) {
    words_.skip(2);
    return Truth::yes;
  }
  words_.charge(end);
  const Text value = words_.calculate(words_.take_part(2, end));
  words_.skip(2);
  const ShellWord word = words_.finish_word(value);
  if (condition_ && !word.default_of.empty()) decider_ = word.default_of;
  return word.unknown.empty() && word.text == "0" ? Truth::no : Truth::yes;
}

Truth ShellEvaluator::read_command() {
  words_.set_active(active());
  arithmetic_ = false;
  std::vector<ShellWord> tested, recorded;
  bool may_assign = true, assigned = false;
  const Cut cut = std::exchange(cut_, Cut::none);
  words_.take_quoted();
  for (bool first = true; !words_.done(); first = false) {
    words_.skip_blanks();
    const char c = words_.peek();
    words_.charge(1);
    if (c == '#') {
      words_.skip_line();
      break;
    }
    if ((c == '<' || c == '>') && (in_test_ || (!tested.empty() && tested[0].text == "[["))) {
      tested.push_back({.text = std::string(1, c), .at = words_.at()});
      words_.skip(1);
      continue;
    }
    if (c == '<' || c == '>') {
      read_redirection();
      continue;
    }
    if (first && words_.starts("((")) return read_arithmetic();
    if (words_.done() || ends_word(c)) break;
    if (may_assign && at_assignment()) {
      assign();
      assigned = true;
      continue;
    }
    if (first && read_function()) return Truth::yes;
    const std::string_view word = bare_word();
    if (first && read_keyword(word)) {
      first = true;
      return last_;
    }
    if (first &&
        is_one_of(word, {"export", "local", "declare", "readonly", "typeset", "let", "env"})) {
      arithmetic_ = word == "let";
      words_.skip(word.size());
      continue;
    }
    const bool option = tested.empty() && c == '-';  // declare -a
    may_assign = may_assign && option;
    WordBuilder grown;
    const std::size_t before = words_.at();
    words_.expand_word(grown, true);
    grown.end();
    // `[[` keeps a word that expands to nothing.
    if (grown.fields.empty() && words_.at() > before && !tested.empty() &&
        (in_test_ || tested[0].text == "[["))
      tested.push_back({.text = "", .at = before});
    for (const Text& field : grown.fields) {
      tested.push_back(words_.finish_word(field));
      if (std::exchange(redirected_, false) && tested.back().unknown.empty())
        targets_.push_back(tested.back().text);
      for (ShellWord& one : words_.split_at_blanks(field)) recorded.push_back(std::move(one));
    }
  }
  // A command ends at a comment between its lines, and at a line without a backslash: flags that
  // follow are another command, which does not exist.
  const bool flags = !tested.empty() && tested[0].text.starts_with("-");
  if (cut != Cut::none && flags) {
    if (active() && cut == Cut::possible) script_.cut_off.push_back(tested[0].at);
    cut_ = Cut::done;
    return last_;
  }
  const bool has_flags = std::any_of(tested.begin(), tested.end(), [](const ShellWord& word) {
    return word.text.starts_with("--") && word.text.size() > 2;
  });
  cut_ = tested.empty() && !assigned ? cut : has_flags && !flags ? Cut::possible : Cut::none;
  redirected_ = false;
  const bool here_string = std::exchange(here_string_, false);
  const std::optional<Expander::Position> script = words_.take_quoted();
  const std::vector<std::string> targets = std::exchange(targets_, {});
  // An empty line changes nothing: `if [ a = b ];` may have its `then` on the next one. Arithmetic,
  // `((i < n))`, is not evaluated as a command.
  const bool empty = !assigned && words_.peek() != '(' && words_.peek() != ')';
  if (tested.empty()) return empty ? last_ : Truth::yes;
  for (Document& document : documents_) {
    document.read = document.read || active();
    if (document.target.empty() && !targets.empty()) document.target = targets[0];
    const bool printed = tested[0].text == "cat" && targets.empty();
    document.data = document.data || printed || tested[0].text.find("python") != std::string::npos;
  }
  if (active()) {
    targets_ = targets;
    write_substituted(tested);
    write_printed(tested);
    targets_.clear();
    const bool known = tested[0].unknown.empty();
    if (known && tested.size() > 1 && is_one_of(tested[0].text, {"source", "."}))
      source(tested[1]);
    else if (known && tested[0].text == "shift")
      shift(tested);
    else if (known && tested.size() == 2 && tested[0].text == "cd")
      folder_ = tested[1].unknown.empty() ? tested[1].text : "";
    else if (known && here_string && tested[0].text == "read")
      read_variables(tested, assigned);
    else if (known && functions_.contains(tested[0].text))
      call(tested[0].text, {tested.begin() + 1, tested.end()});
    else if (const std::size_t option = find_command_option(tested);
             option < tested.size() && script && calls_ < kMaxCalls) {
      tested.resize(option);
      std::vector<ShellWord> launcher = tested;
      record(std::move(launcher), false);
      run_at(*script);
    } else if (!known || option < tested.size() || !run_script(tested))
      record(std::move(recorded), false);
  }
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
  if (tested.size() == 3) take_first_rank(tested[0]);
  const Truth truth = evaluate_test(tested);
  if (needs_value(tested, negated) || asks_for_a_trial(tested)) unset_ = true;
  for (const ShellWord& word : tested) {
    if (truth == Truth::unknown && !word.unknown.empty()) unknown_ = word.unknown;
    if (condition_ && !word.default_of.empty()) decider_ = word.default_of;
  }
  if (truth == Truth::unknown || !negated) return truth;
  return truth == Truth::yes ? Truth::no : Truth::yes;
}

/// Returns whether a command starts a program that may train.
bool starts_program(const ShellCommand& command) {
  constexpr std::string_view kStarters[] = {"torchrun", "accelerate", "deepspeed", "composer"};
  return std::any_of(command.words.begin(), command.words.end(), [&](const ShellWord& word) {
    const std::string_view name = std::string_view(word.text).substr(word.text.rfind('/') + 1);
    return name.starts_with("python") || name.ends_with(".py") ||
           std::find(std::begin(kStarters), std::end(kStarters), name) != std::end(kStarters);
  });
}

}  // namespace shell

ShellScript read_shell(std::string_view text, const ShellInput& input) {
  ShellScript script = shell::ShellEvaluator(text, input).evaluate();
  if (std::any_of(script.commands.begin(), script.commands.end(), shell::starts_program))
    return script;
  // The training run may be what the first node alone starts, which finds its number by way of
  // variables of its own.
  ShellInput first = input;
  for (const std::string_view name : shell::kNumbers)
    if (text.find(name) != std::string_view::npos) first.variables.emplace(name, "0");
  if (first.variables.size() == input.variables.size()) return script;
  ShellScript of_first = shell::ShellEvaluator(text, first).evaluate();
  if (std::none_of(of_first.commands.begin(), of_first.commands.end(), shell::starts_program))
    return script;
  for (const std::string_view name : shell::kNumbers)
    if (!input.variables.contains(std::string(name))) of_first.used.erase(std::string(name));
  return of_first;
}

}  // namespace rankwright::importer
