// The output of every verb at three widths of the terminal: no line is longer, and no word is cut.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "cli/verb.h"
#include "rankwright/report/render/table.h"

namespace rankwright::cli {
namespace width_test {

const std::vector<std::vector<std::string>> kCommands = {
    {"plan", "--model", "llama-3.2-1b", "--cluster", "dgx-h100", "--seq", "4k"},
    {"plan", "--model", "llama-3.2-1b", "--cluster", "dgx-h100", "--seq", "4k", "--verbose"},
    {"plan", "--model", "llama-3.2-1b", "--cluster", "dgx-h100", "--seq", "4k", "--top", "4"},
    {"plan", "--model", "llama-3.2-1b", "--cluster", "dgx-h100", "--gpus", "8..16", "--tokens",
     "1T", "--price", "$2.10"},
    {"plan", "--model", "llama-3.1-405b", "--cluster", "dgx-h100"},
    {"plan", "--modl", "x"},
    {"check", "examples/course-64.yaml", "--for", "megatron"},
    {"check", "examples/course-64.yaml", "examples/gpt3-175b-1024.yaml"},
    {"check", "no-such-file.yaml"},
    {"explain", "examples/course-64.yaml"},
    {"explain", "examples/course-64.yaml", "--rank", "17"},
    {"explain", "examples/course-64.yaml", "--stages"},
    {"explain", "examples/course-64.yaml", "--sensitivity"},
    {"explain", "examples/course-64.yaml", "--timeline"},
    {"explain", "examples/course-64.yaml", "--fail", "gpu"},
    {"explain", "examples/course-64.yaml", "--slow", "17:1.3x"},
    {"explain", "examples/course-64.yaml", "--sweep", "microbatches=1..64"},
    {"explain", "examples/course-64.yaml", "--sweep", "tp=1,2,3,8,16"},
    {"explain", "examples/course-64.yaml", "--sweep", "zero"},
    {"explain", "examples/course-64.yaml", "--sweep", "pp=64..1"},
    {"explain", "RW0102"},
    {"explain", "zero_stage"},
    {"explain", "bubble"},
    {"explain", "all-reduce"},
    {"explain", "reduce-scatter"},
    {"explain", "all-gather"},
    {"explain", "all-to-all"},
    {"explain", "broadcast"},
    {"explain", "send-recv"},
    {"explain", "zero"},
    {"explain", "tp", "examples/course-64.yaml"},
    {"explain", "pp", "examples/course-64.yaml"},
    {"explain", "checkpoint", "examples/course-64.yaml"},
    {"explain", "all-reduce", "examples/course-64.yaml"},
    {"explain", "fsdp", "examples/labs/zero-3.yaml"},
    {"compare", "examples/course-64.yaml", "examples/course-64-chunks.yaml"},
    {"compare", "examples/course-64.yaml", "examples/course-64-chunks.yaml", "--tokens", "1T",
     "--price", "$2.10", "--days", "30"},
    {"catalog"},
    {"catalog", "models"},
    {"catalog", "models", "llama-3.1-405b"},
    {"catalog", "devices"},
    {"catalog", "systems"},
    {"catalog", "systems", "examples/racks-of-64.yaml"},
    {"catalog", "codes"},
    {"catalog", "failures"},
    {"validate", "tests/data/validation/runs.csv"},
    {"lab"},
    {"lab", "3"},
    {"lab", "3", "--check", "tests/data/labs/03.yaml"},
    {"lab", "3", "--hint", "bubble"},
    {"lab", "11", "--show", "all"},
    {"lab", "14", "--show", "between"},
    {"lab", "--grade", "tests/data/labs"},
    {"lab", "worksheet", "--check", "tests/data/worksheets/mixed.md"},
    {"lab", "worksheet", "--check", "tests/data/worksheets/mixed.md", "--show"},
    {"lab", "worksheet", "--check", "no-such-file.md"},
    {"lab", "--quiz", "--seed", "12", "--answers", "tests/data/quiz/answers.txt"},
    {"lab", "--quiz", "--cases", "--seed", "3", "--answers", "tests/data/quiz/answers.txt"},
    {"help"},
    {"help", "plan"},
    {"help", "check"},
    {"help", "explain"},
};

std::string run_at(const std::vector<std::string>& args, std::size_t width) {
  std::filesystem::current_path(RANKWRIGHT_SOURCE_DIR);
  std::istringstream in;
  std::ostringstream out, err;
  run(args, {.in = in, .out = out, .err = err, .width = width});
  return out.str() + err.str();
}

/// Returns the words of at least four letters, but those of excerpts, which "..." cuts off.
std::set<std::string> words_of(const std::string& all) {
  std::istringstream lines(all);
  std::string text;
  for (std::string line; std::getline(lines, line);)
    if (!std::regex_search(line, std::regex("[a-z]\\.\\.\\.|\\.\\.\\.[a-z]"))) text += line + "\n";
  std::set<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += c;
      continue;
    }
    if (word.size() >= 4) words.insert(word);
    word.clear();
  }
  return words;
}

/// Returns whether a line consists of an indent and one word, which cannot be broken.
bool is_one_word(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string::npos || line.find(' ', first) == std::string::npos;
}

TEST(Width, NoLineIsLongerAndNoWordIsCut) {
  for (const std::vector<std::string>& command : kCommands) {
    std::string line_of_command;
    for (const std::string& word : command) line_of_command += word + " ";
    const std::set<std::string> whole = words_of(run_at(command, 400));
    for (const std::size_t width : {std::size_t{60}, std::size_t{80}, std::size_t{120}}) {
      const std::string text = run_at(command, width);
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);)
        EXPECT_TRUE(report::display_width(line) <= width || is_one_word(line))
            << line_of_command << "at " << width << ":\n"
            << line;
      if (command.back() == "--timeline") continue;  // its chart is drawn with letters
      for (const std::string& word : words_of(text))
        EXPECT_TRUE(whole.contains(word)) << line_of_command << "at " << width << ": " << word;
    }
  }
}

}  // namespace width_test
}  // namespace rankwright::cli
