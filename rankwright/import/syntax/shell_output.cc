// The output of commands that a script runs for it, as far as it is known without running them:
// `$(dirname "$0")`, `$(echo $GPUS | tr , " " | wc -w)`.
#include <algorithm>
#include <string>

#include "rankwright/base/trim.h"
#include "rankwright/import/syntax/lines.h"
#include "rankwright/import/syntax/shell_evaluator.h"
#include "rankwright/import/syntax/shell_parameters.h"

namespace rankwright::importer::shell {
namespace {

/// Returns whether a command prints the name of the script: `realpath "$0"`.
bool prints_script(std::string_view command) {
  for (const std::string_view program : {"realpath ", "readlink -f ", "readlink -e "})
    if (command.starts_with(program)) {
      std::string_view name = command.substr(program.size());
      while (name.starts_with('"') && name.ends_with('"') && name.size() > 1)
        name = name.substr(1, name.size() - 2);
      return name == "$0" || name == "${BASH_SOURCE[0]}" || name == "$BASH_SOURCE";
    }
  return false;
}

/// Returns the folder that a command prints, relative to that of the script: "." for
/// `cd "$(dirname "$0")" && pwd`, "./.." for `realpath "$(dirname "${BASH_SOURCE[0]}")/.."`. Empty
/// if it is another command.
std::string find_script_folder(std::string_view command) {
  constexpr std::size_t kLongest = 200;
  constexpr std::string_view kWords[] = {
      "cd", "pwd", "dirname", "realpath",    "readlink",   "--",   "-f",          "-P", "-m",
      "-s", "-e",  "&&",      "&>/dev/null", ">/dev/null", "2>&1", "2>/dev/null", "$"};
  constexpr std::string_view kScripts[] = {"$0",
                                           "${0}",
                                           "${BASH_SOURCE[0]}",
                                           "$BASH_SOURCE",
                                           "${BASH_SOURCE}",
                                           "${BASH_SOURCE:-$0}",
                                           "${BASH_SOURCE[0]:-$0}"};
  if (command.size() > kLongest || command.find("dirname") == std::string_view::npos) return {};
  bool script = false;
  std::string folder;
  std::size_t dirnames = 0;
  for (std::size_t at = 0; at < command.size();) {
    const std::size_t end = std::min(command.find_first_of(" \t\n\"'();", at), command.size());
    const std::string_view word = command.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (std::find(std::begin(kScripts), std::end(kScripts), word) != std::end(kScripts))
      script = true;
    else if (script && word.starts_with("/") && word.size() > 1)
      folder += word;
    else if (script && word.starts_with(".."))
      folder += "/" + std::string(word);
    else if (std::find(std::begin(kWords), std::end(kWords), word) == std::end(kWords))
      return {};
    if (word == "dirname") ++dirnames;
  }
  if (!script || folder.find('$') != std::string::npos) return {};
  std::string up = ".";  // `dirname "$(dirname "$0")"` is the folder above
  for (std::size_t i = 1; i < dirnames; ++i) up += "/..";
  return up + folder;
}

Text write(std::string_view value, const Text& place) {
  Text text;
  for (const char c : value)
    text.add(c, place.begin, place.origin.empty() ? std::uint16_t{0} : place.origin[0]);
  return text;
}

Text write_count(std::ptrdiff_t count, const Text& place) {
  return write(std::to_string(count), place);
}

Text count_fields(const Text& text) {
  return write_count(std::count(text.chars.begin(), text.chars.end(), ',') + 1, text);
}

Text count_commas(const Text& text) {
  return write_count(std::count(text.chars.begin(), text.chars.end(), ','), text);
}

Text count_words(const Text& text) {
  std::ptrdiff_t count = 0;
  for (std::size_t i = 0; i < text.chars.size(); ++i)
    count += !is_blank(text.chars[i]) && (i == 0 || is_blank(text.chars[i - 1])) ? 1 : 0;
  return write_count(count, text);
}

Text to_lower(const Text& text) { return apply_operator(text, ",,").value_or(text); }
Text to_upper(const Text& text) { return apply_operator(text, "^^").value_or(text); }

/// Programs that the words of `echo` go through, without their blanks and quotes.
struct FilterRow {
  std::string_view programs;
  Text (*apply)(const Text& text);
};
constexpr FilterRow kFilters[] = {
    {"tr,\\n|wc-l", count_fields},
    {"tr,|wc-w", count_fields},
    {"awk-F,{printNF}", count_fields},
    {"awk-F[,]{printNF}", count_fields},
    {"awk-F,{print(NF)}", count_fields},
    {"grep-o,|wc-l", count_commas},
    {"tr-cd,|wc-c", count_commas},
    {"tr-dc,|wc-c", count_commas},
    {"wc-w", count_words},
    {"tr[:upper:][:lower:]", to_lower},
    {"tr[A-Z][a-z]", to_lower},
    {"trA-Za-z", to_lower},
    {"tr[:lower:][:upper:]", to_upper},
    {"tr[a-z][A-Z]", to_upper},
    {"tra-zA-Z", to_upper},
    {"xargs", [](const Text& text) { return text; }},
    {"", [](const Text& text) { return text; }},
};

/// Removes what scripts write in several ways: blanks and quotes.
std::string compact(std::string_view programs) {
  std::string out;
  for (const char c : programs)
    if (!is_blank(c) && c != '"' && c != '\'') out += c;
  return out;
}

}  // namespace

Text Expander::expand_part(std::size_t from, std::size_t to) {
  const std::string_view whole = text_;
  const std::size_t before = at_;
  text_ = whole.substr(0, to);
  at_ = from;
  Text out;
  const auto put_blank = [&] {
    if (!out.chars.empty()) out.add(' ', at());
  };
  while (!done()) {
    skip_blanks();
    if (done()) break;
    put_blank();
    WordBuilder word;
    expand_word(word, true);
    word.end();
    if (word.fields.empty()) {  // an operator
      out.add(peek(), at());
      skip(1);
    }
    for (const Text& field : word.fields) {
      if (&field != &word.fields.front()) put_blank();
      for (std::size_t i = 0; i < field.chars.size(); ++i)
        out.add(field.chars[i], field.at[i], field.origin[i]);
    }
    charge(kWordCost);
  }
  text_ = whole;
  at_ = before;
  return out;
}

Text Expander::take_part(std::size_t from, std::size_t to) {
  const Text part = expand_part(at_ + from, at_ + to);
  skip(to);
  return part;
}

std::optional<Text> Expander::find_output(std::size_t from, std::size_t to) {
  const std::string_view command = text_.substr(from, to - from);
  if (trim(command).starts_with('#')) return Text{};  // a comment inside of a command
  const auto expand = [&](std::string_view program, std::size_t end) {
    return expand_part(from + program.size(), from + end);
  };
  if (command.starts_with("expr ")) {
    WordBuilder result;
    put_arithmetic(result, expand("expr ", command.size()), base_ + from);
    result.end();
    return result.fields.empty() ? std::nullopt : std::optional(result.fields.front());
  }
  // Files that the script sources are named relative to it; those of a sourced file are not.
  std::string folder = base_ == 0 ? find_script_folder(command) : std::string();
  if (command == "pwd" ||
      (command.find("os.getcwd()") != std::string_view::npos && command.starts_with("python")))
    folder = ".";
  if (base_ == 0 && prints_script(command)) folder = "./script";
  Text place;
  place.begin = std::uint32_t(base_ + from);
  if (!folder.empty()) return write(folder, place);
  if (command.starts_with("cd ")) {  // cd -- "$DIR/.." && pwd
    const std::size_t both = command.find("&&");
    const std::string_view then =
        both == std::string_view::npos ? "" : trim(command.substr(both + 2));
    if (then != "pwd" && then != "pwd -P") return std::nullopt;
    const std::optional<Text> words = apply_operator(expand("cd ", both), "#-- ");
    return words ? apply_operator(*words, "%% *") : std::nullopt;  // without redirections
  }
  if (command.starts_with("dirname ")) {
    const Text file = expand("dirname ", command.size());
    const std::optional<Text> parent = apply_operator(file, "%/*");
    const bool inside = parent && parent->chars.size() < file.chars.size();
    return inside ? parent : std::nullopt;
  }
  if (command.starts_with("basename ")) {
    const std::optional<Text> name = apply_operator(expand("basename ", command.size()), "##*/");
    const bool whole = name && name->chars.find(' ') == std::string::npos;
    return whole ? name : std::nullopt;  // not with a suffix to remove
  }
  if (!command.starts_with("echo ")) return std::nullopt;
  const std::size_t pipe = find_outside(command, "|");
  const std::string programs = compact(command.substr(std::min(pipe + 1, command.size())));
  const Text words = expand("echo ", pipe);
  charge(words.chars.size());
  if (programs == "bc") return calculate(words);
  const auto row =
      std::find_if(std::begin(kFilters), std::end(kFilters),
                   [&](const FilterRow& filter) { return filter.programs == programs; });
  const bool known = words.chars.find(kUnknown) == std::string::npos;
  if (row == std::end(kFilters) || words.chars.starts_with("-") || (!known && !programs.empty()))
    return std::nullopt;
  return row->apply(words);
}

std::size_t Expander::find_document(std::size_t begin) {
  constexpr std::string_view kCat = "cat <<", kStarters[] = {"python", "torchrun", "deepspeed"};
  std::size_t at = std::min(text_.find_first_not_of(" \t\r\n", begin), text_.size());
  if (!text_.substr(at).starts_with(kCat)) return begin;
  at = std::min(text_.find_first_not_of("-'\" ", at + kCat.size()), text_.size());
  std::size_t name = at;
  while (name < text_.size() && is_name(text_[name])) ++name;
  const std::string_view mark = text_.substr(at, name - at);
  const std::size_t body = text_.find('\n', name);
  if (mark.empty() || body == std::string_view::npos) return begin;
  for (std::size_t line = body + 1; line < text_.size();) {
    const std::size_t end = std::min(text_.find('\n', line), text_.size());
    charge(end - line);
    if (trim(text_.substr(line, end - line)) == mark) {
      const std::string_view inner = text_.substr(body, line - body);
      if (std::any_of(std::begin(kStarters), std::end(kStarters), [&](std::string_view one) {
            return inner.find(one) != std::string_view::npos;
          }))
        document_ = Position{text_.substr(0, line), base_, body + 1};
      return end;
    }
    line = end + 1;
  }
  return begin;
}

void Expander::expand_command(WordBuilder& out) {
  const std::size_t before = at();
  const bool backticks = peek() == '`';
  const std::size_t begin = at_ + (backticks ? 1 : 2);
  std::size_t end = begin;
  if (backticks) {
    end = text_.find('`', begin);
    if (end == std::string_view::npos) {  // a stray one
      put_unknown(out, "a command's output", before);
      skip(1);
      return;
    }
  } else {
    end = find_document(begin);
    for (int depth = 1; end < text_.size(); ++end) {
      depth += text_[end] == '(' ? 1 : text_[end] == ')' ? -1 : 0;
      if (depth == 0) break;
    }
  }
  charge(end - at_);
  std::optional<Text> printed;
  if (++depth_ <= kMaxDepth) printed = find_output(begin, end);
  --depth_;
  at_ = std::min(end + 1, text_.size());
  if (printed) {
    out.begun = out.begun || !printed->chars.empty();
    put(out, *printed, false, before, before);
  } else {
    put_unknown(out, "a command's output", before);
  }
}

}  // namespace rankwright::importer::shell
