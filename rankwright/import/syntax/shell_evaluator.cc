#include "rankwright/import/syntax/shell_evaluator.h"

#include <algorithm>
#include <iterator>

#include "rankwright/base/trim.h"
#include "rankwright/import/syntax/shell_parameters.h"

namespace rankwright::importer::shell {
namespace {

/// Replaces control characters, one of which is the mark of unknown values.
char mask_control(char c) { return (c >= 0 && c < ' ' && !is_blank(c)) ? '?' : c; }

}  // namespace

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void Text::add(char c, std::size_t place, std::uint16_t from) {
  if (chars.empty()) begin = std::uint32_t(place);
  chars.push_back(c);
  at.push_back(std::uint32_t(place));
  origin.push_back(from);
}

void WordBuilder::end() {
  if (begun) fields.push_back(std::move(open));
  open = {};
  begun = false;
}

void Expander::charge(std::size_t work) {
  work_ += work;
  if (work_ > budget_) spent_ = true;
}

const Value* Expander::find(const std::string& name) {
  constexpr std::size_t kLongestValue = 256;
  auto found = variables_.find(name);
  if (found == variables_.end()) {
    const auto given = input_.variables.find(name);
    std::optional<std::string> value;
    if (given != input_.variables.end())
      value = given->second;
    else if (input_.environment && !name.empty() && name[0] >= 'A' && name[0] <= 'Z')
      value = input_.environment(name);
    if (!value || value->size() > kLongestValue) return nullptr;
    used_.insert(name);
    Text text;
    for (const char c : *value) text.add(mask_control(c), 0);
    found = variables_.emplace(name, Value{{std::move(text)}}).first;
  }
  return &found->second;
}

void Expander::append(const std::string& name, Value more, bool list) {
  std::vector<Text>& items = variables_[name].items;
  for (const Text& item : more.items) charge(item.chars.size() + kWordCost);
  if (list) {
    std::move(more.items.begin(), more.items.end(), std::back_inserter(items));
    return;
  }
  if (more.items.empty()) return;
  if (items.empty()) items.emplace_back();
  const Text& added = more.items[0];
  for (std::size_t i = 0; i < added.chars.size(); ++i)
    items[0].add(added.chars[i], added.at[i], added.origin[i]);
}

void Expander::go_to(const Position& there) {
  text_ = there.text;
  base_ = there.base;
  at_ = there.at;
}

bool Expander::enter(std::string_view text, std::size_t place) {
  const std::size_t base = sources_.empty() ? main_size_ + 1 : sources_.back().base + last_size_;
  if (sources_.size() >= kMaxSources || base + text.size() > (std::size_t{1} << 31)) return false;
  sources_.push_back({base, place});
  last_size_ = text.size() + 1;
  charge(text.size());
  go_to({text, base, 0});
  return true;
}

std::uint32_t Expander::locate(std::uint32_t place) const {
  std::size_t at = place;
  // A sourced file may source another one: follow the commands up to the script.
  for (std::size_t i = sources_.size(); i-- > 0;)
    if (at >= sources_[i].base) at = sources_[i].place;
  return std::uint32_t(at);
}

std::uint16_t Expander::name_origin(const std::string& variable) {
  const auto found = std::find(origins_.begin(), origins_.end(), variable);
  if (found == origins_.end()) {
    if (origins_.size() >= 1000) return 0;
    origins_.push_back(variable);
    return std::uint16_t(origins_.size());
  }
  return std::uint16_t(found - origins_.begin() + 1);
}

/// A backslash that joins lines; blanks after it are tolerated, as many scripts have them.
bool Expander::at_continuation() const {
  if (peek() != '\\') return false;
  std::size_t ahead = 1;
  while (peek(ahead) == ' ' || peek(ahead) == '\t' || peek(ahead) == '\r') ++ahead;
  return peek(ahead) == '\n';
}

void Expander::skip_blanks() {
  for (;;) {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r') skip(1);
    if (!at_continuation()) return;
    while (peek() != '\n') skip(1);
    skip(1);
  }
}

void Expander::skip_line() {
  while (at_ < text_.size() && peek() != '\n') skip(1);
}

void Expander::skip_lines() {
  for (skip_blanks(); !done() && (peek() == '\n' || peek() == '#'); skip_blanks()) {
    skip_line();
    skip(1);
  }
}

void Expander::expand_word(WordBuilder& out, bool split) {
  while (!done()) {
    const char c = peek();
    if (is_blank(c) || std::string_view(";&|()<>").find(c) != std::string_view::npos) return;
    charge(1);
    if (at_continuation()) {
      skip_blanks();
      return;
    }
    if (c == '"' && expand_quoted(out)) continue;
    if (c == '\'' && expand_single_quoted(out)) continue;
    if (c == '$') {
      expand_dollar(out, split);
      continue;
    }
    if (c == '`') {
      expand_command(out);
      continue;
    }
    if (c == '\\' && at_ + 1 < text_.size()) skip(1);
    out.open.add(mask_control(peek()), at(), guess_);
    out.begun = true;
    skip(1);
  }
}

bool Expander::expand_quoted(WordBuilder& out) {
  const std::size_t before = at_;
  skip(1);
  // A quoted array keeps its items apart.
  if (starts("${")) {
    const std::size_t close = text_.find('}', at_);
    charge(std::min(close, text_.size()) - at_);
    const bool list =
        close != std::string_view::npos && text_.substr(at_, close - at_).ends_with("[@]");
    if (list && close + 1 < text_.size() && text_[close + 1] == '"' && expand_braced(out, false)) {
      skip(1);
      return true;
    }
  }
  Text content;
  int parentheses = 0;
  if (!expand_until(content, '"', parentheses)) {
    at_ = before;
    return false;
  }
  out.begun = true;
  put(out, content, false, base_ + before, base_ + before);
  return true;
}

/// Returns whether a text has lines of its own that assign variables: a script.
static bool assigns_on_lines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    std::size_t name = 0;
    while (name < line.size() && is_name(line[name])) ++name;
    if (!text.empty() && name > 0 && name < line.size() && line[name] == '=') return true;
  }
  return false;
}

