#include "cli/lab/lab_session.h"

#include <fmt/format.h>

#include <istream>
#include <ostream>
#include <sstream>

#include "cli/io/print_refusal.h"
#include "cli/plan_input.h"
#include "rankwright/import/syntax/file.h"
#include "rankwright/lab/session.h"

namespace rankwright::cli {
namespace {

constexpr std::size_t kMaxTyped = 1 << 16;  // characters of one line

/// Reads a line without its end. The rest of a line that is too long is discarded. Returns false at
/// the end of input.
bool read_line(std::istream& in, std::string& line) {
  line.clear();
  char c = 0;
  bool any = false;
  while (in.get(c) && c != '\n') {
    any = true;
    if (line.size() < kMaxTyped) line += c;
  }
  return any || bool(in);
}

/// Runs "rankwright explain examples/... --timeline ..." with the embedded plan and returns the
/// drawing; empty for other commands, which have none.
std::string draw_timeline(const std::string& command, std::size_t width) {
  std::istringstream words(command);
  std::vector<std::string> args;
  std::string plan;
  bool timeline = false;
  for (std::string word; words >> word;) {
    if (word == "--svg") {
      words >> word;
      continue;
    }
    timeline = timeline || word == "--timeline";
    if (word.starts_with("examples/")) {
      plan = lab::find_lab_file(word);
      word = "-";
    }
    if (word != "rankwright") args.push_back(word);
  }
  if (!timeline || plan.empty() || args.empty() || args[0] != "explain") return "";
  args.push_back("--quiet");
  std::istringstream in(plan);
  std::ostringstream out, err;
  const int code = run(args, {.in = in, .out = out, .err = err, .width = width});
  if (code != kOk) return "";
  // The drawing is the block of rows; what is above and below it repeats the page.
  std::istringstream lines(out.str());
  std::string drawing;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("PP ") && line.find('|') != std::string::npos) drawing += line + "\n";
  return drawing;
}

}  // namespace

lab::TextStyle lab_style(const Options& options, const Io& io) {
  return {.paint = options.paint(io), .width = io.prose(), .draw = draw_timeline};
}

int run_lab_session(const lab::Lab& lab, const std::string& answers, const Options& options,
                    const Io& io) {
  std::istringstream typed;
  if (!answers.empty()) {
    const Result<std::string> text = read_argument(answers, io);
    if (!text) {
      print_findings({text.error()}, answers, "", io);
      return kUnreadable;
    }
    typed.str(*text);
  }
  std::istream& in = answers.empty() ? io.in : typed;
  lab::Session session(lab, lab_style(options, io), importer::read_file);
  io.out << session.begin() << std::flush;
  std::string line;
  while (!session.done() && read_line(in, line)) io.out << session.reply(line) << std::flush;
  io.out << session.end() << std::flush;
  return session.all_right() ? kOk : kRefused;
}

}  // namespace rankwright::cli
