#include "rankwright/import/syntax/shell_words.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <utility>

#include "rankwright/import/syntax/shell_evaluator.h"
#include "rankwright/import/syntax/shell_parameters.h"

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
    for (const auto& [name, value] : input.variables)
      if (name.starts_with("SLURM_")) words_.forget(name);  // as `sbatch --nodes` overrides #SBATCH
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
  std::string unknown_{};               // variable of the last condition of unknown value
  std::string decider_{};  // variable whose default decides the condition before a branch
  Join join_ = Join::none;
  Cut cut_ = Cut::none;
  std::size_t effects_ = 0;
  std::size_t recorded_ = 0;
};

void ShellEvaluator::read_all() {
  while (!words_.done() && !body_ended_) {
    read_list_item();
    read_separator();
  }
}

/// Evaluates commands from another position to the end of the function or file there, then returns
/// to the current one.
void ShellEvaluator::run_at(const Expander::Position& there) {
  const Expander::Position here = words_.position();
  const int braces = std::exchange(braces_, 0);
  const std::size_t branches = branches_.size();
  const Join join = std::exchange(join_, Join::none);
  const bool skipped = std::exchange(skipped_, false), condition = std::exchange(condition_, false);
  ++calls_;
  words_.go_to(there);
  read_all();
  --calls_;
  body_ended_ = false;
  while (branches_.size() > branches) close_branch();
  braces_ = braces;
  join_ = join;
  skipped_ = skipped;
  condition_ = condition;
  words_.go_to(here);
}

/// Reads `name() {` or `function name {` without its body. Returns false if there is none.
bool ShellEvaluator::read_function() {
  constexpr std::size_t kLongest = 128;
  const std::string_view rest = words_.rest();
  std::size_t begin = 0;
  const bool keyword = rest.starts_with("function ");
  if (keyword) begin = std::min(rest.find_first_not_of(" \t", 8), rest.size());
  std::size_t end = begin;
  while (end < rest.size() && end - begin < kLongest &&
         (shell::is_name(rest[end]) || rest[end] == '-'))
    ++end;
  std::size_t open = std::min(rest.find_first_not_of(" \t", end), rest.size());
  const bool parentheses = rest.substr(open).starts_with("()");
  if (end == begin || (!keyword && !parentheses)) return false;
  open += parentheses ? 2 : 0;
  open = std::min(rest.find_first_not_of(" \t\r\n", open), rest.size());
  if (!rest.substr(open).starts_with("{")) return false;
  const std::string name(rest.substr(begin, end - begin));
  words_.charge(open);
  words_.skip(open + 1);
  if (active() && functions_.size() < kMaxFunctions) {
    if (!functions_.contains(name)) order_.push_back(name);
    functions_[name] = {.body = words_.position()};
  }
  skip_body();
  return true;
}

void ShellEvaluator::skip_body() {
  const bool active = std::exchange(active_, false);
  const int braces = std::exchange(braces_, 0);
  const std::size_t branches = branches_.size();
  read_all();
  body_ended_ = false;
  while (branches_.size() > branches) branches_.pop_back();
  braces_ = braces;
  active_ = active;
}

void ShellEvaluator::call(const std::string& name, const std::vector<ShellWord>& arguments) {
  if (calls_ >= kMaxCalls || words_.spent()) return;
  Function& function = functions_.at(name);
  function.called = true;
  run_with(arguments, function.body);
}

constexpr std::size_t kPositional = 40;  // $1 to $40

/// Sets $1, $2, $# and $@. Those that are not given are empty.
void ShellEvaluator::set_arguments(std::vector<Text> arguments) {
  for (std::size_t i = 0; i < kPositional; ++i)
    words_.set(std::to_string(i + 1), {{i < arguments.size() ? arguments[i] : Text{}}});
  Text count;
  for (const char c : std::to_string(arguments.size())) count.add(c, words_.at());
  words_.set("#", {{count}});
  words_.set("@", {std::move(arguments)});
}

