// `rankwright init`: asks five questions and writes the best plan for the answers. A question whose
// flag is given is not asked; where the input ends, the defaults hold.
#include <fmt/format.h>

#include <istream>
#include <optional>
#include <ostream>

#include "cli/io/print_refusal.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "rankwright/base/format.h"
#include "rankwright/base/quantity.h"
#include "rankwright/catalog/catalog.h"
#include "rankwright/import/syntax/file.h"
#include "rankwright/rules/target.h"

namespace rankwright::cli {
namespace {

/// Returns what to type instead of an answer that is not accepted; nothing if it is.
using Check = std::optional<std::string> (*)(const std::string& answer);

template <typename T>
std::optional<std::string> explain_error(const Result<T>& read) {
  if (read) return std::nullopt;
  const Diagnostic& d = read.error();
  return d.hint.empty() ? d.detail : fmt::format("{}: {}", d.detail, d.hint);
}

/// A file is judged when it is read.
bool is_file(const std::string& answer) { return importer::read_file(answer).has_value(); }

std::optional<std::string> check_model(const std::string& answer) {
  return is_file(answer) ? std::nullopt : explain_error(catalog::find_model(answer));
}

std::optional<std::string> check_cluster(const std::string& answer) {
  return is_file(answer) ? std::nullopt : explain_error(catalog::find_cluster(answer));
}

std::optional<std::string> check_count(const std::string& answer) {
  return explain_error(parse_count(answer));
}

std::optional<std::string> check_target(const std::string& answer) {
  if (answer == "any" || rules::find_target(answer) != nullptr) return std::nullopt;
  std::string names;
  for (const rules::TargetRow& row : rules::targets())
    if (!row.launcher) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  return fmt::format("'{}' is not a framework: {}, or any", make_excerpt(answer), names);
}

struct Question {
  std::string_view flag, text, example;
  bool required = false;  // without an answer there is no plan
  Check check = nullptr;
};
constexpr Question kQuestions[] = {
    {"--model", "Which model: a name or a config.json?", "llama-3.1-8b", true, check_model},
    {"--cluster", "Which cluster: a system and its number, or a file?", "dgx-h100 x 2", true,
     check_cluster},
    {"--seq", "How many tokens per sequence?", "8k", false, check_count},
    {"--global-batch", "How many sequences per step, over all GPUs?", "512", false, check_count},
    {"--for", "Which framework: megatron, torchtitan, deepspeed, nanotron, accelerate or any?",
     "megatron", false, check_target},
};

/// Asks until an answer is accepted. Returns nothing if the input ends or the answer is empty.
std::optional<std::string> ask(const Question& question, const Io& io) {
  for (;;) {
    io.err << fmt::format("{} [{}{}] ", question.text,
                          question.required ? "such as " : "default, or ", question.example)
           << std::flush;
    std::string answer;
    if (!std::getline(io.in, answer)) {
      io.err << "\n";
      return std::nullopt;
    }
    const std::size_t first = answer.find_first_not_of(" \t\r");
    if (first == std::string::npos) {
      if (!question.required) return std::nullopt;
      continue;
    }
    answer = answer.substr(first, answer.find_last_not_of(" \t\r") - first + 1);
    const std::optional<std::string> fault = question.check(answer);
    if (!fault) return answer;
    io.err << fmt::format("  {}\n", *fault);
  }
}

}  // namespace

int init(Args args, const Io& io) {
  Options options(verb("init"));
  std::string given[std::size(kQuestions)];
  for (std::size_t k = 0; k < std::size(kQuestions); ++k)
    options.add(std::string(kQuestions[k].flag), given[k],
                fmt::format("the answer to: {}", kQuestions[k].text));
  options.describe("--output", "the plan file to write (default: plan.yaml)");
  if (const std::optional<int> done = options.parse(args, io)) return *done;

  const std::string file = options.output().empty() ? "plan.yaml" : options.output();
  std::vector<std::string> words{"-o", file};
  for (std::size_t k = 0; k < std::size(kQuestions); ++k) {
    const Question& question = kQuestions[k];
    if (given[k].empty()) given[k] = ask(question, io).value_or("");
    if (given[k].empty() && question.required)
      return print_usage_fault("init", fmt::format("missing {}", question.flag),
                               fmt::format("{} \"{}\"", question.flag, question.example), io);
    if (!given[k].empty()) words.insert(words.end(), {std::string(question.flag), given[k]});
  }
  if (options.json()) words.emplace_back("--json");
  if (options.quiet()) words.emplace_back("--quiet");
  return plan(words, io);
}

}  // namespace rankwright::cli