bool Expander::expand_single_quoted(WordBuilder& out) {
  const std::size_t close = text_.find('\'', at_ + 1);
  charge(close == std::string_view::npos ? text_.size() - at_ : close - at_);
  if (close == std::string_view::npos) return false;
  out.begun = true;
  const std::string_view content = text_.substr(at_ + 1, close - at_ - 1);
  const std::string_view before = trim(text_.substr(0, at_));
  const bool whole = close + 1 >= text_.size() || is_blank(text_[close + 1]) ||
                     ends_word(text_[close + 1]);  // and not joined with other text
  const bool option = whole && (before.ends_with(" -c") || before.ends_with(" -lc"));
  if (content.find("=(") != std::string_view::npos || (option && assigns_on_lines(content)))
    quoted_ = Position{text_.substr(0, close), base_, at_ + 1};
  // A whole command in single quotes is for another shell, which expands the variables.
  if (content.find(" --") != std::string_view::npos &&
      content.find('$') != std::string_view::npos) {
    skip(1);
    Text unfolded;
    int parentheses = 0;
    if (expand_until(unfolded, '\'', parentheses)) {
      put(out, unfolded, false, at(), at());
      return true;
    }
  }
  for (std::size_t i = 0; i < content.size(); ++i)
    out.open.add(mask_control(content[i]), base_ + close - content.size() + i, guess_);
  at_ = close + 1;
  return true;
}

std::string Expander::expand_document(std::size_t size) {
  const std::string_view whole = text_;
  const std::size_t end = std::min(text_.size(), at_ + size);
  text_ = text_.substr(0, end);
  std::string out;
  while (!done()) {
    charge(1);
    if (peek() == '\\' && std::string_view("$`\\").find(peek(1)) != std::string_view::npos) {
      skip(1);
    } else if (peek() == '$') {
      WordBuilder value;
      const std::size_t before = at_;
      expand_dollar(value, false);
      value.end();
      const bool known = !value.fields.empty() && finish_word(value.fields[0]).unknown.empty();
      for (const Text& field : value.fields)
        if (known) out += field.chars;
      if (!known) out += text_.substr(before, at_ - before);
      charge(out.size() > before ? 1 : 0);
      continue;
    }
    out += mask_control(peek());
    skip(1);
  }
  text_ = whole;
  at_ = end;
  return out;
}