/// Evaluates `shift N`, if the arguments are known.
void ShellEvaluator::shift(const std::vector<ShellWord>& command) {
  const Value* const all = words_.find("@");
  i64 count = 1;
  if (all == nullptr || (command.size() > 1 && !evaluate_arithmetic(command[1].text, count)))
    return;
  std::vector<Text> arguments = all->items;
  const auto gone =
      std::ptrdiff_t(std::min(arguments.size(), std::size_t(std::max<i64>(0, count))));
  arguments.erase(arguments.begin(), arguments.begin() + gone);
  words_.charge(kPositional * shell::kWordCost);
  set_arguments(std::move(arguments));
  shifted_ = gone > 0;
}

/// Evaluates what is at another position with `arguments` as $1, $2 and $@. Without any, those of
/// the surrounding code stay.
void ShellEvaluator::run_with(const std::vector<ShellWord>& arguments,
                              const Expander::Position& there) {
  constexpr std::size_t kCost = 4096;  // of a call, in characters
  words_.charge(kCost);
  if (arguments.empty()) return run_at(there);
  std::vector<std::string> names{"#", "@"};
  for (std::size_t i = 1; i <= kPositional; ++i) names.push_back(std::to_string(i));
  std::vector<std::optional<Value>> outer;
  for (const std::string& name : names) {
    const Value* const old = words_.find(name);
    outer.push_back(old == nullptr ? std::nullopt : std::optional(*old));
  }
  std::vector<Text> values;
  for (const ShellWord& word : arguments) values.push_back(words_.make_text(word));
  set_arguments(std::move(values));
  run_at(there);
  for (std::size_t i = 0; i < names.size(); ++i) {
    words_.forget(names[i]);
    if (outer[i]) words_.set(names[i], std::move(*outer[i]));
  }
}

/// Returns the beginning of a file that can be read; nothing for others.
std::optional<Expander::Position> ShellEvaluator::open(const ShellWord& file) {
  const Result<std::string> text = input_.files
                                       ? read_named_file(input_.files, input_.file, file.text)
                                       : Result<std::string>(refuse_file(file.text));
  if (!text) return std::nullopt;
  const Expander::Position here = words_.position();
  sourced_.push_back(*text);
  if (!words_.enter(sourced_.back(), file.at)) return std::nullopt;
  const Expander::Position there = words_.position();
  words_.go_to(here);
  return there;
}

void ShellEvaluator::source(const ShellWord& file) {
  if (!file.unknown.empty() || file.text.empty() || calls_ >= kMaxCalls) return;
  if (const std::optional<Expander::Position> there = open(file))
    run_at(*there);
  else
    script_.sources.push_back(file.text);
}

