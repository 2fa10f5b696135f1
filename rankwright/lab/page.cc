#include "rankwright/lab/page.h"

#include "rankwright/base/check.h"
#include "rankwright/report/render/table.h"

namespace rankwright::lab {
namespace {

constexpr std::string_view kQuestions = "\n## Questions\n";

/// Removes and returns the first line of `text`.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view after(std::string_view line, std::string_view mark) {
  return line.substr(line.find(mark) + mark.size());
}

/// Reads one line: "- `key` text", its indented continuation, or the introduction before the first.
void read_question(std::string_view line, LabPage& page) {
  if (line.starts_with("- `")) {
    const std::string_view rest = line.substr(3);
    const std::size_t end = rest.find('`');
    RW_CHECK(end != std::string_view::npos && end + 2 <= rest.size());
    page.questions.emplace_back(rest.substr(0, end), rest.substr(end + 2));
  } else if (line.starts_with("  ") && !page.questions.empty()) {
    page.questions.back().second.append(" ").append(line.substr(2));
  } else if (!line.empty() && page.questions.empty()) {
    page.about.append(page.about.empty() ? "" : " ").append(line);
  }
}

}  // namespace

std::string_view LabPage::words(std::string_view key) const {
  for (const auto& [name, text] : questions)
    if (name == key) return text;
  return {};
}

LabPage read_lab_page(const Lab& lab) {
  std::string_view text = find_lab_file("docs/labs/" + std::string(lab.page));
  LabPage page;
  page.title = after(take_line(text), ". ");
  const std::size_t at = text.find(kQuestions);
  RW_CHECK(at != std::string_view::npos);
  page.task = text.substr(0, at);
  for (std::string_view rest = text.substr(at + kQuestions.size()); !rest.empty();)
    read_question(take_line(rest), page);
  return page;
}

std::string escape_markdown(std::string_view markdown, const report::Paint& paint,
                            std::size_t width) {
  std::string out, paragraph;
  bool console = false;
  const auto flush = [&] {
    if (!paragraph.empty()) out += report::wrap_text(paragraph, width, "");
    paragraph.clear();
  };
  while (!markdown.empty()) {
    const std::string_view line = take_line(markdown);
    const bool fence = line.starts_with("```");
    const bool own_line = line.empty() || line.starts_with("- ") || line.starts_with("|");
    if (fence || console || own_line || line.starts_with("#")) flush();
    if (fence) {
      console = !console;
    } else if (console) {
      out += "    " + (line.starts_with("$ ") ? paint.bold(line) : std::string(line)) + "\n";
    } else if (line.starts_with("#")) {
      out += paint.bold(after(line, " ")) + "\n";
    } else if (line.empty()) {
      out += "\n";
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
    }
  }
  flush();
  return out;
}

}  // namespace rankwright::lab
