// Reads a lab's page, Markdown in docs/labs: a heading, an introduction, and steps. A step is a
// heading, a task, questions ("- `key` Question?"), and a folded block that answers them:
//
//     <details markdown="1">
//     <summary>Reveal</summary>
//     ...
//     </details>
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankwright/lab/lab.h"
#include "rankwright/report/render/paint.h"

namespace rankwright::lab {

/// One step of a lab.
struct LabStep {
  std::string_view title;
  std::string_view task;  // Markdown between the heading and the questions
  std::vector<std::pair<std::string, std::string>> questions{};  // key and text
  std::string_view reveal{};  // Markdown of the folded block; empty if the step asks nothing
};

/// The parsed page of a lab.
struct LabPage {
  std::string title;                // without the number
  std::string_view introduction{};  // Markdown between the heading and the first step
  std::vector<LabStep> steps{};

  /// Returns the text of a question; empty if the page has none.
  std::string_view words(std::string_view key) const;
  /// Returns the step that asks a question, or null.
  const LabStep* find_step(std::string_view key) const;
};

/// Parses the Markdown of a page. Requires: it has the form above.
LabPage parse_lab_page(std::string_view markdown);

/// Reads the page of a lab.
LabPage read_lab_page(const Lab& lab);

/// Returns the embedded plan files that a lab uses, sorted: those that its page names and those of
/// its questions, by their path in the repository.
std::vector<std::string> list_lab_plans(const Lab& lab);

/// Returns the text drawing of a command that the page draws as a picture; empty if it has none.
using DrawCommand = std::function<std::string(const std::string& command, std::size_t width)>;

/// How Markdown becomes terminal text.
struct TextStyle {
  report::Paint paint{};
  std::size_t width = 80;
  DrawCommand draw{};  // null: pictures are only named
};

/// Returns Markdown as terminal text: headings in bold, prose wrapped, links as their text, lines
/// of console blocks broken only if they are too long. A picture is its description; with the line
/// "Drawn by `command`" below it, that command's text drawing.
std::string render_markdown(std::string_view markdown, const TextStyle& style);

}  // namespace rankwright::lab
