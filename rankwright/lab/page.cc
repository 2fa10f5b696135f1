#include "rankwright/lab/page.h"

#include <algorithm>
#include <optional>

#include "rankwright/base/check.h"
#include "rankwright/base/trim.h"
#include "rankwright/report/render/table.h"

namespace rankwright::lab {
namespace {

constexpr std::string_view kStep = "## ";
constexpr std::string_view kQuestion = "- `";
constexpr std::string_view kOpen = "<details markdown=\"1\">\n<summary>Reveal</summary>\n";
constexpr std::string_view kClose = "\n</details>";

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

/// Removes and returns the text up to the next line that starts with `mark` outside fenced blocks;
/// all of it if there is none.
std::string_view take_until(std::string_view& text, std::string_view mark) {
  bool fenced = false;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t at = text.size() - rest.size();
    const std::string_view line = take_line(rest);
    if (line.starts_with("```")) fenced = !fenced;
    if (fenced || !line.starts_with(mark)) continue;
    const std::string_view before = text.substr(0, at);
    text.remove_prefix(at);
    return before;
  }
  return std::exchange(text, {});
}

/// Reads one line of the questions: "- `key` text", or its indented continuation.
void read_question(std::string_view line, LabStep& step) {
  if (line.starts_with(kQuestion)) {
    const std::string_view rest = line.substr(kQuestion.size());
    const std::size_t end = rest.find('`');
    RW_CHECK(end != std::string_view::npos && end + 2 <= rest.size());
    step.questions.emplace_back(rest.substr(0, end), rest.substr(end + 2));
  } else if (line.starts_with("  ") && !step.questions.empty()) {
    step.questions.back().second.append(" ").append(line.substr(2));
  } else {
    RW_CHECK(line.empty());
  }
}

/// Reads a step from its heading to the next one.
LabStep read_step(std::string_view text) {
  LabStep step{.title = after(take_line(text), kStep), .task = {}};
  const std::size_t open = text.find(kOpen);
  if (open == std::string_view::npos) {
    step.task = trim(text, "\n");
    return step;
  }
  std::string_view asked = text.substr(0, open);
  const std::size_t close = text.find(kClose, open);
  RW_CHECK(close != std::string_view::npos);
  step.reveal = trim(text.substr(open + kOpen.size(), close - open - kOpen.size()));
  step.task = trim(take_until(asked, kQuestion), "\n");
  while (!asked.empty()) read_question(take_line(asked), step);
  RW_CHECK(!step.questions.empty());
  return step;
}

/// Returns prose without the marks of Markdown: `code` and **bold** lose theirs, a link is its
/// text.
std::string strip_marks(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '`') continue;
    if (text.substr(i).starts_with("**")) {
      ++i;
      continue;
    }
    const std::size_t close = text[i] == '[' ? text.find("](", i) : std::string_view::npos;
    const std::size_t end = close == std::string_view::npos ? close : text.find(')', close);
    if (end == std::string_view::npos) {
      out += text[i];
      continue;
    }
    out += strip_marks(text.substr(i + 1, close - i - 1));
    i = end;
  }
  return out;
}

/// Collects terminal text from lines of Markdown.
class MarkdownText {
 public:
  explicit MarkdownText(const TextStyle& style) : style_(style) {}

  void add(std::string_view line) {
    if (line.starts_with("```")) {
      flush();
      console_ = !console_;
    } else if (console_) {
      add_console(line);
    } else if (line.starts_with("![")) {
      flush();
      // A picture with a text drawing is replaced by it, once its command is read.
      picture_ = line.substr(2, line.find("](") - 2);
    } else if (line.starts_with(kDrawn)) {
      draw(line);
    } else if (line.starts_with("#")) {
      flush();
      out_ += style_.paint.bold(after(line, " ")) + "\n";
    } else if (line.starts_with("|")) {
      add_row(line);
    } else if (line.empty()) {
      flush();
      out_ += out_.ends_with("\n\n") || out_.empty() ? "" : "\n";
    } else {
      const bool item = line.starts_with("- ") ||
                        (line.size() > 2 && line[1] == '.' && line[0] >= '0' && line[0] <= '9');
      if (item) flush();
      paragraph_ += (paragraph_.empty() ? "" : " ") + std::string(line);
    }
  }