/// Returns false if there is no `close`. For ')', nested parentheses are counted.
bool Expander::expand_until(Text& out, char close, int& parentheses) {
  const std::pair start{at(), close};
  if (unclosed_.contains(start)) return false;
  if (++depth_ > kMaxDepth) {
    --depth_;
    return false;
  }
  bool closed = false;
  while (!done() && !closed && !spent_) {
    charge(1);
    const char c = peek();
    if (c == close && parentheses == 0) {
      closed = true;
      skip(1);
    } else if (c == '$' && at_ + 1 < text_.size()) {
      WordBuilder grown;
      expand_dollar(grown, false);
      grown.end();
      for (const Text& field : grown.fields) {
        if (!out.chars.empty() && &field != &grown.fields.front()) out.add(' ', field.begin);
        for (std::size_t i = 0; i < field.chars.size(); ++i)
          out.add(field.chars[i], field.at[i], field.origin[i]);
        charge(field.chars.size());
      }
    } else if (c == '`' && close == '"') {
      WordBuilder printed;
      expand_command(printed);
      printed.end();
      for (const Text& field : printed.fields)
        for (std::size_t i = 0; i < field.chars.size(); ++i)
          out.add(field.chars[i], field.at[i], field.origin[i]);
    } else if (at_continuation()) {
      out.add(' ', at());
      skip_blanks();
    } else {
      if (close == ')' && c == '(') ++parentheses;
      if (close == ')' && c == ')') --parentheses;
      if (c == '\\' && at_ + 1 < text_.size()) skip(1);
      const bool stripped = close == '}' && (c == '"' || c == '\'');
      if (!stripped) out.add(mask_control(peek()), at(), guess_);
      skip(1);
    }
  }
  --depth_;
  if (!closed) unclosed_.insert(start);
  return closed;
}

/// Words of a flag list keep their own offsets; a single value has the offset of its use.
void Expander::put(WordBuilder& out, const Text& value, bool split, std::size_t from,
                   std::size_t to) {
  charge(value.chars.size() + kWordCost);
  const bool own = from == to || value.chars.starts_with("-") ||
                   std::any_of(value.chars.begin(), value.chars.end(), is_blank);
  for (std::size_t i = 0; i < value.chars.size() && !spent_; ++i) {
    const char c = value.chars[i];
    if (split && is_blank(c)) {
      out.end();
      continue;
    }
    const std::size_t used = i + 1 == value.chars.size() && i > 0 ? to - 1 : from;
    const std::size_t place = own ? value.at[i] : used;
    if (c == kUnknown) {
      const auto name = unknown_.find(value.at[i]);
      put_unknown(out, name == unknown_.end() ? "" : name->second, place);
      continue;
    }
    out.open.add(c, place, value.origin[i]);
    out.begun = true;
  }
}

void Expander::put_unknown(WordBuilder& out, std::string name, std::size_t at) {
  unknown_.insert_or_assign(std::uint32_t(at), std::move(name));
  out.open.add(kUnknown, at);
  out.begun = true;
}

void Expander::put_variable(WordBuilder& out, const std::string& name, bool all, bool split,
                            std::size_t from) {
  const Value* const value = find(name);
  if (value == nullptr) {
    if (name != "@" && name != "*") put_unknown(out, name, from);
    return;
  }
  all = all || name == "@" || name == "*";
  const std::size_t items =
      all ? value->items.size() : std::min<std::size_t>(1, value->items.size());
  for (std::size_t i = 0; i < items && !spent_; ++i) {
    if (i > 0) out.end();
    put(out, value->items[i], split, from, all ? from : at());
  }
}

void Expander::expand_dollar(WordBuilder& out, bool split) {
  const std::size_t from = at();
  if ((starts("$((") || starts("$[")) && expand_arithmetic(out)) return;
  if (starts("$(")) return expand_command(out);
  if (starts("${") && expand_braced(out, split)) return;
  skip(1);
  std::string name;
  if (std::string_view("@*#?$!-").find(peek()) != std::string_view::npos && peek() != '\0')
    name = peek();
  else
    while (is_name(peek(name.size())) && name.size() < 256) name += peek(name.size());
  if (name.empty() || starts("{")) {
    out.open.add('$', from);
    out.begun = true;
    return;
  }
  if (name[0] >= '0' && name[0] <= '9') name.resize(1);
  skip(name.size());
  put_variable(out, name, false, split, from);
}