/// Evaluates the script that `bash FILE ARGUMENT...` or `./FILE ARGUMENT...` runs, if it can be
/// read.
bool ShellEvaluator::run_script(const std::vector<ShellWord>& command) {
  if (calls_ >= kMaxCalls || words_.spent()) return false;
  std::size_t file = 0;
  if (is_one_of(command[0].text, {"bash", "sh"})) {
    ++file;
    while (file < command.size() && is_one_of(command[file].text, {"-x", "-e", "-ex", "-u"}))
      ++file;
  }
  if (file >= command.size() || !command[file].unknown.empty() ||
      !command[file].text.ends_with(".sh"))
    return false;
  const std::optional<Expander::Position> there = open(command[file]);
  if (there) run_with({command.begin() + std::ptrdiff_t(file) + 1, command.end()}, *there);
  return there.has_value();
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

/// Reads `<<EOF`, `<<-'EOF'`, or another redirection at the current offset. The file that one
/// without a document names is read as the next word.
void ShellEvaluator::read_redirection() {
  constexpr std::size_t kLongest = 64, kMaxDocuments = 8;
  const bool document = words_.starts("<<") && words_.peek(2) != '<';
  if (!document) {
    const bool writes = words_.peek() == '>' && words_.peek(1) != '&';
    while (std::string_view("<>&|").find(words_.peek()) != std::string_view::npos && !words_.done())
      words_.skip(1);
    redirected_ = writes;
    return;
  }
  words_.skip(words_.peek(2) == '-' ? 3 : 2);
  words_.skip_blanks();
  const char quote = words_.peek();
  const bool quoted = quote == '\'' || quote == '"' || quote == '\\';
  if (quoted) words_.skip(1);
  std::string name;
  while (shell::is_name(words_.peek()) && name.size() < kLongest) {
    name += words_.peek();
    words_.skip(1);
  }
  if (quoted && words_.peek() == quote) words_.skip(1);
  if (!name.empty() && documents_.size() < kMaxDocuments)
    documents_.push_back({.end = name, .quoted = quoted});
}

/// Returns whether a document is the text of a config or of another program, and not of commands.
bool is_data(std::string_view body, const Document& document) {
  constexpr std::string_view kKinds[] = {".json", ".yaml", ".yml", ".py", ".toml",
                                         ".txt",  ".cfg",  ".ini", ".md", ".conf"};
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  return document.data || (first != std::string_view::npos && body[first] == '{') ||
         std::any_of(std::begin(kKinds), std::end(kKinds),
                     [&](std::string_view kind) { return document.target.ends_with(kind); });
}

/// Reads the here-documents that begin after this line: a config that the script writes is kept,
/// and commands are evaluated like those around them.
void ShellEvaluator::read_documents() {
  constexpr std::size_t kMaxWritten = 16;
  for (const Document& document : std::exchange(documents_, {})) {
    const std::string_view rest = words_.rest();
    std::size_t size = 0, next = 0;
    for (std::size_t line = 0; line < rest.size();) {
      const std::size_t end = std::min(rest.find('\n', line), rest.size());
      std::string_view text = rest.substr(line, end - line);
      text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
      if (text.ends_with('\r')) text.remove_suffix(1);
      if (text == document.end) {
        size = line;
        next = std::min(end + 1, rest.size());
        break;
      }
      line = end + 1;
      size = std::min(line, rest.size());
    }
    words_.charge(size);
    if (next == 0 || !is_data(rest.substr(0, size), document)) return;
    if (document.read && !document.target.empty() && script_.written.size() < kMaxWritten)
      script_.written[document.target] =
          document.quoted ? std::string(rest.substr(0, size)) : words_.expand_document(size);
    const std::size_t read = rest.size() - words_.rest().size();
    words_.skip(next - std::min(next, read));
  }
}

/// Keeps what `envsubst < FILE > OTHER` writes.
void ShellEvaluator::write_substituted(const std::vector<ShellWord>& command) {
  constexpr std::size_t kMaxWritten = 16;
  if (command.size() != 3 || targets_.size() != 1 || command[0].text != "envsubst" ||
      !command[1].unknown.empty() || script_.written.size() >= kMaxWritten)
    return;
  const std::optional<Expander::Position> there = open(command[1]);
  if (!there) return;
  const Expander::Position here = words_.position();
  words_.go_to(*there);
  script_.written[targets_[0]] = words_.expand_document(there->text.size());
  words_.go_to(here);
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
      if (shell::matches_pattern(one.chars, branch.subject->text)) matched = Truth::yes;
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

constexpr std::size_t kLongestKey = 256;  // of an array's item, with the array's name

bool ShellEvaluator::at_assignment() const {
  std::size_t n = 0;
  while (n < 256 && shell::is_name(words_.peek(n))) ++n;
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
  while (shell::is_name(words_.peek(n))) ++n;
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

/// Returns whether the words have the form `key=value` of settings often enough: fewer may be
/// variables of another program.
bool has_settings(const std::vector<ShellWord>& words) {
  constexpr std::ptrdiff_t kFewest = 3;
  return std::count_if(words.begin(), words.end(), [](const ShellWord& word) {
           const std::size_t name = word.text.find('=');
           return name != std::string::npos && name > 0 && word.text[0] >= 'a' &&
                  word.text[0] <= 'z' &&
                  std::all_of(word.text.begin(), word.text.begin() + std::ptrdiff_t(name),
                              shell::is_name);
         }) >= kFewest;
}

/// Returns whether a word names a YAML file, which may hold all settings of a command.
bool names_config(const ShellWord& word) {
  return word.text.ends_with(".yaml") || word.text.ends_with(".yml");
}

void ShellEvaluator::record(std::vector<ShellWord> words, bool assigned) {
  const bool settings = !assigned && has_settings(words);
  const bool flags = settings || std::any_of(words.begin(), words.end(), [](const ShellWord& word) {
                       // An override of a config is a setting too: a.b=value
                       const std::size_t dot = word.text.find('.');
                       return word.text.starts_with("-") || names_config(word) ||
                              (dot != std::string::npos && dot < word.text.find('=') &&
                               word.text.find('=') != std::string::npos);
                     });
  recorded_ += words.size();
  effects_ += flags ? 1 : 0;
  if (flags && recorded_ <= kMaxWords) script_.commands.push_back({std::move(words), assigned});
}

/// Makes the number of a rank or a node 0 where a script compares it: what the first one runs is
/// the training run, with the ranks that it states.
void take_first_rank(ShellWord& word) {
  constexpr std::string_view kNumbers[] = {"RANK",          "NODE_RANK",    "NODERANK",
                                           "MACHINE_RANK",  "SLURM_NODEID", "SLURM_PROCID",
                                           "PET_NODE_RANK", "GROUP_RANK",   "INDEX"};
  const auto names_rank = [&](std::string_view name) {
    return std::find(std::begin(kNumbers), std::end(kNumbers), name) != std::end(kNumbers);
  };
  if (names_rank(word.default_of)) word.default_of.clear();
  if (!names_rank(word.unknown)) return;
  word.text = "0";
  word.unknown.clear();
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
      !name.empty() && shell::is_name(name[0]) && name[0] > '9' && name.find(' ') == name.npos;
  const std::string_view asked = test.size() == 1 ? "-n" : std::string_view(test[0].text);
  return variable && asked == (negated ? "-z" : "-n");
}

Truth ShellEvaluator::read_command() {
  words_.set_active(active());
  arithmetic_ = false;
  std::vector<ShellWord> tested, recorded;
  bool may_assign = true, assigned = false;
  const Cut cut = std::exchange(cut_, Cut::none);
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
    if (first && is_one_of(word, {"export", "local", "declare", "readonly", "typeset", "let"})) {
      arithmetic_ = word == "let";
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
  const std::vector<std::string> targets = std::exchange(targets_, {});
  // An empty line changes nothing: `if [ a = b ];` may have its `then` on the next one. Arithmetic,
  // `((i < n))`, is not evaluated as a command.
  const bool empty = !assigned && words_.peek() != '(' && words_.peek() != ')';
  if (tested.empty()) return empty ? last_ : Truth::yes;
  for (Document& document : documents_) {
    document.read = document.read || active();
    if (document.target.empty() && !targets.empty()) document.target = targets[0];
    document.data = document.data || tested[0].text.find("python") != std::string::npos;
  }
  if (active()) {
    targets_ = targets;
    write_substituted(tested);
    targets_.clear();
    const bool known = tested[0].unknown.empty();
    if (known && tested.size() > 1 && is_one_of(tested[0].text, {"source", "."}))
      source(tested[1]);
    else if (known && tested[0].text == "shift")
      shift(tested);
    else if (known && functions_.contains(tested[0].text))
      call(tested[0].text, {tested.begin() + 1, tested.end()});
    else if (!known || !run_script(tested))
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
  if (needs_value(tested, negated)) unset_ = true;
  for (const ShellWord& word : tested) {
    if (truth == Truth::unknown && !word.unknown.empty()) unknown_ = word.unknown;
    if (condition_ && !word.default_of.empty()) decider_ = word.default_of;
  }
  if (truth == Truth::unknown || !negated) return truth;
  return truth == Truth::yes ? Truth::no : Truth::yes;
}

}  // namespace

ShellScript read_shell(std::string_view text, const ShellInput& input) {
  return ShellEvaluator(text, input).evaluate();
}

}  // namespace rankwright::importer
