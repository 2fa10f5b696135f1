#include "cli/verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <sstream>
#include <vector>

#include "cli/help/complete.h"
#include "cli/help/man_page.h"
#include "cli/io/clean_io.h"
#include "rankwright/base/check.h"
#include "rankwright/base/format.h"
#include "rankwright/base/suggest.h"
#include "rankwright/report/render/table.h"

namespace rankwright::cli {
namespace {

// The order here is the order of `rankwright help`.
constexpr Verb kVerbs[] = {
    {"plan", "find the fastest layout for a model on a cluster",
     "rankwright plan --model llama-3.1-70b --cluster \"dgx-h100 x 8\" --global-batch 512 --seq "
     "8192",
     plan},
    {"init", "answer five questions and write the best plan", "rankwright init -o plan.yaml", init},
    {"check", "lint plans and configs: errors, performance problems, missing settings",
     "rankwright check plan.yaml --for megatron", check},
    {"explain", "explain a plan, a diagnostic code, a plan key or a term",
     "rankwright explain plan.yaml --rank 17", explain},
    {"compare", "compare two plans, or a plan and the log of its run",
     "rankwright compare examples/course-64.yaml examples/course-64-chunks.yaml", compare},
    {"report", "write an interactive HTML report of a plan",
     "rankwright report plan.yaml -o plan.html", report},
    {"export", "write the files with which a framework or launcher runs a plan",
     "rankwright export examples/gpt3-175b-1024.yaml --to megatron", export_plan},
    {"import", "import a framework's config or files that describe a cluster",
     "rankwright import train.sh -o plan.yaml", import_plan},
    {"run", "train: execute the plan on every rank and compare with the prediction",
     "rankwright run examples/gpt2-tiny-tp2-pp2-dp2.yaml --local --steps 100", train},
    {"probe", "measure this machine and its links, and write a cluster file",
     "rankwright probe -o cluster.yaml", probe},
    {"validate", "compare predictions with measured runs or collectives",
     "rankwright validate tests/data/validation/runs.csv --leave-one-family-out", validate},
    {"catalog", "list known models, devices, systems, diagnostic codes and more",
     "rankwright catalog models llama-3.1-405b", catalog},
    {"lab", "learn with exercises that the program checks", "rankwright lab 3", lab},
    {"completions", "print completions for a shell", "eval \"$(rankwright completions bash)\"",
     completions},
};

constexpr ExitRow kExits[] = {
    {kOk, "success or warnings only"},
    {kUnreadable, "unreadable input or unknown name"},
    {kRefused, "an error in the plan, or no layout fits or meets --days and --budget"},
    {kUsage, "wrong usage"},
    {kOutOfMemory, "out of memory"},
    {kInterrupted, "interrupted"},
};

constexpr std::string_view kExample =
    "rankwright plan --model llama-3.1-8b --cluster \"dgx-h100 x 2\" -o plan.yaml";
constexpr std::string_view kInputs =
    "A plan is a file, or - for standard input. A model or a cluster is a name or a file.";
constexpr std::size_t kHelpWidth = 76;

std::string write_help(std::size_t width) {
  std::ostringstream out;
  out << "Example: " << kExample << "\n\n"
      << "Rankwright finds, checks and explains parallel layouts for training large models.\n"
         "\n"
      << "Verbs:\n";
  for (const Verb& one : kVerbs) out << fmt::format("  {:<13}{}\n", one.name, one.summary);
  out << "  help         print this help, or that of a verb: rankwright help check\n"
      << "  --version    print the version (also -V)\n"
         "\n"
      << kInputs << "\n";
  std::string codes;
  for (const ExitRow& row : kExits)
    codes += fmt::format("{}{} {}", codes.empty() ? "" : ", ", int(row.code), row.meaning);
  std::string text = report::wrap_text(codes + ".", kHelpWidth, "      ");
  out << text.replace(0, 5, "Exit:");
  return report::fit_lines(out.str(), width);
}

int unknown_verb(const std::string& name, const Io& io) {
  std::vector<std::string> names{"help"};
  for (const Verb& one : kVerbs) names.emplace_back(one.name);
  io.err << fmt::format("rankwright: unknown verb '{}'\n", make_excerpt(name));
  if (const std::optional<std::string> near = nearest(name, names))
    io.err << fmt::format("  help: did you mean {}?\n", *near);
  else
    io.err << "  help: rankwright help lists the verbs\n";
  return kUsage;
}

const Verb* find(std::string_view name) {
  const auto found = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                  [&](const Verb& one) { return one.name == name; });
  return found == std::end(kVerbs) ? nullptr : found;
}

/// Returns 0, or the exit code if printing failed.
int printed(const Io& io) {
  if (io.out.flush()) return kOk;
  io.err << "rankwright: cannot write to standard output\n";
  return kUnreadable;
}

int help(Args args, const Io& io) {
  const bool man = !args.empty() && args[0] == "--man";
  if (man) args = args.subspan(1);
  if (args.empty() || args[0] == "help") {
    if (man)
      io.out << make_man_page();
    else
      io.out << write_help(io.width);
    return printed(io);
  }
  const Verb* const one = find(args[0]);
  if (one == nullptr) return unknown_verb(args[0], io);
  if (man) {
    io.out << make_man_page(*one);
    return printed(io);
  }
  std::vector<std::string> words(args.begin() + 1, args.end());  // lab has commands of its own
  words.emplace_back("--help");
  return one->run(words, io);
}

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }
std::span<const ExitRow> exit_rows() { return kExits; }
std::string_view example_command() { return kExample; }
std::string_view inputs_sentence() { return kInputs; }

const Verb& verb(std::string_view name) {
  const Verb* const one = find(name);
  RW_CHECK(one != nullptr);
  return *one;
}

namespace {

int run_verb(Args args, const Io& io) {
  if (args.empty()) {
    io.err << write_help(io.width);
    return kUsage;
  }
  const std::string& first = args[0];
  if (first == "--version" || first == "-V") {
    io.out << "rankwright " RANKWRIGHT_VERSION "\n";
    return printed(io);
  }
  if (first == "help" || first == "--help" || first == "-h") return help(args.subspan(1), io);
  if (first == kCompleteWord) return complete(args.subspan(1), io);
  const Verb* const one = find(first);
  if (one == nullptr) return unknown_verb(first, io);
  return one->run(args.subspan(1), io);
}

}  // namespace

int run(Args args, const Io& io) {
  return with_clean_io(io, [&](const Io& clean) { return run_verb(args, clean); });
}

}  // namespace rankwright::cli