bool Expander::expand_braced(WordBuilder& out, bool split) {
  const std::size_t before = at_, from = at();
  skip(2);
  const bool counts = peek() == '#' && (is_name(peek(1)) || peek(1) == '@');
  const bool indirect = peek() == '!' && is_name(peek(1));
  if (counts || indirect) skip(1);
  std::string name;
  if (peek() == '@' || peek() == '*') name = peek();
  while (name.empty() && is_name(peek())) {
    std::size_t end = 0;
    while (is_name(peek(end)) && end < 256) ++end;
    name = std::string(text_.substr(at_, end));
  }
  skip(name.size());
  bool all = false, plain = !name.empty();
  for (const std::string_view index : {"[@]", "[*]", "[0]"})
    if (starts(index)) {
      all = index != "[0]";
      skip(index.size());
    }
  if (plain && peek() == '[')
    if (const std::optional<std::string> key = take_key()) name += "[" + *key + "]";
  if (indirect) name = name_of(name);
  if (counts && peek() == '}') {
    skip(1);
    put_size(out, name, all || name == "@", from);
    return true;
  }
  const bool colon = peek() == ':';
  const char op = colon ? peek(1) : peek();
  const Value* const value = find(name);
  const bool empty =
      value == nullptr || (colon && (value->items.empty() || value->items[0].chars.empty()));
  if (plain && peek() == '}') {
    skip(1);
    put_variable(out, name, all, split, from);
    return true;
  }
  // A colon is also the operator of a part: ${NAME:0:1}
  const bool defaults = plain && !counts && (op == '-' || op == '=' || op == '+' || op == '?');
  if (defaults) skip(colon ? 2 : 1);
  const bool one = value != nullptr && value->items.size() == 1;
  const Text operand = one && !defaults ? value->items[0] : Text{};
  Text rest;
  int parentheses = 0;
  if (!expand_until(rest, '}', parentheses)) {
    at_ = before;
    return false;
  }
  if (defaults && op != '+' && value == nullptr) {  // the script expects it to be set
    std::fill(rest.origin.begin(), rest.origin.end(), name_origin(name));
    if (active_ && finish_word(rest).unknown.empty()) defaults_.emplace(name, rest.chars);
  }
  const std::optional<Text> changed =
      defaults || !one ? std::nullopt : apply_operator(operand, rest.chars);
  charge(changed ? operand.chars.size() * (operand.chars.size() + rest.chars.size()) : 1);
  if (changed)
    put(out, *changed, split, from, from);
  else if (!defaults)
    put_unknown(out, name.empty() ? "a parameter" : name, from);
  else if (op == '+' ? !empty : (empty && op != '?'))
    put(out, rest, split, from, from);
  else if (op != '+')
    put_variable(out, name, all, split, from);
  if (defaults && op == '=' && empty) set(name, {{rest}});
  return true;
}

/// Returns the name of the variable that `${!name}` means.
std::string Expander::name_of(const std::string& name) {
  constexpr std::size_t kLongest = 256;
  const Value* const value = find(name);
  if (value == nullptr || value->items.empty()) return name;
  const ShellWord word = finish_word(value->items[0]);
  const bool known = word.unknown.empty() && word.text.size() <= kLongest;
  return known && std::all_of(word.text.begin(), word.text.end(), is_name) ? word.text : "";
}

/// Puts the number of items of an array, or of the characters of a value.
void Expander::put_size(WordBuilder& out, const std::string& name, bool items, std::size_t from) {
  const Value* const value = find(name);
  const auto unknown = [](const Text& text) {
    return text.chars.find(kUnknown) != std::string::npos;
  };
  if (value == nullptr || std::any_of(value->items.begin(), value->items.end(), unknown))
    return put_unknown(out, name, from);
  const std::size_t length = value->items.empty() ? 0 : value->items[0].chars.size();
  for (const char c : std::to_string(items ? value->items.size() : length)) out.open.add(c, from);
  out.begun = true;
}

std::optional<std::string> Expander::take_key() {
  constexpr std::size_t kLongest = 128;
  std::string key;
  std::size_t n = 1;
  for (; n < kLongest && peek(n) != ']' && peek(n) != '\0'; ++n) {
    if (peek(n) == '\n' || peek(n) == '[') return std::nullopt;
    if (std::string_view("\"'{}").find(peek(n)) == std::string_view::npos) key += peek(n);
  }
  if (peek() != '[' || peek(n) != ']') return std::nullopt;
  if (key.starts_with('$')) {
    const Value* const value = find(key.substr(1));
    if (value == nullptr || value->items.empty()) return std::nullopt;
    const ShellWord word = finish_word(value->items[0]);
    if (!word.unknown.empty() || word.text.size() > kLongest) return std::nullopt;
    key = word.text;
  }
  charge(n);
  skip(n + 1);
  return key;
}