  std::string take() {
    flush();
    return std::move(out_);
  }

 private:
  static constexpr std::string_view kDrawn = "Drawn by `";

  void flush() {
    flush_table();
    if (!picture_.empty()) {
      out_ += report::wrap_text("Picture: " + picture_, style_.width, "");
      picture_.clear();
    }
    if (!paragraph_.empty()) out_ += report::wrap_text(strip_marks(paragraph_), style_.width, "");
    paragraph_.clear();
  }

  void add_console(std::string_view line) {
    const std::string indented = "    " + std::string(line);
    const std::string fitted = report::fit_lines(indented + "\n", style_.width);
    out_ += line.starts_with("$ ") ? report::make_bold(fitted, style_.paint) : fitted;
  }

  void draw(std::string_view line) {
    const std::string_view rest = line.substr(kDrawn.size());
    const std::string command(rest.substr(0, rest.find('`')));
    const std::string drawing = style_.draw ? style_.draw(command, style_.width) : "";
    if (!drawing.empty()) {
      picture_.clear();
      out_ += drawing;
    }
    flush();
    paragraph_ = line;
    flush();
  }

  void add_row(std::string_view line) {
    std::vector<std::string> cells;
    line.remove_prefix(1);
    while (!line.empty()) {
      const std::size_t end = std::min(line.find('|'), line.size());
      std::string_view cell = line.substr(0, end);
      cell.remove_prefix(std::min(cell.find_first_not_of(' '), cell.size()));
      cells.push_back(strip_marks(cell.substr(0, cell.find_last_not_of(' ') + 1)));
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    if (!cells.empty() && cells[0].starts_with("---")) return;
    if (!table_) {
      flush();
      table_.emplace();
      for (std::string& cell : cells) table_->columns.push_back({std::move(cell)});
      return;
    }
    cells.resize(table_->columns.size());
    table_->rows.push_back(std::move(cells));
  }

  void flush_table() {
    if (!table_) return;
    out_ += table_->text(style_.paint, "  ", style_.width);
    table_.reset();
  }

  const TextStyle& style_;
  std::string out_, paragraph_, picture_;
  std::optional<report::Table> table_;
  bool console_ = false;
};

}  // namespace

std::string_view LabPage::words(std::string_view key) const {
  for (const LabStep& step : steps)
    for (const auto& [name, text] : step.questions)
      if (name == key) return text;
  return {};
}

const LabStep* LabPage::find_step(std::string_view key) const {
  for (const LabStep& step : steps)
    for (const auto& question : step.questions)
      if (question.first == key) return &step;
  return nullptr;
}

LabPage parse_lab_page(std::string_view markdown) {
  LabPage page;
  page.title = after(take_line(markdown), ". ");
  page.introduction = trim(take_until(markdown, kStep), "\n");
  while (!markdown.empty()) {
    const std::string_view whole = markdown;
    take_line(markdown);
    take_until(markdown, kStep);
    page.steps.push_back(read_step(whole.substr(0, whole.size() - markdown.size())));
  }
  return page;
}

LabPage read_lab_page(const Lab& lab) {
  return parse_lab_page(find_lab_file("docs/labs/" + std::string(lab.page)));
}

std::vector<std::string> list_lab_plans(const Lab& lab) {
  constexpr std::string_view kFolder = "examples/", kEnd = ".yaml";
  std::vector<std::string> plans;
  for (const Question& question : lab.questions)
    plans.push_back(std::string(kFolder) + std::string(question.file));
  const std::string_view page = find_lab_file("docs/labs/" + std::string(lab.page));
  for (std::size_t at = 0; (at = page.find(kFolder, at)) != std::string_view::npos; ++at) {
    const std::size_t end = page.find(kEnd, at);
    if (end == std::string_view::npos) break;
    const std::string path(page.substr(at, end + kEnd.size() - at));
    if (!find_lab_file(path).empty()) plans.push_back(path);
  }
  std::sort(plans.begin(), plans.end());
  plans.erase(std::unique(plans.begin(), plans.end()), plans.end());
  return plans;
}

std::string render_markdown(std::string_view markdown, const TextStyle& style) {
  MarkdownText text(style);
  while (!markdown.empty()) text.add(take_line(markdown));
  return text.take();
}

}  // namespace rankwright::lab
