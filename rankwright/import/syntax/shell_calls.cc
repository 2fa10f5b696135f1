// Functions of a shell script, their arguments, other scripts, and here-documents.
#include "rankwright/import/syntax/shell_script.h"

namespace rankwright::importer::shell {

namespace {

constexpr std::size_t kPositional = 40;  // $1 to $40

/// Returns whether a document is the text of a config or of another program, and not of commands.
bool is_data(std::string_view body, const Document& document) {
  constexpr std::string_view kKinds[] = {".json", ".yaml", ".yml", ".py", ".toml",
                                         ".txt",  ".cfg",  ".ini", ".md", ".conf"};
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  return document.data || (first != std::string_view::npos && body[first] == '{') ||
         std::any_of(std::begin(kKinds), std::end(kKinds),
                     [&](std::string_view kind) { return document.target.ends_with(kind); });
}

/// Returns the index of the script that a command runs, whatever launches it: `exec bash x.sh`,
/// `srun --nodes 2 bash -x x.sh`, `env A=1 ./x.sh`. Returns the number of words if there is none.
std::size_t find_script_word(const std::vector<ShellWord>& command) {
  const auto is_script = [&](std::size_t i) {
    return i < command.size() && command[i].text.ends_with(".sh");
  };
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (!is_one_of(command[i].text, {"bash", "sh", "/bin/bash", "/bin/sh"})) continue;
    std::size_t file = i + 1;
    while (file < command.size() && command[file].text.starts_with("-")) ++file;
    return is_script(file) ? file : command.size();
  }
  std::size_t first = 0;
  while (first + 1 < command.size() &&
         (is_one_of(command[first].text, {"exec", "nohup", "time", "env"}) ||
          (first > 0 && command[first].text.find('=') != std::string::npos)))
    ++first;
  return is_script(first) ? first : command.size();
}

}  // namespace

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
  while (end < rest.size() && end - begin < kLongest && (is_name(rest[end]) || rest[end] == '-'))
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
  words_.charge(kPositional * kWordCost);
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
  Result<std::string> text = input_.files ? read_named_file(input_.files, input_.file, file.text)
                                          : Result<std::string>(refuse_file(file.text));
  if (!text && input_.files && !folder_.empty() && !file.text.starts_with('/'))
    text = read_named_file(input_.files, input_.file, folder_ + "/" + file.text);
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
  const std::size_t file = find_script_word(command);
  if (file >= command.size() || !command[file].unknown.empty()) return false;
  const std::optional<Expander::Position> there = open(command[file]);
  if (!there) return false;
  // Its launcher may state ranks.
  if (file > 1) record({command.begin(), command.begin() + std::ptrdiff_t(file)}, false);
  run_with({command.begin() + std::ptrdiff_t(file) + 1, command.end()}, *there);
  return true;
}

/// Reads `<<EOF`, `<<-'EOF'`, or another redirection at the current offset. The file that one
/// without a document names is read as the next word.
void ShellEvaluator::read_redirection() {
  constexpr std::size_t kLongest = 64, kMaxDocuments = 8;
  const bool document = words_.starts("<<") && words_.peek(2) != '<';
  if (!document) {
    const bool text = words_.starts("<<<");
    const bool writes = words_.peek() == '>' && words_.peek(1) != '&';
    const bool appends = words_.peek(1) == '>';
    while (std::string_view("<>&|").find(words_.peek()) != std::string_view::npos && !words_.done())
      words_.skip(1);
    redirected_ = writes;
    appends_ = writes && appends;
    here_string_ = here_string_ || text;
    return;
  }
  words_.skip(words_.peek(2) == '-' ? 3 : 2);
  words_.skip_blanks();
  const char quote = words_.peek();
  const bool quoted = quote == '\'' || quote == '"' || quote == '\\';
  if (quoted) words_.skip(1);
  std::string name;
  while (is_name(words_.peek()) && name.size() < kLongest) {
    name += words_.peek();
    words_.skip(1);
  }
  if (quoted && words_.peek() == quote) words_.skip(1);
  if (!name.empty() && documents_.size() < kMaxDocuments)
    documents_.push_back({.end = name, .quoted = quoted});
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

/// Keeps the config that `echo 'TEXT' > FILE` writes.
void ShellEvaluator::write_printed(const std::vector<ShellWord>& command) {
  constexpr std::size_t kMaxWritten = 16;
  if (command.size() < 2 || targets_.size() != 1 || command[0].text != "echo") return;
  if (!is_data({}, {.end = {}, .target = targets_[0]})) return;
  std::string text;
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (!command[i].unknown.empty()) return;
    if (command[i].text != targets_[0]) text += (i > 1 ? " " : "") + command[i].text;
  }
  words_.charge(text.size());
  if (script_.written.size() >= kMaxWritten && !script_.written.contains(targets_[0])) return;
  std::string& file = script_.written[targets_[0]];
  file = (appends_ ? file : std::string()) + text + "\n";
}

/// Sets the variables of `IFS=, read -r A B <<< TEXT`, or the array of `read -ra`. The text is the
/// last word.
void ShellEvaluator::read_variables(const std::vector<ShellWord>& command, bool separated) {
  std::vector<std::string> names;
  bool array = false;
  for (std::size_t i = 1; i + 1 < command.size(); ++i)
    if (command[i].text.starts_with('-'))
      array = array || command[i].text.find('a') != std::string::npos;
    else
      names.push_back(command[i].text);
  if (names.empty()) return;
  const Value* const stated = separated ? words_.find("IFS") : nullptr;
  const std::string separators =
      stated != nullptr && !stated->items.empty() ? stated->items[0].chars : std::string(" \t\n");
  const Text text = words_.make_text(command.back());
  std::vector<Text> items(1);
  for (std::size_t i = 0; i < text.chars.size(); ++i) {
    const bool separator = separators.find(text.chars[i]) != std::string::npos;
    const bool last = !array && items.size() == names.size();
    const bool ends = separator && (!last || (!separated && items.back().chars.empty()));
    if (ends && (separated || !items.back().chars.empty()))
      items.emplace_back();
    else if (!ends)
      items.back().add(text.chars[i], text.at[i], text.origin[i]);
  }
  words_.charge(text.chars.size() * separators.size());
  if (!command.back().unknown.empty()) items.assign(names.size(), text);
  items.resize(array ? items.size() : names.size());
  if (array) return words_.set(names[0], {std::move(items)});
  for (std::size_t i = 0; i < names.size(); ++i) words_.set(names[i], {{items[i]}});
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

}  // namespace rankwright::importer::shell