Text Expander::make_text(const ShellWord& word) {
  Text text;
  const std::uint16_t from =
      word.default_of.empty() ? std::uint16_t{0} : name_origin(word.default_of);
  if (!word.unknown.empty()) {
    WordBuilder unknown;
    put_unknown(unknown, word.unknown, word.at);
    text = unknown.open;
  } else {
    for (const char c : word.text) text.add(c, word.at, from);
  }
  return text;
}

Text Expander::calculate(const Text& text) {
  WordBuilder result;
  put_arithmetic(result, text, text.begin);
  result.end();
  return result.fields.empty() ? Text{} : result.fields.front();
}

/// Variables may appear in arithmetic without '$'. `unknown` is set to the first one without a
/// value.
std::string Expander::substitute_names(const Text& expression, std::string& unknown,
                                       std::uint16_t& from) {
  std::string out;
  const std::string& chars = expression.chars;
  const auto note = [&](std::string name) {
    if (unknown.empty()) unknown = std::move(name);
  };
  for (std::size_t i = 0; i < chars.size();) {
    std::size_t end = i;
    while (end < chars.size() && is_name(chars[end])) ++end;
    const std::string name = chars.substr(i, end - i);
    if (expression.origin[i] != 0) from = expression.origin[i];
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) {
      if (chars[i] == kUnknown) note(finish_word(expression).unknown);
      out += name.empty() ? std::string(1, chars[i]) : name;
      i = std::max(end, i + 1);
      continue;
    }
    const Value* const value = find(name);
    const bool known =
        value != nullptr && !value->items.empty() && value->items[0].chars.size() < 64;
    const ShellWord word =
        known ? finish_word(value->items[0]) : ShellWord{.text = "", .unknown = name};
    if (!word.unknown.empty()) note(word.unknown);
    if (!word.default_of.empty()) from = name_origin(word.default_of);
    out += word.text;
    i = end;
  }
  return out;
}

/// Evaluates `$((8 / N))`, or `$[8 / N]`, its older form.
bool Expander::expand_arithmetic(WordBuilder& out) {
  const std::size_t before = at_, from = at();
  const bool bracket = starts("$[");
  skip(bracket ? 2 : 3);
  Text body;
  int parentheses = 0;
  const bool closed = expand_until(body, bracket ? ']' : ')', parentheses);
  if (!closed || (!bracket && peek() != ')')) {
    at_ = before;
    return false;
  }
  if (!bracket) skip(1);
  put_arithmetic(out, body, from);
  return true;
}

void Expander::put_arithmetic(WordBuilder& out, const Text& body, std::size_t from) {
  std::string unknown;
  std::uint16_t origin = 0;
  const std::string expression = substitute_names(body, unknown, origin);
  charge(expression.size());
  i64 value = 0;
  if (!unknown.empty() || !evaluate_arithmetic(expression, value)) {
    put_unknown(out, unknown.empty() ? "an expression" : unknown, from);
    return;
  }
  for (const char c : std::to_string(value)) out.open.add(c, from, origin);
  out.begun = true;
}

ShellWord Expander::finish_word(const Text& text) const {
  ShellWord word{.text = text.chars, .at = locate(text.begin)};
  const std::size_t mark = text.chars.find(kUnknown);
  if (mark != std::string::npos) {
    const auto name = unknown_.find(text.at[mark]);
    word.unknown = name == unknown_.end() || name->second.empty() ? "?" : name->second;
    word.tail = text.chars.substr(text.chars.rfind(kUnknown) + 1);
  }
  for (const std::uint16_t from : text.origin)
    if (from != 0 && word.default_of.empty()) word.default_of = origins_[from - 1u];
  const bool sourced = text.begin != word.at;
  if (!sourced && !text.at.empty() && text.at.back() >= text.begin)
    word.width = std::size_t(text.at.back() - text.begin) + 1;
  return word;
}

std::vector<ShellWord> Expander::split_at_blanks(const Text& text) const {
  std::vector<ShellWord> words;
  Text one;
  for (std::size_t i = 0; i <= text.chars.size(); ++i) {
    const bool ends = i == text.chars.size() || is_blank(text.chars[i]);
    if (!ends) one.add(text.chars[i], text.at[i], text.origin[i]);
    if (ends && !one.chars.empty()) {
      words.push_back(finish_word(one));
      one = {};
    }
  }
  return words;
}

}  // namespace rankwright::importer::shell
