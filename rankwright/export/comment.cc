#include "rankwright/export/comment.h"

#include <fmt/format.h>

#include <algorithm>

#include "rankwright/base/format.h"
#include "rankwright/base/utf8.h"

namespace rankwright::exporter {
namespace {

constexpr std::size_t kMaxName = 64;
constexpr std::size_t kMaxComment = 1000;
constexpr std::string_view kCut = "...";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Returns `text` with `other` for every character that is neither ASCII accepted by `keep` nor
/// listed in `signs`, cut to `max` characters.
std::string restrict_characters(std::string_view text, bool (*keep)(char), std::string_view signs,
                                char other, std::size_t max) {
  std::string out;
  std::size_t before_cut = 0;  // bytes that remain if the text is cut
  for (std::size_t length = 0; !text.empty(); ++length) {
    if (length == max - kCut.size()) before_cut = out.size();
    if (length == max) return out.substr(0, before_cut) + std::string(kCut);
    const Character c = decode_character(text);
    const std::string_view itself = text.substr(0, std::max<std::size_t>(1, c.bytes));
    const bool kept = c.bytes == 1 ? keep(itself[0])
                                   : c.bytes > 1 && signs.find(itself) != std::string_view::npos;
    out += kept ? std::string(itself) : std::string(1, other);
    text.remove_prefix(itself.size());
  }
  return out;
}

/// Returns whether a ':' or '=' after `before` makes a tool read a setting from the comment: an
/// encoding (Python, Emacs), a modeline (vim) or a schema to load (YAML language servers).
bool begins_setting(std::string_view before) {
  constexpr std::string_view kWords[] = {"coding", " vim", " vi", " ex", "language-server"};
  const std::size_t last = before.find_last_not_of(" <>=0123456789");  // "vim>700:"
  const std::string text = " " + lower(before.substr(0, last + 1));    // npos + 1 is 0
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return text.ends_with(word); });
}

void defuse(std::string& line) {
  for (std::size_t at = line.find_first_of(":="); at != std::string::npos;
       at = line.find_first_of(":=", at + 1))
    if (begins_setting(std::string_view(line).substr(0, at))) line[at] = '_';
  for (std::size_t at = line.find("-*-"); at != std::string::npos; at = line.find("-*-", at))
    line[at + 1] = '_';
}

}  // namespace

std::string safe_name(std::string_view name) {
  const auto keep = [](char c) {
    return is_letter_or_digit(c) || std::string_view(" ._-+/()").find(c) != std::string_view::npos;
  };
  return restrict_characters(name, keep, "", '_', kMaxName);
}

plan::TrainingConfig make_names_safe(plan::TrainingConfig config) {
  cluster::Device& device = config.cluster.device;
  for (std::string* const name :
       {&config.model.name, &config.cluster.name, &device.name, &device.vendor, &device.generation,
        &device.source, &device.verified})
    *name = safe_name(*name);
  for (cluster::Level& level : config.cluster.levels) level.name = safe_name(level.name);
  return config;
}

std::string comment_line(std::string_view line) {
  const auto keep = [](char c) { return c >= ' ' && c <= '~'; };
  std::string out = restrict_characters(line, keep, "·±×→…", '?', kMaxComment);
  defuse(out);
  return out;
}

std::string write_comments(const std::vector<std::string>& lines, std::string_view mark) {
  std::string text;
  for (const std::string& line : lines)
    text +=
        line.empty() ? fmt::format("{}\n", mark) : fmt::format("{} {}\n", mark, comment_line(line));
  return text;
}

}  // namespace rankwright::exporter
